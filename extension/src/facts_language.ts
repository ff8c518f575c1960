// Loaded when the first facts are shown.
import { languageSupport } from './editing.js';
import { parser } from './facts_parser.js';

export const support = languageSupport('mlnlab-facts', parser);
