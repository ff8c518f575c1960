// The view of a run: a bar to steer it, the picture of a step, what to be warned of, and the numbers as a table.
// Python sends the traits `status`, `scene` and `table` when the run rests, and "frame" messages while it goes.
import { SHEET } from "./look.js";
import { PageLine } from "./page_line.js";
import { changesOf } from "./patches.js";
import { mount as mountScene } from "./scene.js";
import { keepShortcutsAway } from "./shortcuts.js";
import { mount as mountTable } from "./table.js";
import { element } from "./table_parts.js";
import { TOOLBAR_SHEET, Toolbar } from "./toolbar.js";
import { keepLegible } from "./wide.js";

const FRAMES_PER_ANSWER = 5;
const PATIENCE = 1000; // milliseconds for a step to be found, before another one is asked for
const MOVES = new Set(["pause", "step", "back", "seek", "stop"]); // what a recording rests for

const RUN_SHEET = SHEET.replaceAll(".mlnlab-view", ".mlnlab-run") + TOOLBAR_SHEET +
  ".mlnlab-run{color:var(--s-text);padding:2px}.mlnlab-run .mlnlab-heading{font-weight:600;margin:2px 0}" +
  ".mlnlab-tabs{display:flex;flex-wrap:wrap;gap:4px;margin:4px 0}.mlnlab-tabs button[aria-selected=true]{border-color:var(--s-blue);box-shadow:inset 0 -2px var(--s-blue)}" +
  ".mlnlab-caption{color:var(--s-soft);font-variant-numeric:tabular-nums;min-height:1.4em}" +
  ".mlnlab-remarks{margin:4px 0;padding:0;list-style:none}.mlnlab-remarks li{border-left:3px solid var(--s-orange);padding:2px 8px;margin:3px 0;max-width:60em}" +
  ".mlnlab-run details{margin:4px 0}.mlnlab-run summary{cursor:pointer;color:var(--s-soft)}";

export function render({ model, el }) {
  const view = new RunView(model, el);
  return () => view.destroy();
}

/** Return a picture with the line under it that says which step it shows. */
function signed(scene, line) {
  return line ? { ...scene, height: line.height, layers: [...scene.layers, ...line.layers] } : scene;
}

class RunView {
  #model;
  #line;
  #root = element("div", "mlnlab-run tex2jax_ignore mathjax_ignore");
  #heading = element("div", "mlnlab-heading");
  #caption = element("div", "mlnlab-caption");
  #tabs = element("div", "mlnlab-tabs");
  #remarks = element("ul", "mlnlab-remarks");
  #details = element("details");
  #bar;
  #scene;
  #place = element("div");
  #table;
  #parts = "";
  #replay = 0;
  #seeking = 0;
  #wanted = null;

  constructor(model, host) {
    this.#model = model;
    this.#line = new PageLine(model);
    this.#bar = new Toolbar((event) => this.#tell(event));
    const numbers = element("div");
    keepShortcutsAway(this.#root);
    this.#tabs.setAttribute("role", "tablist");
    this.#remarks.setAttribute("role", "alert");
    this.#details.append(element("summary", "", "the numbers as a table"), numbers);
    this.#root.append(element("style", "", RUN_SHEET), this.#heading, this.#bar.element, this.#caption, this.#tabs, this.#place, this.#remarks, this.#details);
    host.append(this.#root);
    this.#scene = mountScene(this.#place);
    this.#table = mountTable(numbers);
    this.#scene.onevent = (event) => this.#onEvent(event);
    this.#table.onevent = (event) => this.#tell({ type: "row", row: event.row });
    this.#details.addEventListener("toggle", () => this.#tell({ type: "table", open: this.#details.open }));
    this.#line.listen("msg:custom", (message, buffers) => this.#onMessage(message, buffers));
    this.#line.listen("change:status", () => {
      this.#rest();
      this.#found();
    });
    this.#rest();
    this.#line.open();
  }

  /** Show what was written down where the run rests; all of it comes in one message. */
  #rest() {
    const scene = this.#model.get("scene");
    this.#whole(scene);
    // A saved notebook keeps the step that is seen last: the extension of mlnlab listens.
    const detail = scene?.format ? signed(scene, this.#model.get("status").signature) : null;
    if (detail) this.#root.dispatchEvent(new CustomEvent("mlnlab-scene", { detail, bubbles: true }));
    this.#run(this.#model.get("status"));
    this.#numbers(this.#model.get("table"));
  }

