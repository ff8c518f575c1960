// Shows a table that can be sorted, filtered and searched. `mount(element)` returns a view:
//   view.table({format: "mlnlab-table", version: 1, title, columns: [{name, number}], rows: [[...]]})
//   view.onevent = (event) => {...}       {type: "select", row}, the row's number as it was given
// Data are only ever set as text. `view.destroy()` leaves nothing behind.
import { keepShortcutsAway } from "./shortcuts.js";
import { TABLE_SHEET, element, rowElement } from "./table_parts.js";
import { compare, matcher } from "./table_rules.js";

const AT_ONCE = 200; // rows drawn before the reader asks for more

export function mount(host) {
  return new TableView(host);
}

class TableView {
  onevent = null;
  #host = element("div", "mlnlab-table");
  #search = element("input", "mlnlab-search");
  #head = element("thead");
  #body = element("tbody");
  #status = element("div", "mlnlab-status");
  #more = element("button", "mlnlab-more");
  #data = { columns: [], rows: [] };
  #filters = [];
  #order = { column: -1, down: false };
  #shown = [];
  #drawn = 0;
  #current = 0;
  #selected = -1;

  constructor(host) {
    this.#search.type = "search";
    this.#search.placeholder = "search";
    this.#search.setAttribute("aria-label", "Search all columns");
    this.#status.setAttribute("role", "status");
    this.#more.type = "button";
    keepShortcutsAway(this.#host);
    const table = element("table");
    table.append(this.#head, this.#body);
    this.#host.append(element("style", "", TABLE_SHEET), this.#search, table, this.#more, this.#status);
    host.append(this.#host);
    this.#search.addEventListener("input", () => this.#update());
    this.#more.addEventListener("click", () => this.#drawMore());
    this.#body.addEventListener("click", (event) => this.#onClick(event));
    this.#host.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /** Show a table; what the reader searched for stays, where the columns are the same. */
  table(json) {
    if (json?.format !== "mlnlab-table" || json.version !== 1) {
      this.#status.textContent = "This is no table of mlnlab, or one of a newer version.";
      return false;
    }
    const same = this.#data.columns.map(({ name }) => name).join("\n") === json.columns.map(({ name }) => name).join("\n");
    this.#data = json;
    this.#selected = -1;
    if (!same) this.#newColumns();
    this.#host.querySelector("table").setAttribute("aria-label", json.title ?? "");
    this.#update();
    return true;
  }

  #newColumns() {
    this.#order = { column: -1, down: false };
    const names = element("tr");
    const filters = element("tr", "mlnlab-filters");
    this.#filters = this.#data.columns.map((column, place) => {
      const heading = element("th", column.number ? "mlnlab-number" : "");
      heading.setAttribute("scope", "col");
      heading.setAttribute("aria-sort", "none");
      const button = element("button", "", column.name);
      button.type = "button";
      button.addEventListener("click", () => this.#sort(place));
      heading.append(button);
      names.append(heading);
      const input = element("input");
      input.placeholder = column.number ? "> 0.5, 1..3" : "contains";
      input.setAttribute("aria-label", `Filter ${column.name}`);
      input.addEventListener("input", () => this.#update());
      const cell = element("td");
      cell.append(input);
      filters.append(cell);
      return input;
    });
    this.#head.replaceChildren(names, filters);
  }

  /** Sort up, then down, then as given. */
  #sort(column) {
    const { column: last, down } = this.#order;
    if (column !== last) this.#order = { column, down: false };
    else this.#order = down ? { column: -1, down: false } : { column, down: true };
    const headings = this.#head.querySelectorAll("th");
    headings.forEach((heading, place) => {
      const sorted = place === this.#order.column;
      heading.setAttribute("aria-sort", sorted ? (this.#order.down ? "descending" : "ascending") : "none");
    });
    this.#update();
  }

  #update() {
    const { columns, rows } = this.#data;
    const words = this.#search.value.trim().toLowerCase();
    const rules = this.#filters.map((input, place) => matcher(input.value, columns[place].number));
    const fits = (row) =>
      rules.every((rule, place) => rule(row[place])) &&
      (!words || row.some((cell) => String(cell).toLowerCase().includes(words)));
    this.#shown = rows.map((row, number) => ({ row, number })).filter(({ row }) => fits(row));
    const { column, down } = this.#order;
    if (column >= 0) this.#shown.sort((a, b) => compare(a.row[column], b.row[column], columns[column].number, down));
    this.#body.replaceChildren();
    this.#drawn = 0;
    this.#current = 0;
    this.#drawMore();
  }

  #drawMore() {
    const part = this.#shown.slice(this.#drawn, this.#drawn + AT_ONCE);
    this.#body.append(...part.map(({ row, number }) => rowElement(row, number, this.#data.columns)));
    this.#drawn += part.length;
    const rest = this.#shown.length - this.#drawn;
    this.#more.hidden = rest <= 0;
    this.#more.textContent = `show ${Math.min(rest, AT_ONCE)} more`;
    const all = this.#data.rows.length;
    const some = this.#shown.length === all ? "" : ` of ${all.toLocaleString("en")}`;
    this.#status.textContent = `${this.#shown.length.toLocaleString("en")}${some} ${all === 1 ? "row" : "rows"}`;
    this.#mark();
  }

  #mark() {
    [...this.#body.children].forEach((row, place) => {
      row.tabIndex = place === this.#current ? 0 : -1;
      const number = this.#shown[place].number;
      row.setAttribute("aria-selected", String(number === this.#selected));
    });
  }

  #select(place) {
    const found = this.#shown[place];
    if (!found) return;
    this.#current = place;
    this.#selected = found.number;
    this.#mark();
    this.onevent?.({ type: "select", row: found.number });
  }

  #onClick(event) {
    const row = event.target.closest("tr");
    if (row) this.#select([...this.#body.children].indexOf(row));
  }

  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && (this.#search.value || this.#filters.some((input) => input.value))) {
      [this.#search, ...this.#filters].forEach((input) => { input.value = ""; });
      this.#update();
    } else if (this.#body.contains(event.target)) {
      const last = this.#drawn - 1;
      const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity };
      if (event.key === "Enter" || event.key === " ") this.#select(this.#current);
      else if (event.key in moves) {
        this.#current = Math.max(0, Math.min(last, this.#current + moves[event.key]));
        this.#mark();
        this.#body.children[this.#current]?.focus();
      } else return;
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  destroy() {
    this.#host.remove();
    this.onevent = null;
  }
}
