// What the tests do with JupyterLab from inside: through the application and not its menus, which skip
// cells while a kernel starts.
window.desk = {
  panel: () => window.jupyterapp.shell.currentWidget,

  async within(seconds, what, promise) {
    const over = (_, fail) => setTimeout(() => fail(new Error(`${what}: over ${seconds} s`)), 1000 * seconds);
    return Promise.race([promise, new Promise(over)]);
  },

  async open(path) {
    while (!window.jupyterapp) await new Promise(requestAnimationFrame);
    const app = window.jupyterapp;
    await app.restored;
    const panel = await app.commands.execute("docmanager:open", { path, factory: "Notebook" });
    await panel.context.ready;
    await desk.within(300, "no kernel", panel.sessionContext.ready);
    await panel.sessionContext.session.kernel.info;
    app.shell.collapseLeft();
    return panel;
  },

  // Runs every cell and tells the errors that cells ended with.
  async run(panel = desk.panel()) {
    const run = window.jupyterapp.commands.execute("notebook:run-all-cells", { semanticWidget: panel.id });
    await desk.within(1800, "cells go on running", run);
    const outputs = [...panel.content.model.cells].flatMap((cell) => cell.outputs?.toJSON() ?? []);
    const failed = outputs.filter((output) => output.output_type === "error");
    return failed.map((output) => `${output.ename}: ${output.evalue}`);
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

  darken: () => window.jupyterapp.commands.execute("apputils:change-theme", { theme: "JupyterLab Dark" }).then(() => null),

  cells: () => [...desk.panel().content.model.cells].map((cell) => cell.id),

  // What one would have to scroll sideways to read.
  sideways(root) {
    return [document.documentElement, ...root.querySelectorAll("*")]
      .filter((element) => element.scrollWidth > element.clientWidth + 1)
      .filter((element) => element === document.documentElement || /auto|scroll/.test(getComputedStyle(element).overflowX))
      .map((element) => `${element.tagName} ${element.className}: ${element.scrollWidth} in ${element.clientWidth} pixels`);
  },
};
