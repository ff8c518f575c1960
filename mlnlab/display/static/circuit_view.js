// The view of a compiled model: sliders for weights and sizes, the numbers that follow, the circuit, and what is told
// of the definition that is selected. Traits hold what is at rest; "frame" messages follow a slider. Where Python gave a
// program, the page draws numbers of its own in the frame in which a slider moves, lighter, until Python's follow.
import { SHEET } from "./look.js";
import { OwnNumbers, WrittenNodes, ownValues } from "./own_numbers.js";
import { PageLine } from "./page_line.js";
import { changesOf } from "./patches.js";
import { mount } from "./scene.js";
import { keepShortcutsAway } from "./shortcuts.js";
import { NewestWins, SLIDERS_SHEET, ShareBar, Slider } from "./sliders.js";
import { element } from "./table_parts.js";
import { bringIntoSight, keepLegible } from "./wide.js";

const VIEW_SHEET = SHEET.replaceAll(".mlnlab-view", ".mlnlab-circuit") + SLIDERS_SHEET +
  ".mlnlab-circuit{color:var(--s-text)}.mlnlab-circuit .mlnlab-logz{font-weight:600;font-variant-numeric:tabular-nums;margin:2px 0 6px}" +
  ".mlnlab-circuit .mlnlab-soft{font-weight:400;color:var(--s-soft)}" +
  ".mlnlab-circuit .mlnlab-wrong{border-left:3px solid var(--s-orange);padding:2px 8px;margin:3px 0;max-width:60em}" +
  ".mlnlab-circuit .mlnlab-below{display:flex;flex-wrap:wrap;gap:8px 24px;align-items:flex-start}" +
  ".mlnlab-circuit .mlnlab-below>div:first-of-type{flex:1 1 26em;min-width:0}" +
  ".mlnlab-circuit .mlnlab-details{flex:1 1 24em;max-width:44em;min-height:2em}" +
  ".mlnlab-circuit .mlnlab-details.mlnlab-idle{flex-basis:100%;max-width:none}" +
  ".mlnlab-circuit .mlnlab-details>*{overflow-wrap:anywhere;margin:1px 0}" +
  ".mlnlab-circuit .mlnlab-head{font-weight:600;margin-top:6px}" +
  ".mlnlab-circuit.mlnlab-own .mlnlab-value,.mlnlab-circuit.mlnlab-own .mlnlab-number{color:var(--s-soft)}" +
  ".mlnlab-circuit.mlnlab-own .mlnlab-head:has(+.mlnlab-number)::after{content:' where the sliders stood before';font-weight:400;color:var(--s-soft)}" +
  ".mlnlab-circuit .mlnlab-code{font:12px ui-monospace,monospace;padding-left:9px;border-left:3px solid transparent}" +
  ".mlnlab-circuit .mlnlab-lit{border-left-color:var(--s-orange);font-weight:600}" +
  ".mlnlab-circuit [hidden]{display:none!important}.mlnlab-circuit label.mlnlab-switch{display:inline-flex;gap:6px;align-items:center;margin:2px 0;cursor:pointer}";
const KINDS = { head: "mlnlab-head", words: "mlnlab-words", number: "mlnlab-number", code: "mlnlab-code", lit: "mlnlab-code mlnlab-lit" };

export function render({ model, el }) {
  const view = new CircuitView(model, el);
  return () => view.destroy();
}

function merged(before, now) {
  return { weights: { ...before.weights, ...now.weights }, sizes: { ...before.sizes, ...now.sizes } };
}

class CircuitView {
  #model;
  #line;
  #root = element("div", "mlnlab-circuit tex2jax_ignore mathjax_ignore");
  #logz = element("div", "mlnlab-logz");
  #sliders = element("div", "mlnlab-sliders");
  #said = element("div", "mlnlab-wrong");
  #details = element("div", "mlnlab-details");
  #leaves = element("input");
  #switch = element("label", "mlnlab-switch");
  #hint = "";
  #rows = [];
  #sizes = [];
  #marginals = [];
  #shape = "";
  #newest;
  #scene;
  #place = element("div");
  #own;
  #written = new WrittenNodes();
  #python = null; // the values that it sent last, and what it said of them
  #pythonSaid = "";
  #frameAsked = 0;
  #rootAsked = 0;

