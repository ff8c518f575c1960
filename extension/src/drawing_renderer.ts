// What an output shows: the saved drawing at once, and the live widget in its stead while that is alive.
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Panel } from '@lumino/widgets';

import { LiveWidget, LiveWidgets, WIDGET } from './live_widgets.js';
import type { Painter } from './painters.js';
import { SavedDrawing } from './saved_drawing.js';

export class DrawingRenderer extends Panel implements IRenderMime.IRenderer {
  private readonly saved: SavedDrawing;
  private live: LiveWidget | null = null;
  private model: IRenderMime.IMimeModel | null = null;

  /** `liveWidgets`: the notebook's, where it has any. */
  constructor(
    painter: Painter,
    registry: IRenderMimeRegistry,
    private readonly liveWidgets: LiveWidgets | null
  ) {
    super();
    this.addClass('mlnlab-output');
    this.saved = new SavedDrawing(painter, registry);
    this.addWidget(this.saved);
  }

  /** Show a bundle; where its live widget stands already, that stays and is left alone. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.model = model;
    const modelId = this.liveWidgets && model.trusted ? modelIdOf(model) : '';
    if (this.live && this.live.modelId === modelId) {
      return this.saved.isHidden ? undefined : this.saved.draw(model);
    }
    this.live?.dispose();
    this.live = null;
    const drawn = this.showSaved();
    if (modelId) {
      this.live = new LiveWidget(modelId, this.liveWidgets!, this, () => this.showLive(), () => this.fallBack());
    }
    await drawn;
  }

  private async showSaved(): Promise<void> {
    this.saved.show();
    await this.saved.draw(this.model!);
  }

  private showLive(): void {
    this.saved.hide();
    this.saved.clear();
  }

  private fallBack(): void {
    this.live = null;
    if (!this.isDisposed) {
      this.showSaved().catch(console.error);
    }
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.live?.dispose();
      super.dispose();
    }
  }
}

function modelIdOf(model: IRenderMime.IMimeModel): string {
  const view = model.data[WIDGET] as { model_id?: unknown } | undefined;
  return typeof view?.model_id === 'string' ? view.model_id : '';
}
