// A drawing that is much wider than its place is scrolled, not made too small to be read.

const SMALLEST = 0.7; // of the size that letters are made for
const BESIDE = 60; // pixels between what is brought into sight and the edge

/** Let the drawing in an element be at least so large that a scene of this width can be read. */
export function keepLegible(place, width) {
  place.style.overflowX = "auto";
  place.style.contain = "inline-size"; // what is around it grows no wider for it
  place.querySelector(".mlnlab-view").style.minWidth = `${Math.round(SMALLEST * width)}px`;
}

/** Scroll an element to the right no further than it takes to have an item in it in sight. */
export function bringIntoSight(place, item) {
  if (!item) return;
  place.scrollLeft += Math.max(0, item.getBoundingClientRect().right - place.getBoundingClientRect().right + BESIDE);
}
