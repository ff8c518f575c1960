// What the grammar of models cannot say by patterns: words whose meaning hangs on their place, and where a
// statement ends.
import { ExternalTokenizer, InputStream, Stack } from '@lezer/lr';

import {
  END_OF_TEXT,
  afterBlanks,
  afterLineEnd,
  blockCommentsAs,
  characterAt,
  commentLength,
  isLineEnd,
  textAhead
} from './characters.js';
import * as terms from './model_parser.terms.js';

const LETTER = /[\p{L}\p{N}_\ud800-\udfff]/u;
const DIGIT = /\p{Nd}/u;
const SMALL = /^[\p{Lowercase}_]/u;
const QUANTIFIERS = new Set(['exist', 'exists', 'forall']);
const QUANTIFIER_SIGN = /[∃∀]/;
const COMPARISON = /[=<>!≠≤≥]/;
// A line that begins with one of these goes on with the statement above it.
const GOES_ON = /^(?:[=<>^,%∧∨⇒→↔⇔≠≤≥]|!=|:-|\/(?![/*])|v(?![\p{L}\p{N}_]))/u;

export const blockComments = blockCommentsAs(terms.BlockComment);

/** Names such as Anna, person1, O'Neil and Mary-Jo, and the words among them that are none. */
export const words = new ExternalTokenizer(
  (input, stack) => {
    const length = wordLength(input);
    if (QUANTIFIER_SIGN.test(characterAt(input, 0))) {
      input.acceptToken(terms.Quantifier, 1);
    } else if (length > 0) {
      input.acceptToken(kindOfWord(textAhead(input, length), input, stack), length);
    }
  },
  { contextual: true }
);

const isLetter = (character: string): boolean => LETTER.test(character);
const beginsWord = (character: string): boolean => isLetter(character) && !DIGIT.test(character);

function wordLength(input: InputStream): number {
  if (!beginsWord(characterAt(input, 0))) {
    return 0;
  }
  let length = 1;
  for (;;) {
    const character = characterAt(input, length);
    if (isLetter(character)) {
      length += 1;
    } else if ((character === "'" || character === '-') && beginsWord(characterAt(input, length + 1))) {
      length += 2;
    } else {
      break;
    }
  }
  while (characterAt(input, length) === "'") {
    length += 1;
  }
  return length;
}

/** A lone v behind a formula is "or"; a quantifier's word is one only in front of a variable or a number of them. */
function kindOfWord(word: string, input: InputStream, stack: Stack): number {
  if (word === 'v' && stack.canShift(terms.orWord)) {
    return terms.orWord;
  }
  if (QUANTIFIERS.has(word.toLowerCase()) && stack.canShift(terms.Quantifier)) {
    const following = characterAt(input, afterBlanks(input, word.length));
    if (beginsWord(following) || COMPARISON.test(following)) {
      return terms.Quantifier;
    }
  }
  return SMALL.test(word) ? terms.Variable : terms.Constant;
}

/** An empty token before a line end that closes a statement, and at the end of the text. */
export const statementEnds = new ExternalTokenizer(
  (input, stack) => {
    const atEnd = input.next === END_OF_TEXT;
    if ((atEnd || isLineEnd(input, 0)) && stack.canShift(terms.endOfStatement) && (atEnd || !goesOn(input))) {
      input.acceptToken(terms.endOfStatement, 0);
    }
  },
  { contextual: true }
);

/** Tell whether what follows the line end belongs to the same statement; over a blank line nothing does. */
function goesOn(input: InputStream): boolean {
  let place = afterBlanks(input, afterLineEnd(input, 0));
  for (;;) {
    const comment = commentLength(input, place);
    if (comment === 0) {
      const ahead = [0, 1, 2].map(step => characterAt(input, place + step)).join('');
      return GOES_ON.test(ahead);
    }
    place = afterBlanks(input, place + comment);
    if (isLineEnd(input, place)) {
      place = afterBlanks(input, afterLineEnd(input, place));
    }
  }
}
