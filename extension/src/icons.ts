// The icons of our files, in tabs and in the list of files.
import { LabIcon } from '@jupyterlab/ui-components';

import drawing from '../style/icons/drawing.svg';
import facts from '../style/icons/facts.svg';
import model from '../style/icons/model.svg';

export const modelIcon = new LabIcon({ name: 'mlnlab:model', svgstr: model });
export const factsIcon = new LabIcon({ name: 'mlnlab:facts', svgstr: facts });
export const drawingIcon = new LabIcon({ name: 'mlnlab:drawing', svgstr: drawing });
