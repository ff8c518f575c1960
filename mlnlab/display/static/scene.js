// Draws scenes in a page. `mount(element)` returns a view that takes two messages and sends one:
//   view.scene(json)           a whole scene; what has the same id moves to its new place
//   view.patch([[id, fields]]) new values of single items, drawn at most 20 times a second
//   view.patch([[id, fields]], true)  the same, drawn at once
//   view.onevent = (event) => {...}  {type: "select", id}, {type: "press", id}, {type: "expand", id, open},
//                                    {type: "key", key}
// What can be picked is selected once, however often it is clicked; a button is pressed each time, and not selected.
// Whoever listens answers an "expand" with a new scene. `view.destroy()` leaves nothing behind.
import { Camera } from "./camera.js";
import { Card } from "./card.js";
import { Drawing } from "./drawing.js";
import { checkScene, isUsed, nameOf, svgElement, textOf } from "./items.js";
import { onKey } from "./keyboard.js";
import { SHEET } from "./look.js";
import { Pointer } from "./pointer.js";
import { keepShortcutsAway } from "./shortcuts.js";
import { Transition } from "./transitions.js";

const TRANSITION = 400; // milliseconds
const BETWEEN_PATCHES = 50;
const MOST_FOCUSABLE = 200; // beyond, the tab key would be a trap: arrow keys still lead from item to item

export function mount(element) {
  return new SceneView(element);
}

class SceneView {
  onevent = null;
  camera;
  #host = document.createElement("div");
  #root = svgElement("svg");
  #drawing = new Drawing(this.#root);
  #transition = new Transition();
  #card;
  #problem = null;
  #selected = null;
  #current = null;
  #waiting = new Map();
  #timer = 0;
  #lastPatch = -Infinity;
  #pointer;
  #ending = new AbortController();

