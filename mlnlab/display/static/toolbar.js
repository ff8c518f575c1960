// The bar that steers a run: back, play or pause, step, stop, a scrubber over what was recorded, and the speed.
// `tell` takes {type: "play"}, "pause", "step", "back", "stop", {type: "seek", position}, {type: "speed", delay}.
import { element } from "./table_parts.js";

const SPEEDS = [["1 a second", 1], ["3 a second", 1 / 3], ["10 a second", 0.1], ["30 a second", 1 / 30], ["full speed", 0]];
const BETWEEN_SAYINGS = 1000; // milliseconds between two sentences for a reader of the screen

export const TOOLBAR_SHEET =
  ".mlnlab-bar{display:flex;flex-wrap:wrap;gap:4px;align-items:center;margin:4px 0;color:var(--s-text)}" +
  ".mlnlab-bar button,.mlnlab-bar select,.mlnlab-tabs button{font:inherit;color:inherit;background:var(--s-shade);" +
  "border:1px solid var(--s-line);border-radius:4px;padding:3px 9px;min-width:2.6em;cursor:pointer}" +
  ".mlnlab-bar select option{color:CanvasText;background:Canvas}" +
  ".mlnlab-bar button:disabled{opacity:.4;cursor:default}.mlnlab-bar input[type=range]{flex:1 1 12em;max-width:32em;accent-color:var(--s-blue)}" +
  ".mlnlab-bar button:focus-visible,.mlnlab-bar select:focus-visible,.mlnlab-bar input:focus-visible,.mlnlab-tabs button:focus-visible{outline:2px solid var(--s-blue);outline-offset:1px}" +
  ".mlnlab-bar output{font-variant-numeric:tabular-nums;color:var(--s-soft);min-width:9em}";

export class Toolbar {
  element = element("div", "mlnlab-bar");
  #tell;
  #buttons = {};
  #scrubber = element("input");
  #output = element("output");
  #speed = element("select");
  #said = element("span", "mlnlab-said");
  #lastSaid = -Infinity;
  #later = 0;
  #run = { phase: "new", position: 0, length: 0 };

  constructor(tell) {
    this.#tell = tell;
    this.element.setAttribute("role", "toolbar");
    this.element.setAttribute("aria-label", "run");
    for (const [command, sign, name] of [["back", "‹", "one step back"], ["play", "▶", "play"], ["step", "›", "one step forward"], ["stop", "■", "stop"]]) {
      this.element.append(this.#button(command, sign, name));
    }
    this.#scrubber.type = "range";
    this.#scrubber.min = "0";
    this.#scrubber.setAttribute("aria-label", "step shown");
    this.#scrubber.addEventListener("input", () => tell({ type: "seek", position: Number(this.#scrubber.value) }));
    for (const [name, delay] of SPEEDS) this.#speed.append(new Option(name, String(delay)));
    this.#speed.setAttribute("aria-label", "speed");
    this.#speed.addEventListener("change", () => tell({ type: "speed", delay: Number(this.#speed.value) }));
    this.#said.setAttribute("role", "status");
    this.element.append(this.#scrubber, this.#output, this.#speed, this.#said);
    this.element.addEventListener("keydown", (event) => this.#onArrow(event));
  }

  #button(command, sign, name) {
    const made = element("button", "", sign);
    made.type = "button";
    made.dataset.command = command;
    made.title = name;
    made.setAttribute("aria-label", name);
    made.addEventListener("click", () => this.act(command));
    this.#buttons[command] = made;
    return made;
  }

  act(command) {
    const going = this.#run.phase === "running";
    this.#tell({ type: command === "play" && going ? "pause" : command });
  }

  /** Show where a run is. */
  show(run) {
    this.#run = run;
    const going = run.phase === "running";
    const last = Math.max(0, run.length - 1);
    const atEnd = run.position >= last;
    const { back, play, step, stop } = this.#buttons;
    play.textContent = going ? "❚❚" : "▶";
    play.setAttribute("aria-label", going ? "pause" : "play");
    play.title = going ? "pause" : "play";
    back.disabled = run.position <= 0;
    step.disabled = going || (atEnd && run.phase === "ended" && !run.resumes);
    play.disabled = run.phase === "ended" && !run.replays && !run.resumes;
    stop.disabled = run.phase === "ended" || run.replays === true;
    this.#scrubber.max = String(last);
    if (document.activeElement !== this.#scrubber || going || !this.#scrubber.matches(":active")) this.#scrubber.value = String(run.position);
    this.#scrubber.setAttribute("aria-valuetext", run.caption || "");
    this.#speed.value = SPEEDS.map(([, delay]) => delay).reduce((near, delay) => (Math.abs(delay - run.delay) < Math.abs(near - run.delay) ? delay : near));
    this.#output.textContent = run.length ? `step ${run.index.toLocaleString("en")}${atEnd ? "" : ` of ${run.last.toLocaleString("en")}`}` : "no step yet";
    this.#say(`${going ? "running" : run.reason || run.phase}, ${run.caption}`);
  }

  /** Tell a reader of the screen, at most once a second, and the last of what there was to say. */
  #say(sentence) {
    clearTimeout(this.#later);
    const wait = this.#lastSaid + BETWEEN_SAYINGS - performance.now();
    const now = () => {
      this.#lastSaid = performance.now();
      this.#said.textContent = sentence;
    };
    if (wait <= 0) now();
    else this.#later = setTimeout(now, wait);
  }

  /** Handle a key; return whether it meant something. */
  key(key) {
    const keys = { ArrowLeft: "back", ArrowRight: "step", " ": "play" };
    if (key in keys) {
      // Keys come quicker than answers: where the run is by now, and whether it can go on, Python knows.
      const shut = key === " " ? this.#buttons.play.disabled : key === "ArrowRight" && this.#run.phase === "running";
      if (!shut) this.act(keys[key]);
      return true;
    }
    const ends = { Home: 0, End: Math.max(0, this.#run.length - 1) };
    if (!(key in ends)) return false;
    this.#tell({ type: "seek", position: ends[key] });
    return true;
  }

  #onArrow(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === this.#scrubber || event.target === this.#speed) return;
    if (event.key === " " || event.key === "Enter" || !this.key(event.key)) return; // a button answers space itself
    event.preventDefault();
    event.stopPropagation();
  }

  destroy() {
    clearTimeout(this.#later);
    this.element.remove();
  }
}
