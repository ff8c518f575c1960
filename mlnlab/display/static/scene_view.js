// The view of one drawing: it can be panned, zoomed and searched with the keys; Python is asked for what is folded.
import { SHEET } from "./look.js";
import { pageName } from "./page_name.js";
import { mount } from "./scene.js";
import { keepShortcutsAway } from "./shortcuts.js";
import { element } from "./table_parts.js";

const VIEW_SHEET = SHEET.replaceAll(".mlnlab-view", ".mlnlab-drawing") +
  ".mlnlab-drawing{color:var(--s-text)}.mlnlab-drawing .mlnlab-heading{font-weight:600;margin:2px 0}" +
  ".mlnlab-drawing .mlnlab-details{white-space:pre-line;color:var(--s-soft);min-height:1.4em;max-width:60em}";

export function render({ model, el }) {
  const view = new DrawingView(model, el);
  return () => view.destroy();
}

class DrawingView {
  #model;
  #id = pageName();
  #root = element("div", "mlnlab-drawing tex2jax_ignore mathjax_ignore");
  #heading = element("div", "mlnlab-heading");
  #details = element("div", "mlnlab-details");
  #scene;
  #off = [];

  constructor(model, host) {
    this.#model = model;
    const drawing = element("div");
    keepShortcutsAway(this.#root);
    this.#details.setAttribute("role", "status");
    this.#root.append(element("style", "", VIEW_SHEET), this.#heading, drawing, this.#details);
    host.append(this.#root);
    this.#scene = mount(drawing);
    this.#scene.onevent = (event) => event.type !== "key" && this.#send(event);
    this.#listen("change:scene", () => this.#draw());
    this.#listen("change:details", () => this.#describe());
    this.#draw();
    this.#describe();
    this.#send({ type: "opened", view: this.#id });
  }

  #listen(name, act) {
    this.#model.on(name, act);
    this.#off.push(() => this.#model.off(name, act));
  }

  #send(message) {
    try {
      this.#model.send(message);
    } catch {
      // Without a kernel there is nobody to ask; what was drawn stays.
    }
  }

  #draw() {
    const scene = this.#model.get("scene");
    if (!scene?.format) return;
    this.#heading.textContent = scene.title ?? "";
    this.#scene.scene(scene);
    // A saved notebook keeps what is seen last: the extension of mlnlab listens.
    this.#root.dispatchEvent(new CustomEvent("mlnlab-scene", { detail: scene, bubbles: true }));
  }

  #describe() {
    this.#details.textContent = this.#model.get("details");
  }

  destroy() {
    this.#off.forEach((off) => off());
    this.#send({ type: "closed", view: this.#id });
    this.#scene.destroy();
    this.#root.remove();
  }
}
