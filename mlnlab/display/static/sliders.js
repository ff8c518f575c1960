// Rows with a name, a slider, a number to be typed, and what follows from it. `tell(kind, key, value)` says what moved.
import { element } from "./table_parts.js";

export const SLIDERS_SHEET =
  ".mlnlab-sliders{display:grid;grid-template-columns:minmax(6em,max-content) minmax(6em,18em) 6em minmax(7em,max-content) minmax(2em,7em);gap:3px 12px;align-items:center;margin:4px 0}" +
  ".mlnlab-sliders>*{min-width:0}.mlnlab-sliders .mlnlab-name{overflow-wrap:anywhere;max-width:32em}" +
  ".mlnlab-sliders input[type=range]{width:100%;margin:0;accent-color:var(--s-blue)}" +
  ".mlnlab-sliders input[type=number]{font:inherit;color:inherit;background:transparent;border:1px solid var(--s-line);border-radius:3px;padding:1px 4px;width:100%;box-sizing:border-box;text-align:right}" +
  ".mlnlab-sliders input:focus-visible{outline:2px solid var(--s-blue);outline-offset:1px}" +
  ".mlnlab-sliders .mlnlab-value{font-variant-numeric:tabular-nums;text-align:right}" +
  ".mlnlab-sliders .mlnlab-share{height:9px;border-radius:2px;background:var(--s-shade);border:1px solid var(--s-line);overflow:hidden}" +
  ".mlnlab-sliders .mlnlab-share i{display:block;height:100%;background:var(--s-blue)}" +
  ".mlnlab-sliders .mlnlab-top{font-weight:600;color:var(--s-soft);font-size:12px}";

/** A horizontal bar for a share from 0 to 1. */
export class ShareBar {
  element = element("div", "mlnlab-share");
  #bar = element("i");

  constructor() {
    this.element.setAttribute("role", "img");
    this.element.append(this.#bar);
  }

  show(share) {
    const known = typeof share === "number" && Number.isFinite(share);
    this.element.style.visibility = known ? "" : "hidden";
    const percent = Math.min(100, Math.max(0, (known ? share : 0) * 100));
    this.#bar.style.width = `${percent.toFixed(2)}%`;
    this.element.setAttribute("aria-label", `${percent.toFixed(1)} percent`);
  }
}

const HALF = 500; // places of a weight's slider on each side of 0

/** A slider with its number; `stops` are the values it can stand at, without them it goes from -reach to reach. */
export class Slider {
  range = element("input");
  number = element("input");
  #stops = null;
  #reach = 1;
  #tell;

  constructor(name, tell, rest) {
    this.#tell = tell;
    this.range.type = "range";
    this.number.type = "number";
    for (const part of [this.range, this.number]) part.setAttribute("aria-label", name);
    this.range.addEventListener("input", () => this.#moved());
    this.range.addEventListener("change", rest);
    this.number.addEventListener("change", () => this.#typed(rest));
    this.number.addEventListener("keydown", (event) => event.stopPropagation());
  }

  show(value, reach, stops) {
    this.#stops = stops ?? null;
    const moving = this.range.matches(":active");
    if (this.#stops) {
      Object.assign(this.range, { min: "0", max: String(this.#stops.length - 1), step: "1" });
      Object.assign(this.number, { min: String(this.#stops[0]), step: "1" });
    } else {
      this.#reach = reach;
      Object.assign(this.range, { min: String(-HALF), max: String(HALF), step: "1" });
      this.number.step = "any";
    }
    // An older answer must not push a slider back while it is being moved.
    if (!moving) this.range.value = String(this.#place(value));
    if (!moving && document.activeElement !== this.number) this.number.value = String(value);
    this.#name(value);
  }

  /** Weights stand closer to each other near 0: in large domains small ones make the difference. */
  #place(value) {
    if (this.#stops) return nearest(this.#stops, value);
    return Math.round(HALF * Math.cbrt(value / this.#reach));
  }

  #value(place) {
    return this.#stops ? this.#stops[place] : Number((this.#reach * (place / HALF) ** 3).toPrecision(4));
  }

  #name(value) {
    this.range.setAttribute("aria-valuetext", Number(value).toLocaleString("en"));
  }

  #moved() {
    const value = this.#value(Number(this.range.value));
    this.number.value = String(value);
    this.#name(value);
    this.#tell(value);
  }

  #typed(rest) {
    const value = this.number.valueAsNumber;
    if (!Number.isFinite(value)) return;
    this.range.value = String(this.#place(value));
    this.#name(value);
    this.#tell(this.#stops ? Math.round(value) : value);
    rest();
  }
}

function nearest(stops, value) {
  return stops.reduce((best, stop, place) => (Math.abs(stop - value) < Math.abs(stops[best] - value) ? place : best), 0);
}

// Nothing queues up, and while an answer travels, Python works at the next one already: numbers follow more often.
/** Sends the newest of what is asked for, few at a time. */
export class NewestWins {
  #send;
  #flights;
  #patience;
  #turn = 0;
  #heard = 0; // the newest turn that was answered
  #wanted = null;
  #flying = new Map(); // turns that are not answered yet, with their timers
  #resting = null;

  constructor(send, flights = 2, patience = 3000) {
    this.#send = send;
    this.#flights = flights;
    this.#patience = patience;
  }

  /** Merge what is asked for into what waits; `merge(before, now)` says how. */
  ask(change, merge) {
    this.#wanted = this.#wanted ? merge(this.#wanted, change) : change;
    this.#next();
  }

  /** Do something once all has been answered. */
  atRest(act) {
    this.#resting = act;
    this.#next();
  }

  /** Take notice of an answer; those before it will not come any more. */
  answered(turn) {
    this.#heard = Math.max(this.#heard, turn);
    this.#land(turn);
  }

  #land(turn) {
    for (const [before, timer] of this.#flying) {
      if (before > turn) continue;
      clearTimeout(timer);
      this.#flying.delete(before);
    }
    this.#next();
  }

  #next() {
    if (this.#wanted && this.#flying.size < this.#flights) {
      const change = this.#wanted;
      this.#wanted = null;
      this.#turn += 1;
      const turn = this.#turn;
      this.#flying.set(turn, setTimeout(() => this.#land(turn), this.#patience));
      this.#send(change, turn);
    }
    if (this.#wanted || this.#flying.size) return;
    const act = this.#resting;
    this.#resting = null;
    act?.();
  }

  /** Whether the newest that was asked for has been answered, not only waited for long enough. */
  get isQuiet() {
    return !this.#wanted && this.#heard === this.#turn;
  }

  destroy() {
    this.#flying.forEach((timer) => clearTimeout(timer));
  }
}
