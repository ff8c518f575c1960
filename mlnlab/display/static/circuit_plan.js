// What a circuit is computed of at some sizes: nodes, each after those that it is made of, and how often each counts.
// This is the walk of LogPass in mlnlab/circuits/first_order/log_space.py without its values: while only weights move, it stays.
// A counting node gives its call an axis of its own, n + 1 sizes k; what hangs on no chosen size has no such axis.
// Circuits come as mlnlab/circuits/first_order/circuit_json.py writes them, sizes of the root's subdomains as numbers.

const CHOSEN = -1; // as in mlnlab/circuits/first_order/sizes.py: the k of the counting node that calls

/** Return the plan, null where it takes more than so many numbers; `logFactorial(n)` has all up to n. */
export function planned(circuit, sizes, most, logFactorial) {
  const plan = new Plan(circuit, most, logFactorial);
  try {
    plan.top = plan.definition(circuit.root, sizes.map((size) => form(size, [])));
  } catch (problem) {
    if (problem instanceof TooLarge) return null;
    throw problem;
  }
  return plan;
}

class TooLarge extends Error {}

// --- sizes: a constant and axes, each with its coefficient ---------------------------------------

function form(constant, terms) {
  return { constant, terms, key: [constant, ...terms.map(([axis, times]) => `${times}*${axis.name}`)].join(" ") };
}

/** Return a size in terms of those that the caller's subdomains have (Size.within in mlnlab/circuits/first_order/sizes.py). */
function within(size, sizes, chosen) {
  let constant = size.constant;
  const found = new Map();
  for (const [subdomain, times] of size.terms) {
    const inner = subdomain === CHOSEN ? chosen : sizes[subdomain];
    constant += times * inner.constant;
    for (const [axis, factor] of inner.terms) found.set(axis, (found.get(axis) ?? 0) + times * factor);
  }
  return form(constant, [...found].filter(([, times]) => times).sort(([a], [b]) => a.depth - b.depth));
}

// --- axes: what is computed for several sizes is an array over them, the innermost running fastest ---

function joined(...lists) {
  return [...new Set(lists.flat())].sort((a, b) => a.depth - b.depth);
}

function lengthOf(axes) {
  return axes.reduce((product, axis) => product * axis.length, 1);
}

/** Return for each place over some axes the place over a part of them, null where these are all. */
function placesOf(part, whole) {
  if (part.length === whole.length) return null;
  const places = new Int32Array(lengthOf(whole));
  let [own, run] = [1, 1];
  for (const axis of [...whole].reverse()) {
    if (part.includes(axis)) {
      for (let i = 0; i < places.length; i += 1) places[i] += own * (Math.floor(i / run) % axis.length);
      own *= axis.length;
    }
    run *= axis.length;
  }
  return places;
}

class Plan {
  nodes = []; // each has its kind, its axes, and the length of its arrays
  leaves = new Map();
  definitions = new Map(); // number: [{ sizes, node }, ...]
  numbers = 0; // that a pass up takes
  top = null;
  #circuit;
  #most;
  #logFactorial;
  #known = new Map();
  #axes = new Map();
  #arrays = new Map();
  #places = new Map();

  constructor(circuit, most, logFactorial) {
    this.#circuit = circuit;
    this.#most = most;
    this.#logFactorial = logFactorial;
  }

  /** Take notice of arrays that will be made, before they are. */
  #take(numbers) {
    this.numbers += numbers;
    if (this.numbers > this.#most) throw new TooLarge();
  }

