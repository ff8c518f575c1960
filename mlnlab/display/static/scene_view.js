// The view of one drawing: it can be panned, zoomed and searched with the keys; Python is asked for what is folded.
import { DrawnView } from "./drawn_view.js";
import { element } from "./table_parts.js";

const VIEW_SHEET = ".mlnlab-drawing .mlnlab-heading{font-weight:600;margin:2px 0}" +
  ".mlnlab-drawing .mlnlab-details{white-space:pre-line;color:var(--s-soft);min-height:1.4em;max-width:60em}";

export function render({ model, el }) {
  const view = new DrawingView(model, el);
  return () => view.destroy();
}

class DrawingView extends DrawnView {
  #heading = element("div", "mlnlab-heading");
  #details = element("div", "mlnlab-details");

  constructor(model, host) {
    super(model, host, "mlnlab-drawing", VIEW_SHEET);
    const drawing = element("div");
    this.#details.setAttribute("role", "status");
    this.root.append(this.#heading, drawing, this.#details);
    this.listen("details", () => this.#describe());
    this.#describe();
    this.begin(drawing);
  }

  draw() {
    const scene = this.model.get("scene");
    if (scene?.format) this.#heading.textContent = scene.title ?? "";
    super.draw();
  }

  #describe() {
    this.#details.textContent = this.model.get("details");
  }
}