  constructor(model, host) {
    this.#model = model;
    this.#own = new OwnNumbers(model.get("program"));
    this.#line = new PageLine(model);
    const under = element("div", "mlnlab-below");
    keepShortcutsAway(this.#root);
    this.#said.setAttribute("role", "alert");
    this.#details.setAttribute("role", "status");
    under.append(this.#place, this.#details);
    this.#leaves.type = "checkbox";
    this.#leaves.addEventListener("change", () => this.#line.send({ type: "leaves", shown: this.#leaves.checked }));
    this.#switch.append(this.#leaves, "leaves as nodes");
    this.#root.append(element("style", "", VIEW_SHEET), this.#logz, this.#sliders, this.#said, this.#switch, under);
    host.append(this.#root);
    this.#newest = new NewestWins((change, turn) => this.#line.send({
      type: "set", turn, view: this.#line.id,
      weights: Object.entries(change.weights).map(([place, weight]) => [Number(place), weight]),
      sizes: Object.entries(change.sizes),
    }));
    this.#scene = mount(this.#place);
    this.#scene.onevent = (event) => event.type !== "key" && this.#line.send(event);
    this.#line.listen("change:scene", () => this.#draw());
    this.#line.listen("change:controls", () => this.#control());
    this.#line.listen("change:values", () => this.#take(this.#model.get("values")));
    this.#line.listen("change:details", () => this.#describe(this.#model.get("details")));
    this.#line.listen("change:said", () => this.#take(this.#python, this.#model.get("said")));
    this.#line.listen("msg:custom", (message, buffers) => this.#frame(message, buffers));
    this.#control();
    this.#take(this.#model.get("values"), this.#model.get("said"));
    this.#draw();
    this.#describe(this.#model.get("details"));
    this.#rootAsked = requestAnimationFrame(() => bringIntoSight(this.#place, this.#place.querySelector("[data-id=definition-0]")));
    this.#line.open();
  }

