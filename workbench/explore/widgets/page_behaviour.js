export default {
  render({ el }) {
    let tries = 600;
    const stop = (event) => {
      const typed = !event.ctrlKey && !event.metaKey && event.key !== "Escape";
      if (typed || event.key === "Enter") event.stopPropagation();
      if (event.key === "Escape") el.closest(".jp-Cell")?.focus();
    };
    const begin = (box) => {
      box.addEventListener("keydown", stop);
      const filled = (kind) => ({ addedNodes, target }) => addedNodes.length && target.closest(kind);
      const follow = (changes) => {
        const change = box.querySelector("button:focus") && changes.find(filled(".wb-message"));
        if (change) change.target.scrollIntoView({ block: "nearest" });
        // A question opened from the table of variants is below the table: scroll so that both are in sight.
        const opens = box.querySelector(".wb-questions :focus, .wb-variants-plans:focus");
        if (opens && changes.some(filled(".wb-variants-question"))) box.querySelector(".wb-questions").scrollIntoView();
      };
      new MutationObserver(follow).observe(box, { childList: true, subtree: true });
    };
    const wait = () => {
      const box = el.closest(".wb-explorer");
      if (box) begin(box);
      else if (tries--) requestAnimationFrame(wait);
    };
    wait();
  },
};
