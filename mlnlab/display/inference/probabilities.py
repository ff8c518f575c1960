"""Marginals: bars, the numbers as a table, and how they were computed."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan
from typing import TYPE_CHECKING

from mlnlab.display.card.cards import MOST_ROWS, Card, Table, table_of
from mlnlab.display.card.markup import cost_in_words, count_of, element, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import NUMBER_WIDTH, Bar, BarChart, Series
from mlnlab.display.chart.curves import spread_chart

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.inference.ask.asking import LogZ

MOST_BARS = 40
UNKNOWN = "unknown"  # nothing was computed yet
_SAMPLED_WIDTH = 120.0  # pixels for numbers with their errors


def probability_in_words(value: float) -> str:
    """Return a probability with four places, never rounded to impossible or certain."""
    if isnan(value):
        return UNKNOWN
    if 0 < value < 0.00005:
        return "< 0.0001"
    return "> 0.9999" if 0.99995 <= value < 1 else f"{value:.4f}"


def by_probability(marginals: Marginals) -> list[tuple[str, float]]:
    """Return queries and probabilities, the most probable first, and unknown ones last."""
    return sorted(marginals.probabilities.items(), key=lambda pair: 1.0 if isnan(pair[1]) else -pair[1])


def facts_among(marginals: Marginals) -> frozenset[str]:
    """Return the queries that evidence answers, so that nothing was computed for them."""
    question = marginals.question
    open_atoms = {atom for choice in question.choices for atom in choice.atoms}
    return frozenset(str(atom) for atom in question.query_atoms if atom not in open_atoms)


def _words(name: str, value: float, known: frozenset[str]) -> str:
    return f"{value:.0f} · fact" if name in known else probability_in_words(value)


def _alternative(values: Sequence[float]) -> str:
    """Describe the picture without quoting data, which must not get into attributes."""
    values = [value for value in values if not isnan(value)]
    if not values:
        return "No bars."
    span = f"from {probability_in_words(min(values))} to {probability_in_words(max(values))}"
    return f"Bars of {count_of(len(values), 'probability', 'probabilities')}, {span}; the table lists them."


def _computed_first(marginals: Marginals, known: frozenset[str]) -> list[tuple[str, float]]:
    """Return computed probabilities, the most probable first, and behind them those given by facts."""
    return sorted(by_probability(marginals), key=lambda pair: pair[0] in known)


def marginals_scene(marginals: Marginals) -> Scene | None:
    """Return the drawing of probabilities: bars, or where they are many how they spread; none for none."""
    if not marginals:
        return None
    known = facts_among(marginals)
    ordered = _computed_first(marginals, known)
    if len(ordered) > MOST_ROWS:
        computed = [value for name, value in ordered if name not in known and not isnan(value)]
        description = f"How {len(computed):,} probabilities spread between 0 and 1, in twenty bins."
        return spread_chart(computed, "Probabilities", description).scene()
    return marginals_chart(marginals, MOST_BARS).scene()


def marginals_chart(marginals: Marginals, most: int) -> BarChart:
    """Return bars of the most probable queries, and behind them of those that are facts."""
    known = facts_among(marginals)
    ordered = _computed_first(marginals, known)
    bars = tuple(_bar(marginals, name, value, known=name in known) for name, value in ordered[:most])
    return BarChart(
        "Probabilities",
        tuple(bar.label for bar in bars),
        (Series("probability", bars),),
        "probability",
        "There are no probabilities to draw.",
        _alternative([value for _, value in ordered]),
        numbers=_SAMPLED_WIDTH if marginals.estimates else NUMBER_WIDTH,
    )


def _bar(marginals: Marginals, name: str, value: float, *, known: bool) -> Bar:
    estimate = marginals.estimates.get(name)
    words = f"{value:.0f} · fact" if known else probability_in_words(value)
    if known or estimate is None or not isfinite(estimate.r_hat):
        return Bar(in_symbols(name), value, words, known)
    return Bar(in_symbols(name), value, f"{words} ± {error_in_words(estimate.error)}", error=estimate.error)


def error_in_words(error: float) -> str:
    """Return a standard error with one digit that counts, two where it begins with a one."""
    return f"{error:.2g}" if f"{error:.1e}".startswith("1") else f"{error:.1g}"


def _rest(marginals: Marginals, known: frozenset[str]) -> str:
    number, facts = len(marginals), sum(name in known for name in marginals)
    if number > MOST_ROWS:
        besides = f" ({count_of(facts, 'fact')} left out)" if facts else ""
        spread = f"How the {number - facts:,} computed probabilities spread between 0 and 1{besides}"
        return f"{spread}; to_frame() has them all."
    return f"{MOST_BARS} of {number:,} are drawn; the table has all." if number > MOST_BARS else ""


def _table(marginals: Marginals, known: frozenset[str]) -> Table:
    pairs = list(marginals.probabilities.items())
    order = "in the order asked"
    if len(pairs) > MOST_ROWS:
        pairs, order = _computed_first(marginals, known), "the most probable first"
    rows = ((shorten_text(in_symbols(name), 160), _words(name, value, known)) for name, value in pairs)
    return table_of(
        ("query", "probability"), rows, len(pairs), "queries", numbers=(1,),
        where="to_frame() has them all", name=f"as a table, {order}",
    )  # fmt: skip


def why_empty(marginals: Marginals) -> str:
    """Say why there are no probabilities."""
    types = marginals.question.vocabulary.types
    empty = [shorten_text(name) for name, domain in types.items() if not len(domain)]
    if not empty:
        return "nothing was asked."
    named = f"type{'s' * (len(empty) > 1)} {', '.join(empty[:10])}{', ...' if len(empty) > 10 else ''}"
    return f"there is nothing to ask about: no constants of {named} are known, from the model or from facts."


def describe_method(marginals: Marginals) -> str:
    """Say how the answer was found."""
    reason = marginals.reason or f"by {marginals.method}"
    sums = f" · log Z = {marginals.log_z:.6g}" if isfinite(marginals.log_z) else ""  # samplers know none
    warned = "".join(f" Warning: {warning}" for warning in marginals.warnings)
    cost = cost_in_words(marginals.seconds, marginals.memory)
    return f"{reason}{sums} · {cost}{'.' if warned else ''}{warned}"


def marginals_card(marginals: Marginals) -> Card:
    """Return the card of marginals."""
    number, known = len(marginals), facts_among(marginals)
    scene = marginals_scene(marginals)
    return Card(
        "Probabilities",
        count_of(number, "query", "queries"),
        picture=scene,
        alternative=scene.description if scene is not None else "",
        undrawn=_capitalise(why_empty(marginals)),
        table=_table(marginals, known) if number else None,
        remarks=(_rest(marginals, known), describe_method(marginals)),
    )


def _capitalise(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def log_z_card(log_z: LogZ) -> Card:
    """Return the card of a partition function."""
    cost = f" · {cost_in_words(log_z.seconds, log_z.memory)}" if log_z.seconds else ""
    letter = element("span", "log ", element("em", "Z"), f" = {log_z.value:.10g}", kind="formula")
    error = element("span", f" · error below {log_z.error:.1g}, by {log_z.method}{cost}", kind="quiet")
    return Card(lead=(element("div", letter, error),))
