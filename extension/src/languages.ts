// Our two languages: what editors are told of them, and what the files look like in Lab.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IEditorLanguage, IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { IDocumentWidget } from '@jupyterlab/docregistry';
import { FileEditor, IEditorTracker } from '@jupyterlab/fileeditor';
import { LabIcon, textEditorIcon } from '@jupyterlab/ui-components';

import { factsIcon, modelIcon } from './icons.js';

interface FileLanguage extends IEditorLanguage {
  readonly name: string;
  readonly displayName: string;
  readonly mime: string;
  readonly extensions: readonly string[];
  readonly icon: LabIcon;
}

export const MODEL_LANGUAGE: FileLanguage = {
  name: 'mln',
  displayName: 'Markov logic network',
  mime: 'text/x-mln',
  extensions: ['mln'],
  icon: modelIcon,
  load: async () => (await import('./model_language.js')).support
};

export const FACTS_LANGUAGE: FileLanguage = {
  name: 'mln-facts',
  displayName: 'Markov logic facts',
  mime: 'text/x-mln-facts',
  extensions: ['db', 'func'],
  icon: factsIcon,
  load: async () => (await import('./facts_language.js')).support
};

const LANGUAGES = [MODEL_LANGUAGE, FACTS_LANGUAGE];

export const languages: JupyterFrontEndPlugin<void> = {
  id: 'mlnlab:languages',
  description: 'Markov logic networks and facts in editors.',
  autoStart: true,
  requires: [IEditorLanguageRegistry],
  optional: [IEditorTracker],
  activate: (
    app: JupyterFrontEnd,
    registry: IEditorLanguageRegistry,
    editors: IEditorTracker | null
  ): void => {
    for (const language of LANGUAGES) {
      const { icon, ...description } = language;
      registry.addLanguage(description);
      app.docRegistry.addFileType({
        name: language.name,
        displayName: language.displayName,
        mimeTypes: [language.mime],
        extensions: language.extensions.map(extension => `.${extension}`),
        contentType: 'file',
        fileFormat: 'text',
        icon
      });
    }
    editors?.forEach(showIcon);
    editors?.widgetAdded.connect((_, editor) => showIcon(editor));
  }
};

/** Lab's text editor gives one icon to all of its tabs; ours follow the file's name. */
function showIcon(editor: IDocumentWidget<FileEditor>): void {
  const update = () => {
    const extension = editor.context.path.split('.').pop()?.toLowerCase() ?? '';
    const language = LANGUAGES.find(({ extensions }) => extensions.includes(extension));
    const title = editor.content.title;
    if (language) {
      title.icon = language.icon.bindprops({ stylesheet: 'mainAreaTab' });
    } else if (LANGUAGES.some(({ icon }) => (title.icon as LabIcon | undefined)?.name === icon.name)) {
      title.icon = textEditorIcon.bindprops({ stylesheet: 'mainAreaTab' });
    }
  };
  update();
  editor.context.pathChanged.connect(update);
}
