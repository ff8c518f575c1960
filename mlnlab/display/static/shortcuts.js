// Keys of the notebook, such as "d d" which deletes a cell, are not for what has the focus in one of our views.

/** Keep the notebook's keys away from an element and from whatever in it takes the focus. */
export function keepShortcutsAway(root) {
  const mark = (element) => element.setAttribute("data-lm-suppress-shortcuts", "true");
  mark(root);
  // Lab asks the focused element first, and finds its own keys there before it comes to the root.
  root.addEventListener("focusin", (event) => mark(event.target));
}
