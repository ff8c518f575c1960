// Keeps the elements of a page in step with a scene: what has the same id stays the same element and moves.
import { PATCHED, attributesOf, classOf, elementOf, isUsed, nameOf, placeOf, svgElement, textOf } from "./items.js";
import { fadeIn, moveGroup, moveNumber, movePath, translation } from "./transitions.js";

/** An item that is drawn: its element, and what was last set on it. */
class Drawn {
  constructor(key, item) {
    this.key = key;
    this.item = item;
    this.element = elementOf(item);
    this.attributes = {};
    this.place = null;
    this.class = null;
    this.text = null;
  }
}

function keyOf(item, path, place) {
  return item.id || `${path} ${place}`;
}

/** Return the kind of each item of a scene by its key: with both the same, the element stays the same. */
function kindsOf(scene) {
  const kinds = new Map();
  const note = (items, path) => items.forEach((item, place) => {
    const key = keyOf(item, path, place);
    kinds.set(key, item.kind);
    if (item.kind === "group") note(item.children, key);
  });
  for (const layer of scene.layers) note(layer.children, layer.id);
  return kinds;
}

export class Drawing {
  #root;
  #drawn = new Map();
  #layers = new Map();
  #owners = new WeakMap();

  constructor(root) {
    this.#root = root;
  }

  /** Draw a scene and return the jobs that move what changed. */
  update(scene) {
    const before = this.#drawn;
    const state = { before, next: new Map(), jobs: [], fades: before.size > 0 };
    this.#drawn = state.next;
    // What goes leaves first, so that what stays is in its place already.
    const kinds = kindsOf(scene);
    for (const [key, drawn] of before) if (kinds.get(key) !== drawn.item.kind) drawn.element.remove();
    this.#layers = this.#place(scene.layers);
    for (const layer of scene.layers) this.#children(layer.children, this.#layers.get(layer.id).element, layer.id, state);
    return state.jobs;
  }

  /** Return the layers in their order; one that is in its place stays there. */
  #place(layers) {
    const placed = new Map();
    const wanted = new Set(layers.map(({ id }) => id));
    for (const [id, { element }] of this.#layers) if (!wanted.has(id)) element.remove();
    let cursor = this.#root.firstChild;
    // Not taken out and put back: a browser forgets a click that began on an element taken out of the page.
    for (const { id, zooms } of layers) {
      const element = this.#layers.get(id)?.element ?? svgElement("g");
      placed.set(id, { element, zooms: zooms !== false });
      element.setAttribute("data-id", id);
      if (element === cursor) cursor = cursor.nextSibling;
      else this.#root.insertBefore(element, cursor);
    }
    return placed;
  }

  #children(items, parent, path, state) {
    let cursor = parent.firstChild;
    items.forEach((item, place) => {
      const drawn = this.#item(item, keyOf(item, path, place), state);
      if (drawn.element === cursor) cursor = cursor.nextSibling;
      else parent.insertBefore(drawn.element, cursor);
      if (item.kind === "group") this.#children(item.children, drawn.element, drawn.key, state);
    });
  }

  #item(item, key, state) {
    const old = state.before.get(key);
    const kept = old?.item.kind === item.kind;
    const drawn = kept ? old : new Drawn(key, item);
    drawn.item = item;
    this.#owners.set(drawn.element, drawn);
    state.next.set(key, drawn);
    if (!kept && state.fades) state.jobs.push(fadeIn(drawn.element));
    state.jobs.push(...move(drawn, kept));
    describe(drawn);
    return drawn;
  }

  /** Change fields of an item at once; what is unknown is left out. */
  patch(id, fields) {
    const drawn = this.#drawn.get(id);
    if (!drawn) return;
    const known = Object.entries(fields).filter(([name]) => PATCHED.has(name));
    const item = { ...drawn.item, ...Object.fromEntries(known) };
    attributesOf(item); // raises before anything is changed
    placeOf(item);
    drawn.item = item;
    move(drawn, false);
    describe(drawn);
  }

  /** Return the drawn item of a key. */
  get(key) {
    return this.#drawn.get(key);
  }

  /** Return the nearest item around an element that has a use: it can be picked, expanded or read. */
  around(element, useful) {
    for (let node = element; node && node !== this.#root; node = node.parentNode) {
      const drawn = this.#owners.get(node);
      if (drawn && useful(drawn.item)) return drawn;
    }
    return null;
  }

  /** Return what can be picked, pressed or expanded, in the order of the drawing. */
  picks() {
    return [...this.#drawn.values()].filter(({ item }) => isUsed(item));
  }

  keys() {
    return [...this.#drawn.keys()];
  }

  zoomingLayers() {
    return [...this.#layers.values()].filter(({ zooms }) => zooms).map(({ element }) => element);
  }
}

/** Set what can be set at once, and return jobs for what can move. */
function move(drawn, gently) {
  const { element, item } = drawn;
  const [next, last] = [attributesOf(item), drawn.attributes];
  const jobs = [];
  for (const [name, value] of Object.entries(next)) {
    const from = last[name];
    if (value === from) continue;
    if (gently && typeof value === "number") jobs.push(moveNumber(element, name, from, value));
    else if (gently && name === "d") jobs.push(movePath(element, from, value));
    else element.setAttribute(name, String(value));
  }
  drawn.attributes = next;
  const place = placeOf(item);
  if (place && (place[0] !== drawn.place?.[0] || place[1] !== drawn.place?.[1])) {
    if (gently) jobs.push(moveGroup(element, drawn.place, place));
    else element.setAttribute("transform", translation(...place));
    drawn.place = place;
  }
  return jobs;
}

/** Set the class, the text and what a reader of the screen is told. */
function describe(drawn) {
  const { element, item } = drawn;
  const look = classOf(item);
  if (look !== drawn.class) {
    const states = [...element.classList].filter((word) => word === "mlnlab-selected" || word === "mlnlab-current");
    element.setAttribute("class", [look, ...states].join(" ").trim());
    drawn.class = look;
  }
  if (item.kind === "text" && item.text !== drawn.text) {
    drawn.text = item.text;
    element.textContent = textOf(item.text);
  }
  if (item.id) element.setAttribute("data-id", item.id);
  if (!item.pick) element.removeAttribute("aria-pressed");
  if (!isUsed(item)) {
    ["data-pick", "role", "aria-label", "aria-expanded", "tabindex"].forEach((name) => element.removeAttribute(name));
    return;
  }
  element.setAttribute("data-pick", "");
  element.setAttribute("role", "button");
  element.setAttribute("aria-label", nameOf(item));
  if (item.expands) element.setAttribute("aria-expanded", String(item.expands === "open"));
  else element.removeAttribute("aria-expanded");
}
