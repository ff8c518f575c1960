// The line from a page to Python: what comes is listened to, what is said is sent, and both sides know who looks.
import { pageName } from "./page_name.js";

export class PageLine {
  id = pageName();
  #model;
  #ending = new AbortController();
  #off = [];

  constructor(model) {
    this.#model = model;
  }

  /** Act on each change of a trait (`change:name`), or on each message (`msg:custom`). */
  listen(name, act) {
    this.#model.on(name, act);
    this.#off.push(() => this.#model.off(name, act));
  }

  send(message) {
    try {
      this.#model.send(message);
    } catch {
      // Without a kernel there is nobody to ask; what was drawn stays.
    }
  }

  /** Say that this page looks from now on, and when it is loaded anew. */
  open() {
    window.addEventListener("pagehide", () => this.send({ type: "leaving", view: this.id }), { signal: this.#ending.signal });
    this.send({ type: "opened", view: this.id });
  }

  close() {
    this.#ending.abort();
    this.#off.forEach((off) => off());
    this.send({ type: "closed", view: this.id });
  }
}
