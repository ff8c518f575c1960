// The card beside the pointer, and the sentence for readers of the screen. Both hold text only.
import { textOf } from "./items.js";

export class Card {
  #host;
  #card = document.createElement("div");
  #said = document.createElement("div");

  constructor(host) {
    this.#host = host;
    this.#card.className = "mlnlab-card";
    this.#card.setAttribute("role", "tooltip");
    this.#card.hidden = true;
    this.#said.className = "mlnlab-said";
    this.#said.setAttribute("role", "status");
    this.#said.setAttribute("aria-live", "polite");
    host.append(this.#card, this.#said);
  }

  /** Show a text beside a point of the screen, inside of the drawing. */
  show(text, clientX, clientY) {
    this.#card.textContent = text;
    this.#card.hidden = !text;
    if (!text) return;
    const home = this.#host.getBoundingClientRect();
    const size = this.#card.getBoundingClientRect();
    let [left, top] = [clientX - home.left + 14, clientY - home.top + 16];
    if (left + size.width > home.width) left = Math.max(0, left - size.width - 28);
    if (top + size.height > home.height) top = Math.max(0, top - size.height - 28);
    this.#card.style.left = `${left}px`;
    this.#card.style.top = `${top}px`;
  }

  hide() {
    this.#card.hidden = true;
  }

  say(text) {
    this.#said.textContent = text;
  }
}

/** Return what is to be read of an item at a point of the drawing: its tooltip, or the names of a cell. */
export function tipOf(drawn, event) {
  const { item, element } = drawn;
  if (item.kind !== "picture" || !(item.rows || item.columns)) return textOf(item.tooltip);
  const place = element.getBoundingClientRect();
  const named = (names, share) => {
    if (!Array.isArray(names) || !names.length) return "";
    return textOf(names[Math.min(names.length - 1, Math.max(0, Math.floor(share * names.length)))]);
  };
  const row = named(item.rows, (event.clientY - place.top) / place.height);
  const column = named(item.columns, (event.clientX - place.left) / place.width);
  return [row, column, textOf(item.tooltip)].filter(Boolean).join("\n");
}
