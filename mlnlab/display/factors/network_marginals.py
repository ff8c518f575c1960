"""Cards of distributions of a network's variables, by any method, and of runs that lead to them."""

from __future__ import annotations

from math import isfinite, isnan
from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import cost_in_words, count_of, shorten_text
from mlnlab.display.factors.factor_displays import known_values
from mlnlab.display.factors.factor_graph_scenes import distributions_scene
from mlnlab.display.factors.factor_runs import run_drawing
from mlnlab.display.inference.probabilities import probability_in_words
from mlnlab.inference.networks.factor_gibbs import NAME as GIBBS

if TYPE_CHECKING:
    from mlnlab.inference.networks.factor_answers import NetworkMarginals
    from mlnlab.inference.networks.factor_asking import FactorRun


def network_marginals_card(found: NetworkMarginals) -> Card:
    """Return distributions as bars and as a table, with their method and reasons for doubt."""
    pairs = [(name, value, p) for name, one in found.items() for value, p in one.items()]
    rows = (
        (
            shorten_text(name),
            shorten_text(value),
            probability_in_words(p),
            error_words(found.error(name, value)),
        )
        for name, value, p in pairs
    )
    headings, where = ("variable", "value", "probability", "error"), "to_frame() has all"
    log_z = f" · log Z = {found.log_z:.6g}" if isfinite(found.log_z) else ""
    cost = cost_in_words(found.seconds, found.memory)
    return Card(
        "Distributions",
        count_of(len(found), "variable"),
        picture=distributions_scene(found),
        undrawn="There are no variables.",
        table=table_of(headings, rows, len(pairs), "rows", numbers=(2, 3), where=where),
        remarks=(
            known_values(found.evidence),
            f"{found.reason[:1].upper()}{found.reason[1:]}{log_z} · {cost}",
            *(f"Warning: {warning}" for warning in found.warnings),
        ),
    )


def error_words(error: float) -> str:
    """Return an error as a cell of a table."""
    return "not known" if isnan(error) else "exact" if error == 0 else f"± {error:.2g}"


def factor_run_card(run: FactorRun) -> Card:
    """Return the card of a run that has not begun: its graph cannot tell anything yet."""
    question = run.question
    size = f"{count_of(question.number_of_variables, 'open variable')}, "
    size += count_of(question.number_of_tables, "factor")
    drawn = run_drawing(question, chain=run.method.name == GIBBS) is not None
    ways = f"ml.stepper(...) shows its steps{', on the graph' if drawn else ''}; ml.live(...) lets it run."
    return Card(f"{run.method.name} over a factor graph", size, lead=(ways, f"{run.params}"))