  #draw() {
    const scene = this.#model.get("scene");
    if (!scene?.format) return;
    this.#show(scene);
    // A saved notebook keeps what is seen last: the extension of mlnlab listens.
    this.#root.dispatchEvent(new CustomEvent("mlnlab-scene", { detail: scene, bubbles: true }));
  }

  #show(scene) {
    this.#scene.scene(scene);
    keepLegible(this.#place, scene.width);
    this.#written.read(scene);
    if (this.#showsOwn()) this.#ownAtOnce();
  }

  /** Make the rows anew only where there are others: a slider that is held must stay. */
  #control() {
    const controls = this.#model.get("controls");
    if (!controls?.weights) return;
    this.#stand({ weights: controls.weights.map((row) => row.value), sizes: controls.sizes.map((row) => row.value) });
    const shape = JSON.stringify([controls.weights.map((row) => [row.text, row.free]), controls.sizes.map((row) => row.type)]);
    if (shape !== this.#shape) this.#build(controls);
    this.#shape = shape;
    this.#switch.hidden = typeof controls.leaves !== "boolean";
    this.#leaves.checked = controls.leaves === true;
    this.#hint = controls.hint ?? "";
    controls.sizes.forEach((row, place) => this.#sizes[place].show(row.value, 0, row.stops));
    controls.weights.forEach((row, place) => this.#rows[place].slider?.show(row.value, row.reach));
  }

  #build(controls) {
    const rest = () => this.#newest.atRest(() => this.#line.send({ type: "settle" }));
    this.#sliders.replaceChildren();
    this.#rows = [];
    this.#sizes = [];
    this.#marginals = [];
    if (controls.sizes.length) this.#top("domain", "", "size", "", "");
    controls.sizes.forEach(({ type }, place) => {
      const move = (value) => this.#move("size", place, value, { weights: {}, sizes: { [type]: value } });
      const slider = new Slider(`size of ${type}`, move, rest);
      this.#sliders.append(element("div", "mlnlab-name", type), slider.range, slider.number, element("div"), element("div"));
      this.#sizes.push(slider);
    });
    this.#top("formula", "", "weight", "expected true", "");
    for (const { place, text, free } of controls.weights) {
      const move = (value) => this.#move("weight", place, value, { weights: { [place]: value }, sizes: {} });
      const slider = free ? new Slider(`weight of ${text}`, move, rest) : null;
      const [value, bar] = [element("div", "mlnlab-value"), new ShareBar()];
      this.#sliders.append(element("div", "mlnlab-name", text), slider ? slider.range : element("div", "mlnlab-soft", "hard"), slider ? slider.number : element("div"), value, bar.element);
      this.#rows.push({ slider, value, bar });
    }
  }

  #top(...words) {
    for (const word of words) this.#sliders.append(element("div", "mlnlab-top", word));
  }

  // --- the page's own numbers ---

  #showsOwn() {
    return this.#root.classList.contains("mlnlab-own");
  }

  #stand(places) {
    this.#own.stand(places);
    if (this.#newest.isQuiet) this.#own.known();
  }

  /** Ask Python, and draw the page's own numbers in the frame in which the slider is drawn. */
  #move(kind, place, value, change) {
    this.#own.move(kind, place, value);
    this.#newest.ask(change, merged);
    if (this.#own.exist) this.#frameAsked ||= requestAnimationFrame(() => this.#ownAtOnce());
  }

  #ownAtOnce() {
    this.#frameAsked = 0;
    const numbers = this.#newest.isQuiet ? null : this.#own.numbers();
    if (!numbers) return this.#pythons();
    this.#values(ownValues(numbers));
    this.#say("");
    this.#scene.patch(this.#written.own(numbers.nodes), true);
  }

  /** Show what Python said last. */
  #pythons() {
    if (this.#showsOwn()) this.#scene.patch(this.#written.written(), true);
    this.#values(this.#python);
    this.#say(this.#pythonSaid);
  }

  /** Take Python's numbers; they are shown once they answer the newest question, or where there are no others. */
  #take(values, said = this.#pythonSaid) {
    this.#python = values;
    this.#pythonSaid = said;
    if (this.#newest.isQuiet || !this.#showsOwn()) this.#pythons();
  }

  // --- numbers ---

  #values(values) {
    if (!values?.rows) return;
    this.#root.classList.toggle("mlnlab-own", values.isOwn === true);
    this.#logz.replaceChildren(`log Z ${values.isOwn ? "≈" : "="} ${values.logZ} `, element("span", "mlnlab-soft", values.error));
    values.rows.forEach((row, place) => {
      if (!this.#rows[place]) return;
      this.#rows[place].value.textContent = `${row.expected} of ${row.of}`;
      this.#rows[place].bar.show(row.share);
    });
    if (this.#marginals.length !== values.marginals.length) this.#buildMarginals(values.marginals);
    values.marginals.forEach((row, place) => {
      const { value, number, bar } = this.#marginals[place];
      value.textContent = row.probability;
      number.textContent = row.of;
      bar.show(row.share);
    });
  }

  #buildMarginals(marginals) {
    this.#top("atoms", "", "probability", "", "");
    this.#marginals = marginals.map(({ text }) => {
      const [value, number, bar] = [element("div", "mlnlab-value"), element("div", "mlnlab-value mlnlab-soft"), new ShareBar()];
      this.#sliders.append(element("div", "mlnlab-name", text), bar.element, value, number, element("div"));
      return { value, number, bar };
    });
  }

  #frame(message, buffers) {
    if (message.type !== "frame") return;
    if (message.view === this.#line.id) this.#newest.answered(message.turn);
    if (message.at) this.#stand(message.at);
    if (message.scene) this.#show(message.scene);
    else if (message.texts) this.#patch(changesOf(message.texts, buffers ?? [], this.#scene.keys()));
    this.#take(message.values, message.said);
    this.#describe(message.details);
  }

  #patch(changes) {
    const others = this.#written.rest(changes);
    this.#scene.patch(this.#showsOwn() ? others : changes);
  }

  #describe(lines) {
    const made = (lines ?? []).map(([kind, text]) => element("div", KINDS[kind] ?? "", text));
    this.#details.classList.toggle("mlnlab-idle", !made.length); // the drawing has the whole width
    this.#details.replaceChildren(...(made.length ? made : [element("div", "mlnlab-soft", this.#hint)]));
  }

  #say(sentence) {
    this.#said.textContent = sentence ?? "";
    this.#said.hidden = !sentence;
  }

  destroy() {
    cancelAnimationFrame(this.#frameAsked);
    cancelAnimationFrame(this.#rootAsked);
    this.#newest.destroy();
    this.#line.close();
    this.#scene.destroy();
    this.#root.remove();
  }
}
