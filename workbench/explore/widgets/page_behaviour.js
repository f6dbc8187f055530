export default {
  render({ el }) {
    let tries = 600;
    const stop = (event) => {
      const typed = !event.ctrlKey && !event.metaKey && event.key !== "Escape";
      if (typed || event.key === "Enter") event.stopPropagation();
    };
    const begin = (box) => {
      box.addEventListener("keydown", stop);
      const isMessage = ({ addedNodes, target }) => addedNodes.length && target.closest(".wb-message");
      const follow = (changes) => {
        const change = box.querySelector("button:focus") && changes.find(isMessage);
        if (change) change.target.scrollIntoView({ block: "nearest" });
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
