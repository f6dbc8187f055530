"""Tests of the harness: widgets respond, and it notices errors, dialogs and requests to other servers."""

BUTTON = """
import ipywidgets
label = ipywidgets.Label("untouched")
button = ipywidgets.Button(description="press")
button.on_click(lambda _: setattr(label, "value", "touched"))
ipywidgets.VBox([button, label])
"""
KEYS = """
import anywidget, traitlets
class Keys(anywidget.AnyWidget):
    _esm = '''
    function render({ model, el }) {
        const box = document.createElement("div");
        box.tabIndex = 0;
        box.className = "keys";
        const show = () => { box.textContent = "pressed: " + model.get("pressed"); };
        box.addEventListener("keydown", event => {
            event.stopPropagation();
            model.set("pressed", model.get("pressed") + event.key);
            model.save_changes();
        });
        model.on("change:pressed", show);
        show();
        el.appendChild(box);
    }
    export default { render };
    '''
    pressed = traitlets.Unicode("").tag(sync=True)
Keys()
"""


def test_a_button_and_a_key_reach_the_kernel_and_come_back(desk):
    desk.open(desk.write("alive.ipynb", BUTTON, KEYS))
    assert desk.run_all() == []
    desk.page.get_by_role("button", name="press").click()
    desk.page.get_by_text("touched", exact=True).wait_for()
    desk.page.locator(".keys").press("d")
    desk.page.locator(".keys").press("d")
    desk.page.get_by_text("pressed: dd").wait_for()


def test_the_error_of_a_cell_is_returned(desk):
    desk.open(desk.write("fails.ipynb", "1 / 0"))
    assert desk.run_all() == ["ZeroDivisionError: division by zero"]


def test_a_request_to_another_server_and_a_dialog_are_noticed(desk):
    desk.open(desk.write("loud.ipynb", "1"))
    desk.page.evaluate("fetch('http://example.org/x').catch(() => null)")
    desk.page.evaluate("alert('look')")
    assert (desk.strangers, desk.alarms) == (["http://example.org/x"], ["alert: look"])
    desk.strangers.clear()
    desk.alarms.clear()
