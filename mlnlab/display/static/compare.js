// Two models side by side. Python sends rows, bars and status; the page sends weights and what is to be taken over.
import { EDITOR_SHEET } from "./editor_look.js";
import { Line, SILENCE } from "./editor_line.js";
import { button, element } from "./editor_parts.js";
import { keepShortcutsAway } from "./shortcuts.js";

const SIDES = ["left", "right"];
const STATES = { added: "+ only right", removed: "− only left", changed: "~ changed", same: "" };
const KINDS = { hard: "hard", open: "to be learned", unreadable: "not understood" };

const COMPARE_SHEET = EDITOR_SHEET +
  ".mlc-rows{display:grid;grid-template-columns:max-content minmax(120px,1fr) max-content max-content max-content;align-items:center;gap:0 12px;border-top:1px solid var(--s-line);margin:0;padding:0;list-style:none}" +
  ".mlc-row,.mlc-titles{display:grid;grid-template-columns:subgrid;grid-column:1/-1;align-items:center;min-height:34px;border-bottom:1px solid color-mix(in srgb,var(--s-line) 55%,transparent)}.mlc-titles{min-height:26px;color:var(--s-soft);font-weight:600}.mlc-titles span{text-align:center}" +
  ".mlc-state{font-size:12px;min-width:76px;color:var(--s-soft)}.mlc-added .mlc-state,.mlc-added .mle-formula{color:var(--s-blue)}.mlc-removed .mlc-state{color:var(--s-orange)}.mlc-changed .mlc-state{color:var(--s-text)}" +
  ".mlc-same .mle-formula{opacity:.75}.mlc-row .mle-formula{grid-column:auto}.mlc-side{min-width:92px;text-align:center}.mle .mlc-side input[type=number]{width:86px;text-align:right;font-variant-numeric:tabular-nums;padding:1px 4px}" +
  ".mlc-middle{display:flex;align-items:center;justify-content:center;gap:4px;min-width:128px}.mlc-middle span{font-variant-numeric:tabular-nums;min-width:58px;text-align:center}.mle .mlc-middle button{min-height:22px;padding:0 6px}" +
  ".mlc-bars{display:grid;grid-template-columns:minmax(60px,max-content) minmax(120px,1fr) max-content max-content max-content;gap:0 14px;list-style:none;margin:0;padding:0}.mlc-bar{display:grid;grid-template-columns:subgrid;grid-column:1/-1;align-items:center;min-height:34px}" +
  ".mlc-name{text-align:right;overflow-wrap:anywhere;max-width:26em}.mlc-tracks{position:relative;display:grid;gap:2px}.mlc-track{position:relative;height:11px;background:var(--s-shade)}.mlc-track i{position:absolute;inset:0 auto 0 0;background:var(--s-blue)}.mlc-track.mlc-right i{background:repeating-linear-gradient(135deg,var(--s-orange) 0 5px,color-mix(in srgb,var(--s-orange) 65%,transparent) 5px 8px)}.mlc-track b{position:absolute;top:5px;height:1.5px;background:var(--s-text)}" +
  ".mlc-words{font-variant-numeric:tabular-nums;text-align:right;min-width:56px}.mlc-moved{font-weight:600}.mlc-key{display:inline-flex;align-items:center;gap:5px}.mlc-key i{width:22px;height:11px;background:var(--s-blue)}.mlc-key.mlc-right i{background:repeating-linear-gradient(135deg,var(--s-orange) 0 5px,color-mix(in srgb,var(--s-orange) 65%,transparent) 5px 8px)}" +
  ".mlc-tools{display:flex;flex-wrap:wrap;gap:8px 14px;align-items:center;margin:16px 0 6px}.mlc-others{margin:6px 0 0;color:var(--s-soft);white-space:pre-line}.mle-problem{border-left:3px solid var(--s-orange);padding:4px 9px;white-space:pre-line;margin:4px 0}" +
  "@media(prefers-reduced-motion:no-preference){.mlc-track i{transition:width .12s}}";

export function render({ model, el }) {
  const view = new Compare(model, el);
  return () => view.destroy();
}

class Compare {
  #model;
  #line;
  #root = element("div", "mle tex2jax_ignore mathjax_ignore");
  #summary = element("span", "mle-quiet");
  #remark = element("div", "mle-problem");
  #rows = element("ul", "mlc-rows");
  #others = element("div", "mlc-others");
  #bars = element("ul", "mlc-bars");
  #keys = element("span", "mlc-tools");
  #problems = element("div");
  #order = element("input");
  #history = {};
  #drawn = [];

