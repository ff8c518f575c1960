// A drawing from what the notebook itself holds: it needs no kernel and no trust.
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Panel, Widget } from '@lumino/widgets';

import type { Painter, Painting } from './painters.js';

const HTML = 'text/html';

/**
 * The drawing at once, then in its place within the HTML of the same output, if there is any: what that says around
 * the picture (a title, a table of the same) is part of the display. Lab's own renderer cleans that HTML where the
 * notebook is not trusted.
 */
export class SavedDrawing extends Panel {
  private readonly place = document.createElement('div');
  private painting: Painting | null = null;
  private surroundings: Widget | null = null;
  private shownHtml = '';

  constructor(
    private readonly painter: Painter,
    private readonly registry: IRenderMimeRegistry
  ) {
    super();
    this.addClass('mlnlab-saved');
    this.place.className = 'mlnlab-drawing';
    this.node.append(this.place);
  }

  /** Draw what a bundle holds; what is drawn already moves to its new place. */
  async draw(model: IRenderMime.IMimeModel): Promise<void> {
    this.painting ??= this.painter.mount(this.place);
    const isDrawn = this.painting.show(model.data[this.painter.mimeType]);
    await this.surround(model, isDrawn);
  }

  private async surround(model: IRenderMime.IMimeModel, isDrawn: boolean): Promise<void> {
    const html = String(model.data[HTML] ?? '');
    const wanted = JSON.stringify([html, model.trusted, isDrawn]);
    if (wanted === this.shownHtml) {
      return;
    }
    this.shownHtml = wanted;
    const surroundings = html ? await this.rendered(model) : null;
    if (this.isDisposed || wanted !== this.shownHtml) {
      surroundings?.dispose();
      return;
    }
    this.node.append(this.place);
    this.surroundings?.dispose();
    this.surroundings = surroundings;
    if (surroundings) {
      this.addWidget(surroundings);
    }
    // A drawing of a newer version leaves its sentence, and the picture that was made for such cases.
    if (isDrawn) {
      surroundings?.node.querySelector(this.painter.standsFor)?.replaceWith(this.place);
    }
  }

  private async rendered(model: IRenderMime.IMimeModel): Promise<Widget> {
    const renderer = this.registry.createRenderer(HTML);
    await renderer.renderModel(model);
    return renderer;
  }

  /** Take the drawing away, and what draws it. */
  clear(): void {
    this.painting?.destroy();
    this.painting = null;
    this.node.append(this.place);
    this.surroundings?.dispose();
    this.surroundings = null;
    this.shownHtml = '';
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.clear();
      super.dispose();
    }
  }
}
