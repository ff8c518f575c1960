// What the parts of the editor are made of.

/** Return an element of ours; text is only ever text. */
export function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

/** Return a button with a sign; its name is what a screen reader says and a pointer shows. */
export function button(sign, className, name, act) {
  const made = element("button", className, sign);
  made.type = "button";
  if (name) named(made, name);
  made.addEventListener("click", act);
  return made;
}

export function named(control, name) {
  control.title = name;
  control.setAttribute("aria-label", name);
}
