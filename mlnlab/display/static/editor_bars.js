// Probabilities below a model: a bar for each atom, with a mark where it was before the last edit, whiskers where
// it is estimated, and buttons that assume the atom to be true, false or unknown; beside them why one is as it is.
import { button, element } from "./editor_parts.js";

const ORDERS = [["asked", "as asked"], ["probable", "most probable first"], ["moved", "most moved first"]];
const ASSUMED = [["true", "✓", true], ["false", "✗", false], ["unknown", "?", null]];

export const BARS_SHEET =
  ".mle-below{margin-top:16px}.mle-tools{display:flex;flex-wrap:wrap;gap:6px 8px;align-items:center;margin:0 0 6px}.mle-chips{display:flex;flex-wrap:wrap;gap:4px}" +
  ".mle .mle-chips button{border-radius:13px;padding:1px 10px}.mle .mle-chips button[aria-pressed=true]{border-color:var(--s-blue);box-shadow:inset 0 0 0 1px var(--s-blue);color:var(--s-blue)}" +
  ".mle-answers{display:grid;grid-template-columns:minmax(0,1fr);gap:12px 20px}@container(min-width:820px){.mle-answers.mle-asks{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}}" +
  ".mle-bars{list-style:none;margin:0;padding:0}.mle-bar{display:grid;grid-template-columns:minmax(80px,auto) minmax(80px,1fr) 74px auto;gap:8px;align-items:center;min-height:25px}" +
  ".mle-bars{display:grid;grid-template-columns:minmax(60px,max-content) minmax(80px,1fr) max-content max-content;gap:0 10px}.mle-bar{grid-column:1/-1;grid-template-columns:subgrid}" +
  ".mle .mle-name{border-color:transparent;padding:0 4px;min-height:22px;text-align:right;max-width:26em;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}.mle .mle-name[aria-pressed=true]{border-color:var(--s-blue)}" +
  ".mle-track{position:relative;height:14px;background:var(--s-shade);border-radius:1px}.mle-track::before{content:'';position:absolute;left:50%;top:-5px;bottom:-6px;border-left:1px dashed var(--s-line);opacity:.6}" +
  ".mle-fill{position:absolute;inset:0 auto 0 0;background:var(--s-blue);border-radius:1px}.mle-bar.mle-known .mle-fill{background:none;box-shadow:inset 0 0 0 1.5px var(--s-text)}" +
  ".mle-ghost{position:absolute;top:-3px;bottom:-3px;width:0;border-left:2px solid var(--s-orange);margin-left:-1px}" +
  ".mle-whisker{position:absolute;top:6px;height:2px;background:var(--s-text);min-width:1px}.mle-whisker::before,.mle-whisker::after{content:'';position:absolute;top:-3px;height:8px;border-left:1.5px solid var(--s-text)}.mle-whisker::before{left:0}.mle-whisker::after{right:0}" +
  ".mle-words{font-variant-numeric:tabular-nums;white-space:nowrap;min-width:58px}" +
  ".mle-facts{display:flex}.mle .mle-facts button{padding:0;min-width:22px;min-height:20px;border-color:transparent;color:var(--s-soft);opacity:.55}.mle-bar:hover .mle-facts button,.mle .mle-facts button:focus-visible{opacity:1}.mle .mle-facts button[aria-pressed=true]{opacity:1;border-color:var(--s-text);color:var(--s-text);font-weight:700}" +
  "@media(prefers-reduced-motion:no-preference){.mle-fill,.mle-ghost{transition:width .12s,left .12s}}" +
  ".mle-how{margin:8px 0 0;color:var(--s-soft)}.mle-warn{border-left:3px solid var(--s-orange);padding:2px 8px;margin:4px 0;max-width:70ch}.mle-problem{border-left:3px solid var(--s-orange);padding:4px 9px;white-space:pre-line}" +
  ".mle-why{border-left:1px solid var(--s-line);padding-left:16px;min-width:0}.mle-why p{margin:2px 0 6px}.mle-why ul{list-style:none;margin:0;padding:0}.mle-why li{margin:0 0 7px}.mle-share{position:relative;height:10px;background:var(--s-shade);margin-top:2px}.mle-share i{position:absolute;top:0;bottom:0;background:var(--s-blue)}.mle-share i.mle-down{background:var(--s-orange)}.mle-share::after{content:'';position:absolute;top:-2px;bottom:-2px;left:50%;border-left:1px solid var(--s-soft)}" +
  ".mle-close{float:right}";

