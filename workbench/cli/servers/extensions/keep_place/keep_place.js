// An extension of JupyterLab: Run All Cells leaves the reader at her cell; JupyterLab alone goes to the last one.
// JupyterLab loads an extension as a container of webpack's module federation, which has these two functions.
(() => {
  const RUN_ALL = "notebook:run-all-cells"; // menus, shortcuts and "restart and run all" end in this command

  function activate(app) {
    const execute = app.commands.execute.bind(app.commands);
    app.commands.execute = (command, args) => {
      const named = [...app.shell.widgets("main")].find(({ id }) => id === args?.semanticWidget);
      const notebook = command === RUN_ALL ? (named ?? app.shell.currentWidget)?.content : null;
      const place = notebook?.activeCellIndex;
      const result = execute(command, args);
      if (place !== undefined) {
        notebook.activeCellIndex = place;
        notebook.scrollToItem(place, "smart").catch(() => {}); // a later scroll ends this one
      }
      return result;
    };
  }

  const plugin = { id: "workbench:keep-place", autoStart: true, activate };
  (window._JUPYTERLAB ??= {}).keep_place = {
    init: () => {},
    get: async () => () => ({ __esModule: true, default: plugin }),
  };
})();
