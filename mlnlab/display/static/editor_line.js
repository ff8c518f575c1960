// The line from a page to Python: one edit is on its way at a time, and of the same kind only the newest waits.
import { pageName } from "./page_name.js";

const PATIENCE = 2000; // milliseconds for an answer, before the next edit is sent without it

export const SILENCE = "No answer so far: the kernel is busy, or it was restarted; then run the cell again.";

export class Line {
  id = pageName();
  answered = 0; // the newest edit of this page that has come back
  silent = () => {}; // called when an answer is overdue
  #model;
  #edit = 0;
  #outstanding = 0;
  #waiting = new Map();
  #patience = 0;
  #ending = new AbortController();
  #off = [];

  constructor(model) {
    this.#model = model;
    window.addEventListener("pagehide", () => this.send({ type: "leaving", view: this.id }), { signal: this.#ending.signal });
  }

  listen(name, act) {
    this.#model.on(name, act);
    this.#off.push(() => this.#model.off(name, act));
  }

  send(message) {
    try {
      this.#model.send(message);
    } catch {
      // Without a kernel there is nobody to tell; what is shown stays.
    }
  }

  /** Send an edit, or let it wait for the answer to the one before; return its number. */
  tell(type, content = {}, key = "") {
    this.#edit += 1;
    this.#waiting.delete(key); // the newer one waits behind what was said since
    this.#waiting.set(key || `edit ${this.#edit}`, { type, ...content, view: this.id, edit: this.#edit });
    this.#next();
    return this.#edit;
  }

  /** Take notice of a status, which may be the answer to an edit of this page. */
  hear(status) {
    if (status.view === this.id) this.answered = Math.max(this.answered, status.edit);
  }

  /** Go on with what waits, once all is shown that has come. */
  goOn() {
    if (this.answered >= this.#outstanding) this.#free();
  }

  #free() {
    clearTimeout(this.#patience);
    this.#outstanding = 0;
    this.#next();
  }

  #next() {
    if (this.#outstanding || !this.#waiting.size) return;
    const [key, message] = this.#waiting.entries().next().value;
    this.#waiting.delete(key);
    this.#outstanding = message.edit;
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => { this.silent(); this.#free(); }, PATIENCE);
    this.send(message);
  }

  destroy() {
    clearTimeout(this.#patience);
    this.#ending.abort();
    this.#off.forEach((off) => off());
    this.send({ type: "closed", view: this.id });
  }
}
