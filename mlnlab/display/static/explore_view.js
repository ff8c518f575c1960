// The view of an exploration: a drawing to be clicked, and two lines for formulas, with what is wrong in them.
import { DrawnView } from "./drawn_view.js";
import { element } from "./table_parts.js";

const VIEW_SHEET = ".mlnlab-exploring .mlnlab-line{display:flex;gap:6px;align-items:baseline;margin:4px 0}" +
  ".mlnlab-exploring label{flex:none;width:5em;font-weight:600}" +
  ".mlnlab-exploring input{flex:1;max-width:34em;font:13px ui-monospace,monospace;color:inherit;" +
  "background:transparent;border:1px solid var(--s-line);border-radius:4px;padding:3px 7px}" +
  ".mlnlab-exploring .mlnlab-line button{font:inherit;color:inherit;background:transparent;" +
  "border:1px solid var(--s-line);border-radius:4px;padding:2px 9px;cursor:pointer}" +
  ".mlnlab-exploring :is(input,button):focus-visible{outline:2px solid var(--s-blue);outline-offset:1px}" +
  ".mlnlab-exploring .mlnlab-wrong{white-space:pre-wrap;overflow-wrap:anywhere;margin:0 0 4px 5.6em;max-width:50em}" +
  ".mlnlab-exploring .mlnlab-wrong code{font:13px ui-monospace,monospace}" +
  ".mlnlab-exploring u{text-decoration:underline wavy var(--s-orange);text-underline-offset:3px;font-weight:600}" +
  ".mlnlab-exploring .mlnlab-details{white-space:pre-line;color:var(--s-soft);min-height:1.4em;max-width:60em}";

export function render({ model, el }) {
  const view = new ExploringView(model, el);
  return () => view.destroy();
}

class ExploringView extends DrawnView {
  #details = element("div", "mlnlab-details");
  #lines = new Map();

  constructor(model, host) {
    super(model, host, "mlnlab-exploring", VIEW_SHEET);
    const drawing = element("div");
    this.#details.setAttribute("role", "status");
    this.#line("query", "Ask", "Smokes(Anna) ^ !Smokes(Bob)");
    this.#line("given", "Given", "a formula that holds");
    this.root.append(drawing, this.#details);
    this.listen("details", () => this.#describe());
    this.listen("said", () => this.#answered());
    this.#describe();
    this.begin(drawing);
  }

  #line(field, words, example) {
    const row = element("div", "mlnlab-line");
    const add = element("button", "", "add");
    const input = element("input");
    const wrong = element("div", "mlnlab-wrong");
    const label = element("label", "", words);
    input.placeholder = example;
    input.spellcheck = false;
    input.autocomplete = "off";
    input.maxLength = 2000;
    input.setAttribute("aria-label", words);
    wrong.setAttribute("role", "status");
    row.append(label, input, add);
    const send = () => this.send({ type: "typed", field, text: input.value });
    add.addEventListener("click", send);
    // Not a form: Lab takes the key that would submit it.
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      send();
    });
    this.#lines.set(field, { input, wrong });
    this.root.append(row, wrong);
  }

  #describe() {
    this.#details.textContent = this.model.get("details");
  }

  /** Empty a line that was taken; below one that was not, say why, and underline where. */
  #answered() {
    const said = this.model.get("said");
    const line = this.#lines.get(said?.field);
    if (!line) return;
    line.wrong.replaceChildren();
    line.input.ariaInvalid = String(Boolean(said.problem));
    if (!said.problem) {
      line.input.value = "";
      return;
    }
    const text = String(said.text ?? "");
    if (said.end > said.start) {
      const code = element("code");
      code.append(
        text.slice(0, said.start), element("u", "", text.slice(said.start, said.end)), text.slice(said.end)
      );
      line.wrong.append(code, "\n");
    }
    line.wrong.append(said.problem);
  }
}
