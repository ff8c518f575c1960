// Two editors side by side, and a table of differences; either editor takes a chosen row over.
import { render as edit } from "./editor.js";
import { Line, SILENCE } from "./editor_line.js";
import { EDITOR_SHEET } from "./editor_look.js";
import { button, element } from "./editor_parts.js";
import { keepShortcutsAway } from "./shortcuts.js";
import { mount } from "./table.js";

const SIDES = ["left", "right"];
const COMPARE_SHEET = EDITOR_SHEET +
  ".mlc-editors{display:grid;grid-template-columns:minmax(0,1fr);gap:14px 24px}@container(min-width:900px){.mlc-editors{grid-template-columns:repeat(2,minmax(0,1fr))}}" +
  ".mlc-name{font-weight:600;margin:0 0 4px}.mlc-tools{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin:16px 0 6px}";

export function render({ model, el }) {
  const view = new Compare(model, el);
  return () => view.destroy();
}

class Compare {
  #model;
  #line;
  #root = element("div", "mle tex2jax_ignore mathjax_ignore");
  #summary = element("span", "mle-quiet");
  #remark = element("div", "mle-problem");
  #names = SIDES.map(() => element("div", "mlc-name"));
  #places = SIDES.map(() => element("div", "mlc-editor"));
  #takes = SIDES.map((into) => button("", "", "", () => this.#take(into)));
  #table;
  #row = -1;
  #shown = "";
  #ends = [];

  constructor(model, host) {
    this.#model = model;
    const line = new Line(model);
    this.#line = line;
    line.silent = () => { this.#remark.textContent = SILENCE; this.#remark.hidden = false; };
    keepShortcutsAway(this.#root);
    const editors = element("div", "mlc-editors");
    SIDES.forEach((side, place) => {
      const part = element("div", `mlc-${side}`);
      part.append(this.#names[place], this.#places[place]);
      editors.append(part);
    });
    const tools = element("div", "mlc-tools");
    this.#summary.setAttribute("role", "status");
    this.#remark.setAttribute("role", "alert");
    tools.append(element("span", "mle-label", "differences"), this.#summary, element("span", "mle-space"), ...this.#takes);
    const table = element("div");
    this.#root.append(element("style", "", COMPARE_SHEET), editors, tools, this.#remark, table);
    this.#table = mount(table);
    this.#table.onevent = ({ row }) => { this.#row = row; this.#showTakes(); };
    host.append(this.#root);
    line.listen("change:status", () => this.#show());
    line.listen("change:table", () => this.#showTable());
    line.listen("change:editors", () => this.#showEditors());
    this.#show();
    this.#showTable();
    this.#showEditors();
    line.send({ type: "opened", view: line.id });
  }

  #show() {
    const status = this.#model.get("status");
    this.#line.hear(status);
    const names = status.names ?? ["A", "B"];
    this.#summary.textContent = `from ${names[0]} to ${names[1]}: ${status.summary}`;
    this.#remark.textContent = status.remark ?? "";
    this.#remark.hidden = !status.remark;
    names.forEach((name, place) => {
      this.#names[place].textContent = name;
      this.#takes[place].textContent = `take into ${name}`;
    });
    this.#showTakes();
    this.#line.goOn();
  }

  #showTakes() {
    const formulas = this.#model.get("status").formulas ?? 0;
    this.#takes.forEach((take) => { take.disabled = !(this.#row >= 0 && this.#row < formulas); });
  }

  #showTable() {
    this.#row = -1;
    this.#table.table(this.#model.get("table"));
    this.#showTakes();
  }

  #take(into) {
    const of = this.#model.get("table").rows[this.#row]?.[1];
    this.#line.tell("take", { row: this.#row, of, into });
  }

  #showEditors() {
    const editors = this.#model.get("editors");
    const shown = editors.join();
    this.#shown = shown;
    const asked = editors.map((name) => this.#model.widget_manager.get_model(name.replace("IPY_MODEL_", "")));
    Promise.all(asked).then((models) => {
      if (shown !== this.#shown) return;
      this.#leave();
      this.#ends = models.map((model, place) => edit({ model, el: this.#places[place] }));
    });
  }

  #leave() {
    this.#ends.forEach((end) => end());
    this.#ends = [];
  }

  destroy() {
    this.#shown = "gone";
    this.#leave();
    this.#table.destroy();
    this.#line.destroy();
    this.#root.remove();
  }
}
