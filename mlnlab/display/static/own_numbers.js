// The numbers that a page has by itself, in the frame in which a slider moves, until Python's take their place.
// Python's are kept meanwhile: where the page has none for the sliders' places, Python's last ones stand.
import { CircuitNumbers } from "./circuit_numbers.js";
import { chartPath, valueLine, valuesOf } from "./number_words.js";

const NO_VALUE = "not used at these sizes";

/** The page's evaluator, and where its sliders stand: where Python has them, but for those that moved since. */
export class OwnNumbers {
  #evaluator;
  #weights = [];
  #sizes = [];
  #moved = new Map();

  constructor(program) {
    const isKnown = program?.format === "mlnlab-program" && program.version === 1;
    this.#evaluator = isKnown ? new CircuitNumbers(program) : null;
  }

  get exist() {
    return this.#evaluator !== null;
  }

  /** Take notice of where Python has the sliders. */
  stand({ weights, sizes }) {
    this.#weights = weights;
    this.#sizes = sizes;
  }

  move(kind, place, value) {
    this.#moved.set(`${kind} ${place}`, value);
  }

  /** Forget moves: Python knows of them. */
  known() {
    this.#moved.clear();
  }

  /** Return all numbers for the places of the sliders, null where there are none to be believed. */
  numbers() {
    const at = (kind, given) => given.map((value, place) => this.#moved.get(`${kind} ${place}`) ?? value);
    try {
      return this.#evaluator?.numbers(at("size", this.#sizes), at("weight", this.#weights)) ?? null;
    } catch {
      return null; // a program of a newer mlnlab, or of somebody else
    }
  }
}

/** What Python wrote into a drawing's nodes: their values and charts, and the charts' base lines. */
export class WrittenNodes {
  #items = new Map();

  /** Keep what a scene has. */
  read(scene) {
    this.#items.clear();
    const note = (item) => {
      if (/^(?:value|chart|base)-\d+$/.test(item.id ?? "")) this.#items.set(item.id, { text: item.text, class: item.class, path: item.path });
      item.children?.forEach(note);
    };
    scene.layers?.forEach(note);
  }

  /** Keep what a patch has of them, and return the rest of it. */
  rest(changes) {
    const mine = ([key]) => this.#items.has(key);
    for (const [key, fields] of changes.filter(mine)) Object.assign(this.#items.get(key), fields);
    return changes.filter((change) => !mine(change));
  }

  /** Return what Python wrote, as a patch. */
  written() {
    return [...this.#items].map(([key, { text, class: look, path }]) => [key, path === undefined ? { text, class: look } : { path }]);
  }

  /** Return the page's own numbers in their place, as a patch; they are lighter. */
  own(nodes) {
    return [...this.#items.keys()].filter((key) => !key.startsWith("base")).map((key) => {
      const [kind, number] = key.split("-");
      const node = nodes.get(Number(number));
      if (kind === "value") return [key, { text: node ? valueLine(node) : NO_VALUE, class: "quiet small" }];
      const base = this.#items.get(`base-${number}`)?.path ?? "";
      return [key, { path: node?.chosen ? chartPath(node.chosen, base) : base }];
    });
  }
}

/** Return what stands beside the sliders, as Python sends it; the page has no bound of its error. */
export function ownValues(numbers) {
  return { ...valuesOf(numbers), error: "by the page; Python's with a bound of its error follows", isOwn: true };
}
