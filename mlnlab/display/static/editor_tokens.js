// Cuts the text of a model into coloured pieces, line by line. Only colours hang on it, never a meaning.
//   m comment, x a formula switched off, c constant, p predicate, v variable, q quantifier and connective, n number
const NAME = "[\\p{L}_][\\p{L}\\p{N}_]*(?:['-][\\p{L}_][\\p{L}\\p{N}_]*)*'*";
const PIECE = new RegExp(
  "(?<m>//[^\\n]*|/\\*(?:[^*]|\\*(?!/))*(?:\\*/)?)" + '|(?<c>"(?:[^"\\\\\\n]|\\\\.)*"?)' +
    "|(?<q>(?:EXISTS?|FORALL|exists?|forall)(?![\\p{L}\\p{N}_])|#include|<=>|=>|[∃∀!^¬∧∨⇒⇔])" +
    "|(?<n>(?:[+-](?=[\\d.]))?(?:\\d+(?:\\.\\d+)?|\\.\\d+)(?:[eE][+-]?\\d+)?)" + `|(?<w>${NAME})`,
  "gu",
);
const OFF = /^(?:\/\/[ \t]*off:|\/\*[ \t]*off:)/;

/** Return for each line its pieces, [text, kind]; the pieces joined are the line. */
export function linesOf(text) {
  const lines = [[]];
  const put = (part, kind) => {
    part.split("\n").forEach((bit, place) => {
      if (place) lines.push([]);
      if (bit) lines[lines.length - 1].push([bit, kind]);
    });
  };
  let end = 0;
  for (const found of text.matchAll(PIECE)) {
    put(text.slice(end, found.index), "");
    put(found[0], kindOf(found, text));
    end = found.index + found[0].length;
  }
  put(text.slice(end), "");
  return lines;
}

function kindOf(found, text) {
  const { m, c, q, n } = found.groups;
  if (m) return OFF.test(m) ? "x" : "m";
  if (c || q || n) return c ? "c" : q ? "q" : "n";
  const word = found[0];
  if (/^\s*\(/.test(text.slice(found.index + word.length, found.index + word.length + 20))) return "p";
  if (word === "v") return "q";
  return word[0] === word[0].toLowerCase() ? "v" : "c";
}

/** Return pieces cut so that each lies inside or outside of every mark: [text, kind, marks]. */
export function marked(pieces, marks) {
  if (!marks.length) return pieces.map(([text, kind]) => [text, kind, []]);
  const cuts = [...new Set(marks.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  const found = [];
  let place = 0;
  for (const [text, kind] of pieces) {
    const stops = cuts.filter((cut) => cut > place && cut < place + text.length);
    let start = place;
    for (const stop of [...stops, place + text.length]) {
      const inside = marks.filter(({ from, to }) => from <= start && stop <= to);
      found.push([text.slice(start - place, stop - place), kind, inside]);
      start = stop;
    }
    place += text.length;
  }
  // A mark behind the end of the line needs something to stand under.
  const behind = marks.filter(({ from }) => from >= place);
  if (behind.length) found.push([" ", "", behind]);
  return found;
}
