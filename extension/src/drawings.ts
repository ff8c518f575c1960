// Our drawings wherever Lab shows outputs, and as files.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { MimeDocumentFactory } from '@jupyterlab/docregistry';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';

import { DrawingRenderer } from './drawing_renderer.js';
import { drawingIcon } from './icons.js';
import { LiveWidgets } from './live_widgets.js';
import { Painter, SCENES, TABLES } from './painters.js';

const PAINTERS = [SCENES, TABLES];
// ipywidgets' live views have -10. In notebooks we come first, since we show them too; elsewhere they do.
const IN_NOTEBOOKS = -20;
const ELSEWHERE = 0;

export const drawings: JupyterFrontEndPlugin<void> = {
  id: 'mlnlab:drawings',
  description: 'Shows drawings of saved notebooks, and their live widgets while there are any.',
  autoStart: true,
  requires: [IRenderMimeRegistry],
  optional: [INotebookTracker],
  activate: (app: JupyterFrontEnd, registry: IRenderMimeRegistry, notebooks: INotebookTracker | null): void => {
    register(registry, null, ELSEWHERE);
    const registerIn = ({ content, sessionContext }: NotebookPanel) =>
      register(content.rendermime, new LiveWidgets(content.rendermime, sessionContext), IN_NOTEBOOKS);
    notebooks?.forEach(registerIn);
    notebooks?.widgetAdded.connect((_, panel) => registerIn(panel));
    addViewer(app, registry);
  }
};

function register(registry: IRenderMimeRegistry, widgets: LiveWidgets | null, rank: number): void {
  for (const painter of PAINTERS) {
    registry.addFactory(factoryOf(painter, registry, widgets), rank);
  }
}

function factoryOf(painter: Painter, registry: IRenderMimeRegistry, widgets: LiveWidgets | null) {
  return {
    safe: true,
    mimeTypes: [painter.mimeType],
    createRenderer: () => new DrawingRenderer(painter, registry, widgets)
  };
}

/** Files that hold a scene as JSON open as the drawing; "Open With" leads to the text. */
function addViewer(app: JupyterFrontEnd, registry: IRenderMimeRegistry): void {
  const fileType = {
    name: 'mlnlab-drawing',
    displayName: 'Drawing of mlnlab',
    mimeTypes: [SCENES.mimeType],
    extensions: ['.scene.json'],
    contentType: 'file' as const,
    fileFormat: 'text' as const,
    icon: drawingIcon
  };
  app.docRegistry.addFileType(fileType);
  app.docRegistry.addWidgetFactory(
    new MimeDocumentFactory({
      name: 'Drawing',
      primaryFileType: app.docRegistry.getFileType(fileType.name),
      fileTypes: [fileType.name],
      defaultFor: [fileType.name],
      modelName: 'text',
      dataType: 'json',
      rendermime: registry
    })
  );
}
