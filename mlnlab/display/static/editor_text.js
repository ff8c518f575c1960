// The text of a model: a text field over coloured lines, with each problem underlined and said at its place.
// `told` takes text(text), undo(), redo() and mend(finding).
import { linesOf, marked } from "./editor_tokens.js";
import { button, element } from "./editor_parts.js";

const AFTER_TYPING = 150; // milliseconds
const LINE = 20; // pixels
const MOST_COLOURED = 200_000; // letters: as many as can be edited; a page would stand still over more
const BETWEEN_SAYINGS = 1000;
const SIGNS = { error: "✖", warning: "▲", note: "●" };
const ORDER = ["error", "warning", "note"];

export class TextPane {
  element = element("section", "mle-text");
  #told;
  #box = element("div", "mle-code");
  #gutter = element("div", "mle-gutter");
  #stack = element("div", "mle-stack");
  #back = element("div", "mle-back");
  #field = element("textarea");
  #card = element("div", "mle-card");
  #list = element("ul", "mle-list");
  #notes = element("details");
  #said = element("div", "mle-said");
  #findings = [];
  #drawn = [];
  #timer = 0;
  #saying = 0;
  #composing = false;
  #dismissed = -1;

  constructor(told) {
    this.#told = told;
    const field = this.#field;
    field.spellcheck = false;
    field.autocapitalize = "off";
    field.autocomplete = "off";
    field.wrap = "off";
    field.setAttribute("aria-label", "text of the model");
    this.#gutter.ariaHidden = this.#back.ariaHidden = "true";
    this.#said.setAttribute("role", "status");
    this.#card.hidden = true;
    this.#stack.append(this.#back, field, this.#card);
    this.#box.append(this.#gutter, this.#stack);
    this.element.append(element("span", "mle-label", "text"), this.#box, this.#list, this.#notes, this.#said);
    field.addEventListener("input", () => this.#onInput());
    field.addEventListener("keydown", (event) => this.#onKey(event));
    field.addEventListener("beforeinput", (event) => this.#onHistory(event));
    field.addEventListener("compositionstart", () => { this.#composing = true; });
    field.addEventListener("compositionend", () => { this.#composing = false; this.#onInput(); });
    for (const name of ["keyup", "click", "focus"]) field.addEventListener(name, () => this.#showCard());
    this.element.addEventListener("focusout", (event) => { if (!this.#stack.contains(event.relatedTarget)) this.#card.hidden = true; });
    this.#card.addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the focus
  }

  /** Whether something stands in the field that has not been sent. */
  get typing() {
    return Boolean(this.#timer) || this.#composing;
  }

  /** Show a text; what the reader has selected stays where it was, or goes where the text has changed. */
  show(text, findings) {
    const field = this.#field;
    if (text !== field.value) {
      const { selectionStart, selectionEnd } = field;
      const moved = placeOf(field.value, text);
      field.value = text;
      if (document.activeElement === field) field.setSelectionRange(moved ?? selectionStart, moved ?? selectionEnd);
    }
    this.#findings = findings;
    this.#draw();
    this.#showList();
    this.#showCard();
    this.#say();
  }

  /** Send what was typed and not sent yet. */
  flush() {
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#told.text(this.#field.value);
  }

  #onInput() {
    this.#dismissed = -1;
    this.#draw();
    if (this.#composing) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), AFTER_TYPING);
  }

  #onHistory(event) {
    if (event.inputType !== "historyUndo" && event.inputType !== "historyRedo") return;
    event.preventDefault();
    this.#travel(event.inputType === "historyUndo");
  }

  #travel(back) {
    this.flush();
    if (back) this.#told.undo();
    else this.#told.redo();
  }

  #onKey(event) {
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && !event.altKey && (key === "z" || key === "y")) {
      event.preventDefault();
      this.#travel(key === "z" && !event.shiftKey);
    } else if (event.key === "Escape" && !this.#card.hidden) {
      this.#dismissed = this.#lineOfCaret();
      this.#card.hidden = true;
      event.preventDefault();
    }
    event.stopPropagation();
  }

  #marksOf(line) {
    return this.#findings.filter((finding) => finding.line === line && finding.severity !== "note");
  }

  /** Colour the lines; those that look as before are left alone. */
  #draw() {
    const text = this.#field.value;
    if (text.length > MOST_COLOURED) return this.#drawPlain(text);
    const lines = linesOf(text);
    const numbers = [];
    const there = [...this.#back.children];
    lines.forEach((pieces, place) => {
      const marks = this.#marksOf(place + 1);
      const key = JSON.stringify([pieces, marks]);
      if (this.#drawn[place] !== key) {
        const made = lineElement(pieces, marks);
        if (place < there.length) there[place].replaceWith(made);
        else this.#back.append(made);
        this.#drawn[place] = key;
      }
      numbers.push(element("div", marks.length ? `mle-${worst(marks).severity}` : "", String(place + 1)));
    });
    for (const extra of there.slice(lines.length)) extra.remove();
    this.#drawn.length = lines.length;
    this.#gutter.replaceChildren(...numbers);
  }

  /** Show a text that is too long as one piece, without colours and numbers. */
  #drawPlain(text) {
    this.#back.replaceChildren(element("div", "mle-line", text));
    this.#gutter.replaceChildren();
    this.#drawn = [];
  }

  #lineOfCaret() {
    return this.#field.value.slice(0, this.#field.selectionStart).split("\n").length;
  }

  /** Say under the caret's line what is wrong there, in full. */
  #showCard() {
    const line = this.#lineOfCaret();
    const marks = document.activeElement === this.#field && line !== this.#dismissed ? this.#marksOf(line) : [];
    this.#card.hidden = !marks.length;
    if (!marks.length) return;
    const finding = worst(marks);
    this.#card.className = `mle-card mle-${finding.severity}`;
    this.#card.replaceChildren(...this.#sentences(finding));
    this.#card.style.top = `${6 + line * LINE + 2}px`;
    this.#card.style.left = `min(calc(${finding.from}ch + 8px), max(8px, 100% - 46ch))`;
  }

  #sentences(finding) {
    const parts = [element("div", "", finding.message)];
    if (finding.expected) parts.push(element("div", "mle-quiet", `expected: ${finding.expected}`));
    const mend = this.#mendButton(finding);
    if (mend) parts.push(mend);
    else if (finding.repair) parts.push(element("div", "mle-quiet", `try: ${finding.repair}`));
    return parts;
  }

  #mendButton(finding) {
    if (!finding.mend) return null;
    const written = finding.mend[2];
    return button(written ? `use ${written}` : finding.repair, "", "", () => {
      this.flush();
      this.#told.mend(finding);
      this.#field.focus();
    });
  }

  #showList() {
    const items = (wanted) => this.#findings.filter(wanted).map((finding) => this.#item(finding));
    this.#list.replaceChildren(...items(({ severity }) => severity !== "note"));
    const notes = items(({ severity }) => severity === "note");
    const list = element("ul", "mle-list");
    list.append(...notes);
    this.#notes.hidden = !notes.length;
    this.#notes.replaceChildren(element("summary", "", notes.length === 1 ? "1 remark" : `${notes.length} remarks`), list);
  }

  #item(finding) {
    const made = element("li");
    const go = button(finding.line ? `line ${finding.line}` : finding.place, "mle-go", "", () => this.#goTo(finding));
    go.disabled = !finding.line;
    made.append(element("span", `mle-${finding.severity}`, SIGNS[finding.severity]), go, element("span", "", finding.message));
    const mend = this.#mendButton(finding);
    if (mend) made.append(mend);
    return made;
  }

  #goTo(finding) {
    const lines = this.#field.value.split("\n");
    const start = lines.slice(0, finding.line - 1).join("\n").length + (finding.line > 1 ? 1 : 0);
    this.#dismissed = -1;
    this.#field.focus();
    this.#field.setSelectionRange(start + finding.from, start + Math.max(finding.to, finding.from));
    this.#box.scrollTop = Math.max(0, (finding.line - 4) * LINE);
    this.#showCard();
  }

  #say() {
    clearTimeout(this.#saying);
    this.#saying = setTimeout(() => {
      const errors = this.#findings.filter(({ severity }) => severity === "error");
      const first = errors[0];
      const number = errors.length === 1 ? "1 error" : `${errors.length} errors`;
      this.#said.textContent = first ? `${number}. Line ${first.line}: ${first.message}` : "no errors";
    }, BETWEEN_SAYINGS);
  }

  destroy() {
    clearTimeout(this.#timer);
    clearTimeout(this.#saying);
    this.element.remove();
  }
}

function worst(marks) {
  return [...marks].sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity))[0];
}

function lineElement(pieces, marks) {
  const made = element("div", "mle-line");
  for (const [text, kind, inside] of marked(pieces, marks)) {
    const bad = inside.length ? ` mle-bad mle-${worst(inside).severity}` : "";
    made.append(kind || bad ? element("span", `${kind ? `mle-${kind}` : ""}${bad}`, text) : text);
  }
  if (!pieces.length && !marks.length) made.append("\u200b");
  if (marks.length) made.append(element("span", `mle-note mle-${worst(marks).severity}`, worst(marks).message));
  return made;
}

/** Return where a text has changed last, from its beginning, so that the caret can follow an undo. */
function placeOf(before, after) {
  let same = 0;
  const most = Math.min(before.length, after.length);
  while (same < most && before[before.length - 1 - same] === after[after.length - 1 - same]) same += 1;
  return after.length - same;
}
