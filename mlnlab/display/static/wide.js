// A drawing that is much wider than its place is scrolled, not made too small to be read.

const SMALLEST = 0.7; // of the size that letters are made for

/** Let the drawing in an element be at least so large that a scene of this width can be read. */
export function keepLegible(place, width) {
  place.style.overflowX = "auto";
  place.style.contain = "inline-size"; // what is around it grows no wider for it
  place.querySelector(".mlnlab-view").style.minWidth = `${Math.round(SMALLEST * width)}px`;
}

/** Scroll an element until the middle of an item in it is in its middle, as far as there is anything to be scrolled. */
export function bringToMiddle(place, item) {
  if (!item) return;
  const [inner, outer] = [item.getBoundingClientRect(), place.getBoundingClientRect()];
  place.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
}
