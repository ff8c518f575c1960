// Names of fact files may begin with digits and hold dots, so that only the whole word tells a number from a name.
import { ExternalTokenizer, InputStream } from '@lezer/lr';

import { blockCommentsAs, characterAt, textAhead } from './characters.js';
import * as terms from './facts_parser.terms.js';

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const PART_OF_WORD = /[\w.'\-\u0080-\uffff]/;
const BLANK = /[\u00a0\ufeff]/;

export const blockComments = blockCommentsAs(terms.BlockComment);

/** Names and numbers, and the three dots of a range. */
export const factWords = new ExternalTokenizer(input => {
  const length = wordLength(input);
  if (length > 0) {
    const word = textAhead(input, length);
    const kind = word === '...' ? terms.Ellipsis : NUMBER.test(word) ? terms.Number : terms.Constant;
    input.acceptToken(kind, length);
  }
});

function wordLength(input: InputStream): number {
  let length = characterAt(input, 0) === '+' ? 1 : 0;
  for (let character = characterAt(input, length); isPartOfWord(character); ) {
    // The sign of a power of ten belongs to the number, as in 1e+3.
    length += /[eE]/.test(character) && characterAt(input, length + 1) === '+' ? 2 : 1;
    character = characterAt(input, length);
  }
  return length;
}

const isPartOfWord = (character: string): boolean => PART_OF_WORD.test(character) && !BLANK.test(character);
