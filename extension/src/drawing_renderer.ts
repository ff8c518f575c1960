// What an output shows: the saved drawing at once, and the live widget in its stead while that is alive.
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { JSONObject } from '@lumino/coreutils';
import { Panel } from '@lumino/widgets';

import { LiveWidget, LiveWidgets, WIDGET } from './live_widgets.js';
import { Painter, SCENES } from './painters.js';
import { SavedDrawing } from './saved_drawing.js';

const SEEN = 'mlnlab-scene'; // a live view tells of the scene that is seen last
const BETWEEN_KEEPINGS = 500; // milliseconds

export class DrawingRenderer extends Panel implements IRenderMime.IRenderer {
  private readonly saved: SavedDrawing;
  private live: LiveWidget | null = null;
  private model: IRenderMime.IMimeModel | null = null;
  private keeping = 0;

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
    this.node.addEventListener(SEEN, event => this.keep((event as CustomEvent).detail));
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

  /** Let the notebook save the scene that is seen last, instead of the one that the cell began with. */
  private keep(scene: JSONObject): void {
    window.clearTimeout(this.keeping);
    this.keeping = window.setTimeout(() => {
      const data = this.model?.data;
      if (data && !this.isDisposed && SCENES.mimeType in data) {
        this.model!.setData({ data: { ...data, [SCENES.mimeType]: scene } });
      }
    }, BETWEEN_KEEPINGS);
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
      window.clearTimeout(this.keeping);
      this.live?.dispose();
      super.dispose();
    }
  }
}

function modelIdOf(model: IRenderMime.IMimeModel): string {
  const view = model.data[WIDGET] as { model_id?: unknown } | undefined;
  return typeof view?.model_id === 'string' ? view.model_id : '';
}
