// What both tokenizers look at: characters ahead, blanks, line ends, comments.
import { ExternalTokenizer, InputStream } from '@lezer/lr';

export const END_OF_TEXT = -1;
const NEW_LINE = 10;
const RETURN = 13;
const BLANKS = new Set([9, 12, 32, 0xa0, 0xfeff]);

/** Return the character so many places ahead; an empty text at the end. */
export function characterAt(input: InputStream, place: number): string {
  const code = input.peek(place);
  return code === END_OF_TEXT ? '' : String.fromCharCode(code);
}

/** Return the characters of the next `length` places. */
export function textAhead(input: InputStream, length: number): string {
  return Array.from({ length }, (_, place) => characterAt(input, place)).join('');
}

/** Tell whether a line ends there. */
export function isLineEnd(input: InputStream, place: number): boolean {
  const code = input.peek(place);
  return code === NEW_LINE || code === RETURN;
}

/** Return the place behind a line end. */
export function afterLineEnd(input: InputStream, place: number): number {
  return place + (input.peek(place) === RETURN && input.peek(place + 1) === NEW_LINE ? 2 : 1);
}

/** Return the first place that is not blank. */
export function afterBlanks(input: InputStream, place: number): number {
  while (BLANKS.has(input.peek(place))) {
    place += 1;
  }
  return place;
}

/** Return the length of the comment that begins there; 0 where none does. */
export function commentLength(input: InputStream, start: number): number {
  const opening = characterAt(input, start) + characterAt(input, start + 1);
  if (opening !== '//' && opening !== '/*') {
    return 0;
  }
  for (let place = start + 2; ; place += 1) {
    if (input.peek(place) === END_OF_TEXT || (opening === '//' && isLineEnd(input, place))) {
      return place - start;
    }
    if (opening === '/*' && characterAt(input, place) === '*' && characterAt(input, place + 1) === '/') {
      return place + 2 - start;
    }
  }
}

/** The tokenizer of comments between slash and star; one that is never closed reaches to the end of the text. */
export function blockCommentsAs(term: number): ExternalTokenizer {
  return new ExternalTokenizer(input => {
    if (characterAt(input, 0) === '/' && characterAt(input, 1) === '*') {
      input.acceptToken(term, commentLength(input, 0));
    }
  });
}