  constructor(model, host) {
    this.#model = model;
    const line = new Line(model);
    this.#line = line;
    line.silent = () => { this.#remark.textContent = SILENCE; this.#remark.hidden = false; };
    keepShortcutsAway(this.#root);
    this.#root.append(element("style", "", COMPARE_SHEET), this.#head(), this.#remark, element("span", "mle-label", "formulas"), this.#rows, this.#others, this.#tools(), this.#problems, this.#bars);
    this.#root.addEventListener("keydown", (event) => event.stopPropagation());
    host.append(this.#root);
    line.listen("change:status", () => this.#show());
    line.listen("change:bars", () => this.#showBars());
    this.#show();
    line.send({ type: "opened", view: line.id });
  }

  #head() {
    const head = element("div", "mle-head");
    this.#summary.setAttribute("role", "status");
    this.#remark.setAttribute("role", "alert");
    head.append(element("strong", "", "Two models"), this.#summary, element("span", "mle-space"));
    for (const side of SIDES) {
      for (const [kind, sign] of [["undo", "↶"], ["redo", "↷"]]) {
        const made = button(sign, "", `${kind} on the ${side}`, () => this.#line.tell(kind, { side }));
        this.#history[`${kind} ${side}`] = made;
        head.append(made);
      }
      if (side === "left") head.append(button("⇄", "", "swap the two models", () => this.#line.tell("swap")));
    }
    return head;
  }

  #tools() {
    const tools = element("div", "mlc-tools");
    const label = element("label", "mlc-key");
    this.#order.type = "checkbox";
    this.#order.addEventListener("change", () => this.#line.tell("order", { order: this.#order.checked ? "difference" : "asked" }));
    label.append(this.#order, "largest difference first");
    tools.append(element("span", "mle-label", "probabilities"), this.#keys, element("span", "mle-space"), label);
    return tools;
  }

  #show() {
    const status = this.#model.get("status");
    this.#line.hear(status);
    const names = status.names ?? ["A", "B"];
    this.#summary.textContent = `from ${names[0]} to ${names[1]}: ${status.summary}`;
    this.#remark.textContent = status.remark ?? "";
    this.#remark.hidden = !status.remark;
    this.#others.textContent = (status.others ?? []).join("\n");
    this.#order.checked = status.order === "difference";
    SIDES.forEach((side, place) => {
      this.#history[`undo ${side}`].disabled = !status.undo?.[place];
      this.#history[`redo ${side}`].disabled = !status.redo?.[place];
    });
    this.#showRows(names);
    this.#keys.replaceChildren(...names.map((name, place) => {
      const key = element("span", `mlc-key mlc-${SIDES[place]}`);
      key.append(element("i"), name);
      return key;
    }));
    this.#showBars();
    this.#line.goOn();
  }

  #showRows(names) {
    const rows = this.#model.get("rows") ?? [];
    const titles = element("li", "mlc-titles");
    titles.append(element("span"), element("span"), element("span", "", names[0]), element("span", "", "difference"), element("span", "", names[1]));
    const made = rows.map((row, place) => {
      const key = JSON.stringify([row, place, names]);
      const known = this.#drawn[place];
      // A field that somebody types into is not replaced; what it holds is what was said.
      const typing = known?.element.contains(document.activeElement) && document.activeElement.matches("input") && known.of === wordsOf(row);
      if (known?.key === key) return known;
      if (typing) return this.#renewed(known, row, key);
      return { key, of: wordsOf(row), element: this.#row(row, place, names) };
    });
    const focused = this.#drawn.findIndex(({ element: row }) => row.contains(document.activeElement));
    const name = document.activeElement?.ariaLabel;
    this.#drawn = made;
    const list = [titles, ...made.map(({ element: row }) => row)];
    list.forEach((item, place) => {
      const there = this.#rows.children[place];
      if (there !== item) place && there && this.#rows.contains(item) ? this.#rows.insertBefore(item, there) : there ? there.replaceWith(item) : this.#rows.append(item);
    });
    while (this.#rows.children.length > list.length) this.#rows.lastChild.remove();
    if (focused >= 0 && !this.#root.contains(document.activeElement)) {
      const row = made[Math.min(focused, made.length - 1)]?.element;
      [...(row?.querySelectorAll("button,input") ?? [])].find((part) => part.ariaLabel === name && !part.disabled)?.focus();
    }
  }

  /** Write the new numbers into a row in which somebody types, all but the one that is typed. */
  #renewed(known, row, key) {
    for (const side of SIDES) {
      const field = known.element.querySelector(`.mlc-${side} input`);
      if (field && field !== document.activeElement && row[side]?.weight != null) field.value = String(row[side].weight);
    }
    known.element.className = `mlc-row mlc-${row.state}`;
    known.element.querySelector(".mlc-state").textContent = STATES[row.state];
    known.element.querySelector(".mlc-middle span").textContent = row.difference ? signed(row.difference) : "";
    return { ...known, key };
  }

  #row(row, place, names) {
    const made = element("li", `mlc-row mlc-${row.state}`);
    const formula = element("div", "mle-formula");
    formula.append(...row.pieces.map(([text, kind]) => (kind ? element("span", `mle-${kind}`, text) : text)));
    const middle = element("div", "mlc-middle");
    const take = (into) => {
      const words = `take over into ${names[SIDES.indexOf(into)]}: ${wordsOf(row)}`;
      const one = button(into === "left" ? "←" : "→", "", words, () => this.#line.tell("take", { pair: place, of: wordsOf(row), into }));
      one.disabled = row.state === "same" || Boolean((row[into] ?? row.left ?? row.right).fixed);
      return one;
    };
    middle.append(take("left"), element("span", "", row.difference ? signed(row.difference) : ""), take("right"));
    made.append(element("span", "mlc-state", STATES[row.state]), formula, this.#side(row, place, "left", names), middle, this.#side(row, place, "right", names));
    return made;
  }

  #side(row, place, side, names) {
    const [made, found] = [element("div", `mlc-side mlc-${side}`), row[side]];
    if (!found) made.append(element("span", "mle-quiet", "—"));
    else if (!found.on) made.append(element("span", "mle-badge", "switched off"));
    else if (KINDS[found.kind]) made.append(element("span", "mle-badge", KINDS[found.kind]));
    else {
      const field = element("input");
      field.type = "number";
      field.step = "0.1";
      field.value = String(found.weight);
      field.disabled = found.fixed;
      field.setAttribute("aria-label", `weight in ${names[SIDES.indexOf(side)]} of ${wordsOf(row)}`);
      field.addEventListener("input", () => {
        const weight = field.value.trim() === "" ? NaN : Number(field.value);
        if (Number.isFinite(weight)) this.#line.tell("weight", { pair: place, of: wordsOf(row), side, weight }, `${side} ${place}`);
      });
      made.append(field);
    }
    return made;
  }

  #showBars() {
    const bars = this.#model.get("bars") ?? {};
    const names = this.#model.get("status").names ?? ["A", "B"];
    const sentences = (bars.problems ?? []).map((problem, place) => (problem ? `${names[place]}: ${problem}` : "")).filter(Boolean);
    this.#problems.replaceChildren(...sentences.map((sentence) => element("div", "mle-problem", sentence)));
    const found = bars.bars ?? [];
    while (this.#bars.children.length > found.length) this.#bars.lastChild.remove();
    found.forEach((bar, place) => {
      if (!this.#bars.children[place]) this.#bars.append(barElement());
      fill(this.#bars.children[place], bar);
    });
  }

  destroy() {
    this.#line.destroy();
    this.#root.remove();
  }
}

function barElement() {
  const made = element("li", "mlc-bar");
  const tracks = element("div", "mlc-tracks");
  for (const side of SIDES) {
    const track = element("div", `mlc-track mlc-${side}`);
    track.append(element("i"), element("b"));
    tracks.append(track);
  }
  made.append(element("span", "mlc-name"), tracks, element("span", "mlc-words"), element("span", "mlc-words"), element("span", "mlc-words"));
  return made;
}

function fill(made, bar) {
  const [name, tracks, left, right, difference] = made.children;
  name.textContent = bar.shown;
  SIDES.forEach((side, place) => {
    const found = bar[side];
    const [strip, whisker] = tracks.children[place].children;
    strip.style.width = `${100 * (found?.p ?? 0)}%`;
    whisker.style.left = `${100 * Math.max(0, (found?.p ?? 0) - (found?.error ?? 0))}%`;
    whisker.style.width = found?.error ? `${200 * found.error}%` : "0";
  });
  left.textContent = bar.left?.words ?? "—";
  right.textContent = bar.right?.words ?? "—";
  difference.textContent = bar.left && bar.right ? signed(Number(bar.difference.toFixed(4))) : "";
  difference.classList.toggle("mlc-moved", Math.abs(bar.difference) >= 0.01);
}

function signed(number) {
  if (number === null || number === undefined) return "";
  return number === 0 ? "0" : `${number > 0 ? "+" : "−"}${Math.abs(Number(number.toPrecision(6)))}`;
}

function wordsOf(row) {
  return row.pieces.map(([text]) => text).join("");
}
