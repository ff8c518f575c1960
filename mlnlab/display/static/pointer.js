// What the pointer does to a drawing while it is moved or down: it drags, hovers and presses buttons.
import { tipOf } from "./card.js";
import { isUsed } from "./items.js";

const A_CLICK = 4; // pixels that a hand may tremble

export class Pointer {
  used = false; // whether what the pointer did last was a drag, or the press of a button, and no click
  #root;
  #drawing;
  #camera;
  #card;
  #press;
  #drag = null;
  #dragged = false;

  /** `press` is called with the key of a button, each time that it is pressed. */
  constructor(root, drawing, camera, card, press, signal) {
    [this.#root, this.#drawing, this.#camera, this.#card, this.#press] = [root, drawing, camera, card, press];
    const on = (name, handle) => root.addEventListener(name, handle, { signal });
    on("pointerdown", (event) => this.#onDown(event));
    on("pointermove", (event) => this.#onMove(event));
    on("pointerup", () => this.#onUp());
    on("pointercancel", () => this.#onLeave());
    on("pointerleave", () => this.#onLeave());
  }

  #onDown(event) {
    if (event.button !== 0) return;
    const drawn = this.#drawing.around(event.target, isUsed);
    const button = drawn?.item.press ? drawn.key : null;
    this.#drag = { at: this.#camera.point(event), x: event.clientX, y: event.clientY, button };
    this.#dragged = false;
    this.used = button !== null;
  }

  #onMove(event) {
    if (!this.#drag || !(event.buttons & 1)) return this.#hover(event);
    if (!this.#dragged && Math.hypot(event.clientX - this.#drag.x, event.clientY - this.#drag.y) < A_CLICK) return;
    if (!this.#dragged) this.#root.setPointerCapture(event.pointerId);
    this.#dragged = this.used = true;
    this.#root.classList.add("mlnlab-grabbing");
    this.#card.hide();
    const [x, y] = this.#camera.point(event);
    this.#camera.pan(x - this.#drag.at[0], y - this.#drag.at[1]);
    this.#drag.at = [x, y];
  }

  /** What was under the pointer when it went down is pressed, also where it was drawn anew or moved since. */
  #onUp() {
    const button = this.#drag?.button;
    this.#end();
    if (button && !this.#dragged) this.#press(button);
  }

  #onLeave() {
    this.#card.hide();
    if (!this.#dragged) this.#end();
  }

  #end() {
    this.#drag = null;
    this.#root.classList.remove("mlnlab-grabbing");
  }

  #hover(event) {
    const drawn = this.#drawing.around(event.target, (item) => item.tooltip || item.rows || item.columns);
    if (drawn) this.#card.show(tipOf(drawn, event), event.clientX, event.clientY);
    else this.#card.hide();
  }
}