  constructor(element) {
    const style = document.createElement("style");
    style.textContent = SHEET;
    this.#host.className = "mlnlab-view tex2jax_ignore mathjax_ignore";
    keepShortcutsAway(this.#host);
    this.#root.setAttribute("class", "mlnlab-scene mlnlab-grab");
    this.#root.setAttribute("tabindex", "0");
    this.#host.append(style, this.#root);
    element.append(this.#host);
    this.#card = new Card(this.#host);
    this.camera = new Camera(this.#root, () => this.#drawing.zoomingLayers());
    const press = (key) => this.#press(key);
    this.#pointer = new Pointer(this.#root, this.#drawing, this.camera, this.#card, press, this.#ending.signal);
    this.#listen();
  }

  /** Draw a scene; a sentence stands in the place of one that cannot be drawn. */
  scene(json) {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#waiting.clear();
    this.#transition.finish();
    const focused = this.#root.contains(document.activeElement) && document.activeElement !== this.#root;
    try {
      checkScene(json);
      this.#explain("");
      this.#frame(json);
      const jobs = this.#drawing.update(json);
      this.camera.fit(json.width, json.height);
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      this.#transition.begin(jobs, still ? 0 : TRANSITION);
    } catch (problem) {
      this.#explain(problem instanceof Error ? problem.message : "This drawing cannot be shown.");
      return false;
    }
    this.#keepMarks(focused);
    return true;
  }

  #frame(json) {
    this.#root.setAttribute("viewBox", `0 0 ${json.width} ${json.height}`);
    this.#root.style.maxWidth = `${json.width * 1.15}px`;
    this.#root.setAttribute("role", "group");
    this.#root.setAttribute("aria-roledescription", "drawing");
    this.#root.setAttribute("aria-label", [textOf(json.title), textOf(json.description)].filter(Boolean).join(". "));
  }

  #explain(sentence) {
    this.#root.style.display = sentence ? "none" : "";
    this.#problem?.remove();
    this.#problem = null;
    if (!sentence) return;
    this.#problem = document.createElement("div");
    this.#problem.className = "mlnlab-problem";
    this.#problem.setAttribute("role", "alert");
    this.#problem.textContent = sentence;
    this.#host.append(this.#problem);
  }

  /** What was selected or current stays so where it is still there. */
  #keepMarks(focused) {
    if (this.#selected && !this.#drawing.get(this.#selected)) this.#selected = null;
    if (this.#current && !this.#drawing.get(this.#current)) this.#current = null;
    this.#mark();
    if (focused) this.#focus();
  }

  /** Take new values; they are drawn together, at most every 50 milliseconds, the latest one of each wins. */
  patch(changes, atOnce = false) {
    for (const [id, fields] of changes) this.#waiting.set(id, { ...this.#waiting.get(id), ...fields });
    if (atOnce) {
      clearTimeout(this.#timer);
      return this.#drawPatches();
    }
    if (this.#timer) return;
    const wait = Math.max(0, this.#lastPatch + BETWEEN_PATCHES - performance.now());
    this.#timer = setTimeout(() => this.#drawPatches(), wait);
  }

  #drawPatches() {
    this.#timer = 0;
    this.#lastPatch = performance.now();
    this.#transition.finish();
    for (const [id, fields] of this.#waiting) {
      try {
        this.#drawing.patch(id, fields);
      } catch {
        // A value that cannot be drawn is left out; the next one may be sound.
      }
    }
    this.#waiting.clear();
  }

  tell(event) {
    this.onevent?.(event);
  }

  picks() {
    return this.#drawing.picks();
  }

  /** Return the keys of all items in the order of the scene, by which patches number them. */
  keys() {
    return this.#drawing.keys();
  }

  currentPick() {
    return this.#current ? this.#drawing.get(this.#current) : null;
  }

  /** Make an item the one that keys act on. */
  current(drawn) {
    if (!drawn) return;
    this.#current = drawn.key;
    this.#mark();
    this.#focus();
    this.#card.say(nameOf(drawn.item));
  }

  select(key) {
    if (key === this.#selected) return;
    this.#selected = key;
    this.#mark();
    this.#card.say(key ? `${nameOf(this.#drawing.get(key).item)}, selected` : "nothing selected");
    this.tell({ type: "select", id: key });
  }

  enter() {
    const drawn = this.currentPick();
    if (drawn) this.#use(drawn, true);
  }

  /** Escape gives up the selection, then the view; after that the key is left to the page. */
  escape() {
    this.#card.hide();
    if (this.#selected) return this.select(null) ?? true;
    if (this.camera.zoomLevel !== 1) return this.camera.reset() ?? true;
    if (document.activeElement !== this.#root) return this.#root.focus() ?? true;
    return false;
  }

  #use(drawn, expand) {
    if (drawn.item.press) return this.#press(drawn.key);
    if (drawn.item.pick) this.select(drawn.key);
    if (drawn.item.expands && (expand || !drawn.item.pick)) {
      this.tell({ type: "expand", id: drawn.key, open: drawn.item.expands === "closed" });
    }
  }

  /** Press a button: each time that it is asked for, however quickly, and whatever is selected. */
  #press(key) {
    this.#makeCurrent(key);
    this.tell({ type: "press", id: key });
  }

  #makeCurrent(key) {
    this.#current = this.#drawing.get(key) ? key : null; // it may have been drawn away under the pointer
    this.#mark();
    this.#focus();
  }

  #mark() {
    const picks = this.picks();
    const focusable = picks.length <= MOST_FOCUSABLE;
    const stop = this.#current ?? picks[0]?.key; // the one item that the tab key stops at
    for (const { key, element, item } of picks) {
      element.classList.toggle("mlnlab-selected", key === this.#selected);
      element.classList.toggle("mlnlab-current", key === this.#current);
      if (item.pick) element.setAttribute("aria-pressed", String(key === this.#selected));
      if (focusable) element.setAttribute("tabindex", key === stop ? "0" : "-1");
      else element.removeAttribute("tabindex");
    }
  }

  #focus() {
    const element = this.currentPick()?.element ?? this.#root;
    (element.hasAttribute("tabindex") ? element : this.#root).focus({ preventScroll: true });
  }

  #listen() {
    const on = (name, handle, options = {}) =>
      this.#root.addEventListener(name, handle, { ...options, signal: this.#ending.signal });
    on("wheel", (event) => this.#onWheel(event), { passive: false });
    on("click", (event) => this.#onClick(event, false));
    on("dblclick", (event) => this.#onClick(event, true));
    on("keydown", (event) => {
      if (!onKey(event, this)) return;
      event.preventDefault();
      event.stopPropagation();
    });
    on("blur", () => this.#card.hide());
  }

  /** The wheel zooms once the drawing has the focus, or with Ctrl: until then it scrolls the page. */
  #onWheel(event) {
    if (!event.ctrlKey && !this.#root.contains(document.activeElement)) return;
    event.preventDefault();
    this.#card.hide();
    const lines = event.deltaMode === 1 ? 16 : 1;
    this.camera.zoom(Math.exp(-event.deltaY * lines * 0.0015), this.camera.point(event));
  }

  #onClick(event, twice) {
    // A reader of the screen clicks without a pointer.
    if (event.detail > 0 && (this.#pointer.used || (!twice && event.detail > 1))) return;
    const drawn = this.#drawing.around(event.target, isUsed);
    if (drawn?.item.press) return this.#press(drawn.key);
    if (!drawn) {
      if (twice) this.camera.reset();
      // Also where nothing is selected here: what a button chose, Python may let go.
      if (this.#selected) this.select(null);
      else this.tell({ type: "select", id: null });
      return this.#root.focus({ preventScroll: true });
    }
    this.#makeCurrent(drawn.key);
    // What can only be expanded has been so at the first click of two.
    if (!twice || drawn.item.pick) this.#use(drawn, twice);
  }

  destroy() {
    clearTimeout(this.#timer);
    this.#transition.finish();
    this.#ending.abort();
    this.#host.remove();
    this.onevent = null;
  }
}