  /** A recording is played by the page: it needs no thread in the kernel. */
  #tell(event) {
    const run = this.#model.get("status");
    if (run.replays && event.type === "play") return this.#play(run);
    if (MOVES.has(event.type)) this.#halt();
    this.#wanted = null;
    if (run.replays && event.type === "pause") return this.#run(run);
    if (event.type === "seek") this.#seek(event);
    else this.#line.send(event);
  }

  /** Dragging asks for more than can be drawn: one step is on its way at a time, and the newest of the others waits. */
  #seek(event) {
    if (this.#seeking) {
      this.#wanted = event;
      return;
    }
    this.#seeking = setTimeout(() => this.#found(), PATIENCE);
    this.#line.send(event);
  }

  #found() {
    clearTimeout(this.#seeking);
    this.#seeking = 0;
    const next = this.#wanted;
    this.#wanted = null;
    if (next) this.#seek(next);
  }

  /** Ask for a step each time that the one before has come, so that a busy kernel is not flooded. */
  #play(run) {
    this.#halt();
    const rewinds = run.position >= run.length - 1;
    let asked = rewinds ? run.rests : -1;
    if (rewinds) this.#line.send({ type: "seek", position: 0 });
    const tick = () => {
      const now = this.#model.get("status");
      const answered = now.rests !== asked;
      if (answered && now.position >= now.length - 1) return this.#run({ ...now, phase: (this.#halt(), "paused") });
      if (answered) {
        asked = now.rests;
        this.#line.send({ type: "step" });
      }
      this.#replay = setTimeout(tick, Math.max(40, now.delay * 1000));
    };
    this.#replay = setTimeout(tick, Math.max(40, run.delay * 1000));
    this.#run(run);
  }

  #halt() {
    clearTimeout(this.#replay);
    this.#replay = 0;
  }

  #onEvent(event) {
    if (event.type === "key") return this.#bar.key(event.key);
    this.#line.send(event);
    // What a button changes, Python draws: what was selected before can be selected anew.
    if (event.type === "press") this.#scene.select(null);
  }

  #onMessage(message, buffers) {
    if (message.type !== "frame") return;
    if (message.scene) this.#whole(message.scene);
    else if (message.texts) this.#scene.patch(changesOf(message.texts, buffers ?? [], this.#scene.keys()));
    if (message.table) this.#numbers(message.table);
    this.#run(message.status);
    // Each word to the kernel makes it busy for a moment, so one answer serves some frames.
    if (message.frame % FRAMES_PER_ANSWER === 0) this.#line.send({ type: "drawn", frame: message.frame });
  }

  #whole(scene) {
    if (!scene?.format) return;
    this.#scene.scene(scene);
    keepLegible(this.#place, scene.width);
  }

  #run(run) {
    if (!run || !run.phase) return;
    this.#bar.show(this.#replay ? { ...run, phase: "running" } : run);
    this.#heading.textContent = run.title;
    this.#caption.textContent = [run.caption, run.phase === "running" ? "" : run.reason].filter(Boolean).join(" · ");
    const remarks = run.remarks ?? [];
    if (remarks.join("\n") !== [...this.#remarks.children].map((item) => item.textContent).join("\n")) {
      this.#remarks.replaceChildren(...remarks.map((sentence) => element("li", "", sentence)));
    }
    this.#showTabs(run);
  }

  #showTabs(run) {
    const parts = run.parts ?? [];
    if (parts.join("\n") !== this.#parts) {
      this.#parts = parts.join("\n");
      this.#tabs.replaceChildren(...(parts.length > 1 ? parts.map((name) => this.#tab(name)) : []));
    }
    for (const tab of this.#tabs.children) tab.setAttribute("aria-selected", String(tab.textContent === run.part));
  }

  #tab(name) {
    const made = element("button", "", name);
    made.type = "button";
    made.setAttribute("role", "tab");
    made.addEventListener("click", () => this.#line.send({ type: "part", part: name }));
    return made;
  }

  #numbers(table) {
    this.#details.hidden = !table?.format;
    if (table?.format) this.#table.table(table);
  }

  destroy() {
    this.#halt();
    clearTimeout(this.#seeking);
    this.#line.close();
    this.#bar.destroy();
    this.#scene.destroy();
    this.#table.destroy();
    this.#root.remove();
  }
}
