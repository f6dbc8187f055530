// The labeller: a key is answered from the cases that were sent ahead, the kernel confirms the write, and a write that
// fails brings its case back. Under it stands the summary of what all annotators say.
const { h, div, span, h3, fill, mark, sqlPair, table, many, count, keys, kernel, select } = desk;
const NEW = 'new annotator…', AHEAD = 5, LETTERS = 'befghijklmopqrtvwxyz';  // the keys after the nine digits; the others are taken
const FILTERS = ['all cases', 'not labelled', 'skipped', 'disputed'];
const KEYS = [['1 … 9', 'choose the category'], ['0', 'back to the first level'], ['Enter', 'save, where a case has several labels'],
    ['space', 'skip'], ['← →', 'case before, next'], ['u', 'undo'], ['n', 'note, Enter leaves it'], ['c', 'counterexample'], ['a', 'annotator'],
    ['d', 'disputes to settle, and back'], ['s', 'suggestions'], ['?', 'these keys']];

function render({ model, el }) {
  const rows = model.get('rows'), taxonomy = model.get('taxonomy'), every = rows.map(row => row.key);
  const name = Object.fromEntries(rows.map(row => [row.key, row.id]));
  const cache = new Map(Object.entries(model.get('detail'))), built = new Map(), pending = new Map(), asked = new Set();
  const state = { order: every, at: 0, filter: FILTERS[0], cell: null, parent: null, picked: new Set(), skipped: new Set(), notes: {}, past: [],
      toast: '', failed: null, pop: null, suggest: false };
  let timer = 0;

  // ---- parts that stay
  const root = div('wb'), below = h('div', { class: 'wb auto', style: 'margin-top:12px', 'data-lm-suppress-shortcuts': 'true' });
  const box = { top: h('div', { class: 'bar', role: 'toolbar' }), scroll: h('div', { class: 'case scroll', tabindex: '0', 'aria-label': 'case' }),
      tiles: h('div', { class: 'tiles', role: 'group', 'aria-label': 'categories' }), foot: div('foot'), toast: h('div', { class: 'toast', role: 'status', hidden: true }),
        pop: h('div', { class: 'pop', hidden: true, style: 'right:8px;top:40px;width:320px' }),
    note: h('input', { placeholder: 'Note', 'aria-label': 'note', oninput: event => { state.notes[key()] = event.target.value; },
        onkeydown: event => { if (event.key === 'Enter') { event.preventDefault(); keepNote(); box.scroll.focus(); } } }), said: span('dim') };
  box.foot.append(h('kbd', {}, 'n'), box.note, box.said);
  root.append(box.top, box.scroll, box.tiles, box.foot, box.toast, box.pop);
  el.append(root, below);

  // ---- what is said of a case: the page's own words until the kernel confirms them
  const key = () => state.order[state.at];
  const own = which => pending.get(which) ?? model.get('mine')[which] ?? { is: [], note: '', gold: '' };
  const disputes = () => model.get('summary').disputes, dispute = which => disputes().find(one => one.key === which);
  const settles = () => state.filter === 'disputed';
  const done = () => every.filter(one => own(one).is.length).length;
  const { ask, stop } = kernel(model);

  function filter(kind, cell = null) {
    const among = { 'not labelled': one => !own(one).is.length, skipped: one => state.skipped.has(one), disputed: one => dispute(one) }[kind] ?? (() => true);
    Object.assign(state, { filter: kind, cell, order: cell ? cell.keys : every.filter(among), at: 0, parent: null, failed: null });
    state.picked.clear();
  }
  /** Show a case, whatever the filter. */
  function show(which) {
    if (!state.order.includes(which)) filter(FILTERS[0]);
    go(Math.max(0, state.order.indexOf(which)) - state.at);
  }
  function go(by) {
    Object.assign(state, { at: Math.max(0, Math.min(state.order.length, state.at + by)), parent: null });
    state.picked.clear(); draw(); box.scroll.scrollTop = 0;
  }
  /** Ask for the cases ahead that are not here yet, and build the next one. */
  function ahead() {
    const lacking = state.order.slice(state.at, state.at + AHEAD + 1).filter(one => !cache.has(one) && !asked.has(one));
    lacking.forEach(one => asked.add(one));
    if (lacking.length) ask({ do: 'need', keys: lacking }).then(found => {
      for (const [one, detail] of Object.entries(found)) cache.set(one, detail);
      if (lacking.includes(key())) drawCase();
    }).catch(error => say(error.message)).finally(() => lacking.forEach(one => asked.delete(one)));
    setTimeout(() => { for (const one of state.order.slice(state.at, state.at + 2)) if (cache.has(one)) node(one); }, 20);
  }

  // ---- actions
  function label(names) {
    const which = key(), before = own(which), note = state.notes[which] ?? before.note, settle = settles();
    write({ which, names, note, settle, before });
    state.skipped.delete(which); state.failed = null;
    say(`${name[which]}: ${names.join(', ')}`);
    go(1);
  }
  function write({ which, names, note, settle, before }) {
    const wish = { ...before, is: names, note };
    if (!settle) pending.set(which, wish);
    state.past.push({ which, before, settle });
    const ours = () => pending.get(which) === wish && pending.delete(which);
    ask({ do: 'save', key: which, categories: names, note, settle }, 20000).then(() => { ours(); delete state.notes[which]; }).catch(error => {
      ours(); state.past = state.past.filter(one => one.before !== before || one.which !== which);
      if (note) state.notes[which] = note;
      show(which); Object.assign(state, { failed: { which, names, error: error.message }, toast: '' }); draw();
    });
  }
  function keepNote() {
    const which = key(), before = own(which), note = state.notes[which];
    if (note === undefined || note === before.note || settles()) return;
    if (before.is.length) write({ which, names: before.is, note, settle: false, before });
    say(before.is.length ? 'note kept' : 'the note is kept with the label'); drawFoot();
  }
  function undo() {
    const last = state.past.pop(), settle = last ? last.settle : settles();
    if (last && !settle) { pending.set(last.which, last.before); state.toast = ''; show(last.which); }
    ask({ do: 'undo', settle }).then(found => {
      if (last) pending.delete(last.which);
      if (found.key === null) say('nothing to undo'); else if (name[found.key]) { say(`took back the label of ${name[found.key]}`);
          if (settle) filter('disputed'); show(found.key); }
      draw();
    }).catch(error => { if (last) pending.delete(last.which); say(error.message); draw(); });
  }
  function skip() { if (key()) { state.skipped.add(key()); go(1); } }
  function options() {
    const levels = taxonomy.categories;
    return state.parent === null ? levels.map(one => ({ ...one, whole: one.name })) : levels[state.parent].parts.map(one => ({ ...one,
        whole: `${levels[state.parent].name} / ${one.name}` }));
  }
  function choose(n) {
    const one = options()[n];
    if (!one || !cache.has(key())) return;  // a key that is pressed before its case is shown is none
    if (one.parts?.length) { state.parent = n; return drawTiles(); }
    if (!taxonomy.several) return label([one.whole]);
    if (!state.picked.size && own(key()).is.length) own(key()).is.forEach(each => state.picked.add(each));
    state.picked.delete(one.whole) || state.picked.add(one.whole);
    drawTiles(); drawFoot();
  }
  function enter() {
    if (!cache.has(key())) return;
    if (state.picked.size) label([...state.picked]);
    else if (state.parent !== null) label([taxonomy.categories[state.parent].name]);
  }
  function annotator(to) { ask({ do: 'annotator', name: to }).then(() => { state.past = []; state.skipped.clear(); pop(null); begin();
      }).catch(error => say(error.message)); }
  function begin() { filter(FILTERS[0]); go(Math.max(0, every.findIndex(one => !own(one).is.length))); }
  function settle() { if (settles()) begin(); else if (disputes().length) { filter('disputed'); go(0); } else say('no dispute to settle'); }
  function say(text) { state.toast = text; clearTimeout(timer); timer = setTimeout(() => { state.toast = ''; drawToast(); }, 5000); drawToast(); }

  // ---- drawing
  function drawTop() {
    const n = done();
    fill(box.top, h('progress', { value: n, max: every.length || 1, 'aria-label': 'labelled' }),
        h('span', { 'data-part': 'progress', style: 'white-space:nowrap' }, h('b', {}, String(n)), span('dim', ` of ${every.length} labelled`)),
      settles() ? span('badge none', mark('differ'),
          'settling as adjudicator') : select([...new Set([...model.get('summary').annotators, model.get('annotator'), NEW])], model.get('annotator'),
          to => to === NEW ? (pop('annotator'), drawTop()) : annotator(to), 'annotator', 120), select(FILTERS, state.filter, kind => { filter(kind); go(0); }, 'filter'),
      state.cell && h('button', { onclick: begin, title: 'Show all cases again' },
          h('span', { class: 'one', style: 'max-width:200px' }, state.cell.title), h('span', { 'aria-hidden': 'true' }, '×')),
      span('grow'), h('button', { onclick: undo }, 'Undo', h('kbd', {}, 'u')),
      h('button', { class: 'plain', 'aria-label': 'more', 'aria-expanded': String(state.pop === 'more'), onclick: () => pop('more') }, '⋯'),
          h('button', { class: 'plain', 'aria-label': 'keys', 'aria-expanded': String(state.pop === 'keys'), onclick: () => pop('keys') }, '?'));
  }
  function pop(which) {
    state.pop = which === state.pop ? null : which; drawPop();
    if (state.pop) box.pop.querySelector('input, textarea, button')?.focus(); else box.scroll.focus({ preventScroll: true });
  }
  const entry = (title, does, hint) => h('form', { onsubmit: event => { event.preventDefault(); does(event.target.elements[0].value); } },
      h('h3', { style: 'margin-bottom:6px' }, title), h('div', { class: 'flex' },
      h('input', { class: 'grow', 'aria-label': title, placeholder: hint }), h('button', { class: 'primary' }, 'OK')));
  function drawPop() {
    box.pop.hidden = !state.pop;
    if (!state.pop) return box.pop.replaceChildren();
    const item = (text, does) => h('button', { class: 'plain', style: 'width:100%', disabled: !key(), onclick: does }, text);
    const answer = message => ask(message).then(text => { pop(null); say(text); draw();
        }).catch(error => { const told = box.pop.querySelector('[role=alert]');
        if (told) told.textContent = error.message; else say(error.message); });
    const bodies = {
      keys: () => KEYS.map(([k, what]) => h('div', { style: 'display:grid;grid-template-columns:64px 1fr;line-height:24px' }, span('', h('kbd', {}, k)), what)),
      annotator: () => entry('Label as', annotator, 'a name'),
      jump: () => entry(`Case, 1 to ${state.order.length}, or a question's id`,
          text => { const n = state.order.findIndex(one => name[one] === text.trim()), to = n >= 0 ? n : Number(text) - 1;
          if (state.order[to]) { pop(null); go(to - state.at); } else say(`no case ${text}`); }, 'number or id'),
      gold: () => { const text = h('textarea', { rows: '8', 'aria-label': 'the right query', spellcheck: 'false' }, cache.get(key())?.gold ?? '');
          return [h('h3', { style: 'margin-bottom:6px' }, 'The right query, which is run before it is kept'), text,
          h('p', { class: 'wrong', role: 'alert', style: 'overflow-wrap:anywhere' }),
          h('button', { class: 'primary', style: 'margin-top:8px',
          onclick: () => answer({ do: 'gold', key: key(), sql: text.value }) }, 'Run and keep')]; },
      more: () => [item('Jump to a case…', () => pop('jump')), item('Correct the gold query…', () => pop('gold')),
          item('Both are right', () => answer({ do: 'both_right', key: key() })), item(state.suggest ? 'Hide suggestions' : 'Show suggestions', suggest),
          h('button', { class: 'plain', style: 'width:100%', onclick: () => answer({ do: 'export' }) }, 'Export CSV')],
    };
    box.pop.style.width = state.pop === 'gold' ? 'min(560px, 90%)' : '320px';
    fill(box.pop, bodies[state.pop]());
  }
  function suggest() { state.suggest = !state.suggest; if (state.pop) pop(null); draw(); }

  /** A case as a node, built once. */
  function node(which) {
    if (!built.has(which)) built.set(which, caseOf(which, cache.get(which)));
    if (built.size > 12) built.delete(built.keys().next().value);
    return built.get(which);
  }
  function caseOf(which, q) {
    const part = (part, title, hint) => { const body = h('div', { style: 'padding:4px 0 4px 14px' }), whole = h('details', { 'data-part': part,
        ontoggle: () => { if (whole.open && !body.childNodes.length) { body.append(span('dim', 'Looking…'));
        ask({ do: 'part', key: which, name: part }).then(found => fill(body,
        PARTS[part](found))).catch(error => { fill(body, h('p', { class: 'wrong' }, error.message)); }); } } },
        h('summary', {}, title, hint && span('', ' ', h('kbd', {}, hint))), body); return whole; };
    const missing = q.goldResult.columns.length - q.result.columns.length,
        columns = q.result.error || q.goldResult.error || !missing ? '' : missing > 0 ? `, ${many(missing, 'column')} missing` : `, ${many(-missing, 'column')} too many`;
    const cut = r => r.total > r.rows.length ? h('div', { class: 'dim', style: 'padding:4px 10px' }, `first ${r.rows.length} of ${count(r)}`) : null;
    const head = (title, more) => div('hd', h3('', title), more && h('span', { class: 'dim', style: 'line-height:16px' }, more));
    return div('', h('div', { class: 'flex' }, h('h2', { class: 'grow', 'data-part': 'question' }, q.question),
        span('dim nowrap', [q.id, q.db, q.difficulty].filter(Boolean).join(' · '))), div('flex dim', h('span', { class: 'grow', 'data-part': 'hint' },
          q.hint ? `Hint: ${q.hint}` : 'No hint'), span('nowrap', q.agree)), h('div', { class: 'why', 'data-part': 'why' }, mark('differ'), span('', q.why)),
      div('pair sql', head('Gold'), head('Predicted'), sqlPair(q.gold, q.predicted, q.sql)),
      div('pair', head('Result of gold', count(q.goldResult)), head('Result of the prediction', `${count(q.result)}${columns}`),
        div('wide', table(q.goldResult, q.result, 'g'), cut(q.goldResult)), div('wide', table(q.result, q.goldResult, 'p'), cut(q.result))),
      part('counterexample', 'Counterexample', 'c'), part('values', 'Values found'), part('schema', 'Schema'));
  }
  const PARTS = {
    counterexample: found => found.tables ? [h('p', {}, 'The smallest part of the database found on which the two results differ.'),
        h('div', { style: 'display:flex;gap:32px;margin-top:8px;flex-wrap:wrap' }, found.tables.map(t => div('wide', h3('', t.name), table(t))),
        div('wide', h3('', 'gold gives'), table(found.gold, found.predicted, 'g')),
        div('wide', h3('', 'the prediction gives'), table(found.predicted, found.gold, 'p')))] : h('p', { class: 'dim' }, 'No smaller database tells the two queries apart.'),
    values: found => found.values.length ? found.values.map(one => div('code', one)) : h('p', { class: 'dim' }, 'None.'),
    schema: found => h('pre', { class: 'code said' }, found.text),
  };
  function drawCase() {
    const which = key(), q = cache.get(which), said = which && settles() && dispute(which);
    if (!which) return fill(box.scroll, finished());
    if (!q) return fill(box.scroll, div('empty', 'Loading…'));
    const failed = state.failed?.which === which && h('div', { class: 'note', role: 'alert', style: 'margin:-4px 0 12px' }, mark('wrong'),
        span('grow', h('b', {}, `“${state.failed.names.join(', ')}” was not written: ${state.failed.error}. `),
        'The case is back and nothing else was lost.'), h('button', { onclick: () => label(state.failed.names) }, 'Write again'));
    const opinions = said && h('div', { class: 'note', 'data-part': 'opinions', style: 'margin:-4px 0 12px' }, mark('differ'),
        span('grow', Object.entries(said.said).map(([who, names], n) => [n ? ' · ' : '', h('b', {}, who), `: ${names.join(', ')}`])), span('dim', 'Your label settles it.'));
    const gold = own(which).gold, verdict = gold && h('p', { class: 'dim', style: 'margin-bottom:8px' },
        gold === 'corrected' ? 'You corrected the gold query.' : 'You say that both queries are right.');
    const guess = state.suggest && h('p', { class: 'dim', 'data-part': 'suggestion', style: 'margin-bottom:8px' },
        q.suggestion ? ['Suggested: ', h('b', {}, q.suggestion[0]), ` (${q.suggestion[1]})`] : 'Nothing is suggested.');
    fill(box.scroll, failed, opinions, verdict, guess, node(which));
  }
  function finished() {
    const left = every.filter(one => !own(one).is.length), open = disputes().length;
    if (!every.length) return div('empty', 'No case of this kind: nothing to label.');
    const to = left.length ? [`Back to ${left.length} left`, begin] : open ? [`Settle ${many(open, 'dispute')}`,
        settle] : ['To the first case', () => { filter(FILTERS[0]); go(0); }];
    return h('div', { style: 'max-width:440px;margin:88px auto 0' },
        h('h2', {}, state.order.length ? left.length ? `${done()} of ${every.length} labelled` : `All ${every.length} labelled` : `No case: ${state.filter}`),
      h('p', { class: 'dim', style: 'margin:4px 0 20px' },
          left.length ? `${left.length} skipped or not labelled yet.` : open ? `${open} in dispute. Every label is on disk.` : 'Every label is on disk.'),
      div('flex', h('button', { class: 'primary', onclick: to[1] }, to[0]), h('button', { onclick: () => ask({ do: 'export' }).then(say) }, 'Export CSV'),
          h('button', { onclick: () => pop('annotator') }, 'Label as another')));
  }
  function drawTiles() {
    const of = options(), mine = settles() ? [] : key() ? own(key()).is : [], picked = state.picked.size ? [...state.picked] : mine, inner = state.parent !== null;
    box.tiles.classList.toggle('many', of.length + inner > 7);
    fill(box.tiles, inner && h('button', { onclick: () => { state.parent = null; drawTiles(); },
        title: 'Back to the first level; Enter chooses it without a part' }, h('kbd', {}, '0'), span('', `‹ ${taxonomy.categories[state.parent].name}`)),
      of.map((one, n) => h('button', { title: one.meaning || one.whole, disabled: !key(),
          'aria-pressed': String(picked.some(each => each === one.whole || each.startsWith(`${one.whole} / `))), onclick: () => choose(n) },
          n < 9 + LETTERS.length && h('kbd', {}, n < 9 ? String(n + 1) : LETTERS[n - 9]), span('', one.name.replaceAll('/', '/\u200b'), one.parts?.length ? ' ›' : ''))));
  }
  function drawFoot() {
    const which = key(), text = which ? state.notes[which] ?? own(which).note : '', mine = which && own(which).is;
    box.note.disabled = !which; if (box.note.value !== text) box.note.value = text;
    fill(box.said, state.picked.size ? h('button', { class: 'primary', onclick: enter }, `Save ${state.picked.size}`,
        h('kbd', {}, '↵')) : mine?.length && !settles() ? `labelled ${mine.join(', ')}` : which && state.skipped.has(which) ? 'skipped' : h('span',
        { style: 'white-space:nowrap' }, h('kbd', {}, '←'), ' ', h('kbd', {}, '→'), ' cases  ', h('kbd', { style: 'margin-left:12px' }, 'space'), ' skips'));
  }
  function drawToast() { box.toast.hidden = !state.toast; fill(box.toast, h('span', { class: 'one', style: 'max-width:420px' }, state.toast),
      h('button', { class: 'plain', style: 'color:var(--accent);height:24px;padding:0 8px', onclick: undo }, 'Undo', h('kbd', {}, 'u'))); }

  /** Counts, agreement, the confusion grid whose cells filter the labeller, and the disputes. */
  function drawSummary() {
    const { counts, other, agreement, names, grid } = model.get('summary'), me = model.get('annotator'), most = Math.max(1, ...counts.map(one => one[1])), open = disputes();
    const cell = (i, j) => { const found = grid[`${i} ${j}`] ?? [], title = `${me} ${names[i]}, ${other} ${names[j]}: ${found.length}`, on = state.cell?.id === `${i} ${j}`;
      return h('td', {}, h('button', { class: found.length ? i === j ? 'diag' : 'off' : '', disabled: !found.length, 'aria-pressed': String(on),
          'aria-label': title, title, onclick: () => { if (on) begin();
          else { filter(FILTERS[0], { id: `${i} ${j}`, keys: found, title: `${me} ${names[i]}, ${other} ${names[j]}` }); go(0); } drawSummary(); } },
          found.length ? String(found.length) : '')); };
    fill(below, h('div', { class: 'sum' }, h('section', { 'data-part': 'counts' }, h('h3', { style: 'margin-bottom:8px' },
          `Labels of ${me}, ${Object.values(model.get('mine')).filter(one => one.is.length).length}`),
          counts.map(([what, n]) => h('div', { class: 'hbar', style: 'line-height:24px' }, h('span', { class: 'one', title: what }, what),
          span('', h('i', { style: `width:${n / most * 100}%` })), span('num', String(n))))),
      h('section', { 'data-part': 'agreement' }, h('h3', { style: 'margin-bottom:8px' }, other ? `Agreement with ${other}` : 'Agreement'),
          other ? agreement.length ? agreement.map(text => h('p', {}, text)) : h('p', { class: 'dim' }, 'No case has both labels yet.') : h('p',
          { class: 'dim' }, 'A second annotator’s labels are compared here.'), other && [h('h3', { style: 'margin:12px 0 4px' }, `To settle, ${open.length}`),
            open.slice(0, 5).map(one => div('flex', mark('differ'),
            h('span', { class: 'one grow', title: Object.entries(one.said).map(([who, what]) => `${who}: ${what.join(', ')}`).join(' · ') },
            `${name[one.key]}: ${[...new Set(Object.values(one.said).map(what => what.join(', ')))].join(' or ')}`),
            h('button', { class: 'link', onclick: () => { filter('disputed'); show(one.key); box.scroll.focus(); } }, 'Open'))),
            open.length > 5 && h('p', { class: 'dim' }, `and ${open.length - 5} more, by d`)]),
      other && h('section', { 'data-part': 'grid' }, h('h3', { style: 'margin-bottom:4px' }, `${me} down, ${other} across`), h('table', { class: 'conf' }, h('tr', {}, h('th'),
          names.map((n, j) => h('th', { style: 'text-align:center;padding:0', title: n }, String(j + 1)))),
          names.map((n, i) => h('tr', {}, h('th', { title: n, class: 'one' }, `${n} ${i + 1}`), names.map((_, j) => cell(i, j)))))))); }
  function draw() { drawTop(); drawCase(); drawTiles(); drawFoot(); drawToast(); if (state.pop === 'keys') drawPop(); ahead(); }

  keys(root, { ...Object.fromEntries([...'123456789', ...LETTERS].map((k, n) => [k, () => choose(n)])),
      0: () => { state.parent = null; drawTiles(); }, ' ': skip, Enter: enter, ArrowRight: () => go(1), ArrowLeft: () => go(-1), u: undo, s: suggest,
      d: settle, a: () => pop('annotator'), '?': () => pop('keys'), n: () => box.note.focus(), c: () => { const part = box.scroll.querySelector('[data-part=counterexample]');
        if (part) { part.open = !part.open; part.scrollIntoView({ block: 'nearest' }); } }, Escape: () => { if (state.pop) pop(null); else box.scroll.focus(); } });
  below.addEventListener('keydown', event => event.stopPropagation());
  // Nothing takes the focus on its own; a click makes the keys live, and the border says so.
  root.addEventListener('click', event => { if (event.detail && !event.target.closest('input, select, textarea, summary, .pop')) box.scroll.focus({ preventScroll: true }); });
  const redraw = () => { drawTop(); drawTiles(); drawFoot(); if (!key()) drawCase(); };
  model.on('change:mine', redraw); model.on('change:summary', drawSummary); model.on('change:annotator', draw);
  begin(); drawSummary();
  return () => { stop(); clearTimeout(timer); model.off('change:mine', redraw); model.off('change:summary', drawSummary);
      model.off('change:annotator', draw); };
}
export default { render };
