// Moves attributes from their old to their new values, all in one clock. A job is one attribute of one element.

const NUMBER = /-?\d+(?:\.\d+)?/g;
const ease = (share) => (share < 0.5 ? 2 * share * share : 1 - (2 - 2 * share) ** 2 / 2);
const between = (from, to, share) => (share < 1 ? from + (to - from) * share : to);

export function moveNumber(element, name, from, to) {
  return (share) => element.setAttribute(name, String(between(from, to, share)));
}

export function moveGroup(element, from, to) {
  return (share) => element.setAttribute("transform", translation(
    between(from[0], to[0], share), between(from[1], to[1], share)));
}

export function translation(x, y) {
  return `translate(${x} ${y})`;
}

/** Two paths of the same commands move number by number; others change at the end. */
export function movePath(element, from, to) {
  const rest = (path) => path.replace(NUMBER, "0");
  if (rest(from) !== rest(to)) return (share) => { if (share >= 1) element.setAttribute("d", to); };
  const starts = (from.match(NUMBER) ?? []).map(Number);
  const ends = (to.match(NUMBER) ?? []).map(Number);
  const words = to.split(NUMBER);
  return (share) => {
    if (share >= 1) return element.setAttribute("d", to);
    let path = words[0];
    ends.forEach((end, place) => { path += between(starts[place], end, share).toFixed(1) + words[place + 1]; });
    element.setAttribute("d", path);
  };
}

export function fadeIn(element) {
  return (share) => { element.style.opacity = share < 1 ? String(share) : ""; };
}

/** One running transition; whatever begins anew first brings the old one to its end. */
export class Transition {
  #frame = 0;
  #jobs = [];

  begin(jobs, milliseconds) {
    this.finish();
    this.#jobs = jobs;
    if (!jobs.length) return;
    if (milliseconds <= 0) return this.finish();
    jobs.forEach((job) => job(0));
    let start = null;
    const tick = (now) => {
      start ??= now;
      const share = Math.min(1, (now - start) / milliseconds);
      if (share >= 1) return this.finish();
      jobs.forEach((job) => job(ease(share)));
      this.#frame = requestAnimationFrame(tick);
    };
    this.#frame = requestAnimationFrame(tick);
  }

  finish() {
    cancelAnimationFrame(this.#frame);
    this.#jobs.forEach((job) => job(1));
    this.#jobs = [];
  }
}
