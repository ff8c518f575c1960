// Cells that begin with %%mln or %%db hold our languages, as long as they do.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import type { ICellModel } from '@jupyterlab/cells';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import { FACTS_LANGUAGE, MODEL_LANGUAGE } from './languages.js';

const OURS: Record<string, string> = { mln: MODEL_LANGUAGE.mime, db: FACTS_LANGUAGE.mime };
const MAGIC = /^\s*%%(mln|db)(?!\S)/;

export const cells: JupyterFrontEndPlugin<void> = {
  id: 'mlnlab:cells',
  description: 'Highlights cells that begin with %%mln or %%db.',
  autoStart: true,
  requires: [INotebookTracker],
  activate: (_: JupyterFrontEnd, notebooks: INotebookTracker): void => {
    notebooks.forEach(followCells);
    notebooks.widgetAdded.connect((_, panel) => followCells(panel));
  }
};

function followCells(panel: NotebookPanel): void {
  const followed = new WeakSet<ICellModel>();
  const follow = () => {
    for (const cell of panel.content.model?.cells ?? []) {
      if (cell.type === 'code' && !followed.has(cell)) {
        followed.add(cell);
        followCell(cell, () => panel.content.codeMimetype);
      }
    }
  };
  const followModel = () => {
    panel.content.model?.cells.changed.connect(follow);
    follow();
  };
  panel.content.modelChanged.connect(followModel);
  followModel();
}

/** Keep the cell's language: the notebook sets its own on all cells whenever its kernel says which that is. */
function followCell(cell: ICellModel, languageOfNotebook: () => string): void {
  let isOurs = false;
  const update = () => {
    const mime = OURS[MAGIC.exec(cell.sharedModel.getSource())?.[1] ?? ''];
    if (mime) {
      cell.mimeType = mime;
    } else if (isOurs) {
      cell.mimeType = languageOfNotebook();
    }
    isOurs = mime !== undefined;
  };
  cell.sharedModel.changed.connect(update);
  cell.mimeTypeChanged.connect(update);
  update();
}
