// A page tells a view's Python side which of its pages it is, so that the last one that goes can be noticed.

/** Return a name that no other page has. Not by crypto.randomUUID: over plain http there is none. */
export function pageName() {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(16).padStart(8, "0")).join("");
}