  #node(kind, axes, parts) {
    const node = { kind, axes, length: lengthOf(axes), value: null, adjoint: null, isReached: false, ...parts };
    this.#take(node.length);
    this.nodes.push(node);
    return node;
  }

  places(part, whole) {
    const key = `${part.map((axis) => axis.name)} of ${whole.map((axis) => axis.name)}`;
    if (!this.#places.has(key)) this.#places.set(key, placesOf(part, whole));
    return this.#places.get(key);
  }

  /** Return a size for all cases; those that do not count may have less than 0 elements. */
  elements(size) {
    if (this.#arrays.has(size.key)) return this.#arrays.get(size.key);
    const axes = size.terms.map(([axis]) => axis);
    this.#take(lengthOf(axes));
    const values = new Float64Array(lengthOf(axes)).fill(size.constant);
    for (const [axis, times] of size.terms) {
      const at = this.places([axis], axes);
      for (let i = 0; i < values.length; i += 1) values[i] += times * (at ? at[i] : i);
    }
    for (let i = 0; i < values.length; i += 1) values[i] = Math.max(values[i], 0);
    const made = { axes, values };
    this.#arrays.set(size.key, made);
    return made;
  }

  /** Return sums of what is over some axes and what is over others. */
  #added(one, other) {
    const axes = joined(one.axes, other.axes);
    const [a, b] = [this.places(one.axes, axes), this.places(other.axes, axes)];
    this.#take(lengthOf(axes));
    const values = new Float64Array(lengthOf(axes));
    for (let i = 0; i < values.length; i += 1) values[i] = one.values[a ? a[i] : i] + other.values[b ? b[i] : i];
    return { axes, values };
  }

  /** Return a number of atoms: products of n (n-1) ... (n-m+1), divided by a number (Count in sizes.py). */
  #count(count, sizes) {
    const factors = count.falling.map(({ size, times }) => [within(size, sizes), times]);
    const key = ["count", count.divided, ...factors.map(([size, times]) => `${size.key} ${times}`)].join();
    if (!this.#arrays.has(key)) this.#arrays.set(key, this.#multiplied(factors, count.divided));
    return this.#arrays.get(key);
  }

  #multiplied(factors, divided) {
    const sizes = factors.map(([size, times]) => [this.elements(size), times]);
    const axes = joined(...sizes.map(([size]) => size.axes));
    this.#take(lengthOf(axes));
    const values = new Float64Array(lengthOf(axes)).fill(1 / divided);
    for (const [size, times] of sizes) {
      const [elements, at] = [size.values, this.places(size.axes, axes)];
      for (let down = 0; down < times; down += 1) {
        for (let i = 0; i < values.length; i += 1) values[i] *= Math.max(elements[at ? at[i] : i] - down, 0);
      }
    }
    return { axes, values };
  }

  // --- nodes ------------------------------------------------------------------------------------

  #called(call, sizes, chosen) {
    return this.definition(call.definition, call.sizes.map((size) => within(size, sizes, chosen)));
  }

  /** Return the node of a definition at some sizes; equal ones are one node. */
  definition(number, sizes) {
    const key = [number, ...sizes.map((size) => size.key)].join();
    if (!this.#known.has(key)) {
      const node = this.#body(this.#circuit.definitions[number].body, sizes, number);
      this.#known.set(key, node);
      if (!this.definitions.has(number)) this.definitions.set(number, []);
      this.definitions.get(number).push({ sizes, node });
    }
    return this.#known.get(key);
  }

  #body(body, sizes, number) {
    switch (body.kind) {
      case "product": return this.#product(body, sizes);
      case "power": return this.#weighed([{ ...this.#count(body.times, sizes), node: this.#called(body.call, sizes) }]);
      case "sum": return this.#joining("sum", body.terms, sizes);
      case "inclusion-exclusion": return this.#joining("difference", [body.first, body.second, body.both], sizes);
      case "size-case": return this.#case(body, sizes);
      case "counting": return this.#counting(body, sizes, number);
      default: throw new TooLarge(); // of a newer mlnlab
    }
  }

  #product(product, sizes) {
    const one = Float64Array.of(1);
    const calls = product.calls.map((call) => ({ axes: [], values: one, node: this.#called(call, sizes) }));
    return this.#weighed([...calls, ...product.leaves.map((leaf) => ({ ...this.#count(leaf.times, sizes), node: this.#leaf(leaf) }))]);
  }

  /** Return the sum of count · logarithm, which is the logarithm of a product of powers; equal factors are one. */
  #weighed(terms) {
    const merged = new Map();
    for (const { node, axes, values } of terms) {
      const before = merged.get(node);
      merged.set(node, before ? this.#added(before, { axes, values }) : { axes, values });
    }
    const axes = joined(...[...merged].flatMap(([node, times]) => [node.axes, times.axes]));
    this.#take(merged.size * lengthOf(axes));
    const made = [...merged].map(([node, times]) => ({
      node, at: this.places(node.axes, axes), times: times.values, timesAt: this.places(times.axes, axes),
    }));
    return this.#node("weighed", axes, { terms: made });
  }

  /** Return what one atom of a leaf weighs. */
  #leaf({ symbol, sign }) {
    const key = `${symbol} ${sign}`;
    if (!this.leaves.has(key)) this.leaves.set(key, this.#node("leaf", [], { symbol, sign }));
    return this.leaves.get(key);
  }

  #joining(kind, products, sizes) {
    const parts = products.map((product) => this.#product(product, sizes));
    const axes = joined(...parts.map((part) => part.axes));
    return this.#node(kind, axes, { parts: parts.map((node) => ({ node, at: this.places(node.axes, axes) })) });
  }

  #case({ subdomain, minimum, large, small }, sizes) {
    const elements = this.elements(sizes[subdomain]);
    const parts = [large, small].map((product) => this.#product(product, sizes));
    const axes = joined(elements.axes, ...parts.map((part) => part.axes));
    const at = this.places(elements.axes, axes);
    const enough = Uint8Array.from({ length: lengthOf(axes) }, (_, i) => elements.values[at ? at[i] : i] >= minimum);
    return this.#node("case", axes, { enough, parts: parts.map((node) => ({ node, at: this.places(node.axes, axes) })) });
  }

  /** Sum over k: an axis inside of all that the sizes depend on. */
  #counting({ subdomain, call }, sizes, number) {
    const elements = this.elements(sizes[subdomain]);
    const depth = 1 + Math.max(0, ...sizes.flatMap((size) => size.terms.map(([axis]) => axis.depth)));
    const most = elements.values.reduce((a, b) => Math.max(a, b), 0);
    const axis = this.#axis(depth, most + 1);
    const inner = this.#called(call, sizes, form(0, [[axis, 1]]));
    const outer = joined(elements.axes, inner.axes.filter((one) => one !== axis));
    const whole = [...outer, axis];
    this.#take(2 * lengthOf(whole));
    return this.#node("counting", outer, {
      inner, number, run: axis.length, at: this.places(inner.axes, whole), shares: new Float64Array(lengthOf(whole)),
      ways: this.#ways(elements, axis), waysAt: this.places([...elements.axes, axis], whole),
    });
  }

  #axis(depth, length) {
    const key = `${depth} ${length}`;
    this.#take(length);
    if (!this.#axes.has(key)) this.#axes.set(key, { name: this.#axes.size, depth, length });
    return this.#axes.get(key);
  }

  /** Return the logarithms of C(n, k), for all n of some sizes and all k. */
  #ways({ values }, { length }) {
    const logs = this.#logFactorial(length);
    const ways = new Float64Array(values.length * length);
    values.forEach((n, row) => {
      for (let k = 0; k < length; k += 1) ways[row * length + k] = k <= n ? logs[n] - logs[k] - logs[n - k] : -Infinity;
    });
    return ways;
  }
}
