// Where the arrow keys lead, and which keys a drawing takes for itself.

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const OTHERS = new Set([" ", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"]);
const STEP = 40;

const centre = (element) => {
  const box = element.getBoundingClientRect();
  return [box.left + box.width / 2, box.top + box.height / 2];
};

/** Return the item that lies in a direction of the current one: near, and not far aside. */
export function neighbour(picks, current, [right, down]) {
  const [x, y] = centre(current.element);
  let [best, least] = [null, Infinity];
  for (const other of picks) {
    if (other === current) continue;
    const [otherX, otherY] = centre(other.element);
    const ahead = (otherX - x) * right + (otherY - y) * down;
    const aside = Math.abs((otherX - x) * down) + Math.abs((otherY - y) * right);
    const cost = ahead + 2 * aside;
    if (ahead > 0.5 && aside <= 2 * ahead && cost < least) [best, least] = [other, cost];
  }
  return best;
}

/** Handle a key; return whether the drawing took it. `view` offers what keys can do. */
export function onKey(event, view) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const direction = DIRECTIONS[event.key];
  if (direction && event.shiftKey) return view.camera.pan(-STEP * direction[0], -STEP * direction[1]) ?? true;
  const picks = view.picks();
  if (picks.length && (direction || event.key === "Home" || event.key === "End")) {
    return view.current(next(event.key, picks, view.currentPick(), direction)) ?? true;
  }
  if (event.key === "+" || event.key === "=") return view.camera.zoom(1.25) ?? true;
  if (event.key === "-") return view.camera.zoom(0.8) ?? true;
  if (event.key === "0") return view.camera.reset() ?? true;
  if (event.key === "Enter") return view.enter() ?? true;
  if (event.key === "Escape") return view.escape();
  if (!OTHERS.has(event.key)) return false;
  return view.tell({ type: "key", key: event.key }) ?? true;
}

function next(key, picks, current, direction) {
  if (key === "Home") return picks[0];
  if (key === "End") return picks.at(-1);
  return current ? neighbour(picks, current, direction) ?? current : picks[0];
}
