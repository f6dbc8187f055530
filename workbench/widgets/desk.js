// Helpers of both widgets. Text reaches the page by textContent only; nothing here parses HTML.
const desk = (() => {
  const WORDS = /^(select|distinct|from|inner|left|join|on|as|where|and|or|not|in|is|null|like|between|group|by|having|order|limit|asc|desc|case|when|then|else|end|cast|real|union|all|exists)$/i;
  const TOKEN = /'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\d+(?:\.\d+)?|\w+(?:\.\w+)?|<>|[<>!|]=?=?|\s+|./gu;

  /** An element; `on…` keys become listeners, the other keys attributes, null kids are left out. */
  function h(tag, props = {}, ...kids) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(props)) {
      if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
      else if (key === 'value') node.value = value;
      else if (value !== false && value != null) node.setAttribute(key, value === true ? '' : value);
    }
    node.append(...kids.flat(Infinity).filter(kid => kid != null && kid !== false));
    return node;
  }

  /** Replace what a node holds; the focus stays on the control that takes the place of the focused one. */
  function fill(node, ...kids) {
    const all = () => [...node.querySelectorAll('button, input, select, textarea, summary, [tabindex]')], at = all().indexOf(document.activeElement);
    node.replaceChildren(...kids.flat(Infinity).filter(kid => kid != null && kid !== false));
    if (at >= 0) all()[at]?.focus({ preventScroll: true });
  }

  const PATHS = { right: 'M3 8.5 6.5 12 13 4.5', done: 'M3 8.5 6.5 12 13 4.5', wrong: 'M4 4l8 8M12 4l-8 8', differ: 'M3 6h10M3 10h10M10.5 3l-5 10', none: 'M5 8h6', lost: 'M8 2.5a5.5 5.5 0 0 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11', note: 'M3 5h10M3 8h10M3 11h6' };
  const MEAN = { right: 'right', done: 'made', wrong: 'wrong', differ: 'differs', none: 'not run', lost: 'lost: a right candidate was there', note: 'note' };
  /** The mark of a verdict: shape and colour together, named for screen readers. */
  function mark(kind) {
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg'), path = document.createElementNS(svg.namespaceURI, 'path');
    for (const [key, value] of Object.entries({ viewBox: '0 0 16 16', class: `mark ${kind}`, role: 'img', 'aria-label': MEAN[kind] ?? kind })) svg.setAttribute(key, value);
    for (const [key, value] of Object.entries({ d: PATHS[kind], fill: kind === 'lost' ? 'currentColor' : 'none', 'fill-rule': 'evenodd', stroke: 'currentColor', 'stroke-width': kind === 'lost' ? 1.2 : 2.2, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' })) path.setAttribute(key, value);
    if (kind === 'lost') { const half = path.cloneNode(); path.setAttribute('d', PATHS.lost.split('z')[0] + 'z'); half.setAttribute('d', 'M8 2.5a5.5 5.5 0 0 1 0 11'); half.setAttribute('fill', 'none'); svg.append(half); }
    svg.append(path);
    return svg;
  }
  const badge = (kind, text) => h('span', { class: `badge ${kind}` }, mark(kind), text);

  /** Longest common subsequence: [kind, a, b] with kind '=', '-' or '+'. */
  function diff(a, b, key = x => x) {
    const A = a.map(key), B = b.map(key), best = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length; i--;) for (let j = b.length; j--;) best[i][j] = A[i] === B[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    const ops = [];
    for (let i = 0, j = 0; i < a.length || j < b.length;) {
      if (i < a.length && j < b.length && A[i] === B[j]) ops.push(['=', a[i++], b[j++]]);
      else if (j >= b.length || (i < a.length && best[i + 1][j] >= best[i][j + 1])) ops.push(['-', a[i++]]);
      else ops.push(['+', null, b[j++]]);
    }
    return ops;
  }

  /** SQL as lines of tokens: a clause, a join, a condition or a result column each; subqueries indented. */
  function lines(sql) {
    const out = [], words = sql.trim().replace(/\s+/g, ' ').match(TOKEN) ?? [];
    let at = 0, line = null;
    const start = (clause, depth, indent) => { line = { clause, depth, indent, words: [] }; out.push(line); };
    const next = n => { let seen = 0; for (let i = at + 1; i < words.length; i++) if (words[i] !== ' ' && ++seen === n) return words[i].toUpperCase(); return ''; };
    function block(depth) {
      let open = 0, clause = '', between = false, joined = false;
      for (; at < words.length; at++) {
        const word = words[at], up = word.toUpperCase();
        if (word === ')' && open === 0) return;
        if (word === '(' && next(1) === 'SELECT') {
          line.words.push('('); at++; const kept = clause; block(depth + 1); clause = kept; start(clause, depth, 2); line.words.push(')'); continue;
        }
        if (word === '(') open++; if (word === ')') open--;
        if (up === 'BETWEEN') between = true;
        if (open === 0) {
          if (/^(SELECT|FROM|WHERE|HAVING|LIMIT|UNION)$/.test(up) || (/^(GROUP|ORDER)$/.test(up) && next(1) === 'BY')) { clause = up; joined = false; start(clause, depth, 0); }
          else if (/^(INNER|LEFT)$/.test(up) || (up === 'JOIN' && !joined)) { joined = up !== 'JOIN'; start('FROM', depth, 0); }
          else if (up === 'AND' && !between && clause !== 'FROM') start(clause, depth, 2);
          else if (up === 'AND') between = false;
          if (up === 'JOIN') joined = false;
        }
        if (line.words.length || word !== ' ') line.words.push(word);
        if (word === ',' && open === 0 && clause === 'SELECT') start(clause, depth, 7);
      }
    }
    start('', 0, 0); block(0);
    for (const each of out) while (each.words.at(-1) === ' ') each.words.pop();
    return out.filter(each => each.words.length);
  }

  /** What a line says, whatever its aliases, its place in the list or the sides of an equation. */
  function says(line, names) {
    let text = line.words.map(w => w === ' ' || /^'/.test(w) ? w : w.toLowerCase().replace(/^(\w+)\./, (all, a) => `${names[a] ?? a}.`)).join('').replace(/[`"]/g, '').replace(/ as t\d+/i, '');
    if (line.clause === 'FROM') text = text.replace(/^from /, '').replace(/^(inner |left )?join (\w+) on /, (all, kind, table) => `${kind === 'left ' ? kind : ''}`);
    if (line.clause === 'WHERE' || line.clause === 'HAVING') text = text.replace(/^(where|having|and) /, '');
    if (line.clause === 'SELECT') text = text.replace(/^select (distinct )?/, '$1').replace(/,$/, '');
    const sides = text.split(' = ');
    return `${line.depth}${line.clause}:${sides.length === 2 && line.clause === 'FROM' ? sides.sort().join(' = ') : text}`;
  }
  /** Two queries clause by clause: rows { gold, predicted, same }, either side null where only one has the line. */
  function align(gold, predicted) {
    const names = sql => Object.fromEntries([...sql.matchAll(/(\w+) AS (T\d+)/gi)].map(m => [m[2].toLowerCase(), m[1].toLowerCase()]));
    const read = sql => lines(sql).map(line => ({ ...line, key: says(line, names(sql)) }));
    const G = read(gold), P = read(predicted), tables = sql => new Set([...sql.matchAll(/(?:FROM|JOIN) (\w+)/gi)].map(m => m[1].toLowerCase()));
    const TG = tables(gold), TP = tables(predicted), taken = new Set(), base = line => /^from$/i.test(line.words[0]);
    const strip = key => key.replace(/\w+\./g, ''), bare = key => !/\w\.\w/.test(key);
    const loose = (a, b) => (bare(a.key) || bare(b.key)) && strip(a.key) === strip(b.key);  // `name` and `T1.name`
    const far = (a, b) => diff(a.words, b.words).filter(op => op[0] !== '=').length;
    const rows = G.map(g => {
      const p = P.find(x => !taken.has(x) && (x.key === g.key || loose(x, g) || (base(x) && base(g) && x.depth === g.depth && TG.has(x.words[2].toLowerCase()) && TP.has(g.words[2].toLowerCase()))));
      if (p) taken.add(p);
      return { gold: g, predicted: p ?? null, same: !!p };
    });
    for (const row of rows) if (!row.predicted) {
      const p = P.filter(x => !taken.has(x) && x.clause === row.gold.clause && x.depth === row.gold.depth && (x.clause !== 'FROM' || base(x) === base(row.gold)))
        .sort((a, b) => far(a, row.gold) - far(b, row.gold))[0];
      if (p) { taken.add(p); row.predicted = p; }
    }
    const order = one => ['SELECT', 'FROM', 'WHERE', 'GROUP', 'HAVING', 'ORDER', 'LIMIT', 'UNION'].indexOf(one.clause) + one.depth * 10;
    P.forEach((p, i) => {  // what only the prediction has goes where the prediction has it, within its clause
      if (taken.has(p)) return;
      let at = rows.findIndex(r => i && r.predicted === P[i - 1]) + 1;
      while (rows[at] && !rows[at].predicted && order(rows[at].gold) <= order(p)) at++;
      rows.splice(at, 0, { gold: null, predicted: p, same: false });
    });
    return rows;
  }
  const kind = w => /^'/.test(w) ? 's' : WORDS.test(w) ? 'k' : /^\d/.test(w) ? 'n' : /^--|^\{#/.test(w) ? 'c' : null;
  /** One line of SQL; words that `other` lacks are marked. */
  function line(one, other, cls = '') {
    const own = other ? new Set(diff(one.words, other.words, w => w.toLowerCase()).filter(op => op[0] === '-').map(op => op[1])) : new Set();
    return h('div', { class: `ln ${cls}`, style: `--in:${one.depth * 4 + one.indent}` }, one.words.map(w => {
      const piece = kind(w) ? h('span', { class: kind(w) }, w) : w;
      return own.has(w) && w !== ' ' ? h('mark', {}, piece) : piece;
    }));
  }
  const sql = text => h('div', { class: 'sql' }, lines(text).map(one => line(one)));
  /** Two queries side by side, by clause; `rows` are the kernel's, `align` the way without them. */
  const sqlPair = (gold, predicted, rows = []) => (rows.length ? rows : align(gold, predicted)).flatMap(({ gold: g, predicted: p, same }) => [
    g ? line(g, same ? null : p, same ? 'same' : `g own`) : h('div', { class: 'ln gap' }),
    p ? line(p, same ? null : g, same ? 'same' : `p own`) : h('div', { class: 'ln gap' })]);
  /** One query against another in a narrow pane: equal lines once, the others under each other. */
  const sqlUnified = (gold, now, rows = [], names = ['gold', 'now']) => h('div', { class: 'uni sql' }, (rows.length ? rows : align(gold, now)).flatMap(({ gold: g, predicted: p, same }) => same
    ? [h('div', {}, h('span', { class: 'who' }), line(p, null, 'same'))]
    : [g && h('div', { class: 'g own' }, h('span', { class: 'who' }, names[0]), line(g, p)), p && h('div', { class: 'p own' }, h('span', { class: 'who' }, names[1]), line(p, g))]));

  /** Which columns and rows of a result the other one lacks; columns are matched by their values. */
  function compare(one, other) {
    const values = (r, j) => JSON.stringify([...new Set(r.rows.map(row => row[j]))].sort());
    const theirs = other.columns.map((c, j) => values(other, j)), names = other.columns.map(c => c.toLowerCase());
    const shared = one.columns.map((c, j) => { const k = theirs.indexOf(values(one, j)); return k >= 0 ? k : names.indexOf(c.toLowerCase()); });
    const cells = (row, pick) => JSON.stringify(pick.map(j => row[j])), mine = [...shared.keys()].filter(j => shared[j] >= 0);
    const known = new Set(other.rows.map(row => cells(row, mine.map(j => shared[j]))));
    return { column: j => shared[j] < 0, row: row => !mine.length || !known.has(cells(row, mine)) };
  }
  const value = v => v == null ? h('span', { class: 'null' }, 'NULL') : typeof v === 'number' && !Number.isInteger(v) ? v.toLocaleString('en', { maximumFractionDigits: 2, useGrouping: false }) : String(v);
  /** A result; what `other` lacks is tinted, and rows carry the word. */
  function table(result, other, side = 'p', label = 'only here') {
    if (result.error) return h('p', { class: 'wrong' }, result.error);
    if (!result.total) return h('p', { class: 'dim' }, 'No rows.');
    const own = other?.columns ? compare(result, other) : { column: () => false, row: () => false };
    const number = j => result.rows.every(row => row[j] == null || typeof row[j] === 'number') ? 'num ' : '';
    const some = result.rows.some(own.row);
    return h('table', { class: 'res' },
      h('tr', {}, some && h('th', { class: 'who' }), result.columns.map((c, j) => h('th', { class: number(j) + (own.column(j) ? side : ''), title: c }, own.column(j) && !some ? `≠ ${c}` : c))),
      result.rows.map(row => h('tr', {}, some && h('td', { class: `who ${own.row(row) ? side : ''}` }, own.row(row) ? `≠ ${label}` : ''), row.map((v, j) => h('td', { class: number(j) + (own.row(row) || own.column(j) ? side : ''), title: v ?? 'NULL' }, value(v))))));
  }
  const count = r => r.error ? 'error' : r.total === 1 ? '1 row' : `${r.total.toLocaleString('en')} rows`;

  /** Keys of a widget, kept from JupyterLab; while typing only those with a modifier and Escape count. */
  function keys(root, map) {
    root.setAttribute('data-lm-suppress-shortcuts', 'true');
    root.addEventListener('keydown', event => {
      event.stopPropagation();
      const typing = /^(textarea|input|select)$/i.test(event.target.tagName);
      const name = (event.ctrlKey || event.metaKey ? 'Ctrl+' : '') + event.key;
      if (event.altKey || !(name in map) || (typing && !/^(Ctrl\+|Escape)/.test(name))) return;
      if (event.target.tagName === 'BUTTON' && /^(Enter| )$/.test(name)) return;
      event.preventDefault();
      if (!event.repeat || /^Arrow/.test(event.key)) map[name](event);  // a key held down answers one case
    });
  }

  /**
   * Messages to the kernel: `ask({ do: NAME, ... })` is a promise of its answer.
   * With `within`, in milliseconds, a kernel that says nothing counts as gone: it may have been ending when it was asked.
   */
  function kernel(model) {
    const waiting = new Map(), view = Math.random().toString(36).slice(2);
    let sent = 0;
    const listen = message => {
      const [done, fail] = waiting.get(message.ref) ?? [];
      waiting.delete(message.ref);
      if (fail && 'error' in message) fail(new Error(message.error)); else if (done) done(message.answer);
    };
    const ask = (message, within) => new Promise((done, fail) => {
      const ref = `${view} ${++sent}`;
      if (within) setTimeout(() => waiting.delete(ref) && fail(new Error('the kernel says nothing')), within);
      waiting.set(ref, [done, fail]);
      try { model.send({ ...message, ref }); } catch { waiting.delete(ref); fail(new Error('the kernel is gone')); }
    });
    model.on('msg:custom', listen);
    return { ask, waiting, stop: () => model.off('msg:custom', listen) };
  }
  const seg = (options, chosen, pick, label) => h('span', { class: 'seg', role: 'group', 'aria-label': label }, options.map(([id, text, hint]) => h('button', { 'aria-pressed': String(id === chosen), title: hint, onclick: () => pick(id) }, text)));
  const select = (options, chosen, pick, label, width) => h('select', { style: width && `width:${width}px`, 'aria-label': label, title: label, onchange: event => pick(event.target.value) }, options.map(text => h('option', { selected: text === chosen }, text)));
  const tokens = text => Math.round(text.length / 3.9);
  return { h, fill, mark, badge, diff, lines, align, sql, sqlPair, sqlUnified, line, table, count, keys, kernel, seg, select, tokens };
})();
