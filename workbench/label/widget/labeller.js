// Builds the panel that the kernel sends, and sends the kernel what was pressed. All text is set as text:
// text of a database or a model is never read as HTML.

const TAGS = new Set(["article", "button", "caption", "code", "details", "div", "h3", "h4", "h5", "kbd",
  "label", "li", "ol", "option", "p", "pre", "section", "select", "span", "strong", "summary", "table",
  "tbody", "td", "th", "thead", "tr", "ul"]);
const ATTRIBUTES = /^(class|type|title|role|scope|selected|tabindex|value|aria-[a-z]+|data-[a-z]+)$/;
const OWN_SCROLL = ".box, .wide, .wb-error";  // the arrow keys scroll these while they have the focus
const SCROLL = { ArrowDown: 60, ArrowUp: -60, PageDown: 400, PageUp: -400 };

function draw(tree) {
  if (typeof tree === "string") return document.createTextNode(tree);
  const [tag, attributes, ...children] = tree;
  if (!TAGS.has(tag)) throw new Error(`no tag ${tag}`);
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (!ATTRIBUTES.test(name)) throw new Error(`no attribute ${name}`);
    element.setAttribute(name, value);
  }
  element.append(...children.map(draw));
  return element;
}

function render({ model, el }) {
  const open = new Set();  // details that the reader opened stay open in the next case
  let shown = null;  // the index of the case on the screen

  const root = el.appendChild(document.createElement("div"));
  root.className = "wb wb-labeller mathjax_ignore tex2jax_ignore";
  root.tabIndex = 0;
  root.setAttribute("role", "application");
  root.setAttribute("aria-label", "Labelling of errors");
  root.dataset.testid = "labeller";
  const error = root.appendChild(draw(["pre", { role: "alert", class: "wb-error", tabindex: "0", "data-testid": "error" }]));
  const panel = root.appendChild(draw(["div", {}]));
  const line = root.appendChild(draw(["div", { class: "wb-bar" }]));
  const label = line.appendChild(draw(["label", { class: "wb-note" }]));
  const name = label.appendChild(draw(["span", {}, "Note"]));
  const field = label.appendChild(document.createElement("textarea"));
  field.rows = 1;
  field.dataset.testid = "field";
  const save = line.appendChild(draw(["button", { type: "button", "data-testid": "save" }, "Save"]));
  line.appendChild(draw(["span", { class: "quiet" }, "Enter saves, Esc leaves the field; ? shows the keys"]));
  const status = root.appendChild(draw(["p", { role: "status", class: "wb-status", "data-testid": "status" }]));

  const showError = (text) => {
    error.textContent = text;
    error.hidden = !text;
    error.scrollTop = error.scrollHeight;  // a traceback ends with the error
  };
  // The field holds the note, or the answer to what a button asks: then `asked` is the button's step, and the note waits.
  let asked = null;
  let note = "";
  const ask = (button) => {
    if (asked === null) note = field.value;
    asked = button.dataset.do === "note" ? null : button.dataset.do;
    name.textContent = button.dataset.ask;
    field.value = asked === null ? note : button.dataset.text ?? "";
    field.focus();
    if (asked !== null) field.select();
  };
  const leave = () => {
    if (asked !== null) field.value = note;
    asked = null;
    name.textContent = "Note";
    root.focus({ preventScroll: true });
  };
  const answer = () => {
    const [step, value] = [asked ?? "note", field.value];
    leave();
    send(step, asked === null && step === "note" ? "" : value);
  };
  const press = (button) => {
    if (button.matches("select")) button.focus();
    else if (button.dataset.ask) ask(button);
    else send(button.dataset.do, button.dataset.value);
  };
  const send = (step, value = "") => {
    const seen = shown === null ? null : Number(shown);
    try {
      model.send({ do: step, value, note: asked === null ? field.value : note, seen });
    } catch (problem) {
      showError(`Nothing was saved: the kernel is gone (${problem}). Run the notebook again.`);
    }
  };
  const remember = (event) => {
    if (event.target.open) open.add(event.target.dataset.fold);
    else open.delete(event.target.dataset.fold);
  };

  const show = () => {
    try {
      const old = panel.querySelector(".wb-case");
      const focus = panel.contains(document.activeElement);
      const focused = document.activeElement?.dataset?.testid;
      panel.replaceChildren(draw(model.get("panel")));
      for (const part of panel.querySelectorAll("details")) {
        part.open = open.has(part.dataset.fold);
        part.addEventListener("toggle", remember);
      }
      const body = panel.querySelector(".wb-case");
      if (old && body && old.dataset.case === body.dataset.case) body.scrollTop = old.scrollTop;
      if (shown !== (body?.dataset.case ?? null)) {
        asked = null;  // an answer that is being typed was about the case before
        name.textContent = "Note";
        field.value = note = model.get("note");
      }
      shown = body?.dataset.case ?? null;
      line.hidden = !body;
      if (focus || document.activeElement === root) root.scrollIntoView({ block: "nearest" });
      if (focus) (panel.querySelector(`[data-testid="${CSS.escape(focused ?? "")}"]`) ?? root).focus({ preventScroll: true });
    } catch (problem) {
      showError(String(problem));
    }
  };
  const showStatus = () => { status.textContent = model.get("status"); };
  const showLastError = () => showError(model.get("error"));

  root.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-do]");
    if (event.target === save) answer();
    else if (button) press(button);
    else if (!event.target.closest("select, textarea, summary, [tabindex]:not(.wb-labeller)")) root.focus({ preventScroll: true });
  });
  root.addEventListener("change", (event) => {
    if (event.target.matches("select[data-do]")) send(event.target.dataset.do, event.target.value);
  });
  // A note that is being typed is kept when another view shows another case here.
  field.addEventListener("change", () => asked === null && send("draft"));
  // Keys do not reach JupyterLab, whose shortcuts would act on the cell; only Ctrl+S, which saves the notebook.
  root.addEventListener("keydown", (event) => {
    const saves = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s";
    if (!saves) event.stopPropagation();
    if (event.target === field) {
      if (event.key === "Escape" || (event.key === "Enter" && !event.shiftKey && !event.isComposing)) {
        event.preventDefault();
        if (event.key === "Enter") answer();
        else leave();
      }
      return;
    }
    if (event.key === "Escape") {
      root.focus({ preventScroll: true });
      panel.querySelector('[data-do="help"][aria-pressed="true"]')?.click();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select")) return;
    const body = panel.querySelector(".wb-case");
    if (event.key in SCROLL && event.target.closest(OWN_SCROLL)) {
      // the browser scrolls it
    } else if (event.key in SCROLL && body) {
      event.preventDefault();
      body.scrollBy(0, SCROLL[event.key]);
    } else if (event.key.length === 1) {
      const key = event.shiftKey ? event.key : event.key.toLowerCase();  // CapsLock changes nothing
      const button = panel.querySelector(`[data-key="${CSS.escape(key)}"]`);
      if (button) {
        event.preventDefault();
        if (!event.repeat) press(button);
      }
    }
  });

  model.on("change:panel", show);
  model.on("change:status", showStatus);
  model.on("change:error", showLastError);
  show();
  showStatus();
  showLastError();
  if (model.get("eager")) requestAnimationFrame(() => root.focus({ preventScroll: true }));
  return () => {
    model.off("change:panel", show);
    model.off("change:status", showStatus);
    model.off("change:error", showLastError);
  };
}

export default { render };
