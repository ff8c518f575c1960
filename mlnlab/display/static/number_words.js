// Numbers in the words in which mlnlab/display/lifted/circuits/circuit_details.py and circuit_boxes.py have them, so that the page's
// own stand where Python's stand, in the same letters.

const [EXACT, CHART_ROOM, BINS] = [1e7, 22, 64];

/** Return a number with so many digits, as the format "g" of Python has it. */
export function general(number, digits) {
  if (!Number.isFinite(number)) return Number.isNaN(number) ? "nan" : number > 0 ? "inf" : "-inf";
  const [mantissa, power] = number.toExponential(digits - 1).split("e");
  const exponent = Number(power);
  const short = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (exponent >= -4 && exponent < digits) return short(number.toFixed(digits - 1 - exponent));
  return `${short(mantissa)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

function grouped(text) {
  const [whole, rest] = text.split(".");
  const parted = whole.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return rest ? `${parted}.${rest}` : parted;
}

/** Return a number so that a small change of it is seen, in at most ten letters. */
export function numberText(number) {
  const size = Math.abs(number);
  if (!Number.isFinite(number) || (size && !(size >= 1e-4 && size < EXACT))) {
    return general(number, 4).replace("e+0", "e").replace("e+", "e").replace("e-0", "e-");
  }
  return grouped(size >= 1e4 ? number.toFixed(0) : general(number, size >= 1 ? 5 : 4));
}

/** Return a definition's value and how often it is used. */
export function valueLine({ value, uses }) {
  return `${value === -Infinity ? "0" : `log ${numberText(value)}`} · used ${numberText(uses)}×`;
}

/** Return how probable each size of a subset is, as a line above its base line, `M left height L right height`. */
export function chartPath(chosen, base) {
  const [left, height, right] = (base.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number);
  const heights = binned(chosen);
  const most = Math.max(...heights) || 1;
  const step = (right - left) / Math.max(heights.length - 1, 1);
  const tenth = (place) => Math.round(place * 10) / 10;
  const points = heights.map((share, n) => `${tenth(left + step * n)} ${tenth(height - (CHART_ROOM * share) / most)}`);
  return `M${points.join("L")}`;
}

/** Return the largest of each run of values, so that a narrow peak is seen; what is below 0 is none. */
function binned(values) {
  const bins = Math.min(values.length, BINS);
  const heights = [];
  for (let n = 0, i = 0; n < bins; n += 1) {
    let most = 0;
    for (const end = Math.floor((values.length * (n + 1)) / bins); i < end; i += 1) if (values[i] > most) most = values[i];
    heights.push(most);
  }
  return heights;
}

/** Return what stands beside the sliders; the page knows no bound of its error. */
export function valuesOf({ logZ, expected, groundings, marginals }) {
  return {
    logZ: general(logZ, 12),
    rows: expected.map((count, place) => ({
      expected: numberText(count), of: numberText(groundings[place]), share: groundings[place] ? count / groundings[place] : null,
    })),
    marginals: marginals.map(({ probability, atoms }) => ({
      share: Number.isNaN(probability) ? null : probability,
      probability: Number.isNaN(probability) ? "none" : probability.toFixed(6),
      of: `${numberText(Math.round(atoms))} atom${Math.round(atoms) === 1 ? "" : "s"}`,
    })),
  };
}
