"""Cards of distributions of a network's variables, by any method, and of runs that lead to them."""

from __future__ import annotations

from math import isfinite, isnan
from typing import TYPE_CHECKING

from mlnlab.display.factor_bars import distributions_scene
from mlnlab.display.factor_runs import run_drawing
from mlnlab.display.markup import Element, count_of, shortened
from mlnlab.display.probabilities import probability_in_words
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import bounded_table
from mlnlab.inference.factor_gibbs import NAME as GIBBS
from mlnlab.inference.memory import cost_in_words

if TYPE_CHECKING:
    from mlnlab.inference.factor_answers import NetworkMarginals
    from mlnlab.inference.factor_asking import FactorRun


def network_marginals_display(found: NetworkMarginals) -> Element:
    """Return distributions as bars and as a table, with how they were found and what to doubt."""
    scene = distributions_scene(found)
    known = ", ".join(f"{shortened(name)} = {shortened(v)}" for name, v in list(found.evidence.items())[:12])
    pairs = [(name, value, p) for name, one in found.items() for value, p in one.items()]
    rows = (
        (shortened(name), shortened(value), probability_in_words(p), error_words(found.error(name, value)))
        for name, value, p in pairs
    )
    headings = ("variable", "value", "probability", "error")
    table = bounded_table(headings, rows, len(pairs), "rows", numbers=(2, 3), where="to_frame() has all")
    log_z = f" · log Z = {found.log_z:.6g}" if isfinite(found.log_z) else ""
    cost = cost_in_words(found.seconds, found.memory)
    return card(
        title("Distributions", count_of(len(found), "variable")),
        quiet("There are no variables.")
        if scene is None
        else scene_image(scene, f"{scene.title}: {scene.description}"),
        quiet(f"Given {known}.") if known else None,
        quiet(f"{found.reason[:1].upper()}{found.reason[1:]}{log_z} · {cost}"),
        *(quiet(f"Warning: {warning}") for warning in found.warnings),
        folded("as a table", table),
    )


def error_words(error: float) -> str:
    """Return an error as a cell of a table."""
    return "not known" if isnan(error) else "exact" if error == 0 else f"± {error:.2g}"


def factor_run_display(run: FactorRun) -> Element:
    """Return the card of a run that has not begun: its graph cannot tell anything yet."""
    question = run.question
    size = f"{count_of(question.number_of_variables, 'open variable')}, "
    size += count_of(question.number_of_tables, "factor")
    drawn = run_drawing(question, chain=run.method.name == GIBBS) is not None
    return card(
        title(f"{run.method.name} over a factor graph", size),
        quiet(
            f"ml.stepper(...) shows its steps{', on the graph' if drawn else ''}; ml.live(...) lets it run."
        ),
        quiet(f"{run.params}"),
    )
