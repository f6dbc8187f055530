// Where the question table and the heat map begin. All text is set as text.
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
