// The formulas of a model as rows: on or off, weight, formula, order. `tell(kind, content, key)` sends an edit.
import { button, element } from "./editor_parts.js";

const RANGES = [5, 10, 20, 50, 100, 200, 500, 1000];

export class RowTable {
  element = element("section");
  #tell;
  #list = element("ul", "mle-rows");
  #more = element("div", "mle-quiet");
  #rows = [];
  #range = RANGES[0];
  #focus = null;

  constructor(tell) {
    this.#tell = tell;
    this.element.append(element("span", "mle-label", "formulas"), this.#list, this.#more);
  }

  /** Show the rows; `answered` is the newest edit of this page that they know of. */
  show(table, sound, answered) {
    const rows = table?.rows ?? [];
    this.#range = rangeFor(rows, this.#range, this.#list.matches(":has(input[type=range]:active)"));
    while (this.#rows.length > rows.length) this.#rows.pop().element.remove();
    rows.forEach((row, place) => {
      if (!this.#rows[place]) {
        this.#rows[place] = new FormulaRow((kind, content, key) => this.#onRow(kind, content, key), () => this.#widen());
        this.#list.append(this.#rows[place].element);
      }
      this.#rows[place].show(row, place, rows.length, this.#range, sound, answered);
    });
    this.#list.classList.toggle("mle-rests", !sound);
    this.#more.textContent = rows.length ? (table.more ? `and ${table.more} more, in the text` : "") : "There is no formula yet.";
    if (this.#focus) this.#rows[this.#focus.place]?.focus(this.#focus.part);
    this.#focus = null;
  }

  #onRow(kind, content, key) {
    // The keyboard stays with a formula that moves.
    if (kind === "move") this.#focus = { place: content.to, part: content.to < content.row ? "up" : "down" };
    if (kind === "remove") this.#focus = { place: Math.min(content.row, this.#rows.length - 2), part: "remove" };
    return this.#tell(kind, content, key);
  }

  /** A slider that was pushed to its end gets more room. */
  #widen() {
    this.#range = RANGES.find((range) => range > this.#range) ?? this.#range;
    for (const row of this.#rows) row.stretch(this.#range);
  }
}

class FormulaRow {
  element = element("li", "mle-row");
  #tell;
  #tick = element("input");
  #formula = element("div", "mle-formula");
  #weight = element("div", "mle-weight");
  #slider = element("input");
  #number = element("input");
  #hard;
  #badge = element("span", "mle-badge");
  #acts = element("div", "mle-acts");
  #up;
  #down;
  #remove;
  #row = { text: "", pieces: [] };
  #place = 0;
  #key = "";
  #said = 0; // the edit that told the weight last

  constructor(tell, widen) {
    this.#tell = (kind, content, key = "") => tell(kind, { row: this.#place, of: wordsOf(this.#row), ...content }, key);
    this.#tick.type = "checkbox";
    this.#tick.addEventListener("change", () => this.#tell("enable", { on: this.#tick.checked }));
    this.#slider.type = "range";
    this.#slider.addEventListener("input", () => this.#onWeight(this.#slider));
    this.#slider.addEventListener("change", () => { if (Math.abs(Number(this.#slider.value)) >= Number(this.#slider.max)) widen(); });
    this.#number.type = "number";
    this.#number.step = "any";
    this.#number.addEventListener("input", () => this.#onWeight(this.#number));
    this.#hard = button("hard", "mle-toggle", "", () => this.#tell("hard", { hard: this.#row.kind !== "hard" }));
    this.#up = button("↑", "", "", () => this.#tell("move", { to: this.#place - 1 }));
    this.#down = button("↓", "", "", () => this.#tell("move", { to: this.#place + 1 }));
    this.#remove = button("✕", "", "", () => this.#tell("remove", {}));
    const tick = element("div", "mle-tick");
    tick.append(this.#tick);
    this.#weight.append(this.#slider, this.#number, this.#hard, this.#badge);
    this.#acts.append(this.#up, this.#down, this.#remove);
    this.element.append(tick, this.#formula, this.#weight, this.#acts);
  }

  #onWeight(input) {
    const weight = input.value.trim() === "" ? NaN : Number(input.value);
    if (!Number.isFinite(weight)) return;
    const other = input === this.#slider ? this.#number : this.#slider;
    other.value = String(weight);
    this.#said = this.#tell("weight", { weight }, `weight ${this.#place}`);
  }

  show(row, place, number, range, sound, answered) {
    // An older answer must not push a slider back while it is being moved.
    const late = answered < this.#said && wordsOf(row) === wordsOf(this.#row);
    const key = JSON.stringify([row, place, number, sound, late]);
    this.#place = place;
    this.#row = row;
    if (key === this.#key) return this.stretch(range);
    this.#key = key;
    const fixed = Boolean(row.file);
    const words = wordsOf(row);
    this.element.classList.toggle("mle-off", !row.on);
    this.#tick.checked = row.on;
    this.#formula.replaceChildren(...(row.pieces.length ? row.pieces.map(([text, kind]) => (kind ? element("span", `mle-${kind}`, text) : text)) : [row.text]));
    this.#showWeight(row, range, late);
    this.#hard.setAttribute("aria-pressed", String(row.kind === "hard"));
    this.#hard.title = row.kind === "hard" ? "holds in every world; press to give it a weight" : "let it hold in every world";
    const badges = [row.count !== 1 ? `× ${row.count.toLocaleString("en")}` : "", row.kind === "hard" ? "holds in every world" : "", row.kind === "fixed" ? "fixed" : "", row.kind === "open" ? "to be learned" : "", row.kind === "unreadable" ? "not understood while off" : "", fixed ? `from ${row.file}` : ""];
    this.#badge.textContent = badges.filter(Boolean).join(" · ");
    this.#badge.title = row.count !== 1 ? "formulas, each with a weight of its own" : "";
    this.#badge.hidden = !this.#badge.textContent;
    for (const part of [this.#tick, this.#slider, this.#number, this.#hard, this.#up, this.#down, this.#remove]) part.disabled = fixed || !sound;
    this.#up.disabled ||= place === 0;
    this.#down.disabled ||= place === number - 1;
    for (const [part, what] of [[this.#tick, "use"], [this.#slider, "weight of"], [this.#number, "weight of"], [this.#hard, "hard:"], [this.#up, "move up:"], [this.#down, "move down:"], [this.#remove, "remove"]]) part.setAttribute("aria-label", `${what} ${words}`);
    for (const [part, what] of [[this.#up, "move up"], [this.#down, "move down"], [this.#remove, "remove"], [this.#tick, "on or off"]]) part.title = what;
  }

  #showWeight(row, range, late) {
    const weighed = row.kind === "soft" || row.kind === "fixed" || row.kind === "open";
    this.#slider.hidden = this.#number.hidden = !weighed;
    this.#hard.hidden = row.kind === "unreadable";
    this.stretch(range);
    if (late) return;
    const weight = row.weight ?? 0;
    if (Number(this.#slider.value) !== weight && !this.#slider.matches(":active")) this.#slider.value = String(weight);
    const typed = document.activeElement === this.#number && (this.#number.value === "" || Number(this.#number.value) === row.weight);
    if (!typed) this.#number.value = row.weight === null ? "" : String(row.weight);
  }

  stretch(range) {
    if (this.#slider.max === String(range)) return;
    this.#slider.min = String(-range);
    this.#slider.max = String(range);
    this.#slider.step = String(range / 100);
    this.#slider.value = this.#number.value || String(this.#row.weight ?? 0);
  }

  focus(part) {
    const wanted = { up: this.#up, down: this.#down, remove: this.#remove }[part];
    const found = wanted.disabled ? [this.#down, this.#up, this.#tick].find((other) => !other.disabled) : wanted;
    found?.focus();
  }
}

/** Return what a row is known by: its formula, whatever its weight. */
function wordsOf(row) {
  return row.pieces.map(([text]) => text).join("") || row.text;
}

function rangeFor(rows, range, dragging) {
  const largest = Math.max(0, ...rows.map(({ weight }) => Math.abs(weight ?? 0)));
  const needed = RANGES.find((found) => found >= largest) ?? largest;
  return dragging ? Math.max(range, needed) : Math.max(needed, Math.min(range, needed * 2.5));
}
