// What views of one drawing have in common: it is the trait `scene`; what is clicked, and whether they are seen, is sent.
import { SHEET } from "./look.js";
import { PageLine } from "./page_line.js";
import { mount } from "./scene.js";
import { keepShortcutsAway } from "./shortcuts.js";
import { element } from "./table_parts.js";

export class DrawnView {
  model;
  root;
  #line;
  #scene = null;

  /** Begin without a drawing, in an element of a class with a look of its own. */
  constructor(model, host, name, sheet) {
    this.model = model;
    this.#line = new PageLine(model);
    this.root = element("div", `${name} tex2jax_ignore mathjax_ignore`);
    keepShortcutsAway(this.root);
    this.root.append(element("style", "", SHEET.replaceAll(".mlnlab-view", `.${name}`) + `.${name}{color:var(--s-text)}` + sheet));
    host.append(this.root);
  }

  /** Draw into an element from now on. */
  begin(drawing) {
    this.#scene = mount(drawing);
    this.#scene.onevent = (event) => event.type !== "key" && this.send(event);
    this.listen("scene", () => this.draw());
    this.draw();
    this.#line.open();
  }

  /** Act on each change of a trait. */
  listen(trait, act) {
    this.#line.listen(`change:${trait}`, act);
  }

  send(message) {
    this.#line.send(message);
  }

  draw() {
    const scene = this.model.get("scene");
    if (!scene?.format) return;
    this.#scene.scene(scene);
    // A saved notebook keeps what is seen last: the extension of mlnlab listens.
    this.root.dispatchEvent(new CustomEvent("mlnlab-scene", { detail: scene, bubbles: true }));
  }

  destroy() {
    this.#line.close();
    this.#scene.destroy();
    this.root.remove();
  }
}
