"""A widget on a page of its own, without JupyterLab: its module, its traits, and the kernel's part in this process."""

import json
import os
from pathlib import Path

PICTURES = Path(
    os.environ.get("WORKBENCH_SCREENSHOTS") or Path(__file__).parent / "screenshots"
)
NAMES = (
    "layout-color1",
    "ui-font-color0",
    "ui-font-color1",
    "border-color2",
    "brand-color1",
)
THEMES = {
    "light": ("#fff", "#000", "rgba(0,0,0,.87)", "#e0e0e0", "#1976d2"),
    "dark": ("#212121", "#fff", "rgba(255,255,255,.87)", "#424242", "#2196f3"),
}
SCREENS = [("light", 1280, 800), ("dark", 1600, 1000)]
SIDEWAYS = "[...document.querySelectorAll('.wb, .wb > *')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
MODEL = """
const heard = {}, traits = JSON.parse(TRAITS);
const fire = (name, ...given) => (heard[name] ?? []).forEach(one => one(...given));
window.fire = fire;
const take = text => {
  const { changed, said } = JSON.parse(text);
  for (const [name, value] of Object.entries(changed)) {
    const was = JSON.stringify(traits[name]);
    traits[name] = value;
    if (JSON.stringify(value) !== was) fire(`change:${name}`);
  }
  fire("msg:custom", said);
};
const model = {
  get: name => traits[name],
  on: (name, does) => (heard[name] ??= []).push(does),
  off: (name, does) => { heard[name] = heard[name].filter(one => one !== does); },
  send: message => { if (window.dead) throw new Error("closed"); if (!window.silent) toKernel(JSON.stringify(message)).then(take); },
};
"""


def mount(page, widget, theme="light"):
    """Show the widget; messages of the page are answered by it, and what it says and sets goes to the page."""
    names = [name for name in widget.trait_names(sync=True) if not name.startswith("_")]
    traits = [
        name for name in names if name not in {"layout", "comm", "tooltip", "tabbable"}
    ]

    def state():
        return widget.get_state(traits)  # as it is sent

    def hear(text):
        return json.dumps({"said": widget.answer(json.loads(text)), "changed": state()})

    page.expose_function("toKernel", hear)
    given = zip(NAMES, THEMES[theme], strict=True)
    colours = "".join(f"--jp-{name}:{value};" for name, value in given)
    page.set_content(
        f"<!doctype html><html style='{colours}background:var(--jp-layout-color1)'><body style='margin:12px'>"
        "<div id='widget'></div></body></html>"
    )
    page.add_style_tag(content=widget._css)
    model = MODEL.replace("TRAITS", json.dumps(json.dumps(state())))
    script = widget._esm.replace("export default { render };", "")
    start = (
        "render({ model, el: document.getElementById('widget') }); window.ready = true;"
    )
    page.add_script_tag(type="module", content=f"{model}\n{script}\n{start}")
    page.wait_for_function("window.ready === true")


def picture(page, name):
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png")


def part(page, name):
    return page.locator(f"[data-part={name}]")
