// The explorer and the comparison. The kernel records, renders, runs and judges; this page holds what is typed, and draws.
// Without a list of systems it is the comparison alone, in a cell of its own.
const {
  h,
  div,
  span,
  h3,
  fill,
  mark,
  badge,
  diff,
  lineDiff,
  line,
  tokens,
  align,
  sqlUnified,
  sql,
  table,
  many,
  count,
  keys,
  kernel,
  seg,
  select,
  help,
  entry,
} = desk;
const HIGH = 56; // pixels of a row of the list
const NEAR = 4; // rows above those in sight that are drawn, too
const DRAWN = 24; // rows of the list that are drawn: those near, and as many as a screen holds
const GROW = 60; // rows of the grid that are added at its end
const PATIENCE = 20000; // milliseconds until a silent kernel is said to be gone
const FILTERS = [
  ["all", "All"],
  ["right", "Right"],
  ["wrong", "Wrong"],
  ["lost", "Lost", "a right candidate was there and another was picked"],
];
const KEYS = [
  ["/", "search"],
  ["↑ ↓", "question before, next"],
  ["1 2 3", "template, rendered, diff"],
  ["Ctrl ↵", "run"],
  ["Ctrl ⇧ ↵", "keep the edits, run on 20"],
  ["p c", "prompt, compare"],
  ["r", "reset the prompt"],
  ["v", "variables"],
  ["Esc", "close, leave a field"],
];
const number = (n) => Number(n).toLocaleString("en");
const signed = (n) => (n > 0 ? "+" : n < 0 ? "−" : "") + Math.abs(n).toFixed(1);
/** SQL in a few words for a cell: no aliases, no ON; the whole stands in the tooltip and in the opened row. */
const gist = (text) =>
  text
    .replace(/ AS T\d+/g, "")
    .replace(/ ON \S+ = \S+/g, "")
    .replace(/\bT\d+\./g, "")
    .replace(/INNER JOIN/g, "JOIN");

