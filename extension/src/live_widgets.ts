// Live widgets of one notebook: when they can be made, and when its kernel has taken them along.
import type { ISessionContext } from '@jupyterlab/apputils';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { IDisposable } from '@lumino/disposable';
import { Message, MessageLoop } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import { Panel, Widget } from '@lumino/widgets';

export const WIDGET = 'application/vnd.jupyter.widget-view+json';

const BETWEEN_LOOKS = 300; // milliseconds
const IS_DEAD = 'jupyter-widgets-disconnected'; // the class that ipywidgets gives a view whose model has died
const ENDINGS = new Set(['restarting', 'autorestarting', 'terminating', 'dead']);

/** What the outputs of one notebook ask of it. */
export class LiveWidgets {
  /** The notebook may be able to make widgets that it could not make before. */
  readonly changed = new Signal<this, void>(this);
  /** The kernel has ended, and every model with it. */
  readonly ended = new Signal<this, void>(this);
  private readonly waiting = new Set<object>();
  private known: unknown = undefined;
  private timer = 0;

  constructor(
    readonly registry: IRenderMimeRegistry,
    session: ISessionContext
  ) {
    session.statusChanged.connect((_, status) => {
      if (ENDINGS.has(status)) {
        this.ended.emit();
      }
    });
    session.kernelChanged.connect((_, { oldValue, newValue }) => {
      if (oldValue) {
        this.ended.emit();
      }
      if (newValue) {
        this.changed.emit();
      }
    });
  }

  /**
   * Look for a factory of widgets until `stopWaiting`. Lab's registry does not tell of changes, and ipywidgets
   * puts the factory that knows the notebook's kernel there some time after the first outputs are drawn.
   */
  wait(who: object): void {
    this.waiting.add(who);
    this.timer ||= window.setInterval(() => this.look(), BETWEEN_LOOKS);
  }

  stopWaiting(who: object): void {
    this.waiting.delete(who);
    if (this.waiting.size === 0) {
      window.clearInterval(this.timer);
      this.timer = 0;
    }
  }

  private look(): void {
    const factory = this.registry.getFactory(WIDGET);
    if (factory && factory !== this.known) {
      this.known = factory;
      this.changed.emit();
    }
  }
}

/** The widget of one output, on its way to being shown. */
export class LiveWidget implements IDisposable {
  isDisposed = false;
  private renderer: (Widget & IRenderMime.IRenderer) | null = null;
  private sizes: ResizeObserver | null = null;

  /**
   * `appeared` is called once, when the widget has drawn something; `vanished` once, when it is gone for good.
   * Until it appears, it stands unseen in `host`.
   */
  constructor(
    readonly modelId: string,
    private readonly widgets: LiveWidgets,
    private readonly host: Panel,
    private readonly appeared: () => void,
    private readonly vanished: () => void
  ) {
    widgets.changed.connect(this.attempt, this);
    widgets.ended.connect(this.vanish, this);
    widgets.wait(this);
    this.attempt();
  }

  /** Ask the notebook's factory of widgets, which may know the model by now. */
  private attempt(): void {
    const { registry } = this.widgets;
    if (!registry.getFactory(WIDGET)) {
      return;
    }
    this.renderer?.dispose();
    const renderer = registry.createRenderer(WIDGET) as Widget & IRenderMime.IRenderer;
    this.renderer = renderer;
    MessageLoop.installMessageHook(renderer, (_: unknown, message: Message) => {
      if (message.type === 'child-added' && renderer === this.renderer) {
        this.onView((message as Widget.ChildMessage).child);
      }
      return true;
    });
    // A bundle of its own, because ipywidgets writes into what it is given when the view goes.
    const data = { [WIDGET]: { model_id: this.modelId, version_major: 2, version_minor: 0 } };
    renderer.renderModel(registry.createModel({ data, trusted: true })).catch(console.error);
  }

  private onView(view: Widget): void {
    if (view.hasClass(IS_DEAD)) {
      return this.vanish();
    }
    this.widgets.stopWaiting(this);
    this.widgets.changed.disconnect(this.attempt, this);
    view.disposed.connect(this.vanish, this);
    this.renderer!.addClass('mlnlab-unseen');
    this.host.addWidget(this.renderer!);
    this.sizes = new ResizeObserver(() => {
      if (view.node.offsetHeight > 0) {
        this.sizes?.disconnect();
        this.renderer?.removeClass('mlnlab-unseen');
        this.appeared();
      }
    });
    this.sizes.observe(view.node);
  }

  private vanish(): void {
    if (!this.isDisposed) {
      this.dispose();
      this.vanished();
    }
  }

  dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this.isDisposed = true;
    this.widgets.stopWaiting(this);
    Signal.clearData(this);
    this.sizes?.disconnect();
    this.renderer?.dispose();
    this.renderer = null;
  }
}
