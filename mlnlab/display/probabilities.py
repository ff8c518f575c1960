"""Marginals: bars, the numbers as a table, and how they were computed."""

from __future__ import annotations

from math import isfinite, isnan
from typing import TYPE_CHECKING

from mlnlab.display.bars import NUMBER_WIDTH, Bar, bar_scene, counted, spread_scene
from mlnlab.display.markup import Element, count_of, element, shortened
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.symbols import in_symbols
from mlnlab.display.tables import MOST_ROWS, bounded_table
from mlnlab.inference.memory import cost_in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.display.scene.items import Scene
    from mlnlab.inference.asking import LogZ
    from mlnlab.inference.marginals import Marginals

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
    """Return queries and probabilities, the most probable first, and last what is not known yet."""
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
    """Return what was computed, the most probable first, and behind it what the facts say."""
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
        return spread_scene(counted(computed), "Probabilities", description)
    bars = [_bar(marginals, name, value, known=name in known) for name, value in ordered[:MOST_BARS]]
    description = _alternative([value for _, value in ordered])
    return bar_scene(
        bars, "Probabilities", description, _SAMPLED_WIDTH if marginals.estimates else NUMBER_WIDTH
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


def _picture(marginals: Marginals) -> Element | None:
    scene = marginals_scene(marginals)
    return None if scene is None else scene_image(scene, scene.description)


def _rest(marginals: Marginals, known: frozenset[str]) -> Element | None:
    number, facts = len(marginals), sum(name in known for name in marginals)
    if number > MOST_ROWS:
        besides = f" ({count_of(facts, 'fact')} left out)" if facts else ""
        spread = f"How the {number - facts:,} computed probabilities spread between 0 and 1{besides}"
        return quiet(f"{spread}; to_frame() has them all.")
    if number > MOST_BARS:
        return quiet(f"{MOST_BARS} of {number:,} are drawn; the table has all.")
    return None


def _numbers(marginals: Marginals, known: frozenset[str]) -> Element:
    pairs = list(marginals.probabilities.items())
    order = "in the order asked"
    if len(pairs) > MOST_ROWS:
        pairs, order = _computed_first(marginals, known), "the most probable first"
    rows = ((shortened(in_symbols(name), 160), _words(name, value, known)) for name, value in pairs)
    shown = bounded_table(
        ("query", "probability"), rows, len(pairs), "queries", numbers=(1,), where="to_frame() has them all"
    )
    return folded(f"as a table, {order}", shown)


def why_empty(marginals: Marginals) -> str:
    """Say why there are no probabilities."""
    types = marginals.question.vocabulary.types
    empty = [shortened(name) for name, domain in types.items() if not len(domain)]
    if not empty:
        return "nothing was asked."
    named = f"type{'s' * (len(empty) > 1)} {', '.join(empty[:10])}{', ...' if len(empty) > 10 else ''}"
    return f"there is nothing to ask about: no constants of {named} are known, from the model or from facts."


def how_computed(marginals: Marginals) -> str:
    """Say how the answer was found."""
    reason = marginals.reason or f"by {marginals.method}"
    sums = f" · log Z = {marginals.log_z:.6g}" if isfinite(marginals.log_z) else ""  # samplers know none
    warned = "".join(f" Warning: {warning}" for warning in marginals.warnings)
    cost = cost_in_words(marginals.seconds, marginals.memory)
    return f"{reason}{sums} · {cost}{'.' if warned else ''}{warned}"


def marginals_display(marginals: Marginals) -> Element:
    """Return the display of marginals."""
    number, known = len(marginals), facts_among(marginals)
    return card(
        title("Probabilities", count_of(number, "query", "queries")),
        _picture(marginals) if number else quiet(_capitalised(why_empty(marginals))),
        _rest(marginals, known),
        _numbers(marginals, known) if number else None,
        quiet(how_computed(marginals)),
    )


def _capitalised(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def marginals_text(marginals: Marginals) -> str:
    """Return marginals as text."""
    known = facts_among(marginals)
    lines = [
        f"  {probability_in_words(value):>8}  {shortened(name, 120)}{'  (fact)' if name in known else ''}"
        for name, value in by_probability(marginals)[:MOST_BARS]
    ]
    rest = len(marginals) - MOST_BARS
    more = [f"  ... and {rest:,} less probable ones"] if rest > 0 else []
    reason = [] if marginals else [_capitalised(why_empty(marginals))]
    head = f"<Marginals by {marginals.method}: {count_of(len(marginals), 'query', 'queries')}>"
    cost = [f"  {cost_in_words(marginals.seconds, marginals.memory)}"] if marginals.seconds else []
    return "\n".join([head, *lines, *more, *reason, *cost])


def log_z_display(log_z: LogZ) -> Element:
    """Return the display of a partition function."""
    letter = element("span", "log ", element("em", "Z"), f" = {log_z.value:.10g}", kind="formula")
    return card(letter, element("span", f" · {_certainty(log_z)}{_cost(log_z)}", kind="quiet"))


def _certainty(log_z: LogZ) -> str:
    return f"error below {log_z.error:.1g}, by {log_z.method}"


def _cost(log_z: LogZ) -> str:
    return f" · {cost_in_words(log_z.seconds, log_z.memory)}" if log_z.seconds else ""


def log_z_text(log_z: LogZ) -> str:
    """Return a partition function as text."""
    return f"<LogZ: {log_z.value:.10g}, {_certainty(log_z)}{_cost(log_z)}>"