function render({ model, el }) {
  const alone = !model.get("setup").systems;
  const state = {
    view: alone ? "compare" : "prompt",
    id: "",
    filter: "all",
    find: "",
    tab: "template",
    edits: {},
    call: null,
    rendered: null,
    stale: false, // whether the prompt was edited since it was rendered
    fault: "",
    line: null, // of the template, at which the fault is
    folded: true, // whether the template's comment is
    ran: null,
    busy: "",
    error: "",
    against: "gold",
    pop: null,
    reply: false,
    open: null,
    opened: {},
    changes: {}, // of the columns of the comparison, by name
    disputed: false,
    firstPrice: "", // of the first comparison, once Compare is opened
    equal: false, // whether rows are shown where nothing differs
    most: GROW,
    said: "",
  };
  let all = model.get("rows"),
    hits = all,
    detail = model.get("detail"),
    timer = 0,
    drafting = 0,
    picking = 0,
    drawnFrom = -1; // the first row of the list that is drawn
  state.edits = model.get("setup").draft ?? {};
  state.system = model.get("setup").system;
  const { ask: send, on, stop } = kernel(model);
  /** A kernel that runs something long answers nothing else meanwhile, and is not gone. */
  const ask = (message) => send(message, state.busy ? 0 : PATIENCE);

  // ---- what is edited: by prompt, so that it stays when another question is shown
  const call = () => state.call;
  const edit = () => (call() && state.edits[call().prompt]) || {};
  const source = () => edit().source ?? call().source;
  const changed = () => Object.keys(edit()).length > 0;
  function change(part, value, was) {
    const now = { ...edit(), [part]: value };
    if (value === was || (part === "data" && !Object.keys(value).length)) delete now[part];
    if (Object.keys(now).length) state.edits[call().prompt] = now;
    else delete state.edits[call().prompt];
    Object.assign(state, { ran: null, error: "", stale: true });
    drawTabs();
    drawFoot();
    drawResult();
    later();
    draft();
  }
  const reset = () => {
    if (!call()) return;
    delete state.edits[call().prompt];
    Object.assign(state, { ran: null, error: "", stale: true });
    draw();
    later(0);
    draft();
  };
  /** Have the edits kept on disk, once nobody has typed for a moment. */
  function draft(wait = 400) {
    clearTimeout(drafting);
    drafting = setTimeout(() => ask({ do: "draft", edits: state.edits }).catch(fail), wait);
  }
  const asked = () => ({ key: detail.key, n: call().n, edit: edit() });
  /** Ask the kernel how the prompt reads and what it costs, once nobody has typed for a moment. */
  function later(wait = 140) {
    clearTimeout(timer);
    if (!call()) return;
    timer = setTimeout(() => {
      const what = JSON.stringify(asked()),
        fits = () => call() && what === JSON.stringify(asked());
      ask({ do: "render", ...asked() })
        .then((found) => {
          if (!fits()) return;
          const { fault = "", line = null } = found;
          Object.assign(state, { rendered: fault ? null : found, fault, line, stale: false });
          drawFoot();
          drawPage();
        })
        .catch(fail);
    }, wait);
  }
  /** Whether the price that is shown is that of the model that is chosen. */
  const priced = () => state.rendered?.model === (edit().model ?? call()?.model);
  /** A price; none is shown before the kernel knows it. */
  function price(text) {
    if (state.fault) return "";
    return !priced() || (state.stale && text === "cached") ? "…" : text;
  }

  // ---- messages
  const fail = (error) => {
    state.error = error.message;
    if (state.view === "prompt") drawResult();
    else drawCompare();
  };
  /** Ask for something that takes long: one thing at a time, and what went wrong stands under the result. */
  function work(what, message, then) {
    if (state.busy) return;
    if (box.pop.contains(document.activeElement)) focus(box.list);
    Object.assign(state, { busy: what, error: "", pop: null, said: "" });
    draw();
    send(message)
      .then(then)
      .catch((error) => {
        state.error = error.message;
      })
      .finally(() => {
        state.busy = "";
        draw();
      });
  }
  const run = () => {
    if (state.view === "compare") return compareOn(model.get("grid").more);
    if (call() && !state.fault && priced()) {
      const at = asked();
      work("run", { do: "run", ...at }, (found) => {
        if (call() && at.key === detail.key && at.n === call().n) {
          Object.assign(state, { ran: found, stale: true });
          later(0);
        }
      });
    }
  };
  const canKeep = () => Object.keys(state.edits).length > 0 && !state.fault && priced();
  function keep() {
    if (state.view !== "prompt" || !canKeep()) return;
    work("keep", { do: "keep", edits: state.edits }, () => {
      view("compare");
      state.busy = "";
      compareOn(compared());
    });
  }
  /** How many questions are compared, or would be first. */
  const compared = () => model.get("grid").rows?.length || model.get("grid").more;
  function compareOn(count, add = "") {
    if (!alone && count)
      work("compare", { do: "compare", count, add }, () => {
        state.opened = {};
        state.open = null;
      });
  }
  const pay = () => work("pay", { do: "choose", key: state.id, pay: true }, () => {});
  const list = (system) => {
    if (state.busy) return;
    clearTimeout(drafting);
    ask({ do: "draft", edits: state.edits }).catch(fail);
    work("list", { do: "list", system }, () => {});
  };
  const reopen = (name) => {
    clearTimeout(drafting);
    work("list", { do: "reopen", name }, (found) => {
      state.edits = found.draft;
      view("prompt");
      later(0);
    });
  };
  /** Rename or remove a variant. */
  function alter(message) {
    ask(message)
      .then(() => pop(null))
      .catch((error) => {
        state.said = error.message;
        drawPop();
      });
  }
  function choose(id) {
    state.id = id;
    markChosen();
    if (state.pop) {
      state.pop = null;
      drawPop();
    }
    clearTimeout(picking);
    picking = setTimeout(() => {
      if (detail.key !== id) ask({ do: "choose", key: id }).catch(fail);
    }, 40);
  }
  function show(n) {
    state.pop = null;
    ask({ do: "call", key: detail.key, n })
      .then((found) => {
        Object.assign(state, { call: found, ran: null, error: "" });
        draw();
        later(0);
      })
      .catch(fail);
  }
  function open(key) {
    state.open = state.open === key ? null : key;
    drawCompare();
    if (state.open && !state.opened[key])
      ask({ do: "open", key })
        .then((found) => {
          state.opened[key] = found;
          drawCompare();
        })
        .catch((error) => {
          state.opened[key] = { error: error.message };
          drawCompare();
        });
  }
  function save(name, variant = "") {
    ask({ do: "save", name, variant })
      .then((said) => {
        state.pop = null;
        state.said = `Saved in ${said}.`;
        drawPop();
        drawCompare();
      })
      .catch((error) => {
        state.said = error.message;
        drawPop();
      });
  }

  // ---- parts that stay: built once, so that focus, scroll and caret stay where they are
  const root = h("div", { class: "wb", style: alone ? "height:auto;max-height:620px" : null });
  const box = {
    top: h("div", { class: "bar", role: "toolbar" }),
    body: div("body"),
    space: div(""),
    list: h("div", {
      class: "list scroll",
      role: "listbox",
      tabindex: "0",
      "aria-label": "questions",
      onscroll: () => scrolled(),
    }),
    ask: div("ask"),
    trace: h("div", { class: "trace", role: "toolbar", "aria-label": "steps" }),
    tabs: div("bar"),
    page: div("scroll"),
    foot: div("under"),
    head: div("bar"),
    result: h("div", { class: "scroll", tabindex: "0", "aria-label": "result" }),
    told: div("told"),
    compare: h("div", { class: "main", style: "flex:1" }),
    pop: h("div", { class: "pop scroll", hidden: true, role: "dialog" }),
    choices: span("choices"),
    filters: span("choices"),
    views: span(""),
    find: h("input", {
      type: "search",
      placeholder: "Search",
      "aria-label": "search questions",
      oninput: (event) => {
        state.find = event.target.value;
        search();
        box.list.scrollTop = 0;
        drawTop();
        drawRows();
      },
      onkeydown: (event) => {
        if (!/^(Enter|ArrowDown|ArrowUp)$/.test(event.key)) return;
        event.preventDefault();
        focus(box.list);
        if (hits.length && !hits.some((row) => row.key === state.id)) choose(hits[0].key);
        else if (event.key !== "Enter") move(event.key === "ArrowDown" ? 1 : -1);
        reveal();
      },
    }),
    text: h("textarea", {
      spellcheck: "false",
      "aria-label": "template",
      oninput: (event) => {
        change("source", folded() + event.target.value, call().source);
        drawPaint();
      },
    }),
    fold: h("button", {
      class: "link fold",
      onclick: () => {
        state.folded = !state.folded;
        drawPage();
      },
    }),
    paint: h("pre", { "aria-hidden": "true" }),
    bar: div("bar"),
    grid: h("div", {
      class: "scroll grow",
      tabindex: "0",
      style: "min-height:0",
      "aria-label": "comparison",
      onscroll: (event) => {
        const { scrollTop, clientHeight, scrollHeight } = event.target;
        if (
          scrollTop + clientHeight > scrollHeight - 400 &&
          state.most < (model.get("grid").rows ?? []).length
        ) {
          state.most += GROW;
          drawCompare();
        }
      },
    }),
  };
  box.finder = span("find", box.find, h("kbd", {}, "/"));
  box.editor = div("edit", box.paint, box.text);
  box.template = div("", box.fold, box.editor);
  box.main = div(
    "main",
    box.ask,
    box.trace,
    h(
      "div",
      { class: "panes" },
      h("section", { class: "pane", "aria-label": "prompt" }, box.tabs, box.page, box.foot),
      h("section", { class: "pane", "aria-label": "reply" }, box.head, box.result, box.told),
    ),
  );
  box.list.append(box.space);
  box.body.append(box.list, box.main);
  box.compare.append(box.bar, box.grid);
  box.top.append(
    box.choices,
    box.finder,
    box.filters,
    span("grow"),
    box.views,
    h(
      "button",
      { class: "plain", "aria-label": "keys", title: "Keys (?)", onclick: () => pop("keys") },
      "?",
    ),
  );
  root.append(...(alone ? [box.compare, box.pop] : [box.top, box.body, box.compare, box.pop]));
  el.append(root);

  // ---- the list
  function search() {
    const words = state.find.toLowerCase().split(/\s+/).filter(Boolean);
    hits = all.filter(
      (row) =>
        (state.filter === "all" || row.status === state.filter) &&
        words.every((word) => `${row.id} ${row.db} ${row.question}`.toLowerCase().includes(word)),
    );
  }
  function clear() {
    state.find = box.find.value = "";
    state.filter = "all";
    search();
    drawTop();
    drawRows();
  }
  /** The place of the chosen question in the list; -1 if the list lacks it. */
  const place = () => hits.findIndex((row) => row.key === state.id);
  function move(by) {
    if (state.view !== "prompt" || !hits.length) return;
    const to = Math.min(hits.length - 1, Math.max(0, place() + by));
    choose(hits[to].key);
    reveal();
  }
  /** Scroll the list so far that the chosen question is in sight. */
  function reveal() {
    const top = HIGH * Math.max(0, place()),
      high = box.list.clientHeight,
      before = box.list.scrollTop;
    const to = Math.min(top, Math.max(before, top + HIGH - high));
    if (to !== before) box.list.scrollTop = to;
    scrolled();
  }
  /** The first row that is drawn; it changes once in NEAR rows, so that few keys draw the list. */
  const firstDrawn = () => Math.max(0, Math.floor(box.list.scrollTop / HIGH / NEAR) * NEAR - NEAR);
  function scrolled() {
    if (firstDrawn() !== drawnFrom) drawRows();
    else markChosen();
  }
  function markChosen() {
    box.list.setAttribute("aria-activedescendant", `q${state.id}`);
    for (const row of box.space.children) {
      const isChosen = String(row.id === `q${state.id}`);
      if (row.id && row.getAttribute("aria-selected") !== isChosen)
        row.setAttribute("aria-selected", isChosen);
    }
  }
  function drawTop() {
    if (alone) return;
    const { systems, system, benchmark } = model.get("setup"),
      off = state.view !== "prompt";
    box.finder.hidden = box.filters.hidden = off;
    fill(
      box.choices,
      systems.length > 1 ? select(systems, system, list, "system") : h("b", {}, system),
      span("dim", benchmark),
    );
    fill(
      box.filters,
      seg(
        FILTERS,
        state.filter,
        (to) => {
          state.filter = to;
          search();
          box.list.scrollTop = 0;
          drawTop();
          drawRows();
        },
        "outcome",
      ),
      h("span", { class: "dim", "aria-live": "polite", "data-part": "hits" }, number(hits.length)),
    );
    fill(
      box.views,
      seg(
        [
          ["prompt", "Prompt", "p"],
          ["compare", "Compare", "c"],
        ],
        state.view,
        view,
        "view",
      ),
    );
  }
  /** Only the rows in sight are in the page: 32,000 scroll as 40 do. */
  function drawRows() {
    const from = firstDrawn();
    drawnFrom = from;
    box.space.style.height = `${hits.length * HIGH}px`;
    fill(
      box.space,
      hits.slice(from, from + DRAWN).map((row, k) =>
        h(
          "div",
          {
            class: "row",
            role: "option",
            id: `q${row.key}`,
            style: `top:${(from + k) * HIGH}px`,
            title: `${row.db}, ${row.difficulty}`,
            onclick: () => choose(row.key),
          },
          span("dim", mark(row.status), row.id),
          span("two", row.question),
        ),
      ),
      !hits.length &&
        div(
          "empty",
          h(
            "p",
            {},
            state.find
              ? `No question has “${state.find}”.`
              : "No question of this kind is known yet.",
          ),
          h(
            "button",
            { style: "margin-top:12px", onclick: clear },
            "Show all",
            h("kbd", {}, "Esc"),
          ),
        ),
    );
    markChosen();
  }

  // ---- the question, its steps, and the call
  function drawAsk() {
    fill(
      box.ask,
      div(
        "flex",
        h("b", { class: "grow", "data-part": "question" }, detail.question),
        span("dim nowrap", [detail.id, detail.db, detail.difficulty].filter(Boolean).join(" · ")),
      ),
      h(
        "div",
        { class: "dim two", title: detail.hint },
        detail.hint ? `Hint: ${detail.hint}` : "No hint",
      ),
    );
  }
  function drawTrace() {
    const verb = call()?.prompt.split("/")[0],
      lacking = detail.steps.reduce((sum, step) => sum + step.missing, 0);
    fill(
      box.trace,
      detail.steps.flatMap((step, i) => {
        const status =
          step.name === "select" && step.reached && !step.missing
            ? detail.answer.status
            : step.reached
              ? "done"
              : "none";
        return [
          i > 0 && h("span", { class: "dim", "aria-hidden": "true" }, "›"),
          h(
            "button",
            {
              class: `chip ${step.missing ? "missing" : ""} ${step.name === verb ? "on" : ""}`,
              "data-step": step.name,
              "aria-expanded": String(state.pop === step.name),
              onclick: () => pop(step.name),
            },
            step.missing ? h("span", { class: "none", "aria-hidden": "true" }, "○") : mark(status),
            step.name,
            step.missing
              ? span("dim", `${step.missing} missing · ${step.price}`)
              : step.calls > 0 && span("dim", `×${step.calls}`),
          ),
        ];
      }),
      span("grow"),
      span(
        "dim ext one",
        `${many(detail.calls.length, "call")}, ${lacking ? `${lacking} missing` : "all cached"}`,
      ),
    );
  }
  /** The calls of the same prompt as the one that is shown. */
  const samples = () =>
    [...detail.calls.keys()].filter((n) => detail.calls[n][0] === call().prompt);
  function drawTabs() {
    if (!call()) return fill(box.tabs, span("dim", "No call is made for this question."));
    const of = samples(),
      at = of.indexOf(call().n),
      dirty = source() !== call().source;
    const step = (by, sign, name) =>
      h(
        "button",
        {
          class: "plain",
          style: "padding:0 4px",
          "aria-label": name,
          disabled: !of[at + by] && of[at + by] !== 0,
          onclick: () => show(of[at + by]),
        },
        sign,
      );
    fill(
      box.tabs,
      seg(
        [
          ["template", "Template", "1"],
          ["rendered", "Rendered", "2"],
          ["diff", dirty ? "Diff •" : "Diff", "3"],
        ],
        state.tab,
        (tab) => {
          state.tab = tab;
          drawTabs();
          drawPage();
        },
        "prompt",
      ),
      span("grow"),
      h(
        "span",
        { class: "dim one", title: call().prompt, "data-part": "prompt" },
        call().prompt.split("/").pop(),
      ),
      of.length > 1 && [
        step(-1, "‹", "call before"),
        span("dim", `${at + 1}/${of.length}`),
        step(1, "›", "next call"),
      ],
    );
  }
  /** The front matter that opens a template, which is folded until somebody opens it. */
  const comment = () => call().source.match(/^---\n[\s\S]*?\n---\n/)?.[0] ?? "";
  /** What is folded of the text. */
  const folded = () => (state.folded && source().startsWith(comment()) ? comment() : "");
  const breaks = (text) => text.split("\n").length - 1;
  /** The lines that are new, and with a half the gaps in which lines were. */
  function changedLines() {
    const changed = new Set();
    if (source() === call().source) return changed;
    let at = -1;
    for (const [op] of diff(call().source.split("\n"), source().split("\n"))) {
      if (op !== "-") at++;
      if (op !== "=") changed.add(op === "+" ? at : at + 0.5);
    }
    return changed;
  }
  /** The template with headings, tags and comments told apart, the numbers of its lines, what each
      variable weighs, a bar at changed lines, and the line at fault. */
  function drawPaint() {
    const size = new Map(
      call().data.map(([name, text]) => [name, Math.round(text.length * call().rate)]),
    );
    const changed = changedLines();
    let inComment = false;
    const lines = source()
      .split("\n")
      .map((text, n) => {
        if (text.startsWith("{#") || (n === 0 && text === "---")) inComment = true;
        const kind = inComment ? "c" : /^#{1,3} /.test(text) ? "t" : "";
        const name = !inComment && text.match(/\{\{ (\w+)/)?.[1];
        if (text.trimEnd().endsWith("#}") || (n > 0 && text === "---")) inComment = false;
        const bar = changed.has(n) ? "new" : changed.has(n - 0.5) ? "cut" : "";
        const fault = state.line === n + 1 ? "fault" : "";
        const parts = text.split(/(\{[{%].*?[}%]\})/);
        const painted = parts.map((part) => (/^\{[{%]/.test(part) ? span("j", part) : part));
        const weight = size.get(name);
        return span(
          `at ${kind} ${bar} ${fault}`,
          h("i", { class: "no" }, fault ? `✕ ${n + 1}` : String(n + 1)),
          weight != null &&
            h("i", { class: "gut", title: `${name}: ${weight} tokens` }, number(weight)),
          kind ? text : painted,
        );
      });
    fill(box.paint, lines.slice(breaks(folded())));
    box.editor.classList.toggle("faulty", !!state.fault);
  }
  function drawPage() {
    if (!call()) return fill(box.page, div("empty", "There is no prompt to show."));
    if (state.tab === "template") {
      const text = source().slice(folded().length);
      if (box.text.value !== text) box.text.value = text;
      const hidden = breaks(comment());
      box.fold.hidden = !hidden || !source().startsWith(comment());
      fill(box.fold, `${state.folded ? "▸" : "▾"} ${many(hidden, "line")} of comment`);
      box.fold.setAttribute("aria-expanded", String(!state.folded));
      drawPaint();
      if (box.page.firstChild !== box.template) fill(box.page, box.template);
      return;
    }
    box.page.tabIndex = 0;
    if (state.tab === "rendered") {
      if (state.fault)
        return fill(
          box.page,
          h("div", { class: "note", role: "alert" }, mark("wrong"), state.fault),
        );
      let role = "";
      return fill(
        box.page,
        (state.rendered?.parts ?? []).flatMap(({ role: who, title, text, tokens: size }) => {
          const first = who !== role && div("role", who);
          role = who;
          return [
            first,
            h(
              "div",
              { class: "sec code", "data-section": title || who },
              title && h("b", {}, h("span", { title: `${size} tokens` }, number(size)), title),
              h("pre", { class: "code" }, text),
            ),
          ];
        }),
        !state.rendered && div("empty", "Rendering…"),
      );
    }
    fill(
      box.page,
      source() === call().source
        ? div("empty", "The template is as it was. Edit it to see here what changed.")
        : lineDiff(call().source, source()),
    );
  }
  function drawFoot() {
    if (!call()) return fill(box.foot);
    const found = state.rendered,
      models = [...new Set([...model.get("setup").models, edit().model ?? call().model])],
      heat = edit().temperature ?? call().temperature;
    const pick = (to) => {
      if (to !== "another model…") return change("model", to, call().model);
      pop("model");
      drawFoot();
    };
    fill(
      box.foot,
      state.fault &&
        h(
          "div",
          { class: "note", role: "alert" },
          mark("wrong"),
          h("span", { style: "white-space:normal" }, state.fault),
        ),
      div(
        "",
        select([...models, "another model…"], edit().model ?? call().model, pick, "model"),
        h(
          "label",
          { class: "dim", title: "temperature" },
          "T ",
          h("input", {
            value: heat ?? "",
            style: "width:44px;padding:0 6px",
            "aria-label": "temperature",
            onchange: (event) => {
              const to =
                event.target.value.trim() === "" ? call().temperature : Number(event.target.value);
              if (Number.isFinite(to)) change("temperature", to, call().temperature);
              else drawFoot();
            },
          }),
        ),
        h(
          "button",
          {
            "data-step": "variables",
            "aria-expanded": String(state.pop === "variables"),
            onclick: () => pop("variables"),
          },
          "Variables",
          span("dim", String(call().data.filter((one) => one[2] && one[1]).length)),
        ),
        span("grow"),
        h(
          "span",
          { class: "dim", "aria-live": "polite", "data-part": "tokens" },
          found ? `${number(found.tokens)} tokens` : "…",
        ),
      ),
      div(
        "",
        h(
          "button",
          {
            class: "plain",
            style: "margin-left:-10px",
            disabled: !changed(),
            title: "Back to the prompt as it is (r)",
            onclick: reset,
          },
          "Reset",
        ),
        span("grow"),
        h(
          "button",
          {
            title:
              "Keep the edits as a variant, run it on more questions, and compare it (Ctrl+Shift+Enter)",
            "data-part": "many",
            disabled: !!state.busy || !canKeep(),
            onclick: keep,
          },
          found ? `Run on ${found.count}` : "Run on 20",
          found && span("dim", price(found.many)),
        ),
        h(
          "button",
          {
            class: "primary go",
            onclick: run,
            disabled: !!state.busy || !!state.fault || !priced(),
            title: "Ctrl+Enter",
            "data-part": "run",
          },
          state.busy === "run"
            ? "Running…"
            : [
                "Run",
                h("span", { style: "font-weight:400" }, price(found?.price ?? "")),
                h("kbd", { class: "ext" }, "Ctrl ↵"),
              ],
        ),
      ),
    );
  }

  // ---- the reply, its query, and both results
  /** A turn of a conversation: what the model says, its query, and what it is shown of the result. */
  const turnOf = ({ n, said, sql: query, seen }, i) =>
    h(
      "section",
      { class: "turn", "data-part": "turn", "aria-current": n === call().n ? "step" : null },
      div(
        "flex",
        h(
          "button",
          { class: "link", disabled: n == null, title: "Open this call", onclick: () => show(n) },
          `Turn ${i + 1}`,
        ),
        h("span", { class: "dim one grow", title: said }, said),
      ),
      query ? sql(query) : h("p", { class: "dim" }, "no query"),
      seen && h("pre", { class: "code seen" }, seen),
    );
  function drawResult() {
    const now = state.ran ?? (call()?.sql ? call() : detail.answer),
      own = state.ran || call()?.sql,
      silent = call() && !(state.ran ?? call()).sql;
    const before = state.against === "before" && state.ran?.pairBefore.length ? call() : null,
      turned = state.ran && ![state.ran.status, "none"].includes(state.ran.was);
    const other = before ? "before" : "gold";
    const base = before
      ? { sql: before.sql, result: before.result, pair: state.ran.pairBefore }
      : { sql: detail.gold, result: detail.goldResult, pair: now.pair };
    const [onlyNow, onlyBase] = before ? state.ran.differingBefore : now.differing;
    const same = !before && now.status === "right",
      who = own ? (state.ran ? "now" : "reply") : "answer";
    box.result.parentNode.classList.toggle("busy", !!state.busy);
    fill(
      box.head,
      h(
        "span",
        { class: "flex nowrap", "data-part": "verdict" },
        now.status !== "none" && badge(now.status, now.status.toUpperCase()),
        state.ran
          ? turned
            ? span("", "was ", mark(state.ran.was), ` ${state.ran.was.toUpperCase()}`)
            : span("dim", now.status === "none" ? "the new reply" : "as before")
          : span(
              "dim",
              own
                ? changed()
                  ? "before the edit"
                  : "this reply"
                : now.sql
                  ? "the system’s answer"
                  : "no answer yet",
            ),
      ),
      span("grow"),
      span("dim ext", state.ran?.paid),
    );
    const pair =
      now.sql &&
      div(
        "block",
        div(
          "hd",
          h3("grow", "SQL"),
          span("dim", state.ran?.pairBefore.length ? "against" : "against gold"),
          state.ran?.pairBefore.length > 0 &&
            seg(
              [
                ["gold", "gold"],
                ["before", "before", "the reply before the edit"],
              ],
              other,
              (to) => {
                state.against = to;
                drawResult();
              },
              "compared with",
            ),
        ),
        div(same && "calm", sqlUnified(base.sql, now.sql, base.pair, [other, who])),
      );
    const results =
      now.sql &&
      div(
        "block",
        div(
          "hd",
          h3("", "Result"),
          span("dim", count(now.result)),
          same && span("right", "as gold’s"),
        ),
        div("wide", table(now.result, same ? null : onlyNow, "p", `only ${who}`)),
      );
    const gold = div(
      "block",
      div(
        "hd",
        h3("", before ? "Result before" : now.sql ? "Result of gold" : "Gold"),
        span("dim", count(base.result)),
      ),
      !now.sql && sql(detail.gold),
      div("wide", table(base.result, same || !now.sql ? null : onlyBase, "g", `only ${other}`)),
    );
    const turns =
      call()?.turns.length > 1 &&
      div(
        "block",
        h3("", `Conversation, ${many(call().turns.length, "turn")}`),
        call().turns.map(turnOf),
      );
    const said = state.ran ?? call(),
      shown = state.reply || silent;
    const lines =
      silent &&
      state.ran &&
      call().cached &&
      diff(call().reply.split("\n"), said.reply.split("\n"));
    const text = lines
      ? lines.map(([op, a, b]) =>
          div(op === "-" ? "g own" : op === "+" ? "p own" : "", (a ?? b) || "\u00a0"),
        )
      : said?.reply;
    const toggle = () =>
      h(
        "button",
        {
          class: "link",
          style: "margin-left:-4px",
          "aria-expanded": String(!!shown),
          onclick: () => {
            state.reply = !state.reply;
            drawResult();
          },
        },
        `${shown ? "▾" : "▸"} Reply${said.replyTokens ? `, ${number(said.replyTokens)} tokens` : ""}`,
      );
    const reply =
      said &&
      h(
        "div",
        { class: "block", "data-part": "reply" },
        said.cached ? toggle() : h("p", { class: "dim" }, "This call is not in the cache."),
        shown && said.cached && h("pre", { class: "code said" }, text),
      );
    fill(box.result, turns, silent && reply, pair, results, gold, !silent && reply);
    fill(
      box.told,
      state.error &&
        h("div", { class: "note", role: "alert" }, mark("wrong"), span("grow", state.error)),
    );
  }

  // ---- what opens above the page
  const focus = (node) => node?.focus({ preventScroll: true });
  function pop(what) {
    if (!what && box.pop.contains(document.activeElement))
      focus(state.view === "prompt" ? box.list : box.grid);
    Object.assign(state, { pop: state.pop === what ? null : what, said: "" });
    if (!alone) drawTrace();
    drawPop();
    if (!state.pop) return;
    const first = box.pop.querySelector("input, [data-first]") ?? box.pop.querySelector("button");
    focus(first);
    first?.select?.(); // so that what is typed replaces the text
  }
  function drawPop() {
    const what = state.pop,
      step = detail.steps?.find((one) => one.name === what);
    box.pop.hidden = !what;
    if (box.pop.hidden) return;
    const column = columnOf(what);
    const at = root.querySelector(`[data-step=${what}]`)?.getBoundingClientRect(),
      frame = root.getBoundingClientRect(),
      wide = Math.min(frame.width - 24, step || column ? 616 : what === "save" ? 320 : 480);
    const left = at && `${Math.max(8, Math.min(at.left - frame.left, frame.width - wide - 12))}px`,
      below = (step || column || what === "save") && at;
    Object.assign(box.pop.style, {
      width: `${at ? wide : 320}px`,
      left: left ?? "",
      right: left ? "" : "8px",
      top: below ? `${at.bottom - frame.top + 4}px` : at ? "" : "40px",
      bottom: at && !below ? `${frame.bottom - at.top + 4}px` : "",
      maxHeight: `${below ? frame.bottom - at.bottom - 16 : 480}px`,
    });
    const close = h(
      "button",
      { class: "plain", "aria-label": "close", onclick: () => pop(null) },
      "×",
    );
    const head = (title, more) =>
      div("popped", h("b", {}, title), span("dim grow one", more), close);
    const field = (label, value, done, hint) => [
      entry(label, done, { value }),
      h("p", { class: "dim", style: "margin-top:8px" }, hint),
      state.said && h("p", { class: "wrong", role: "alert" }, state.said),
    ];
    if (what === "keys") return fill(box.pop, head("Keys", ""), help(KEYS));
    if (column) return fill(box.pop, head(column, ""), columnMenu(column));
    if (what === "save")
      return fill(
        box.pop,
        head("Save variants", ""),
        field(
          "name",
          "mine",
          save,
          "A folder in the workbench’s home, with a folder of prompts for each variant that edits one: wb.compare and --prompts take each.",
        ),
      );
    if (what === "model")
      return fill(
        box.pop,
        head("Another model", ""),
        field(
          "model",
          edit().model ?? call().model,
          (to) => {
            if (to) {
              pop(null);
              change("model", to, call().model);
            }
          },
          "PROVIDER/NAME, such as openai/gpt-4o-mini",
        ),
      );
    if (what === "variables")
      return fill(
        box.pop,
        head("Variables", "what the prompt shows; a text can be edited for a single run"),
        call().data.map(([name, text, used]) => {
          const own = edit().data?.[name],
            size = Math.round((own ?? text).length * call().rate);
          return h(
            "details",
            {},
            h(
              "summary",
              { class: "var" },
              span(`code ${used ? "" : "dim"}`, name),
              span("num dim", number(size)),
              span("dim one", used ? (own ?? text) || "empty" : "not used by this prompt"),
            ),
            h("textarea", {
              rows: "6",
              "aria-label": name,
              oninput: (event) => {
                const to = { ...edit().data, [name]: event.target.value };
                if (to[name] === text) delete to[name];
                change("data", to);
              },
              value: own ?? text,
            }),
          );
        }),
      );
    const missing =
      step.missing > 0 &&
      h(
        "div",
        { style: "margin-bottom:12px" },
        h(
          "p",
          {},
          `${many(step.missing, "call")} missing in the cache. Later calls depend on the replies.`,
        ),
        h(
          "button",
          { style: "margin-top:8px", "data-first": true, onclick: pay, disabled: !!state.busy },
          h("b", {}, "Ask what is missing"),
          span("dim", step.price),
        ),
      );
    const prompts = new Map(),
      { values, kept } = detail.retrieved,
      stays = new Set(
        kept.flatMap(([t, columns]) =>
          columns.filter((one) => one[1]).map((one) => `${t}.${one[0]}`),
        ),
      );
    detail.calls.forEach(([prompt, label, status], n) => {
      if (prompt.split("/")[0] === what)
        prompts.set(prompt, [...(prompts.get(prompt) ?? []), [label, status, n]]);
    });
    const button = ([label, status, n]) =>
      h(
        "button",
        {
          class: `col ${status === "right" || stays.has(label) ? "kept" : status === "wrong" ? "lesser" : ""}`,
          "aria-pressed": String(n === call()?.n),
          title: `Open the call ${label}`,
          onclick: () => show(n),
        },
        status !== "done" ? mark(status) : stays.has(label) && mark("right"),
        label,
      );
    const calls = [...prompts].map(([prompt, ones]) =>
      h(
        "section",
        {},
        h3("", `${prompt.split("/").pop()}, ${many(ones.length, "call")}`),
        div("chips", ones.map(button)),
      ),
    );
    const pruned =
      what === "prune" &&
      kept.length > 0 &&
      h(
        "section",
        {},
        h3(
          "",
          `${stays.size} of ${kept.reduce((sum, one) => sum + one[1].length, 0)} columns stay`,
        ),
        kept.map(([name, columns]) =>
          div(
            "cols",
            span("dim one code", name),
            div(
              "chips",
              columns.map(([column, stay]) =>
                span(`col ${stay ? "kept" : ""}`, stay && mark("right"), column),
              ),
            ),
          ),
        ),
      );
    const most = Math.max(1, ...detail.pool.map((group) => group.size));
    const pool =
      what === "select" &&
      detail.pool.map((group) =>
        h(
          "details",
          {},
          h(
            "summary",
            { class: "bars" },
            mark(group.status),
            span("", h("i", { style: `width:${(group.size / most) * 100}%` })),
            String(group.size),
            span("dim one", `${group.chosen ? "picked · " : ""}${group.rows ?? "no result"}`),
          ),
          group.queries.map((one) => div("asked", sql(one))),
        ),
      );
    const found =
      what === "retrieve" &&
      h(
        "section",
        {},
        h3("", `${many(values.length, "value")} found`),
        values.map((one) => div("code", one)),
      );
    const total = detail.pool.reduce((sum, group) => sum + group.size, 0);
    fill(
      box.pop,
      head(
        what,
        what === "select" && total
          ? `${many(total, "candidate")} in ${many(detail.pool.length, "result group")}`
          : "",
      ),
      missing,
      pool,
      pruned,
      calls,
      found,
      !step.calls &&
        !pool?.length &&
        !found &&
        !pruned &&
        h("p", { class: "dim" }, step.reached ? "No call was made." : "Not reached yet."),
    );
  }

  // ---- compare
  /** The name of the column whose button opens the menu. */
  function columnOf(what) {
    const [, kind, n] = /^(head|kept)(\d+)$/.exec(what) ?? [];
    const grid = model.get("grid");
    if (kind) return kind === "head" ? grid.heads[n].name : grid.kept[n][0];
  }
  /** What a column changes, and what can be done with a variant. */
  function columnMenu(name) {
    const isVariant = model.get("grid").kept?.some((one) => one[0] === name);
    const place = div("", columnChanges(state.changes[name]));
    if (!state.changes[name])
      ask({ do: "changes", name })
        .then((found) => {
          state.changes[name] = found;
          fill(place, columnChanges(found)); // and leaves the name, which may be typed by now
        })
        .catch(fail);
    const rename = (to) => (to === name ? pop(null) : alter({ do: "rename", name, to }));
    const act = (text, does) => h("button", { disabled: !!state.busy, onclick: does }, text);
    return [
      isVariant && entry("name", rename, { value: name }),
      state.said && h("p", { class: "wrong", role: "alert" }, state.said),
      isVariant &&
        div(
          "popped acts",
          act("Edit again", () => reopen(name)),
          act("Save", () => save(name, name)),
          act("Remove", () => alter({ do: "remove", name })),
        ),
      place,
    ];
  }
  function columnChanges(changes) {
    if (!changes) return h("p", { class: "dim" }, "Looking…");
    if (!changes.length)
      return h("p", { class: "dim" }, "Its prompts are those of the first column.");
    return changes.map(({ prompt, before, after, fields }) =>
      h(
        "section",
        {},
        h3("", [prompt, fields].filter(Boolean).join(", ")),
        before !== after && lineDiff(before, after),
      ),
    );
  }
  const columnButton = (id, name) =>
    h(
      "button",
      {
        class: "link one head",
        "data-step": id,
        title: `${name}: what it changes`,
        "aria-expanded": String(state.pop === id),
        onclick: () => pop(id),
      },
      name,
    );
  const split = (row) => new Set(row.cells.map((cell) => cell.right)).size > 1;
  function drawCompare() {
    box.compare.hidden = state.view !== "compare";
    box.body.hidden = !box.compare.hidden;
    if (box.compare.hidden) return;
    const grid = model.get("grid"),
      rows = grid.rows ?? [],
      n = rows.filter(split).length;
    const sorted = [...rows]
      .sort((a, b) => split(b) - split(a))
      .filter((row) => !state.disputed || split(row));
    const isOneLine = !n && !state.equal && grid.heads?.length > 1; // in place of equal rows
    if (!alone && !rows.length && !state.firstPrice && !state.busy) {
      state.firstPrice = "…";
      ask({ do: "price" })
        .then((found) => {
          state.firstPrice = found;
          drawCompare();
        })
        .catch(fail);
    }
    box.compare.classList.toggle("busy", !!state.busy);
    const told = state.error || state.said,
      only = (to) => {
        state.disputed = to === "disputed";
        drawCompare();
      };
    fill(
      box.bar,
      seg(
        [
          ["all", "All"],
          ["disputed", `Disputed ${n}`],
        ],
        state.disputed ? "disputed" : "all",
        only,
        "rows",
      ),
      h(
        "span",
        { class: `grow one ${state.error ? "wrong" : "dim"}`, role: "status", title: told },
        told || (rows.length ? `Difference in points of EX, paired; 95% interval ${grid.by}` : ""),
      ),
      grid.add?.length > 0 &&
        select(
          ["Add a system…", ...grid.add],
          "Add a system…",
          (to) => compareOn(compared(), to),
          "add a system",
          140,
        ),
      grid.kept?.length > 0 &&
        h(
          "button",
          {
            "data-step": "save",
            title: "A folder of prompts for each",
            onclick: () => pop("save"),
          },
          "Save variants",
        ),
      !alone &&
        grid.more > 0 &&
        h(
          "button",
          {
            class: "primary",
            disabled: !!state.busy,
            onclick: () => compareOn(grid.more),
            "data-part": "more",
          },
          state.busy === "compare"
            ? "Running…"
            : [
                `Run on ${number(grid.more)}`,
                h("span", { style: "font-weight:400" }, grid.price ?? state.firstPrice),
              ],
        ),
    );
    if (!rows.length)
      return fill(box.grid, div("empty", state.busy ? "Running…" : notCompared(grid.kept ?? [])));
    const kept = box.grid.scrollTop,
      heads = grid.heads,
      sameModels = heads.every((one) => one.models === heads[0].models),
      all = `${heads.length + 1}`;
    fill(
      box.grid,
      h(
        "table",
        { class: "grid", style: `min-width:${240 + 220 * heads.length}px` },
        h("colgroup", {}, h("col", { style: "width:28%" })),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h(
              "th",
              {},
              span(
                "dim",
                `${many(rows.length, "question")}, ${n ? `${n} disputed first` : "none disputed"}`,
              ),
            ),
            heads.map((one, i) =>
              h(
                "th",
                { "data-part": "head" },
                div(
                  "flex",
                  columnButton(`head${i}`, one.name),
                  span("grow"),
                  h("b", { style: "font-size:16px" }, one.ex.toFixed(1)),
                ),
                i
                  ? div(
                      "one",
                      `${signed(one.difference)} [${signed(one.low)}, ${signed(one.high)}]`,
                    )
                  : div("dim one", "baseline of the differences"),
                i
                  ? div("dim one", `won ${one.won}, lost ${one.lost}, p ${one.p_value.toFixed(2)}`)
                  : div("dim one", "\u00a0"),
                h("div", { class: "one", title: one.note }, one.note || "\u00a0"),
                !sameModels && h("div", { class: "one", title: one.models }, one.models),
                h("div", { class: "dim one", title: one.cost }, one.cost),
              ),
            ),
          ),
        ),
        h(
          "tbody",
          {},
          isOneLine &&
            h("tr", {}, h("td", { colspan: all, class: "nothing" }, nothingDiffers(rows))),
          (isOneLine ? [] : sorted.slice(0, state.most)).flatMap((row) => {
            const toggle = () => {
              open(row.key);
              focus(box.grid.querySelector(`[data-id="${CSS.escape(row.key)}"]`));
            };
            const head = h(
              "tr",
              {
                class: "line",
                tabindex: "0",
                "aria-expanded": String(state.open === row.key),
                "data-id": row.key,
                onclick: toggle,
                onkeydown: (event) => {
                  if (/^(Enter| )$/.test(event.key)) {
                    event.preventDefault();
                    event.stopPropagation();
                    toggle();
                  }
                },
              },
              h(
                "td",
                {},
                div(
                  "flex",
                  h("span", { class: "dim", style: "min-width:28px" }, row.id),
                  h("span", { style: "width:14px" }, split(row) && mark("differ")),
                  h("span", { class: "two grow", title: row.question }, row.question),
                ),
              ),
              row.cells.map(({ right, sql: text }) => {
                const status = right ? "right" : "wrong";
                return h(
                  "td",
                  { class: `cell ${status}` },
                  div(
                    "flex",
                    span(status, mark(status)),
                    h("span", { class: "two grow", title: text }, gist(text) || "no SQL"),
                  ),
                );
              }),
            );
            return state.open === row.key
              ? [head, h("tr", { class: "open" }, opened(row, all))]
              : [head];
          }),
        ),
      ),
    );
    box.grid.scrollTop = kept;
  }
  /** Before anything is compared: how it begins, and the variants that are there. */
  function notCompared(kept) {
    const first = model.get("grid").more;
    const start = `“Run on ${first}” runs all systems on ${many(first, "question")}; under Prompt it keeps an edit as a variant.`;
    if (!kept.length) return `Nothing is compared yet. ${start}`;
    return [
      h("p", {}, `“Run on ${first}” compares ${many(kept.length, "variant")}:`),
      kept.map(([name, system, note], i) =>
        div(
          "flex variant-line",
          columnButton(`kept${i}`, name),
          span("", note),
          span("dim", system),
        ),
      ),
    ];
  }
  /** The one line in place of rows that say the same. */
  function nothingDiffers(rows) {
    const right = rows.filter((row) => row.cells[0].right).length;
    const others = rows.filter((row) => new Set(row.cells.map((cell) => cell.sql)).size > 1).length;
    const show = () => {
      state.equal = true;
      drawCompare();
    };
    return div(
      "flex",
      h("b", {}, "Nothing differs:"),
      span(
        "",
        `all columns are right on ${right} of ${many(rows.length, "question")} and wrong on the others`,
        others > 0 && `; ${many(others, "answer")} in other words`,
      ),
      h("button", { onclick: show, "data-part": "equal" }, "Show the questions"),
    );
  }
  function opened(row, all) {
    const found = state.opened[row.key];
    if (!found || found.error)
      return h(
        "td",
        { colspan: all, class: found ? "wrong" : "dim", style: "padding:12px" },
        found?.error ?? "Looking…",
      );
    const against = (one) =>
      div(
        "sql",
        (one.pair.length ? one.pair : align(found.gold, one.sql)).map(
          ({ gold: g, predicted: p, same }) =>
            p
              ? line(p, same ? null : g, same ? "" : "p own")
              : div("g own", line({ ...g, words: ["lacks ", ...tokens(g)] }, null, "")),
        ),
      );
    const outcome = (ran, only) => [
      h3("", `Result, ${count(ran)}`),
      div("wide", table(ran, only, "p", "")),
    ];
    return [
      h("td", {}, h3("", "Gold"), sql(found.gold), outcome(found.goldResult)),
      found.cells.map((one, i) => {
        const right = row.cells[i].right,
          differs = one.sql && !right;
        return h(
          "td",
          {},
          h3("", differs ? "SQL, against gold" : "SQL"),
          differs ? against(one) : sql(one.sql || "no SQL"),
          one.sql && outcome(one.result, right ? null : one.differing[0]),
          h("div", { class: "dim took" }, row.cells[i].took),
          one.reply &&
            h(
              "details",
              {},
              h("summary", {}, "Reply"),
              h("pre", { class: "code said" }, one.reply),
            ),
        );
      }),
    ];
  }

  function view(to) {
    if (!alone) {
      Object.assign(state, { view: to, pop: null, error: "" });
      draw();
      focus(to === "prompt" ? box.list : box.grid);
    }
  }
  function draw() {
    const shown =
      !alone && state.view === "prompt"
        ? [scrolled, drawAsk, drawTrace, drawTabs, drawPage, drawFoot, drawResult]
        : [];
    for (const part of [drawTop, ...shown, drawPop, drawCompare]) part();
  }
  function onDetail() {
    detail = model.get("detail");
    Object.assign(state, {
      id: detail.key,
      call: detail.call,
      ran: null,
      error: "",
      rendered: null,
      fault: "",
      line: null,
      against: "gold",
      pop: null,
    });
    const row = all.find((one) => one.key === detail.key);
    const { status } = detail.answer;
    const isKnown = row?.status === "lost" && status === "wrong"; // and says more
    if (row && status !== "none" && status !== row.status && !isKnown) {
      row.status = status;
      drawnFrom = -1; // its mark is drawn anew
    }
    if (state.view === "prompt") draw();
    later(0);
  }
  const tab = (name) => () => {
    if (state.view === "prompt") {
      state.tab = name;
      drawTabs();
      drawPage();
    }
  };
  const leave = (event) => {
    if (state.pop) return pop(null);
    if (event.target === box.find) clear();
    box.list.focus();
  };
  keys(root, {
    "/": () => box.find.focus(),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    1: tab("template"),
    2: tab("rendered"),
    3: tab("diff"),
    Escape: leave,
    "Ctrl+Enter": run,
    "Ctrl+Shift+Enter": keep,
    p: () => view("prompt"),
    c: () => view("compare"),
    r: reset,
    v: () => {
      if (call()) pop("variables");
    },
    "?": () => pop("keys"),
  });
  const onRows = () => {
    all = model.get("rows");
    search();
    box.list.scrollTop = 0;
    drawTop();
    drawRows();
  };
  const onGrid = () => {
    state.opened = {};
    Object.assign(state, { open: null, changes: {}, equal: false, most: GROW, firstPrice: "" });
    drawCompare();
  };
  const onSetup = () => {
    const { system, draft: kept } = model.get("setup");
    if (system !== state.system) Object.assign(state, { system, edits: kept });
    drawTop();
  };
  on("change:detail", onDetail);
  on("change:rows", onRows);
  on("change:setup", onSetup);
  on("change:grid", onGrid);
  if (!alone) {
    search();
    onDetail();
    reveal();
  }
  draw();
  return () => {
    stop();
    clearTimeout(timer);
    clearTimeout(drafting);
    clearTimeout(picking);
  };
}
export default { render };
