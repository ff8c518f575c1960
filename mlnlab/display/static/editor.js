// The editor of a model. Python holds the document; the page sends edits and shows what comes back:
//   text_shown, findings, table, status, bars    and the message {type: "checked", text, findings}
// One edit is on its way at a time; of the same kind only the newest waits.
import { BARS_SHEET, Bars } from "./editor_bars.js";
import { EDITOR_SHEET } from "./editor_look.js";
import { RowTable } from "./editor_table.js";
import { TextPane } from "./editor_text.js";
import { button, element } from "./editor_parts.js";

const PATIENCE = 2000; // milliseconds for an answer, before the next edit is sent without it

export function render({ model, el }) {
  const editor = new Editor(model, el);
  return () => editor.destroy();
}

class Editor {
  #model;
  #id = crypto.randomUUID();
  #root = element("div", "mle tex2jax_ignore mathjax_ignore");
  #summary = element("span", "mle-quiet");
  #undo;
  #redo;
  #text;
  #table;
  #bars;
  #adding = element("input");
  #hint = element("div", "mle-hint");
  #remark = element("div", "mle-problem");
  #edit = 0;
  #lastText = 0;
  #answered = 0;
  #outstanding = 0;
  #waiting = new Map();
  #patience = 0;
  #checking = 0;
  #ending = new AbortController();
  #off = [];

  constructor(model, host) {
    this.#model = model;
    const tell = (kind, content, key) => this.#tell(kind, content, key);
    this.#text = new TextPane({
      text: (text) => { this.#lastText = this.#tell("text", { text }, "text"); },
      undo: () => this.#tell("undo"),
      redo: () => this.#tell("redo"),
      mend: (finding) => this.#tell("mend", { finding }),
    });
    this.#table = new RowTable((kind, content, key) => { this.#text.flush(); return this.#tell(kind, content, key); });
    this.#bars = new Bars(tell);
    this.#undo = button("↶", "", "undo", () => { this.#text.flush(); this.#tell("undo"); });
    this.#redo = button("↷", "", "redo", () => { this.#text.flush(); this.#tell("redo"); });
    this.#root.setAttribute("data-lm-suppress-shortcuts", "true");
    this.#root.append(element("style", "", EDITOR_SHEET + BARS_SHEET), this.#head(), this.#remark, this.#sides(), this.#bars.element);
    this.#root.addEventListener("keydown", (event) => this.#onKey(event));
    host.append(this.#root);
    this.#listen("change:status", () => this.#onStatus());
    this.#listen("change:bars", () => this.#showBars());
    this.#listen("msg:custom", (message) => this.#onMessage(message));
    window.addEventListener("pagehide", () => this.#send({ type: "leaving", view: this.#id }), { signal: this.#ending.signal });
    this.#onStatus();
    this.#showBars();
    this.#send({ type: "opened", view: this.#id });
  }

  #head() {
    const head = element("div", "mle-head");
    this.#summary.setAttribute("role", "status");
    this.#remark.setAttribute("role", "alert");
    head.append(element("strong", "", "Model"), this.#summary, element("span", "mle-space"), this.#undo, this.#redo);
    return head;
  }

  #sides() {
    const [sides, right, add] = [element("div", "mle-sides"), element("div"), element("div", "mle-add")];
    this.#adding.type = "text";
    this.#adding.placeholder = "1.5 Smokes(x) => Cancer(x)";
    this.#adding.spellcheck = false;
    this.#adding.setAttribute("aria-label", "formula to add");
    this.#adding.addEventListener("input", () => this.#check());
    this.#adding.addEventListener("keydown", (event) => { if (event.key === "Enter") this.#add(); });
    add.append(this.#adding, button("add", "", "add this formula", () => this.#add()));
    right.append(this.#table.element, add, this.#hint);
    sides.append(this.#text.element, right);
    return sides;
  }

  #listen(name, act) {
    this.#model.on(name, act);
    this.#off.push(() => this.#model.off(name, act));
  }

  // --- what is sent ---

  #send(message) {
    try {
      this.#model.send(message);
    } catch {
      // Without a kernel there is nobody to tell; what is shown stays.
    }
  }

  /** Send an edit, or let it wait for the answer to the one before; return its number. */
  #tell(type, content = {}, key = "") {
    this.#edit += 1;
    this.#waiting.delete(key); // the newer one waits behind what was said since
    this.#waiting.set(key || `edit ${this.#edit}`, { type, ...content, view: this.#id, edit: this.#edit });
    this.#next();
    return this.#edit;
  }

  #next() {
    if (this.#outstanding || !this.#waiting.size) return;
    const [key, message] = this.#waiting.entries().next().value;
    this.#waiting.delete(key);
    this.#outstanding = message.edit;
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => this.#arrived(Infinity), PATIENCE);
    this.#send(message);
  }

  #arrived(edit) {
    if (edit < this.#outstanding) return;
    clearTimeout(this.#patience);
    this.#outstanding = 0;
    this.#next();
  }

  // --- what arrives ---

  #onStatus() {
    const status = this.#model.get("status");
    const mine = status.view === this.#id;
    if (mine) this.#answered = Math.max(this.#answered, status.edit);
    this.#undo.disabled = !status.undo;
    this.#redo.disabled = !status.redo;
    this.#summary.textContent = status.summary ?? "";
    this.#remark.textContent = status.remark ?? "";
    this.#remark.hidden = !status.remark;
    // An answer to an older text must not overwrite what is being typed.
    if (this.#answered >= this.#lastText) this.#text.show(this.#model.get("text_shown"), this.#model.get("findings"));
    this.#table.show(this.#model.get("table"), status.sound !== false, this.#answered);
    this.#bars.status(status);
    this.#showBars();
    if (mine) this.#arrived(status.edit);
  }

  #showBars() {
    this.#bars.show(this.#model.get("bars"), this.#model.get("status").why);
  }

  #onMessage(message) {
    if (message.type !== "checked" || message.text !== this.#adding.value) return;
    const worst = message.findings.find(({ severity }) => severity === "error");
    this.#adding.classList.toggle("mle-error", Boolean(worst));
    this.#hint.className = `mle-hint${worst ? " mle-error" : ""}`;
    this.#hint.textContent = worst ? [worst.message, worst.expected && `expected: ${worst.expected}`].filter(Boolean).join("; ") : "";
  }

  #check() {
    clearTimeout(this.#checking);
    this.#checking = setTimeout(() => {
      this.#hint.textContent = "";
      this.#adding.classList.remove("mle-error");
      if (this.#adding.value.trim()) this.#tell("check", { text: this.#adding.value }, "check");
    }, 150);
  }

  #add() {
    if (!this.#adding.value.trim() || this.#adding.classList.contains("mle-error")) return;
    this.#text.flush();
    this.#tell("add", { text: this.#adding.value });
    this.#adding.value = "";
    this.#hint.textContent = "";
  }

  #onKey(event) {
    const key = event.key.toLowerCase();
    const types = event.target.matches("input[type=text],input[type=search]");
    if (!types && (event.ctrlKey || event.metaKey) && !event.altKey && (key === "z" || key === "y")) {
      event.preventDefault();
      this.#text.flush();
      this.#tell(key === "z" && !event.shiftKey ? "undo" : "redo");
    }
    event.stopPropagation();
  }

  destroy() {
    clearTimeout(this.#patience);
    clearTimeout(this.#checking);
    this.#ending.abort();
    this.#off.forEach((off) => off());
    this.#send({ type: "closed", view: this.#id });
    this.#text.destroy();
    this.#root.remove();
  }
}
