// Shows a list of scenes with a scrubber: what an exported page consists of. It needs no kernel and no network.
import { mount } from "./scene.js";

const PAUSE = 900; // milliseconds between two scenes

export function play(host, scenes, titles = []) {
  return new Player(host, scenes, titles);
}

class Player {
  #scenes;
  #titles;
  #place = 0;
  #timer = 0;
  #view;
  #scrubber = document.createElement("input");
  #status = document.createElement("span");
  #start;

  constructor(host, scenes, titles) {
    this.#scenes = scenes;
    this.#titles = titles;
    const bar = document.createElement("div");
    bar.className = "player";
    bar.setAttribute("role", "toolbar");
    bar.setAttribute("aria-label", "steps");
    this.#view = mount(host);
    this.#view.onevent = (event) => event.type === "key" && this.#key(event.key);
    if (scenes.length > 1) {
      this.#fill(bar);
      host.append(bar);
    }
    this.show(0);
  }

  #fill(bar) {
    const button = (sign, name, act) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = sign;
      made.title = name;
      made.setAttribute("aria-label", name);
      made.addEventListener("click", act);
      return made;
    };
    this.#start = button("▶", "play", () => this.#toggle());
    this.#scrubber.type = "range";
    this.#scrubber.min = "0";
    this.#scrubber.max = String(this.#scenes.length - 1);
    this.#scrubber.setAttribute("aria-label", "step");
    this.#scrubber.addEventListener("input", () => this.#halt() ?? this.show(Number(this.#scrubber.value)));
    this.#status.setAttribute("role", "status");
    const by = (steps) => () => this.#halt() ?? this.show(this.#place + steps);
    bar.append(button("‹", "back", by(-1)), this.#start, button("›", "forward", by(1)), this.#scrubber, this.#status);
    bar.addEventListener("keydown", (event) => {
      if (event.target !== this.#scrubber && this.#key(event.key)) event.preventDefault();
    });
  }

  show(place) {
    this.#place = Math.max(0, Math.min(this.#scenes.length - 1, place));
    this.#view.scene(this.#scenes[this.#place]);
    this.#scrubber.value = String(this.#place);
    const title = this.#titles[this.#place];
    this.#status.textContent = `${this.#place + 1} of ${this.#scenes.length}${title ? ` · ${title}` : ""}`;
  }

  #key(key) {
    if (this.#scenes.length < 2) return false;
    const moves = { ArrowLeft: this.#place - 1, ArrowRight: this.#place + 1, Home: 0, End: Infinity };
    if (key === " ") this.#toggle();
    else if (key in moves) this.#halt() ?? this.show(moves[key]);
    else return false;
    return true;
  }

  #toggle() {
    if (this.#timer) return this.#halt();
    if (this.#place === this.#scenes.length - 1) this.show(0);
    this.#start.textContent = "❚❚";
    this.#start.setAttribute("aria-label", "pause");
    this.#timer = setInterval(() => {
      this.show(this.#place + 1);
      if (this.#place === this.#scenes.length - 1) this.#halt();
    }, PAUSE);
  }

  #halt() {
    clearInterval(this.#timer);
    this.#timer = 0;
    this.#start.textContent = "▶";
    this.#start.setAttribute("aria-label", "play");
  }
}
