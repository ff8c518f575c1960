// The view of a table of clauses: a drawing to be clicked, and a line in which to search; Python makes the pages.
import { DrawnView } from "./drawn_view.js";
import { element } from "./table_parts.js";
import { keepLegible } from "./wide.js";

const VIEW_SHEET = ".mlnlab-clauses .mlnlab-line{display:flex;gap:6px;align-items:baseline;margin:4px 0}" +
  ".mlnlab-clauses label{flex:none;font-weight:600}" +
  ".mlnlab-clauses input{flex:1;max-width:40em;font:13px ui-monospace,monospace;color:inherit;" +
  "background:transparent;border:1px solid var(--s-line);border-radius:4px;padding:3px 7px}" +
  ".mlnlab-clauses input:focus-visible{outline:2px solid var(--s-blue);outline-offset:1px}" +
  ".mlnlab-clauses .mlnlab-wrong{border-left:3px solid var(--s-orange);padding:0 8px;margin:2px 0;max-width:60em}" +
  ".mlnlab-clauses .mlnlab-wrong:empty{display:none}";
const QUIET = 300; // milliseconds without a letter, then it is searched for

export function render({ model, el }) {
  const view = new ClauseTableView(model, el);
  return () => view.destroy();
}

class ClauseTableView extends DrawnView {
  #search = element("input");
  #wrong = element("div", "mlnlab-wrong");
  #typing = 0;
  #place = element("div");

  constructor(model, host) {
    super(model, host, "mlnlab-clauses", VIEW_SHEET);
    this.root.append(this.#line(), this.#wrong, this.#place);
    this.listen("said", () => this.#say());
    this.#search.value = model.get("said")?.text ?? "";
    this.#say();
    this.begin(this.#place);
  }

  draw() {
    super.draw();
    keepLegible(this.#place, this.model.get("scene")?.width ?? 0);
  }

  #line() {
    const line = element("div", "mlnlab-line");
    this.#search.type = "search";
    this.#search.placeholder = "!Smokes Cancer  gain>0  literals=2..3  retained";
    this.#search.spellcheck = false;
    this.#search.autocomplete = "off";
    this.#search.maxLength = 300;
    this.#search.setAttribute("aria-label", "Search clauses");
    this.#wrong.setAttribute("role", "status");
    this.#search.addEventListener("input", () => {
      clearTimeout(this.#typing);
      this.#typing = setTimeout(() => this.#ask(), QUIET);
    });
    this.#search.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      this.#ask();
    });
    line.append(element("label", "", "Search"), this.#search);
    return line;
  }

  #ask() {
    clearTimeout(this.#typing);
    this.send({ type: "typed", text: this.#search.value });
  }

  /** Say what is wrong with a search; what somebody types on in is left alone. */
  #say() {
    const said = this.model.get("said") ?? {};
    this.#wrong.textContent = said.problem ?? "";
    this.#search.ariaInvalid = String(Boolean(said.problem));
    if (document.activeElement !== this.#search && typeof said.text === "string") this.#search.value = said.text;
  }

  destroy() {
    clearTimeout(this.#typing);
    super.destroy();
  }
}
