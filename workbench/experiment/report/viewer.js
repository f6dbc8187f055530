// Shows the questions, SQL and calls behind a number of report.html. Texts of databases and models are only ever set as text.
"use strict";
const CALLS = 400, TEXTS = 600;  // in a file, as bundle.py writes them
const shown = document.getElementById("shown");
const waiting = {}, files = {};

function arrived(name, packed) { waiting[name](packed); }

function load(name) {
  files[name] ??= new Promise((resolve, reject) => {
    waiting[name] = resolve;
    const script = document.createElement("script");
    script.src = `${name}.js`;
    script.onerror = () => reject(new Error(`the file ${name}.js is missing beside this page`));
    document.head.append(script);
  }).then(unpacked);
  return files[name];
}

async function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== ""));
  return made;
}

const line = (...parts) => element("p", {}, ...parts);
const link = (to, text) => element("a", { href: to }, text);

function opening(title, name) {
  const back = link(`../report.html${name ? `#${name}` : ""}`, "report");
  return [element("p", { class: "quiet" }, back), element("h1", {}, title)];
}

function table(columns, rows) {
  const head = columns.map((name) => element("th", { scope: "col" }, name));
  const body = rows.map((cells) => element("tr", {}, ...cells.map((cell) => element("td", {}, cell))));
  return element("div", { class: "scroll" },
    element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body)));
}

async function piece(name) {
  const { tables } = await load("rows");
  const { heading, stamp, rows } = tables[name];
  const columns = rows.length ? Object.keys(rows[0].cells) : [];
  const cells = rows.map((row, number) => columns.map((column) => {
    const text = row.cells[column];
    return row.sets.length && text ? link(`#${name}.${number}`, text) : text;
  }));
  return [...opening(heading, name), line(stamp), table(columns, cells)];
}

async function row(name, number) {
  const { tables, sets } = await load("rows");
  const { heading, rows } = tables[name];
  const { cells, sets: counted } = rows[number];
  const columns = Object.keys(cells).filter((column) => cells[column]);
  const parts = [...opening(heading, name), table(columns, [columns.map((column) => cells[column])])];
  for (const [run, index] of counted) {
    const { name, questions, answers } = await load(`run-${run}`);
    const texts = await load(questions);
    parts.push(element("h2", {}, `${name}: ${sets[index].length} questions`));
    for (const [at, inside] of sets[index]) parts.push(question(answers[at], inside, texts));
  }
  return parts;
}

const word = (right) => (right === null ? "not judged" : right ? "right" : "wrong");

function calls(numbers) {
  const links = numbers.map((number, at) => link(`#call.${number}`, `call ${at + 1}`));
  return line("calls: ", ...links.flatMap((one, at) => (at ? [", ", one] : [one])));
}

function question([id, database, difficulty, queries, right, candidates, picking], inside, texts) {
  const [text, hint, gold] = texts[id] ?? ["", "", ""];
  const about = [database, difficulty].filter(Boolean).join(", ");
  const first = inside.find((at) => candidates[at][4]) ?? inside[0];
  const block = element("article", { class: "question" }, element("h3", {}, `${id} (${about}): ${text}`));
  if (first === undefined) {
    block.append(line("no answer"), picking.length ? calls(picking) : "");
  } else {
    const [, , query, status, chosen, keys] = candidates[first];
    block.append(line(`${word(right[query])}, ${status}${chosen ? ", chosen" : ""}`),
      element("pre", {}, queries[query]), calls(keys));
  }
  const more = element("details", {},
    element("summary", {}, `hint, gold query, ${candidates.length} candidates`));
  more.addEventListener("toggle", () => {
    if (more.children.length > 1) return;
    more.append(line(`hint: ${hint || "none"}`), line("gold:"), element("pre", {}, gold || "not here"));
    candidates.forEach(([generator, sample, query, status, chosen, keys], at) => more.append(
      line(`${generator} ${sample}: ${word(right[query])}, ${status}${chosen ? ", chosen" : ""}`
        + (inside.includes(at) ? ", counted in this number" : "")),
      element("pre", {}, queries[query]), calls(keys)));
  });
  block.append(more);
  return block;
}

async function call(number) {
  const [key, prompt, model, parameters, messages, reply, reason, read, written, cost] =
    (await load(`calls-${Math.floor(number / CALLS)}`))[number % CALLS];
  const title = element("h1", {}, prompt ?? "A call that is not in the cache any more");
  const parts = [title, line(key)];
  if (prompt === undefined) return parts;
  const price = cost === null ? "unpriced" : `$${cost}`;
  parts.push(line(`${model}, ${parameters}; ${read} tokens in, ${written} out, ${price}; ended by ${reason}`));
  for (const [role, pieces] of messages) {
    const texts = await Promise.all(pieces.map(async (one) => (typeof one === "string" ? one
      : (await load(`texts-${Math.floor(one / TEXTS)}`))[one % TEXTS])));
    parts.push(element("h2", {}, role), element("pre", {}, texts.join("")));
  }
  return [...parts, element("h2", {}, "reply"), element("pre", {}, reply)];
}

async function show() {
  const [name, number] = decodeURIComponent(location.hash.slice(1)).split(".");
  let parts;
  try {
    if (!name) parts = [...opening("Behind a number"), line("Follow a number of the report.")];
    else if (name === "call") parts = await call(Number(number));
    else parts = await (number === undefined ? piece(name) : row(name, Number(number)));
  } catch (error) {
    parts = [...opening("This went wrong"), line(error.message)];
  }
  shown.replaceChildren(...parts);
  shown.setAttribute("data-shown", location.hash);
  scrollTo(0, 0);
}

addEventListener("hashchange", show);
show();
