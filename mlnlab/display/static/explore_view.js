// The view of an exploration: a drawing to be clicked, and two lines for formulas, with what is wrong in them.
import { SHEET } from "./look.js";
import { pageName } from "./page_name.js";
import { mount } from "./scene.js";
import { keepShortcutsAway } from "./shortcuts.js";
import { element } from "./table_parts.js";

const VIEW_SHEET = SHEET.replaceAll(".mlnlab-view", ".mlnlab-exploring") +
  ".mlnlab-exploring{color:var(--s-text)}.mlnlab-exploring .mlnlab-line{display:flex;gap:6px;align-items:baseline;margin:4px 0}" +
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

class ExploringView {
  #model;
  #id = pageName();
  #root = element("div", "mlnlab-exploring tex2jax_ignore mathjax_ignore");
  #details = element("div", "mlnlab-details");
  #lines = new Map();
  #scene;
  #off = [];

  constructor(model, host) {
    this.#model = model;
    const drawing = element("div");
    keepShortcutsAway(this.#root);
    this.#details.setAttribute("role", "status");
    this.#root.append(element("style", "", VIEW_SHEET));
    this.#line("query", "Ask", "Smokes(Anna) ^ !Smokes(Bob)");
    this.#line("given", "Given", "a formula that holds");
    this.#root.append(drawing, this.#details);
    host.append(this.#root);
    this.#scene = mount(drawing);
    this.#scene.onevent = (event) => event.type !== "key" && this.#send(event);
    this.#listen("change:scene", () => this.#draw());
    this.#listen("change:details", () => this.#describe());
    this.#listen("change:said", () => this.#answered());
    this.#draw();
    this.#describe();
    this.#send({ type: "opened", view: this.#id });
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
    const send = () => this.#send({ type: "typed", field, text: input.value });
    add.addEventListener("click", send);
    // Not a form: Lab takes the key that would submit it.
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      send();
    });
    this.#lines.set(field, { input, wrong });
    this.#root.append(row, wrong);
  }

  #listen(name, act) {
    this.#model.on(name, act);
    this.#off.push(() => this.#model.off(name, act));
  }

  #send(message) {
    try {
      this.#model.send(message);
    } catch {
      // Without a kernel there is nobody to ask; what was drawn stays.
    }
  }

  #draw() {
    const scene = this.#model.get("scene");
    if (!scene?.format) return;
    this.#scene.scene(scene);
    // A saved notebook keeps what is seen last: the extension of mlnlab listens.
    this.#root.dispatchEvent(new CustomEvent("mlnlab-scene", { detail: scene, bubbles: true }));
  }

  #describe() {
    this.#details.textContent = this.#model.get("details");
  }

  /** Empty a line that was taken; below one that was not, say why, and underline where. */
  #answered() {
    const said = this.#model.get("said");
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

  destroy() {
    this.#off.forEach((off) => off());
    this.#send({ type: "closed", view: this.#id });
    this.#scene.destroy();
    this.#root.remove();
  }
}
