// The editor of a model. Python holds the document; the page sends edits and shows what comes back:
//   text_shown, findings, table, status, bars    and the message {type: "checked", text, findings}
import { BARS_SHEET, Bars } from "./editor_bars.js";
import { Line, SILENCE } from "./editor_line.js";
import { EDITOR_SHEET } from "./editor_look.js";
import { RowTable } from "./editor_table.js";
import { TextPane } from "./editor_text.js";
import { button, element } from "./editor_parts.js";
import { keepShortcutsAway } from "./shortcuts.js";

export function render({ model, el }) {
  const editor = new Editor(model, el);
  return () => editor.destroy();
}

class Editor {
  #model;
  #line;
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
  #lastText = 0;
  #checking = 0;

  constructor(model, host) {
    this.#model = model;
    const line = new Line(model);
    const tell = (kind, content, key) => line.tell(kind, content, key);
    this.#line = line;
    line.silent = () => { this.#remark.textContent = SILENCE; this.#remark.hidden = false; };
    this.#text = new TextPane({
      text: (text) => { this.#lastText = this.#line.tell("text", { text }, "text"); },
      undo: () => this.#line.tell("undo"),
      redo: () => this.#line.tell("redo"),
      mend: (finding) => this.#line.tell("mend", { repair: finding.mend, of: finding.message }),
    });
    this.#table = new RowTable((kind, content, key) => { this.#text.flush(); return this.#line.tell(kind, content, key); });
    this.#bars = new Bars(tell);
    this.#undo = button("↶", "", "undo", () => { this.#text.flush(); this.#line.tell("undo"); });
    this.#redo = button("↷", "", "redo", () => { this.#text.flush(); this.#line.tell("redo"); });
    keepShortcutsAway(this.#root);
    this.#root.append(element("style", "", EDITOR_SHEET + BARS_SHEET), this.#head(), this.#remark, this.#sides(), this.#bars.element);
    this.#root.addEventListener("keydown", (event) => this.#onKey(event));
    host.append(this.#root);
    line.listen("change:status", () => this.#onStatus());
    line.listen("change:bars", () => this.#showBars());
    line.listen("msg:custom", (message) => this.#onMessage(message));
    this.#onStatus();
    this.#showBars();
    line.send({ type: "opened", view: line.id });
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

  // --- what arrives ---

  #onStatus() {
    const status = this.#model.get("status");
    this.#line.hear(status);
    this.#undo.disabled = !status.undo;
    this.#redo.disabled = !status.redo;
    this.#summary.textContent = status.summary ?? "";
    this.#remark.textContent = status.remark ?? "";
    this.#remark.hidden = !status.remark;
    // An answer to an older text must not overwrite what is being typed.
    if (this.#line.answered >= this.#lastText && !this.#text.typing) this.#text.show(this.#model.get("text_shown"), this.#model.get("findings"));
    this.#table.show(this.#model.get("table"), status.sound !== false, this.#line.answered);
    this.#bars.status(status);
    this.#showBars();
    this.#line.goOn();
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
      if (this.#adding.value.trim()) this.#line.tell("check", { text: this.#adding.value }, "check");
    }, 150);
  }

  #add() {
    if (!this.#adding.value.trim() || this.#adding.classList.contains("mle-error")) return;
    this.#text.flush();
    this.#line.tell("add", { text: this.#adding.value });
    this.#adding.value = "";
    this.#hint.textContent = "";
  }

  #onKey(event) {
    const key = event.key.toLowerCase();
    const types = event.target.matches("input[type=text],input[type=search]");
    if (!types && (event.ctrlKey || event.metaKey) && !event.altKey && (key === "z" || key === "y")) {
      event.preventDefault();
      this.#text.flush();
      this.#line.tell(key === "z" && !event.shiftKey ? "undo" : "redo");
    }
    event.stopPropagation();
  }

  destroy() {
    clearTimeout(this.#checking);
    this.#line.destroy();
    this.#text.destroy();
    this.#root.remove();
  }
}
