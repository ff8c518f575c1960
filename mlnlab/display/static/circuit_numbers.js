// All numbers of a compiled model at some sizes and weights, as mlnlab/lifted/ask/circuit_numbers.py has them, but in the
// page and within a frame: log Z, expected counts, marginals, and each definition's value with its derivative.
// The program comes from mlnlab/display/lifted/circuits/circuit_details.py. Where the page cannot tell, `numbers` returns null.
import { planned } from "./circuit_plan.js";
import { expectedAtoms, passDown, passUp } from "./log_space.js";

// Taken in some five milliseconds of a frame's sixteen.
const MOST_NUMBERS = 1000000;
const LARGEST_WEIGHT = 1e6; // as in mlnlab/widgets/circuit/circuit_sliders.py
const LARGEST_SIZE = 1e7;

export class CircuitNumbers {
  #program;
  #plan = null;
  #sizes = null; // of which the plan is
  #logs = Float64Array.of(0, 0);

  constructor(program) {
    this.#program = program;
  }

  /** Return all numbers for sizes of types and weights of formulas, both in their order, or null. */
  numbers(sizes, weights) {
    const program = this.#program;
    if (!weights.every((weight) => Math.abs(weight) <= LARGEST_WEIGHT)) return null;
    const plan = this.#planFor(sizes);
    if (!plan) return null;
    const [logTrue, logFalse] = [program.true, program.false].map((rows) => logWeights(rows, weights, program.symbols));
    if (!passUp(plan, logTrue, logFalse)) return null;
    passDown(plan);
    const [trueAtoms, falseAtoms] = expectedAtoms(plan, logTrue, logFalse);
    const atoms = trueAtoms.map((expected, symbol) => expected + falseAtoms[symbol]);
    return {
      logZ: plan.top.value[0],
      expected: countsOf(program, trueAtoms, falseAtoms, sizes),
      groundings: countsOf(program, atoms, atoms, sizes),
      marginals: program.marginals.map((symbol) => ({
        probability: atoms[symbol] > 0 ? trueAtoms[symbol] / atoms[symbol] : NaN, atoms: atoms[symbol],
      })),
      nodes: nodeValues(plan),
    };
  }

  #planFor(sizes) {
    if (this.#sizes && sizes.every((size, type) => size === this.#sizes[type])) return this.#plan;
    const known = sizes.map((size, type) => Number.isInteger(size) && size >= this.#program.least[type] && size <= LARGEST_SIZE);
    const of = this.#program.subdomains.map(([type, number]) => (type < 0 ? number : sizes[type] - number));
    const sound = known.every(Boolean) && of.every((size) => size >= 0);
    this.#plan = sound ? planned(this.#program.circuit, of, MOST_NUMBERS, (n) => this.#logFactorials(n)) : null;
    this.#sizes = [...sizes];
    return this.#plan;
  }

  /** Return log n! for all n up to some; what each step of the sum rounds off is carried (Kahan 1965). */
  #logFactorials(most) {
    if (this.#logs.length > most) return this.#logs;
    const logs = new Float64Array(Math.max(most + 1, 2 * this.#logs.length));
    let carried = 0;
    for (let n = 2; n < logs.length; n += 1) {
      const step = Math.log(n) - carried;
      logs[n] = logs[n - 1] + step;
      carried = logs[n] - logs[n - 1] - step;
    }
    this.#logs = logs;
    return logs;
  }
}

/** Return the logarithms of what atoms of each symbol weigh; they are linear in the formulas' weights. */
function logWeights(rows, weights, symbols) {
  const logs = new Float64Array(symbols);
  for (const [symbol, formula, times] of rows) logs[symbol] += times * weights[formula];
  return logs;
}

/** Return E[n] of all formulas from expected numbers of atoms; of hard ones, their groundings. */
function countsOf(program, trueAtoms, falseAtoms, sizes) {
  const counts = program.groundings.map((types) => (types ? types.reduce((total, type) => total * sizes[type], 1) : 0));
  for (const [rows, atoms] of [[program.true, trueAtoms], [program.false, falseAtoms]]) {
    for (const [symbol, formula, times] of rows) if (!program.groundings[formula]) counts[formula] += times * atoms[symbol];
  }
  return counts;
}

// --- what each definition is worth, as in mlnlab/circuits/first_order/node_values.py ------------------------

/** Return for each definition its value where most hangs on it, the derivative by all its values, and the sizes k. */
function nodeValues(plan) {
  return new Map([...plan.definitions].map(([number, parts]) => [number, nodeValue(plan, parts)]));
}

function nodeValue(plan, parts) {
  let [uses, most, best, place] = [0, -1, parts[0], 0];
  for (const part of parts) {
    const flow = part.node.isReached ? part.node.adjoint : [0];
    for (let i = 0; i < flow.length; i += 1) {
      uses += flow[i];
      if (Math.abs(flow[i]) > most) [most, best, place] = [Math.abs(flow[i]), part, i];
    }
  }
  const sizes = best.sizes.map((size) => {
    const { axes, values } = plan.elements(size);
    if (!axes.every((axis) => best.node.axes.includes(axis))) return NaN; // its value does not hang on this size
    const at = plan.places(axes, best.node.axes);
    return values[at ? at[place] : place];
  });
  return { sizes, value: best.node.value[place], uses, chosen: chosenShares(parts) };
}

/** Return how probable each k is, for all sizes of a counting definition together; null for others. */
function chosenShares(parts) {
  const counted = parts.map(({ node }) => node).filter(({ kind, isReached }) => kind === "counting" && isReached);
  if (!counted.length) return null;
  const total = new Float64Array(Math.max(...counted.map(({ run }) => run)));
  let whole = 0;
  for (const { adjoint, run, shares } of counted) {
    for (let row = 0; row < adjoint.length; row += 1) {
      const flow = adjoint[row];
      for (let k = 0; k < run; k += 1) total[k] += flow * shares[row * run + k];
      whole += flow;
    }
  }
  if (whole) for (let k = 0; k < total.length; k += 1) total[k] /= whole;
  return total;
}
