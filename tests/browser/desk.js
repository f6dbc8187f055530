// What the tests do with JupyterLab from inside: through the application and not its menus, which skip
// cells while a kernel starts.
window.desk = {
  panel: () => window.jupyterapp.shell.currentWidget,

  async within(seconds, what, promise) {
    const over = (_, fail) => setTimeout(() => fail(new Error(`${what}: over ${seconds} s`)), 1000 * seconds);
    return Promise.race([promise, new Promise(over)]);
  },

  async open(path) {
    const app = window.jupyterapp;
    await app.restored;
    const panel = await app.commands.execute("docmanager:open", { path, factory: "Notebook" });
    await panel.context.ready;
    await desk.within(60, "no kernel", panel.sessionContext.ready);
    await panel.sessionContext.session.kernel.info;
    app.shell.collapseLeft();
    return panel;
  },

  // Runs every cell and tells the errors that cells ended with.
  async run(panel = desk.panel()) {
    const run = window.jupyterapp.commands.execute("notebook:run-all-cells", { semanticWidget: panel.id });
    await desk.within(300, "cells go on running", run);
    const outputs = [...panel.content.model.cells].flatMap((cell) => cell.outputs?.toJSON() ?? []);
    const failed = outputs.filter((output) => output.output_type === "error");
    return failed.map((output) => `${output.ename}: ${output.evalue}`);
  },

  // Opens a notebook, runs it and closes it: its errors, and what is too wide.
  async runThrough(path) {
    const panel = await desk.open(path);
    const errors = await desk.run(panel);
    window.jupyterapp.shell.activateById(panel.id);
    await new Promise(requestAnimationFrame);
    const wide = desk.sideways(panel.node);
    await panel.context.save();
    await panel.sessionContext.shutdown();
    panel.close();
    return [...errors, ...wide];
  },

  // Goes through notebooks, so many at once: by path, what is wrong with each.
  async runAll(paths, atOnce) {
    const left = [...paths];
    const found = {};
    const work = async () => {
      while (left.length) {
        const path = left.shift();
        found[path] = await desk.runThrough(path).catch((error) => [String(error)]);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return found;
  },

  // To a cell, as the arrow keys lead there in command mode.
  async standOn(text) {
    const notebook = desk.panel().content;
    const at = notebook.widgets.findIndex((cell) => cell.model.sharedModel.source.includes(text));
    if (at < 0) throw new Error(`no cell holds ${text}`);
    notebook.activeCellIndex = at;
    await notebook.scrollToItem(at, "start");
    notebook.activate();
    notebook.activeCell.node.focus();
  },

  cells: () => [...desk.panel().content.model.cells].map((cell) => cell.id),

  // What one would have to scroll sideways to read.
  sideways(root) {
    return [document.documentElement, ...root.querySelectorAll("*")]
      .filter((element) => element.scrollWidth > element.clientWidth + 1)
      .filter((element) => element === document.documentElement || /auto|scroll/.test(getComputedStyle(element).overflowX))
      .map((element) => `${element.tagName} ${element.className}: ${element.scrollWidth} in ${element.clientWidth} pixels`);
  },

  // How the outputs of the active cell are built: tags, classes and the names of attributes.
  shapes() {
    const shape = (element) => [
      element.tagName,
      [...element.attributes].map((a) => (a.name === "class" ? `class=${a.value}` : a.name)).sort(),
      [...element.children].map(shape),
    ];
    const outputs = desk.panel().content.activeCell.node.querySelectorAll(".jp-OutputArea-output");
    return [...outputs].map((output) => JSON.stringify(shape(output)));
  },
};