export class Bars {
  element = element("section", "mle-below");
  #tell;
  #chips = element("div", "mle-chips");
  #search = element("input");
  #order = element("select");
  #answers = element("div", "mle-answers");
  #list = element("ul", "mle-bars");
  #how = element("div", "mle-how");
  #problem = element("div", "mle-problem");
  #warnings = element("div");
  #why = element("div", "mle-why");
  #rows = [];
  #asked = "";

  constructor(tell) {
    this.#tell = tell;
    this.#chips.setAttribute("role", "group");
    this.#chips.setAttribute("aria-label", "predicates that are asked for");
    this.#search.type = "search";
    this.#search.placeholder = "find atoms";
    this.#search.setAttribute("aria-label", "find atoms");
    this.#order.setAttribute("aria-label", "order of the atoms");
    for (const [value, name] of ORDERS) this.#order.append(new Option(name, value));
    const show = () => tell("show", { search: this.#search.value, order: this.#order.value }, "show");
    this.#search.addEventListener("input", show);
    this.#order.addEventListener("change", show);
    const [tools, left] = [element("div", "mle-tools"), element("div")];
    tools.append(this.#chips, element("span", "mle-space"), this.#search, this.#order);
    left.append(this.#problem, this.#list, this.#how, this.#warnings);
    this.#warnings.setAttribute("role", "alert");
    this.#answers.append(left, this.#why);
    this.element.append(element("span", "mle-label", "probabilities"), tools, this.#answers);
  }

  /** Show what is asked, how it is sorted and searched. */
  status(status) {
    const key = JSON.stringify(status.predicates);
    if (key !== this.#asked) {
      const focused = [...this.#chips.children].indexOf(document.activeElement);
      this.#asked = key;
      this.#chips.replaceChildren(...(status.predicates ?? []).map(([name, asked]) => this.#chip(name, asked)));
      this.#chips.children[focused]?.focus();
    }
    this.#order.value = status.order ?? "asked";
    if (document.activeElement !== this.#search) this.#search.value = status.search ?? "";
  }

  #chip(name, asked) {
    const made = button(name, "", "", () => this.#tell("query", { name, asked: !asked }));
    made.setAttribute("aria-pressed", String(asked));
    made.title = asked ? "asked for; press to leave it out" : "press to ask for it";
    return made;
  }

  show(bars, asked) {
    const found = bars?.bars ?? [];
    this.#problem.textContent = bars?.problem ?? "";
    this.#problem.hidden = !bars?.problem;
    while (this.#rows.length > found.length) this.#rows.pop().element.remove();
    found.forEach((bar, place) => {
      if (!this.#rows[place]) {
        this.#rows[place] = new AtomRow(this.#tell);
        this.#list.append(this.#rows[place].element);
      }
      this.#rows[place].show(bar, asked);
    });
    this.#list.classList.toggle("mle-rests", Boolean(bars?.problem));
    const some = bars?.number > found.length ? `${found.length} of ${bars.number.toLocaleString("en")} are shown; find narrows them down. ` : bars?.number === 0 && bars.all ? "No atom is called so. " : "";
    this.#how.textContent = bars?.how ? `${some}${bars.sampled ? "Sampled, " : ""}${bars.busy ? "and still going on: " : ""}${bars.how}` : bars?.busy ? "computing …" : "";
    const warnings = bars?.warnings ?? [];
    if (warnings.join("\n") !== [...this.#warnings.children].map((item) => item.textContent).join("\n")) {
      this.#warnings.replaceChildren(...warnings.map((sentence) => element("div", "mle-warn", sentence)));
    }
    this.#answers.classList.toggle("mle-asks", Boolean(asked));
    this.#explain(bars, asked);
  }

  #explain(bars, asked) {
    this.#why.hidden = !asked;
    if (!asked) return this.#why.replaceChildren();
    const had = this.#why.contains(document.activeElement);
    const close = button("✕", "mle-close", "close the explanation", () => this.#tell("why", { atom: null }));
    const why = bars?.why;
    const heading = element("strong", "", `Why ${why?.shown ?? asked}?`);
    const parts = why ? [...why.sentences.map((sentence) => element("p", "", sentence)), sharesOf(why)] : [element("p", "mle-quiet", bars?.unexplained || "computing …")];
    this.#why.replaceChildren(close, heading, ...parts);
    if (had) close.focus();
  }
}

class AtomRow {
  element = element("li", "mle-bar");
  #name;
  #track = element("div", "mle-track");
  #fill = element("div", "mle-fill");
  #ghost = element("div", "mle-ghost");
  #whisker = element("div", "mle-whisker");
  #words = element("span", "mle-words");
  #buttons = [];
  #bar = {};
  #asked = false;

  constructor(tell) {
    this.#name = button("", "mle-name", "", () => tell("why", { atom: this.#asked ? null : this.#bar.name }));
    const facts = element("div", "mle-facts");
    facts.setAttribute("role", "group");
    for (const [kind, sign, value] of ASSUMED) {
      const made = button(sign, "", "", () => {
        if (this.#bar.assumed === kind) tell("forget", { atom: this.#bar.name });
        else tell("assume", { atom: this.#bar.name, value });
      });
      made.title = `assume that it is ${kind}; press again to take it back`;
      this.#buttons.push(made);
    }
    facts.append(...this.#buttons);
    this.#track.append(this.#fill, this.#ghost, this.#whisker);
    this.element.append(this.#name, this.#track, this.#words, facts);
  }

  show(bar, asked) {
    const p = bar.p ?? 0;
    this.#bar = bar;
    this.#asked = bar.name === asked;
    this.element.classList.toggle("mle-known", bar.fact !== undefined);
    this.#name.textContent = bar.shown;
    this.#name.title = "why?";
    this.#name.setAttribute("aria-pressed", String(this.#asked));
    this.#name.setAttribute("aria-label", `${bar.shown}: ${bar.words}. Why?`);
    this.#fill.style.width = `${100 * p}%`;
    this.#ghost.hidden = bar.before === undefined || Math.abs(bar.before - p) < 0.0005;
    this.#ghost.style.left = `${100 * (bar.before ?? 0)}%`;
    this.#ghost.title = "before the last edit";
    this.#whisker.hidden = !bar.error;
    const [low, high] = [Math.max(0, p - (bar.error ?? 0)), Math.min(1, p + (bar.error ?? 0))];
    this.#whisker.style.left = `${100 * low}%`;
    this.#whisker.style.width = `${100 * (high - low)}%`;
    this.#words.textContent = bar.words;
    ASSUMED.forEach(([kind], place) => {
      this.#buttons[place].setAttribute("aria-pressed", String(bar.assumed === kind));
      this.#buttons[place].setAttribute("aria-label", `assume ${bar.shown} ${kind}`);
    });
  }
}

function sharesOf(why) {
  const list = element("ul");
  const widest = Math.max(1e-9, ...why.shares.map(({ share }) => Math.abs(share)));
  for (const { shown, weight, share, without } of why.shares) {
    const [item, track, fill] = [element("li"), element("div", "mle-share"), element("i", share < 0 ? "mle-down" : "")];
    const part = (50 * Math.abs(share)) / widest;
    fill.style.left = `${share < 0 ? 50 - part : 50}%`;
    fill.style.width = `${part}%`;
    track.append(fill);
    const verb = Math.abs(share) < 0.0005 ? "has no influence" : `${share > 0 ? "raises" : "lowers"} the log-odds by ${Math.abs(share).toFixed(3)}; without it ${without}`;
    item.append(element("div", "", shown), element("div", "mle-quiet", `weight ${Number(weight.toPrecision(6))} ${verb}`), track);
    list.append(item);
  }
  if (why.more) list.append(element("li", "mle-quiet", `and ${why.more} more formulas`));
  return list;
}
