// How cells are compared and which ones a filter lets through.

const CONDITION = /^(<=|>=|<|>|=)?\s*(-?[\d.]+(?:e-?\d+)?)$/i;
const SPAN = /^(-?[\d.]+)\s*\.\.\s*(-?[\d.]+)$/;
const letters = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Compare two cells; what is missing always stands last. */
export function compare(a, b, number, down = false) {
  const [emptyA, emptyB] = [a === null || a === "", b === null || b === ""];
  if (emptyA || emptyB) return emptyA - emptyB;
  const order = number ? Number(a) - Number(b) : letters.compare(a, b);
  return down ? -order : order;
}

/** Return the test that a filter's text means; what cannot be read as a condition is looked for as text. */
export function matcher(text, number) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return () => true;
  const contains = (cell) => String(cell ?? "").toLowerCase().includes(wanted);
  if (!number) return contains;
  const span = SPAN.exec(wanted);
  if (span) return (cell) => cell !== null && Number(cell) >= Number(span[1]) && Number(cell) <= Number(span[2]);
  const condition = CONDITION.exec(wanted);
  if (!condition) return contains;
  const limit = Number(condition[2]);
  const tests = {
    "<": (x) => x < limit, "<=": (x) => x <= limit, ">": (x) => x > limit, ">=": (x) => x >= limit,
    "=": (x) => x === limit,
  };
  const test = tests[condition[1] ?? "="];
  return (cell) => cell !== null && test(Number(cell));
}
