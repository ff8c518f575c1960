// Pans and zooms the layers that zoom. Coordinates are those of the drawing, so the size on the screen is no matter.
import { translation } from "./transitions.js";

const [LEAST, MOST] = [0.25, 24];

export class Camera {
  #root;
  #layers = () => [];
  #size = [1, 1];
  #at = { x: 0, y: 0, zoom: 1 };

  constructor(root, layers) {
    this.#root = root;
    this.#layers = layers;
  }

  /** Take the size of a scene; the view stays where it was. */
  fit(width, height) {
    this.#size = [width, height];
    this.place();
  }

  get zoomLevel() {
    return this.#at.zoom;
  }

  /** Return a point of the screen in the coordinates of the drawing. */
  point(event) {
    const matrix = this.#root.getScreenCTM().inverse();
    return [event.clientX * matrix.a + matrix.e, event.clientY * matrix.d + matrix.f];
  }

  zoom(factor, [x, y] = this.#size.map((length) => length / 2)) {
    const zoom = Math.min(MOST, Math.max(LEAST, this.#at.zoom * factor));
    const real = zoom / this.#at.zoom;
    this.#at = { x: x - (x - this.#at.x) * real, y: y - (y - this.#at.y) * real, zoom };
    this.place();
  }

  pan(right, down) {
    this.#at = { ...this.#at, x: this.#at.x + right, y: this.#at.y + down };
    this.place();
  }

  reset() {
    this.#at = { x: 0, y: 0, zoom: 1 };
    this.place();
  }

  /** A part of the drawing always stays in sight, so that nobody gets lost. */
  place() {
    const [width, height] = this.#size;
    const { x, y, zoom } = this.#at;
    const within = (value, length) => Math.min(length * 0.75, Math.max(length * 0.25 - length * zoom, value));
    this.#at = { x: within(x, width), y: within(y, height), zoom };
    const transform = `${translation(this.#at.x, this.#at.y)} scale(${zoom})`;
    this.#layers().forEach((layer) => layer.setAttribute("transform", transform));
  }
}
