// The elements of a table, and its look.
import { SHEET } from "./look.js";

export const TABLE_SHEET = SHEET.replaceAll(".mlnlab-view", ".mlnlab-table") +
  ".mlnlab-table{color:var(--s-text);font:13px system-ui,sans-serif}" +
  ".mlnlab-table table{border-collapse:collapse;margin:4px 0}" +
  ".mlnlab-table th,.mlnlab-table td{padding:3px 12px 3px 4px;text-align:left;border-bottom:1px solid var(--s-line)}" +
  ".mlnlab-table th button{all:unset;cursor:pointer;font-weight:600;color:var(--s-soft)}" +
  ".mlnlab-table th button:focus-visible,.mlnlab-table tr:focus-visible{outline:2px solid var(--s-blue)}" +
  ".mlnlab-table th[aria-sort=ascending] button::after{content:' \\25b2'}" +
  ".mlnlab-table th[aria-sort=descending] button::after{content:' \\25bc'}" +
  ".mlnlab-table .mlnlab-number{text-align:right;font-variant-numeric:tabular-nums}" +
  ".mlnlab-table tbody tr{cursor:pointer}.mlnlab-table tbody tr:hover{background:var(--s-shade)}" +
  ".mlnlab-table tr[aria-selected=true]{background:var(--s-shade);box-shadow:inset 3px 0 var(--s-blue)}" +
  ".mlnlab-table input{font:inherit;color:inherit;background:transparent;border:1px solid var(--s-line);" +
  "border-radius:3px;padding:1px 5px;min-width:4em;width:90%}.mlnlab-table .mlnlab-search{width:18em}" +
  ".mlnlab-status{color:var(--s-soft)}.mlnlab-more{font:inherit;margin-right:8px}";

/** Return an element of ours; text is only ever text. */
export function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

export function rowElement(row, number, columns) {
  const made = element("tr");
  made.dataset.row = String(number);
  columns.forEach((column, place) => {
    const cell = row[place] ?? "";
    made.append(element("td", column.number ? "mlnlab-number" : "", String(cell).slice(0, 500)));
  });
  return made;
}
