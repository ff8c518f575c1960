// What editors do alike in both languages: comments, brackets, folding, indentation, colours.
import {
  LRLanguage,
  LanguageSupport,
  continuedIndent,
  delimitedIndent,
  foldInside,
  foldNodeProp,
  indentNodeProp
} from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { SyntaxNode } from '@lezer/common';
import { styleTags, tags } from '@lezer/highlight';
import type { LRParser } from '@lezer/lr';

// Lab gives a colour to few tags only; these have one in its light and in its dark theme. Predicates and constants
// get about the hues that they have in our displays, and constants look the same with and without quotes.
const CONSTANT = tags.standard(tags.variableName);
const COLOURS = styleTags({
  'Atom/Variable Atom/Constant Cardinality/Variable Cardinality/Constant': tags.definition(tags.variableName),
  Variable: tags.variableName,
  'Constant String': CONSTANT,
  Number: tags.number,
  'Quantifier IncludeWord Fixed Truth FullStop': tags.keyword,
  'Include/String': tags.string,
  'Compare Equals Not Unknown And Or Implies Equivalent Horn Exclusive AtMostOne': tags.operator,
  'Plus Minus Star Slash Percent Successor': tags.operator,
  'Bar Colon Ellipsis': tags.punctuation,
  'LineComment BlockComment': tags.comment,
  Magic: tags.meta,
  '( )': tags.paren,
  '[ ]': tags.squareBracket,
  '{ }': tags.brace
});

// Names hold single quotes and hyphens, so that only these pairs can be closed on their own.
const BEHAVIOUR = {
  commentTokens: { line: '//', block: { open: '/*', close: '*/' } },
  closeBrackets: { brackets: ['(', '[', '{', '"'] },
  wordChars: "'-",
  indentOnInput: /^\s*[)\]}]$/
};

const INDENTATION = indentNodeProp.add({
  Arguments: delimitedIndent({ closing: ')', align: false }),
  Set: delimitedIndent({ closing: '}', align: false }),
  Group: continuedIndent({ except: /^\s*[)\]]/ }),
  Statement: continuedIndent()
});

const FOLDING = foldNodeProp.add({
  Arguments: foldInside,
  Group: foldInside,
  Set: foldInside,
  BlockComment: (node: SyntaxNode) => ({ from: node.from + 2, to: node.to - 2 }),
  Statement: (node: SyntaxNode, state: EditorState) => ({ from: state.doc.lineAt(node.from).to, to: node.to })
});

/** Return what an editor needs to know of a language. */
export function languageSupport(name: string, parser: LRParser): LanguageSupport {
  const props = [COLOURS, INDENTATION, FOLDING];
  return new LanguageSupport(
    LRLanguage.define({ name, parser: parser.configure({ props }), languageData: BEHAVIOUR })
  );
}
