// A canvas, since thousands of cells as elements are slow. Arrow keys go to a question and announce its verdicts.
const WORDS = { r: "right", w: "wrong", f: "failed", "-": "not asked" };
const SIDES = [8, 20]; // pixels of a cell, from many questions to few
export default {
  render({ model, el }) {
    const root = section(el);
    const legend = part("p", root);
    const canvas = part("canvas", root);
    canvas.tabIndex = 0;
    const verdictLine = part("p", root);
    verdictLine.className = "verdicts";
    verdictLine.setAttribute("aria-live", "polite");
    const colours = { r: "#9ecae1", w: "#d55e00", f: "#222222", "-": "#e8e8e8" };
    let at = 0;
    let across = 1;
    let side = SIDES[0];

    const announce = () => {
      const [key, text] = model.get("questions")[at] ?? ["", "No question"];
      const verdicts = model.get("runs").map((name, run) => `${name} ${WORDS[model.get("verdicts")[run][at]]}`);
      verdictLine.textContent = `${key} · ${verdicts.join(", ")} · ${text}`;
    };
    const block = () => (model.get("runs").length + 1) * side; // the height of a band of questions
    const draw = () => {
      const questions = model.get("questions");
      const verdicts = model.get("verdicts");
      const width = root.clientWidth || 900;
      side = Math.max(SIDES[0], Math.min(SIDES[1], Math.floor(width / (questions.length || 1))));
      across = Math.max(1, Math.floor(width / side));
      canvas.width = Math.min(across, questions.length || 1) * side;
      canvas.height = Math.ceil(questions.length / across) * block();
      const ink = canvas.getContext("2d");
      questions.forEach(([key], number) => {
        const x = (number % across) * side;
        const y = Math.floor(number / across) * block();
        verdicts.forEach((line, run) => {
          ink.fillStyle = colours[line[number]];
          ink.fillRect(x, y + run * side, side - 1, side - 1);
        });
        if (key === model.get("chosen") || number === at) {
          ink.strokeStyle = key === model.get("chosen") ? "#cc0000" : "#888888";
          ink.lineWidth = 2;
          ink.strokeRect(x, y, side - 1, verdicts.length * side - 1);
        }
      });
    };
    const build = () => {
      root.setAttribute("aria-label", model.get("caption"));
      canvas.setAttribute("role", "application");
      canvas.setAttribute("aria-label", `${model.get("caption")} Arrow keys go to a question, Enter picks it.`);
      legend.replaceChildren(model.get("caption"));
      const seen = new Set(model.get("verdicts").join(""));
      for (const [letter, word] of Object.entries(WORDS).filter(([letter]) => seen.has(letter))) {
        const key = part("span", legend);
        key.className = "key";
        key.style.background = colours[letter];
        legend.append(word);
      }
      show();
    };
    const show = () => {
      const chosen = model.get("questions").findIndex(([key]) => key === model.get("chosen"));
      at = Math.max(0, chosen);
      draw();
      announce();
    };
    const pick = () => {
      const question = model.get("questions")[at];
      if (question) choose(model, question[0]);
    };
    const under = (event) => {
      const scale = canvas.width / canvas.clientWidth;
      const band = Math.floor((event.offsetY * scale) / block());
      const number = band * across + Math.floor((event.offsetX * scale) / side);
      return number < model.get("questions").length ? number : at;
    };
    canvas.addEventListener("mousemove", (event) => {
      const [key, text] = model.get("questions")[under(event)] ?? ["", ""];
      canvas.title = `${key} · ${text}`;
    });
    canvas.addEventListener("click", (event) => {
      at = under(event);
      pick();
    });
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across }[event.key];
      if (step === undefined && event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      if (step === undefined) return pick();
      at = Math.min(model.get("questions").length - 1, Math.max(0, at + step));
      draw();
      announce();
    });
    model.on("change:verdicts", build);
    model.on("change:chosen", show);
    const watcher = new ResizeObserver(draw);
    watcher.observe(root);
    build();
    return () => watcher.disconnect();
  },
};
