// mlnlab in JupyterLab: its languages in editors and cells, its drawings in outputs.
import { cells } from './cells.js';
import { drawings } from './drawings.js';
import { languages } from './languages.js';

export default [languages, cells, drawings];
