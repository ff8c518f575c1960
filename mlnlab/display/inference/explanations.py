"""Why an atom has its probability: a waterfall of shares of its log-odds, sentences, a table."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, Table, bullets, table_of
from mlnlab.display.card.markup import shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import Stride, waterfall_scene
from mlnlab.display.inference.probabilities import probability_in_words

if TYPE_CHECKING:
    from collections.abc import Collection

    from mlnlab.display.scene.items import Scene
    from mlnlab.inference.answers.explanation import Explanation, Share

MOST_STRIDES = 15
_LONGEST_SENTENCE = 500
_SILENT = 5e-4


def _strongest(explanation: Explanation) -> list[Share]:
    return sorted(explanation.shares, key=lambda share: -abs(share.log_odds))


def strides_of(explanation: Explanation) -> list[Stride]:
    """Return the waterfall: the base, the strongest shares, the rest together, the total."""
    shown = [share for share in _strongest(explanation) if abs(share.log_odds) >= _SILENT]
    level = explanation.base
    strides = [Stride("without any weight", 0.0, level, f"{level:+.3f}")]
    for share in shown[:MOST_STRIDES]:
        label = f"{in_symbols(share.formula)}  (weight {share.weight:g})"
        strides.append(Stride(label, level, level + share.log_odds, f"{share.log_odds:+.3f}"))
        level += share.log_odds
    rest = shown[MOST_STRIDES:]
    if rest:
        together = sum(share.log_odds for share in rest)
        strides.append(Stride(f"{len(rest):,} more formulas", level, level + together, f"{together:+.3f}"))
    total = explanation.log_odds
    label = f"log-odds, a probability of {probability_in_words(explanation.probability)}"
    return [*strides, Stride(label, 0.0, total, f"{total:+.3f}", total=True)]


def _is_open(explanation: Explanation) -> bool:
    return isfinite(explanation.log_odds) and isfinite(explanation.base)


def explanation_scene(explanation: Explanation) -> Scene | None:
    """Return the drawing of an explanation: a waterfall of shares; none where the atom is certain."""
    if not _is_open(explanation):
        return None
    strides = strides_of(explanation)
    description = (
        f"A waterfall of {len(strides)} bars from {explanation.base:+.3f} to log-odds of"
        f" {explanation.log_odds:+.3f}; the sentences below say the same."
    )
    return waterfall_scene(strides, "Shares of the log-odds", description)


def _add_sign(value: float) -> str:
    """Return a share with its sign; rounding alone gives none."""
    return f"{value:+.4f}" if abs(value) >= 5e-5 else "0"


def _table(explanation: Explanation) -> Table:
    rows = (
        (
            shorten_text(in_symbols(share.formula), 300),
            f"{share.weight:g}",
            _add_sign(share.log_odds),
            f"× {share.factor:.4g}",
            probability_in_words(share.without),
        )
        for share in explanation.shares
    )
    headings = ("formula", "weight", "share of the log-odds", "odds", "probability without it")
    number, where = len(explanation.shares), "to_frame() has them all"
    return table_of(headings, rows, number, "formulas", numbers=range(1, 5), where=where)


def _sentences(explanation: Explanation) -> list[str]:
    """Return the explanation in words, with the formulas in mathematical symbols."""
    texts = {share.formula for share in explanation.shares}
    return [_with_symbols(sentence, texts) for sentence in explanation.sentences()]


def _with_symbols(sentence: str, formulas: Collection[str]) -> str:
    formula, weight, rest = sentence.partition(" (weight ")
    return in_symbols(formula) + weight + rest if formula in formulas else sentence


def explanation_card(explanation: Explanation) -> Card:
    """Return the card of an explanation."""
    sentences = _sentences(explanation)
    more = len(sentences) - MOST_STRIDES - 2
    scene = explanation_scene(explanation)
    return Card(
        f"Why {shorten_text(explanation.atom, 120)}?",
        f"probability {probability_in_words(explanation.probability)}",
        picture=scene,
        alternative=scene.description if scene is not None else "",
        remarks=(
            bullets(sentences[: MOST_STRIDES + 2], _LONGEST_SENTENCE),
            f"and {more:,} more sentences; to_frame() has all shares." if more > 0 else "",
        ),
        folds=(("as a table", _table(explanation)),) if explanation.shares else (),
    )
