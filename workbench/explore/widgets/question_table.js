// The focus moves by arrow keys and picks nothing; Enter, the space bar or a click picks.
export default {
  render({ model, el }) {
    const root = section(el);
    const caption = part("p", root);
    const box = part("div", root);
    box.className = "box";
    let lines = [];

    const reach = (line) => lines.forEach((other) => (other.tabIndex = other === line ? 0 : -1));
    const mark = () => {
      const chosen = lines.find((line) => line.dataset.key === model.get("chosen"));
      lines.forEach((line) => line.setAttribute("aria-selected", line === chosen));
      reach(chosen ?? lines[0]);
      const hidden = chosen && (chosen.offsetTop < box.scrollTop || chosen.offsetTop > box.scrollTop + box.clientHeight - 30);
      if (hidden) box.scrollTop = chosen.offsetTop - box.clientHeight / 2; // of the box alone: the page stays
    };
    const build = () => {
      box.replaceChildren();
      caption.textContent = model.get("caption");
      root.setAttribute("aria-label", model.get("caption"));
      const table = part("table", box);
      table.setAttribute("role", "grid");
      table.setAttribute("aria-label", model.get("caption"));
      const head = part("tr", part("thead", table));
      for (const name of model.get("columns")) part("th", head, name).scope = "col";
      const body = part("tbody", table);
      lines = model.get("rows").map((cells, number) => {
        const line = part("tr", body);
        line.dataset.key = cells[0];
        if (model.get("marks")[number]) line.className = model.get("marks")[number];
        cells.forEach((cell) => part("td", line, cell).setAttribute("role", "gridcell"));
        return line;
      });
      box.hidden = !lines.length;
      mark();
    };

    box.addEventListener("click", (event) => {
      const line = event.target.closest("tbody tr");
      if (line) choose(model, line.dataset.key);
    });
    box.addEventListener("keydown", (event) => {
      const at = lines.indexOf(event.target);
      const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: lines.length - 1 }[event.key];
      if (at < 0 || (to === undefined && event.key !== "Enter" && event.key !== " ")) return;
      event.preventDefault();
      event.stopPropagation();
      if (to === undefined) choose(model, event.target.dataset.key);
      else if (lines[to]) {
        reach(lines[to]);
        lines[to].focus();
      }
    });
    model.on("change:rows", build);
    model.on("change:chosen", mark);
    build();
  },
};
