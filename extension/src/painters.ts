// What we draw ourselves, by the same modules that draw it in a widget and in an exported page.
import { mount as mountScene } from '../../mlnlab/display/static/scene.js';
import { mount as mountTable } from '../../mlnlab/display/static/table.js';

/** Something drawn in an element. */
export interface Painting {
  /** Draw it anew; false where that is not possible. */
  show(json: unknown): boolean;
  destroy(): void;
}

/** One kind of drawing. */
export interface Painter {
  readonly mimeType: string;
  /** What of the HTML in the same output it stands for; all of it where this finds nothing. */
  readonly standsFor: string;
  mount(element: HTMLElement): Painting;
}

export const SCENES: Painter = {
  mimeType: 'application/vnd.mlnlab.scene+json',
  standsFor: 'img[src^="data:image/svg+xml"]',
  mount: element => {
    const view = mountScene(element);
    return { show: json => view.scene(json), destroy: () => view.destroy() };
  }
};

export const TABLES: Painter = {
  mimeType: 'application/vnd.mlnlab.table+json',
  standsFor: 'table',
  mount: element => {
    const view = mountTable(element);
    return { show: json => view.table(json), destroy: () => view.destroy() };
  }
};
