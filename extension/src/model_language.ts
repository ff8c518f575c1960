// Loaded when the first model is shown.
import { languageSupport } from './editing.js';
import { parser } from './model_parser.js';

export const support = languageSupport('mlnlab-model', parser);
