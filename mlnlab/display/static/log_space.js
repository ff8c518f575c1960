// One pass up and one down over a plan, in logarithms: values, and the derivatives of log Z by them. The same rules
// as in mlnlab/circuits/first_order/log_space.py, which cites them, but without bounds of errors. Circuits with signs, where nearly
// all could cancel, get no program.

/** Give all nodes their values; false where the last one is no number, or 0. */
export function passUp(plan, logTrue, logFalse) {
  for (const node of plan.nodes) {
    node.value ??= new Float64Array(node.length);
    node.isReached = false;
    if (node.kind === "leaf") node.value[0] = leafValue(node, logTrue, logFalse);
    else if (node.kind === "weighed") weigh(node);
    else if (node.kind === "sum") sum(node);
    else if (node.kind === "case") choose(node);
    else if (node.kind === "counting") count(node);
    else subtract(node);
  }
  return Number.isFinite(plan.top.value[0]);
}

function leafValue({ symbol, sign }, logTrue, logFalse) {
  if (sign === "impossible") return -Infinity;
  if (sign === "true") return logTrue[symbol];
  return sign === "false" ? logFalse[symbol] : logSum(logTrue[symbol], logFalse[symbol]);
}

/** Return log(exp a + exp b). */
function logSum(a, b) {
  if (a < b) [a, b] = [b, a];
  return a === -Infinity ? a : a + Math.log1p(Math.exp(b - a));
}

/** Return which share of a whole a part is, both by their logarithms. */
function share(part, whole) {
  return Number.isFinite(part) && Number.isFinite(whole) ? Math.exp(part - whole) : 0;
}

/** Nothing times minus infinity is nothing. */
function weigh({ value, terms }) {
  value.fill(0);
  for (const { node, at, times, timesAt } of terms) {
    const [given, one] = [node.value, node.value[0]];
    if (given.length > 1 || timesAt) {
      for (let i = 0; i < value.length; i += 1) {
        const often = times[timesAt ? timesAt[i] : i];
        if (often > 0) value[i] += often * given[at ? at[i] : i];
      }
    } else {
      for (let i = 0; i < value.length; i += 1) if (times[i] > 0) value[i] += times[i] * one;
    }
  }
}

function sum({ value, parts }) {
  value.fill(-Infinity);
  for (const { node, at } of parts) {
    for (let i = 0; i < value.length; i += 1) value[i] = logSum(value[i], node.value[at ? at[i] : i]);
  }
}

/** log(first + second - both); both is a part of either, so at least half is left. */
function subtract({ value, parts }) {
  const [first, second, both] = parts.map(({ node, at }) => (i) => node.value[at ? at[i] : i]);
  for (let i = 0; i < value.length; i += 1) {
    const plus = logSum(first(i), second(i));
    const rest = both(i) === -Infinity ? 1 : -Math.expm1(both(i) - plus);
    value[i] = plus === -Infinity ? plus : plus + Math.log(rest);
  }
}

function choose({ value, enough, parts: [one, other] }) {
  for (let i = 0; i < value.length; i += 1) {
    const { node, at } = enough[i] ? one : other;
    value[i] = node.value[at ? at[i] : i];
  }
}

/** The logarithm of the sum over k of C(n, k) · value; what each k has of it stays for the pass down. */
function count({ value, run, inner, at, ways, waysAt, shares }) {
  for (let row = 0; row < value.length; row += 1) {
    const [begin, end] = [row * run, (row + 1) * run];
    let peak = -Infinity;
    for (let i = begin; i < end; i += 1) {
      shares[i] = ways[waysAt ? waysAt[i] : i] + inner.value[at ? at[i] : i];
      if (!(shares[i] <= peak)) peak = shares[i]; // also where it is no number
    }
    let total = 0;
    for (let i = begin; i < end; i += 1) {
      shares[i] = peak === -Infinity ? 0 : Math.exp(shares[i] - peak);
      total += shares[i];
    }
    value[row] = peak === -Infinity ? peak : peak + Math.log(total);
    if (total > 0) for (let i = begin; i < end; i += 1) shares[i] /= total;
  }
}

/** Give all nodes that log Z hangs on the derivatives of it, summed over what they are used for. */
export function passDown(plan) {
  adjointOf(plan.top)[0] = 1;
  for (let place = plan.nodes.length - 1; place >= 0; place -= 1) {
    const node = plan.nodes[place];
    if (!node.isReached || node.kind === "leaf") continue;
    if (node.kind === "weighed") node.terms.forEach((term) => handDownWeighed(node, term));
    else if (node.kind === "case") node.parts.forEach((part, n) => handDownChosen(node, part, n === 0));
    else if (node.kind === "counting") handDownCounted(node);
    else node.parts.forEach((part, n) => handDownShares(node, part, node.kind === "difference" && n === 2 ? -1 : 1));
  }
}

/** Return where a node's derivatives are added up; those of an earlier pass are gone. */
function adjointOf(node) {
  node.adjoint ??= new Float64Array(node.length);
  if (!node.isReached) node.adjoint.fill(0);
  node.isReached = true;
  return node.adjoint;
}

function handDownWeighed({ adjoint }, { node, at, times, timesAt }) {
  const own = adjointOf(node);
  if (own.length > 1 || timesAt) {
    for (let i = 0; i < adjoint.length; i += 1) own[at ? at[i] : i] += adjoint[i] * times[timesAt ? timesAt[i] : i];
    return;
  }
  let total = 0;
  for (let i = 0; i < adjoint.length; i += 1) total += adjoint[i] * times[i];
  own[0] += total;
}

function handDownShares({ value, adjoint }, { node, at }, sign) {
  const own = adjointOf(node);
  for (let i = 0; i < adjoint.length; i += 1) {
    const place = at ? at[i] : i;
    own[place] += sign * adjoint[i] * share(node.value[place], value[i]);
  }
}

function handDownChosen({ adjoint, enough }, { node, at }, isLarge) {
  const own = adjointOf(node);
  for (let i = 0; i < adjoint.length; i += 1) if (Boolean(enough[i]) === isLarge) own[at ? at[i] : i] += adjoint[i];
}

function handDownCounted({ adjoint, run, inner, at, shares }) {
  const own = adjointOf(inner);
  for (let row = 0; row < adjoint.length; row += 1) {
    for (let i = row * run; i < (row + 1) * run; i += 1) own[at ? at[i] : i] += adjoint[row] * shares[i];
  }
}

/** Return the expected numbers of true and of false atoms of each symbol. */
export function expectedAtoms(plan, logTrue, logFalse) {
  const [trueAtoms, falseAtoms] = [new Float64Array(logTrue.length), new Float64Array(logTrue.length)];
  for (const { symbol, sign, value, adjoint, isReached } of plan.leaves.values()) {
    if (!isReached || sign === "impossible") continue;
    const truth = sign === "free" ? share(logTrue[symbol], value[0]) : Number(sign === "true");
    trueAtoms[symbol] += adjoint[0] * truth;
    falseAtoms[symbol] += adjoint[0] * (1 - truth);
  }
  return [trueAtoms, falseAtoms];
}
