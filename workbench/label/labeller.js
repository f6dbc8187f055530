// The labeller: a key is answered from the cases that were sent ahead, the kernel confirms the write, and a write that
// fails brings its case back. Under it stands the summary of what all annotators say.
const {
  h,
  div,
  span,
  h3,
  fill,
  mark,
  sqlPair,
  table,
  many,
  count,
  keys,
  kernel,
  select,
  help,
  entry,
} = desk;
const NEW = "new annotator…",
  AHEAD = 5, // the kernel sends one case more at first: the one that is shown
  LETTERS = "befghijklmopqrtvwxyz"; // the keys after the nine digits; the others are taken
const FILTERS = ["all cases", "not labelled", "skipped", "disputed"];
const KEYS = [
  ["1-9", "choose the category"],
  ["0", "back to the first level"],
  ["Enter", "save, where a case has several labels"],
  ["space", "skip"],
  ["← →", "case before, next"],
  ["u", "undo"],
  ["n", "note, Enter leaves it"],
  ["c", "counterexample"],
  ["a", "annotator"],
  ["d", "disputes to settle, and back"],
  ["s", "suggestions"],
  ["?", "these keys"],
];

function render({ model, el }) {
  const rows = model.get("rows"),
    taxonomy = model.get("taxonomy"),
    every = rows.map((row) => row.key);
  const idOf = Object.fromEntries(rows.map((row) => [row.key, row.id]));
  const cache = new Map(Object.entries(model.get("detail"))),
    built = new Map(),
    pending = new Map(),
    asked = new Set();
  const state = {
    order: every,
    at: 0,
    filter: FILTERS[0],
    cell: null,
    parent: null,
    picked: new Set(),
    skipped: new Set(),
    notes: {},
    past: [],
    toast: "",
    undoable: false, // whether the toast is about what undo takes back
    failed: null,
    pop: null,
    suggest: false,
  };
  let timer = 0;

  // ---- parts that stay
  const root = div("wb");
  const below = h("div", { class: "wb auto scroll", "data-lm-suppress-shortcuts": "true" });
  const box = {
    top: h("div", { class: "bar", role: "toolbar" }),
    scroll: h("div", { class: "case scroll", tabindex: "0", "aria-label": "case" }),
    toast: h("div", { class: "toast", role: "status", hidden: true }),
    told: div("told"),
    tiles: h("div", { class: "tiles", role: "group", "aria-label": "categories" }),
    note: h("input", {
      class: "grow",
      placeholder: "Note",
      "aria-label": "note",
      oninput: (event) => {
        state.notes[key()] = event.target.value;
      },
      onkeydown: (event) => {
        if (event.key === "Enter") {
          event.preventDefault();
          keepNote();
          box.scroll.focus();
        }
      },
    }),
    said: span("dim"),
    pop: h("div", { class: "pop", hidden: true, style: "right:8px;top:40px;width:320px" }),
  };
  root.append(
    box.top,
    box.scroll,
    div("over", box.toast),
    box.told,
    box.tiles,
    div("foot", h("kbd", {}, "n"), box.note, box.said),
    box.pop,
  );
  el.append(div("wb-fit", root, below));

  // ---- what is said of a case: the page's own words until the kernel confirms them
  const key = () => state.order[state.at];
  const own = (which) =>
    pending.get(which) ?? model.get("mine")[which] ?? { is: [], note: "", gold: "" };
  const disputes = () => model.get("summary").disputes,
    dispute = (which) => disputes().find((one) => one.key === which);
  const isAdjudicating = () => state.filter === "disputed";
  const unlabelled = () => every.filter((one) => !own(one).is.length);
  const { ask, on, stop } = kernel(model);

  function filter(kind, cell = null) {
    const among =
      {
        "not labelled": (one) => !own(one).is.length,
        skipped: (one) => state.skipped.has(one),
        disputed: (one) => dispute(one),
      }[kind] ?? (() => true);
    Object.assign(state, {
      filter: kind,
      cell,
      order: cell ? cell.keys : every.filter(among),
      at: 0,
      parent: null,
      failed: null,
    });
    state.picked.clear();
  }
  /** Show a case, whatever the filter. */
  function show(which) {
    if (!state.order.includes(which)) filter(FILTERS[0]);
    go(Math.max(0, state.order.indexOf(which)) - state.at);
  }
  function go(by) {
    Object.assign(state, {
      at: Math.max(0, Math.min(state.order.length, state.at + by)),
      parent: null,
    });
    state.picked.clear();
    draw();
    box.scroll.scrollTop = 0;
  }
  /** Ask for the cases ahead that are not here yet, and build the next one. */
  function ahead() {
    const lacking = state.order
      .slice(state.at, state.at + AHEAD + 1)
      .filter((one) => !cache.has(one) && !asked.has(one));
    for (const one of lacking) asked.add(one);
    if (lacking.length)
      ask({ do: "need", keys: lacking })
        .then((found) => {
          for (const [one, detail] of Object.entries(found)) cache.set(one, detail);
          if (lacking.includes(key())) drawCase();
        })
        .catch((error) => say(error.message))
        .finally(() => {
          for (const one of lacking) asked.delete(one);
        });
    setTimeout(() => {
      for (const one of state.order.slice(state.at, state.at + 2)) if (cache.has(one)) node(one);
    }, 20);
  }

  // ---- actions
  function label(names) {
    const which = key(),
      before = own(which),
      note = state.notes[which] ?? before.note,
      asAdjudicator = isAdjudicating();
    write({ which, names, note, asAdjudicator, before });
    state.skipped.delete(which);
    state.failed = null;
    say(`${idOf[which]}: ${names.join(", ")}`, true);
    go(1);
  }
  function write({ which, names, note, asAdjudicator, before }) {
    const wish = { ...before, is: names, note };
    const written = { which, before, asAdjudicator };
    if (!asAdjudicator) pending.set(which, wish);
    state.past.push(written);
    /** Let the kernel's word count again, unless another label is under way by now. */
    const confirm = () => {
      if (pending.get(which) === wish) pending.delete(which);
    };
    const settle = asAdjudicator;
    ask({ do: "save", key: which, categories: names, note, settle, was: before.is }, 20000)
      .then((elsewhere) => {
        confirm();
        delete state.notes[which];
        if (elsewhere)
          say(
            `${idOf[which]}: “${elsewhere.join(", ")}”, given in another window, is replaced`,
            true,
          );
      })
      .catch((error) => {
        confirm();
        state.past = state.past.filter((one) => one !== written);
        if (note) state.notes[which] = note;
        show(which);
        Object.assign(state, { failed: { which, names, error: error.message }, toast: "" });
        draw();
      });
  }
  function keepNote() {
    const which = key(),
      before = own(which),
      note = state.notes[which];
    if (note === undefined || note === before.note || isAdjudicating()) return;
    if (before.is.length) write({ which, names: before.is, note, asAdjudicator: false, before });
    const isWritten = before.is.length > 0;
    say(isWritten ? "note kept" : "the note is kept with the label", isWritten);
    drawFoot();
  }
  function undo() {
    const last = state.past.pop(),
      asAdjudicator = last ? last.asAdjudicator : isAdjudicating();
    if (last && !asAdjudicator) {
      pending.set(last.which, last.before);
      state.toast = "";
      show(last.which);
    }
    ask({ do: "undo", settle: asAdjudicator })
      .then((found) => {
        if (last) pending.delete(last.which);
        say(
          found.key === null
            ? "nothing to undo"
            : `took back the label of ${idOf[found.key] ?? "another case"}`,
        );
        if (asAdjudicator && found.key) filter("disputed");
        if (idOf[found.key]) show(found.key);
        else draw();
      })
      .catch((error) => {
        if (last) pending.delete(last.which);
        say(error.message);
        draw();
      });
  }
  function skip() {
    if (key()) {
      state.skipped.add(key());
      go(1);
    }
  }
  /** The categories that the tiles show: of the first level, or the parts of one. */
  function options() {
    if (state.parent === null)
      return taxonomy.categories.map((one) => ({ ...one, whole: one.name }));
    const parent = taxonomy.categories[state.parent];
    return parent.parts.map((one) => ({ ...one, whole: `${parent.name} / ${one.name}` }));
  }
  function choose(n) {
    const one = options()[n];
    if (!one || !cache.has(key())) return; // a key that is pressed before its case is shown is none
    if (one.parts?.length) {
      state.parent = n;
      return drawTiles();
    }
    if (!taxonomy.several) return label([one.whole]);
    if (!state.picked.size) for (const each of own(key()).is) state.picked.add(each);
    if (!state.picked.delete(one.whole)) state.picked.add(one.whole);
    drawTiles();
    drawFoot();
  }
  function enter() {
    if (!cache.has(key())) return;
    if (state.picked.size) label([...state.picked]);
    else if (state.parent !== null) label([taxonomy.categories[state.parent].name]);
  }
  function annotator(to) {
    ask({ do: "annotator", name: to })
      .then(() => {
        state.past = [];
        state.skipped.clear();
        pop(null);
        begin();
      })
      .catch((error) => say(error.message));
  }
  function begin() {
    filter(FILTERS[0]);
    go(
      Math.max(
        0,
        every.findIndex((one) => !own(one).is.length),
      ),
    );
  }
  function toggleAdjudication() {
    if (isAdjudicating()) begin();
    else if (disputes().length) {
      filter("disputed");
      go(0);
    } else say("no dispute to settle");
  }
  function say(text, undoable = false) {
    Object.assign(state, { toast: text, undoable });
    clearTimeout(timer);
    timer = setTimeout(() => {
      state.toast = "";
      drawToast();
    }, 5000);
    drawToast();
  }
  function suggest() {
    state.suggest = !state.suggest;
    if (state.pop) pop(null);
    draw();
  }

  // ---- drawing
  function drawTop() {
    const me = model.get("annotator"),
      names = [...new Set([...model.get("summary").annotators, me, NEW])],
      n = every.length - unlabelled().length;
    const opens = (which, text) =>
      h(
        "button",
        {
          class: "plain",
          "aria-label": which,
          "aria-expanded": String(state.pop === which),
          onclick: () => pop(which),
        },
        text,
      );
    fill(
      box.top,
      h("progress", { value: n, max: every.length || 1, "aria-label": "labelled" }),
      h(
        "span",
        { class: "nowrap", "data-part": "progress" },
        h("b", {}, String(n)),
        span("dim", ` of ${every.length} labelled`),
      ),
      isAdjudicating()
        ? span("badge none", mark("differ"), "settling as adjudicator")
        : select(
            names,
            me,
            (to) => {
              if (to !== NEW) return annotator(to);
              pop("annotator");
              drawTop();
            },
            "annotator",
            120,
          ),
      select(
        FILTERS,
        state.filter,
        (kind) => {
          filter(kind);
          go(0);
        },
        "filter",
      ),
      state.cell &&
        h(
          "button",
          { onclick: begin, title: "Show all cases again" },
          h("span", { class: "one", style: "max-width:200px" }, state.cell.title),
          h("span", { "aria-hidden": "true" }, "×"),
        ),
      span("grow"),
      h("button", { onclick: undo }, "Undo", h("kbd", {}, "u")),
      opens("more", "⋯"),
      opens("keys", "?"),
    );
  }
  function pop(which) {
    state.pop = which === state.pop ? null : which;
    drawPop();
    if (state.pop) box.pop.querySelector("input, textarea, button")?.focus();
    else box.scroll.focus({ preventScroll: true });
  }
  function drawPop() {
    box.pop.hidden = !state.pop;
    if (!state.pop) return box.pop.replaceChildren();
    const heading = (text) => h("h3", { style: "margin-bottom:6px" }, text),
      field = (title, does, placeholder) => [heading(title), entry(title, does, { placeholder })];
    const item = (text, does, always) =>
      h("button", { class: "plain", disabled: !always && !key(), onclick: does }, text);
    const answer = (message) =>
      ask(message)
        .then((text) => {
          pop(null);
          say(text);
          draw();
        })
        .catch((error) => {
          const alert = box.pop.querySelector("[role=alert]");
          if (alert) alert.textContent = error.message;
          else say(error.message);
        });
    const text = h("textarea", {
      rows: "8",
      "aria-label": "the right query",
      spellcheck: "false",
      value: cache.get(key())?.gold ?? "",
    });
    const jump = (id) => {
      const row = rows.find((one) => one.id === id);
      if (row) {
        pop(null);
        show(row.key);
      } else say(`no case ${id}`);
    };
    const bodies = {
      keys: () => help(KEYS),
      annotator: () => field("Label as", annotator, "a name"),
      jump: () => field("The case of the question", jump, "its id"),
      gold: () => [
        heading("The right query, which is run before it is kept"),
        text,
        h(
          "button",
          {
            class: "primary",
            style: "margin-top:8px",
            onclick: () => answer({ do: "gold", key: key(), sql: text.value }),
          },
          "Run and keep",
        ),
        h("p", { class: "wrong", role: "alert" }),
      ],
      more: () => [
        item("Jump to a case…", () => pop("jump")),
        item("Correct the gold query…", () => pop("gold")),
        item("Both are right", () => answer({ do: "both_right", key: key() })),
        item(state.suggest ? "Hide suggestions" : "Show suggestions", suggest),
        item("Export CSV", () => answer({ do: "export" }), true),
      ],
    };
    box.pop.style.width = state.pop === "gold" ? "min(560px, 90%)" : "320px";
    fill(box.pop, bodies[state.pop]());
  }

  /** A case as a node, built once. */
  function node(which) {
    if (!built.has(which)) built.set(which, caseOf(which, cache.get(which)));
    if (built.size > 12) built.delete(built.keys().next().value);
    return built.get(which);
  }
  function caseOf(which, q) {
    /** A part that the kernel makes when it is first opened. */
    function part(name, title, hint) {
      const body = h("div", { style: "padding:4px 0 4px 14px" }),
        whole = h(
          "details",
          {
            "data-part": name,
            ontoggle: () => {
              if (!whole.open || body.childNodes.length) return;
              body.append(span("dim", "Looking…"));
              ask({ do: name, key: which })
                .then((found) => fill(body, PARTS[name](found)))
                .catch((error) => fill(body, h("p", { class: "wrong" }, error.message)));
            },
          },
          h("summary", {}, title, hint && span("", " ", h("kbd", {}, hint))),
          body,
        );
      return whole;
    }
    const missing =
      q.result.error || q.goldResult.error
        ? 0
        : q.goldResult.columns.length - q.result.columns.length;
    const columns = missing
      ? `, ${many(Math.abs(missing), "column")} ${missing > 0 ? "missing" : "too many"}`
      : "";
    const head = (title, more) =>
      div(
        "hd",
        h3("", title),
        more && h("span", { class: "dim", style: "line-height:16px" }, more),
      );
    return div(
      "",
      div(
        "flex",
        h("h2", { class: "grow", "data-part": "question" }, q.question),
        span("dim nowrap", [q.id, q.db, q.difficulty].filter(Boolean).join(" · ")),
      ),
      div(
        "flex dim",
        h("span", { class: "grow", "data-part": "hint" }, q.hint ? `Hint: ${q.hint}` : "No hint"),
        span("nowrap", q.agree),
      ),
      h("div", { class: "why", "data-part": "why" }, mark("differ"), span("", q.why)),
      div("pair sql", head("Gold"), head("Predicted"), sqlPair(q.gold, q.predicted, q.sql)),
      div(
        "pair",
        head("Result of gold", count(q.goldResult)),
        head("Result of the prediction", `${count(q.result)}${columns}`),
        div("wide", table(q.goldResult, q.only[0], "g")),
        div("wide", table(q.result, q.only[1], "p")),
      ),
      part("counterexample", "Counterexample", "c"),
      part("values", "Values found"),
      part("schema", "Schema"),
    );
  }
  const PARTS = {
    counterexample: (found) =>
      !found.tables
        ? h("p", { class: "dim" }, "No smaller database tells the two queries apart.")
        : [
            h("p", {}, "The smallest part of the database found on which the two results differ."),
            div(
              "smaller",
              found.tables.map((one) => div("wide", h3("", one.name), table(one))),
              div("wide", h3("", "gold gives"), table(found.gold, found.only[0], "g")),
              div(
                "wide",
                h3("", "the prediction gives"),
                table(found.predicted, found.only[1], "p"),
              ),
            ),
          ],
    values: (found) =>
      found.values.length
        ? found.values.map((one) => div("code", one))
        : h("p", { class: "dim" }, "None."),
    schema: (found) => h("pre", { class: "code said" }, found.text),
  };
  function drawCase() {
    const which = key();
    fill(
      box.scroll,
      !which ? finished() : cache.has(which) ? node(which) : div("empty", "Loading…"),
    );
    drawTold();
  }
  /** What is told of a case stands under it, so that the case stays where it is. */
  function drawTold() {
    const which = key(),
      q = cache.get(which);
    if (!q) return fill(box.told);
    const said = isAdjudicating() && dispute(which),
      gold = own(which).gold,
      failed = state.failed?.which === which && state.failed;
    fill(
      box.told,
      failed &&
        h(
          "div",
          { class: "note", role: "alert" },
          mark("wrong"),
          span(
            "grow",
            h("b", {}, `“${failed.names.join(", ")}” was not written: ${failed.error}. `),
            "The case is back and nothing else was lost.",
          ),
          h("button", { onclick: () => label(failed.names) }, "Write again"),
        ),
      said &&
        h(
          "div",
          { class: "note", "data-part": "opinions" },
          mark("differ"),
          span(
            "grow",
            Object.entries(said.said).map(([who, names], n) => [
              n ? " · " : "",
              h("b", {}, who),
              `: ${names.join(", ")}`,
            ]),
          ),
          span("dim", "Your label settles it."),
        ),
      gold &&
        h(
          "p",
          { class: "dim" },
          gold === "corrected"
            ? "You corrected the gold query."
            : "You say that both queries are right.",
        ),
      state.suggest &&
        h(
          "p",
          { class: "dim", "data-part": "suggestion" },
          q.suggestion
            ? ["Suggested: ", h("b", {}, q.suggestion.label), ` (${q.suggestion.why})`]
            : "Nothing is suggested.",
        ),
    );
  }
  function finished() {
    if (!every.length) return div("empty", "No case of this kind: nothing to label.");
    const left = unlabelled().length,
      open = disputes().length,
      of = every.length;
    const toFirst = () => {
      filter(FILTERS[0]);
      go(0);
    };
    const all = `All ${of} labelled`;
    let [title, told, text, does] = [all, "Every label is on disk.", "To the first case", toFirst];
    if (left) {
      title = `${of - left} of ${of} labelled`;
      told = `${left} skipped or not labelled yet.`;
      [text, does] = [`Back to ${left} left`, begin];
    } else if (open) {
      told = `${open} in dispute.`;
      [text, does] = [`Settle ${many(open, "dispute")}`, toggleAdjudication];
    }
    if (!state.order.length) title = `No case: ${state.filter}`;
    return h(
      "div",
      { style: "max-width:440px;margin:88px auto 0" },
      h("h2", {}, title),
      h("p", { class: "dim", style: "margin:4px 0 20px" }, told),
      div(
        "flex",
        h("button", { class: "primary", onclick: does }, text),
        h("button", { onclick: () => pop("annotator") }, "Label as another"),
      ),
    );
  }
  function drawTiles() {
    const of = options(),
      inner = state.parent !== null;
    let picked = [...state.picked];
    if (!picked.length && key() && !isAdjudicating()) picked = own(key()).is;
    const digit = (n) => (n < 9 ? String(n + 1) : LETTERS[n - 9]),
      chosen = (one) =>
        picked.some((each) => each === one.whole || each.startsWith(`${one.whole} / `));
    box.tiles.classList.toggle("many", of.length + inner > 7);
    fill(
      box.tiles,
      inner &&
        h(
          "button",
          {
            onclick: () => {
              state.parent = null;
              drawTiles();
            },
            title: "Back to the first level; Enter chooses it without a part",
          },
          h("kbd", {}, "0"),
          span("", `‹ ${taxonomy.categories[state.parent].name}`),
        ),
      of.map((one, n) =>
        h(
          "button",
          {
            title: one.meaning || one.whole,
            disabled: !key(),
            "aria-pressed": String(chosen(one)),
            onclick: () => choose(n),
          },
          digit(n) && h("kbd", {}, digit(n)),
          span("", one.name.replaceAll("/", "/\u200b"), one.parts?.length ? " ›" : ""),
        ),
      ),
    );
  }
  function drawFoot() {
    const which = key(),
      is = which && !isAdjudicating() ? own(which).is : [],
      text = which ? (state.notes[which] ?? own(which).note) : "";
    const keyed = (...names) => names.map((one) => h("kbd", {}, one));
    box.note.disabled = !which;
    if (box.note.value !== text) box.note.value = text;
    fill(
      box.said,
      state.picked.size
        ? h("button", { class: "primary", onclick: enter }, `Save ${state.picked.size}`, keyed("↵"))
        : is.length
          ? `labelled ${is.join(", ")}`
          : state.skipped.has(which)
            ? "skipped"
            : span("nowrap", keyed("←", "→"), " cases, ", keyed("space"), " skips"),
    );
  }
  function drawToast() {
    box.toast.hidden = !state.toast;
    fill(
      box.toast,
      h("span", { class: "one", style: "max-width:420px" }, state.toast),
      state.undoable && h("button", { class: "link", onclick: undo }, "Undo", h("kbd", {}, "u")),
    );
  }

  /** Each category with the number of cases that have it, and those of its parts that a case has. */
  function counted() {
    const said = Object.values(model.get("mine")).map((one) => one.is);
    const isOf = (whole) => (name) => name === whole || name.startsWith(`${whole} / `);
    const counts = (whole) => [whole, said.filter((names) => names.some(isOf(whole))).length];
    return taxonomy.categories.flatMap(({ name, parts }) => [
      counts(name),
      ...parts.map((part) => counts(`${name} / ${part.name}`)).filter(([, n]) => n),
    ]);
  }
  /** Counts, agreement, the confusion grid whose cells filter the labeller, and the disputes. */
  function drawSummary() {
    const { other, agreement, grid } = model.get("summary"),
      me = model.get("annotator"),
      names = taxonomy.categories.map((one) => one.name),
      counts = counted(),
      open = disputes();
    const most = Math.max(1, ...counts.map((one) => one[1])),
      labelled = Object.values(model.get("mine")).filter((one) => one.is.length).length;
    const dim = (text) => h("p", { class: "dim" }, text),
      heading = (text) => h("h3", { style: "margin-bottom:8px" }, text);
    const bar = ([what, n]) =>
      div(
        "hbar",
        h("span", { class: "one", title: what }, what),
        span("", h("i", { style: `width:${(n / most) * 100}%` })),
        span("num", String(n)),
      );
    const disputed = (one) =>
      div(
        "flex",
        mark("differ"),
        span(
          "one grow",
          `${idOf[one.key]}: ${[...new Set(Object.values(one.said).map((what) => what.join(", ")))].join(" or ")}`,
        ),
        h(
          "button",
          {
            class: "link",
            onclick: () => {
              filter("disputed");
              show(one.key);
              box.scroll.focus();
            },
          },
          "Open",
        ),
      );
    const cell = (i, j) => {
      const id = `${i} ${j}`,
        found = grid[id] ?? [],
        title = `${me} ${names[i]}, ${other} ${names[j]}`,
        on = state.cell?.id === id;
      const pick = () => {
        if (on) begin();
        else {
          filter(FILTERS[0], { id, keys: found, title });
          go(0);
        }
        drawSummary();
      };
      return h(
        "td",
        {},
        h(
          "button",
          {
            class: found.length ? (i === j ? "diag" : "off") : "",
            disabled: !found.length,
            "aria-pressed": String(on),
            "aria-label": `${title}: ${found.length}`,
            title: `${title}: ${found.length}`,
            onclick: pick,
          },
          found.length ? String(found.length) : "",
        ),
      );
    };
    fill(
      below,
      div(
        "sum",
        h(
          "section",
          { class: other ? null : "wide-counts", "data-part": "counts" },
          heading(`Labels of ${me}, ${labelled}`),
          counts.map(bar),
        ),
        h(
          "section",
          { "data-part": "agreement" },
          heading(other ? `Agreement with ${other}` : "Agreement"),
          !other
            ? dim("A second annotator’s labels are compared here.")
            : [
                agreement ? h("p", {}, agreement) : dim("No case has both labels yet."),
                h("h3", { style: "margin:12px 0 4px" }, `To settle, ${open.length}`),
                open.slice(0, 5).map(disputed),
                open.length > 5 && dim(`and ${open.length - 5} more, by d`),
              ],
        ),
        other &&
          h(
            "section",
            { "data-part": "grid" },
            heading(`${me} down, ${other} across`),
            h(
              "table",
              { class: "conf" },
              h(
                "tr",
                {},
                h("th"),
                names.map((one, j) =>
                  h("th", { style: "text-align:center;padding:0", title: one }, String(j + 1)),
                ),
              ),
              names.map((one, i) =>
                h(
                  "tr",
                  {},
                  h("th", { title: one, class: "one" }, `${one} ${i + 1}`),
                  names.map((_, j) => cell(i, j)),
                ),
              ),
            ),
          ),
      ),
    );
  }
  function draw() {
    drawTop();
    drawCase();
    drawTiles();
    drawFoot();
    drawToast();
    if (state.pop === "keys") drawPop();
    ahead();
  }

  function counterexample() {
    const part = box.scroll.querySelector("[data-part=counterexample]");
    if (part) {
      part.open = !part.open;
      part.scrollIntoView({ block: "nearest" });
    }
  }
  keys(root, {
    ...Object.fromEntries([..."123456789", ...LETTERS].map((k, n) => [k, () => choose(n)])),
    0: () => {
      state.parent = null;
      drawTiles();
    },
    " ": skip,
    Enter: enter,
    ArrowRight: () => go(1),
    ArrowLeft: () => go(-1),
    u: undo,
    s: suggest,
    d: toggleAdjudication,
    a: () => pop("annotator"),
    "?": () => pop("keys"),
    n: () => box.note.focus(),
    c: counterexample,
    Escape: () => {
      if (state.pop) pop(null);
      else box.scroll.focus();
    },
  });
  below.addEventListener("keydown", (event) => event.stopPropagation());
  // Nothing takes the focus on its own; a click makes the keys live, and the border says so.
  root.addEventListener("click", (event) => {
    if (event.detail && !state.pop && !event.target.closest("input, select, textarea, summary"))
      box.scroll.focus({ preventScroll: true });
  });
  const redraw = () => {
    drawTop();
    drawTiles();
    drawFoot();
    drawSummary(); // which counts them
    if (!key()) drawCase();
  };
  on("change:mine", redraw);
  on("change:summary", drawSummary);
  on("change:annotator", draw);
  begin();
  drawSummary();
  return () => {
    stop();
    clearTimeout(timer);
  };
}
export default { render };
