// Helpers of both widgets. Text reaches the page by textContent only; nothing here parses HTML.
const desk = (() => {
  const WORDS = new Set(
    `select distinct from inner left join on as where and or not in is null like between group by having order limit asc desc
    case when then else end cast real union all exists`.split(/\s+/),
  );
  const TOKEN = /'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\d+(?:\.\d+)?|\w+(?:\.\w+)?|<>|[<>!|]=?=?|\s+|./gu;

  /** An element; `on…` keys become listeners, the other keys attributes, null kids are left out. */
  function h(tag, props = {}, ...kids) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(props)) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (key === "value") node.value = value;
      else if (value !== false && value != null)
        node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...kids.flat(Infinity).filter((kid) => kid != null && kid !== false));
    return node;
  }

  /** An element with a class alone. */
  const [div, span, h3] = ["div", "span", "h3"].map(
    (tag) =>
      (cls, ...kids) =>
        h(tag, { class: cls || null }, ...kids),
  );

  /** Replace what a node holds; the focus stays on the control that takes the place of the focused one. */
  function fill(node, ...kids) {
    const all = () => [
        ...node.querySelectorAll("button, input, select, textarea, summary, [tabindex]"),
      ],
      at = all().indexOf(document.activeElement);
    node.replaceChildren(...kids.flat(Infinity).filter((kid) => kid != null && kid !== false));
    if (at >= 0) all()[at]?.focus({ preventScroll: true });
  }

  const PATHS = {
    right: "M3 8.5 6.5 12 13 4.5",
    done: "M3 8.5 6.5 12 13 4.5",
    wrong: "M4 4l8 8M12 4l-8 8",
    differ: "M3 6h10M3 10h10M10.5 3l-5 10",
    none: "M5 8h6",
    lost: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M4.6 6v4M6.6 4.5v7",
  };
  const MEAN = {
    done: "made",
    differ: "differs",
    none: "not run",
    lost: "lost: a right candidate was there",
  };
  /** The mark of a verdict: shape and colour together, named for screen readers. */
  function mark(kind) {
    const [svg, path] = ["svg", "path"].map((tag) =>
      document.createElementNS("http://www.w3.org/2000/svg", tag),
    );
    const given = {
      viewBox: "0 0 16 16",
      class: `mark ${kind}`,
      role: "img",
      "aria-label": MEAN[kind] ?? kind,
    };
    for (const [key, value] of Object.entries(given)) svg.setAttribute(key, value);
    path.setAttribute("d", PATHS[kind]);
    svg.append(path);
    return svg;
  }
  const badge = (kind, text) => span(`badge ${kind}`, mark(kind), text);

  /** Longest common subsequence: [kind, a, b] with kind '=', '-' or '+'. */
  function diff(a, b, key = (x) => x) {
    const A = a.map(key),
      B = b.map(key),
      best = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length; i--; )
      for (let j = b.length; j--; )
        best[i][j] =
          A[i] === B[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    const ops = [];
    for (let i = 0, j = 0; i < a.length || j < b.length; ) {
      if (i < a.length && j < b.length && A[i] === B[j]) ops.push(["=", a[i++], b[j++]]);
      else if (j >= b.length || (i < a.length && best[i + 1][j] >= best[i][j + 1]))
        ops.push(["-", a[i++]]);
      else ops.push(["+", null, b[j++]]);
    }
    return ops;
  }

  /** SQL as lines of tokens: a clause, a join, a condition or a result column each; subqueries indented. */
  function lines(sql) {
    const out = [],
      words = sql.trim().replace(/\s+/g, " ").match(TOKEN) ?? [],
      opened = []; // opened: the clause around each subquery, null for other parentheses
    let line = { words: [] },
      clause = "",
      between = false;
    const start = (indent, name) => {
      clause = name;
      line = { clause, depth: opened.filter((one) => one !== null).length, indent, words: [] };
      out.push(line);
    };
    start(0, "");
    words.forEach((word, at) => {
      const up = word.toUpperCase(),
        next = (words[at + 1] === " " ? words[at + 2] : words[at + 1])?.toUpperCase();
      if (word === ")" && opened.length) {
        const around = opened.pop();
        if (around !== null) start(2, around);
      } else if (opened.at(-1) !== null) {
        if (
          /^(SELECT|FROM|WHERE|HAVING|LIMIT|UNION)$/.test(up) ||
          (/^(GROUP|ORDER)$/.test(up) && next === "BY")
        )
          start(0, up);
        else if (
          /^(INNER|LEFT)$/.test(up) ||
          (up === "JOIN" && !/^(INNER|LEFT|OUTER)$/i.test(line.words.at(-2)))
        )
          start(0, "FROM");
        else if (up === "AND" && !between && clause !== "FROM") start(2, clause);
        between = up === "BETWEEN" || (between && up !== "AND");
      }
      if (word === "(") opened.push(next === "SELECT" ? clause : null);
      if (line.words.length || word !== " ") line.words.push(word);
      if (word === "," && opened.at(-1) !== null && clause === "SELECT") start(7, clause);
    });
    for (const each of out) while (each.words.at(-1) === " ") each.words.pop();
    return out.filter((each) => each.words.length);
  }

  /** Rows { gold, predicted, same } of two queries that the kernel could not align: by the words of their lines. */
  function align(gold, predicted) {
    const rows = [];
    for (const [op, g, p] of diff(lines(gold), lines(predicted), (one) =>
      one.words.join("").toLowerCase().replace(/,$/, ""),
    )) {
      const last = rows.at(-1);
      if (op === "+" && last && !last.predicted && last.gold.clause === p.clause)
        last.predicted = p;
      else rows.push({ gold: g ?? null, predicted: p ?? null, same: op === "=" });
    }
    return rows;
  }
  const kind = (w) =>
    /^'/.test(w)
      ? "s"
      : WORDS.has(w.toLowerCase())
        ? "k"
        : /^\d/.test(w)
          ? "n"
          : /^--|^\{#/.test(w)
            ? "c"
            : null;
  const tokens = (one) => one.words ?? one.text.match(TOKEN) ?? []; // a line of the kernel's is one text
  /** One line of SQL; words that `other` lacks are marked. */
  function line(one, other, cls = "") {
    const own = other
      ? new Set(
          diff(tokens(one), tokens(other), (w) => w.toLowerCase())
            .filter((op) => op[0] === "-")
            .map((op) => op[1]),
        )
      : new Set();
    return h(
      "div",
      { class: `ln ${cls}`, style: `--in:${one.depth * 4 + one.indent}` },
      tokens(one).map((w) => {
        const piece = kind(w) ? h("span", { class: kind(w) }, w) : w;
        return own.has(w) && w !== " " ? h("mark", {}, piece) : piece;
      }),
    );
  }
  const sql = (text) =>
    div(
      "sql",
      lines(text).map((one) => line(one)),
    );
  /** Two queries side by side, by clause; `rows` are the kernel's, `align` the way without them. */
  const sqlPair = (gold, predicted, rows = []) =>
    (rows.length ? rows : align(gold, predicted)).flatMap(({ gold: g, predicted: p, same }) => [
      g ? line(g, same ? null : p, same ? "same" : `g own`) : div("ln gap"),
      p ? line(p, same ? null : g, same ? "same" : `p own`) : div("ln gap"),
    ]);
  /** One query against another in a narrow pane: equal lines once, the others under each other. */
  const sqlUnified = (gold, now, rows = [], names = ["gold", "now"]) =>
    div(
      "uni sql",
      (rows.length ? rows : align(gold, now)).flatMap(({ gold: g, predicted: p, same }) =>
        same
          ? [div("", span("who"), line(p, null, "same"))]
          : [
              g && div("g own", span("who", names[0]), line(g, p)),
              p && div("p own", span("who", names[1]), line(p, g)),
            ],
      ),
    );

  const value = (v) =>
    v == null
      ? span("null", "NULL")
      : typeof v === "number" && !Number.isInteger(v)
        ? v.toLocaleString("en", { maximumFractionDigits: 2, useGrouping: false })
        : String(v);
  /** A result. `only` says which columns and rows no other has: they are tinted, and rows carry the word. */
  function table(result, only, side = "p", label = "only here") {
    if (result.error) return h("p", { class: "wrong" }, result.error);
    if (!result.total) return h("p", { class: "dim" }, "No rows.");
    const marked = only?.rows.some(Boolean);
    const tint = (j) => (only?.columns[j] ? side : "");
    const isNumber = (cell) => cell == null || typeof cell === "number";
    const align = result.columns.map((_, j) =>
      result.rows.every((row) => isNumber(row[j])) ? "num " : "",
    );
    const head = result.columns.map((name, j) =>
      h("th", { class: align[j] + tint(j), title: name }, tint(j) && !marked ? `≠ ${name}` : name),
    );
    const rows = result.rows.map((row, i) => {
      const alone = only?.rows[i] ? side : "";
      const cells = row.map((cell, j) =>
        h("td", { class: align[j] + (alone || tint(j)), title: cell ?? "NULL" }, value(cell)),
      );
      return h(
        "tr",
        {},
        marked && h("td", { class: `who ${alone}` }, alone && `≠ ${label}`),
        cells,
      );
    });
    return h(
      "table",
      { class: "res" },
      h("tr", {}, marked && h("th", { class: "who" }), head),
      rows,
    );
  }
  const many = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
  const count = (r) => {
    if (r.error) return "error";
    const first = r.rows.length < r.total ? `first ${r.rows.length} of ` : "";
    return first + many(r.total, "row");
  };

  /** Keys of a widget, kept from JupyterLab; while typing only those with a modifier and Escape count. */
  function keys(root, map) {
    root.setAttribute("data-lm-suppress-shortcuts", "true");
    root.addEventListener("keydown", (event) => {
      event.stopPropagation();
      const chooses =
        event.target.tagName === "SELECT" && /^(Arrow.*|Enter|[a-z ])$/i.test(event.key);
      const typing = chooses || /^(textarea|input)$/i.test(event.target.tagName);
      const shift = event.shiftKey && event.key.length > 1 ? "Shift+" : "";
      const name = (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + shift + event.key;
      if (event.altKey || !(name in map) || (typing && !/^(Ctrl\+|Escape)/.test(name))) return;
      if (event.target.tagName === "BUTTON" && /^(Enter| )$/.test(name)) return;
      event.preventDefault();
      if (!event.repeat || /^Arrow/.test(event.key)) map[name](event); // a key held down answers one case
    });
  }

  /** `ask({ do: NAME, ... })` is a promise of the kernel's answer; after `within` milliseconds a silent kernel counts as gone. */
  function kernel(model) {
    const waiting = new Map(),
      view = Math.random().toString(36).slice(2);
    let sent = 0;
    const listen = (message) => {
      const [done, fail] = waiting.get(message.ref) ?? [];
      waiting.delete(message.ref);
      if (fail && "error" in message) fail(new Error(message.error));
      else if (done) done(message.answer);
    };
    const ask = (message, within) =>
      new Promise((done, fail) => {
        const ref = `${view} ${++sent}`;
        if (within)
          setTimeout(
            () =>
              waiting.delete(ref) &&
              fail(new Error("the kernel does not answer: it is busy or gone")),
            within,
          );
        waiting.set(ref, [done, fail]);
        try {
          model.send({ ...message, ref });
        } catch {
          waiting.delete(ref);
          fail(new Error("the kernel is gone"));
        }
      });
    const heard = [],
      on = (event, does) => {
        heard.push([event, does]);
        model.on(event, does);
      };
    const stop = () => {
      for (const one of heard) model.off(...one);
    };
    on("msg:custom", listen);
    on("comm_live_update", () => {
      for (const [, fail] of waiting.values()) fail(new Error("the kernel is gone"));
      waiting.clear();
    });
    return { ask, on, stop };
  }
  const seg = (options, chosen, pick, label) =>
    h(
      "span",
      { class: "seg", role: "group", "aria-label": label },
      options.map(([id, text, hint]) =>
        h(
          "button",
          { "aria-pressed": String(id === chosen), title: hint, onclick: () => pick(id) },
          text,
        ),
      ),
    );
  const select = (options, chosen, pick, label, width) =>
    h(
      "select",
      {
        style: width && `width:${width}px`,
        "aria-label": label,
        title: label,
        onchange: (event) => pick(event.target.value),
      },
      options.map((text) => h("option", { selected: text === chosen }, text)),
    );
  /** The lines of two texts: the changed ones with those near them. */
  function lineDiff(before, after, near = 3) {
    const ops = diff(before.split("\n"), after.split("\n"));
    const shown = ops.map((_, i) =>
      ops.slice(Math.max(0, i - near), i + near + 1).some(([op]) => op !== "="),
    );
    const looks = { "-": ["g own", "−"], "+": ["p own", "+"], "=": ["", ""] };
    const rows = ops.map(([op, a, b], i) => {
      if (!shown[i]) return shown[i - 1] && div("dline dim", span("", "⋯"), span(""));
      const [cls, sign] = looks[op];
      return div(`dline ${cls}`, span("", sign), span("", a ?? b));
    });
    return h("div", { class: "code", style: "padding:8px 0" }, rows);
  }
  /** The keys of a widget and what they do. */
  const help = (list) =>
    list.map(([names, does]) =>
      div(
        "two-up",
        span(
          "",
          names.split(" ").map((one) => h("kbd", {}, one)),
        ),
        does,
      ),
    );
  const entry = (label, done, props) =>
    h(
      "form",
      {
        class: "flex",
        onsubmit: (event) => {
          event.preventDefault();
          done(event.target.elements[0].value.trim());
        },
      },
      h("input", { class: "grow", "aria-label": label, ...props }),
      h("button", { class: "primary" }, "OK"),
    );
  return {
    h,
    div,
    span,
    h3,
    fill,
    mark,
    badge,
    diff,
    lineDiff,
    align,
    sql,
    sqlPair,
    sqlUnified,
    tokens,
    line,
    table,
    many,
    count,
    keys,
    kernel,
    seg,
    select,
    help,
    entry,
  };
})();
