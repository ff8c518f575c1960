"""Formulas that are known only as Alchemy text, in the symbols in which formulas themselves are shown."""

from __future__ import annotations

import re

from mlnlab.syntax.formulas.tokens import end_of, start_of, tokens

_LONGEST = 4_000  # characters; longer texts are cut in the middle of wherever they are shown
_SYMBOLS = {
    "^": "∧", "&": "∧", "&&": "∧", "v": "∨", "|": "∨", "||": "∨", "!": "¬", "=>": "⇒", "<=>": "⇔", "!=": "≠",
    "<=": "≤", ">=": "≥",
}  # fmt: skip
_OPERATORS = frozenset({"AND", "OR", "NOT", "IMPLIES", "IFF", "COMPARE"})
_QUANTIFIERS = {"exist": "∃", "exists": "∃", "forall": "∀"}
_MAY_HOLD_SYMBOLS = re.compile(r"[\^&|!=<>]| v |exist|forall", re.IGNORECASE)


def in_symbols(text: str) -> str:
    """Return a formula's text in mathematical symbols; names and quoted texts stay as they are."""
    if len(text) > _LONGEST or not _MAY_HOLD_SYMBOLS.search(text):
        return text
    parts: list[str] = []
    end = 0
    for token in tokens(text):
        start = start_of(token)
        if token.type == "QUANTIFIER":
            shown = _QUANTIFIERS.get(token.casefold(), str(token))
        else:
            shown = _SYMBOLS.get(token, str(token)) if token.type in _OPERATORS else str(token)
        follows_sign = bool(parts) and parts[-1] in {"∃", "∀"}
        parts += ["" if follows_sign else text[end:start], shown]
        end = end_of(token)
    return "".join([*parts, text[end:]])
