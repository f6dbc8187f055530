// Functions that the question table and the heat map share. All text is set as text, never as HTML.
const part = (name, inside, text) => {
  const made = inside.appendChild(document.createElement(name));
  if (text !== undefined) made.textContent = text;
  return made;
};
const section = (el) => {
  const root = part("section", el);
  root.className = "wb wb-questions mathjax_ignore tex2jax_ignore";
  return root;
};
const choose = (model, key) => {
  model.set("chosen", key);
  model.save_changes();
};
