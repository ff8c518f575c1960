"""An evaluation of learned structures in a cell: each system's scores, by predicate too, and its curves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isnan
from typing import TYPE_CHECKING, Any

from mlnlab.display.axes import value_axis
from mlnlab.display.curves import MOST_PLOTS, plots_scene
from mlnlab.display.markup import Element, count_of, shortened
from mlnlab.display.plots import MOST_NAMED, Line, Plot
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import bounded_table, table

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.experiments.structure_results import StructureEvaluation

_MOST_SYSTEMS = 24
_MOST_ROWS = 100
_MOST_PROBLEMS = 5
_LONGEST = 60
_HEADINGS = ("system", "folds", "CLL", "AUC", "AUC, mean of predicates", "seconds of learning")


def structure_evaluation_scene(found: StructureEvaluation) -> Scene | None:
    """Return the precision-recall curve of each system over all test atoms."""
    plot = _plot(found, None)
    if plot is None:
        return None
    said = f"Guessing would have a precision of {plot.level:.3g}."
    return plots_scene([plot], "Precision and recall", said)


def predicates_scene(found: StructureEvaluation) -> Scene | None:
    """Return the same predicate by predicate, as small plots."""
    plots = [plot for name in found.predicates[:MOST_PLOTS] if (plot := _plot(found, name)) is not None]
    if not plots:
        return None
    # Lines' names are beside the plot of all atoms together, in the same hues and dashes.
    return plots_scene(plots, "Precision and recall, predicate by predicate")


def _plot(found: StructureEvaluation, predicate: str | None) -> Plot | None:
    """Return the curves of one predicate, or of all; ``None`` where none of its atoms is true."""
    lines = tuple(_lines(found, predicate))
    if not lines:
        return None
    return Plot(
        "precision over recall" if predicate is None else shortened(predicate, 40), lines,
        value_axis(0.0, 1.0), value_axis(0.0, 1.0), across="recall",
        level=float(found.pooled(_finished(found)[0], predicate).truths.mean()), named=predicate is None,
    )  # fmt: skip


def _finished(found: StructureEvaluation) -> list[str]:
    return [name for name in found.systems if any(one.finished for one in found.validated.by(name))]


def _lines(found: StructureEvaluation, predicate: str | None) -> Iterator[Line]:
    for name in _finished(found)[:MOST_NAMED]:
        recall, precision = found.curve(name, predicate).interpolated()
        if len(recall):
            yield Line(shortened(name, 40), recall, precision)


def structure_evaluation_display(found: StructureEvaluation) -> Element:
    """Return the display of an evaluation of learned structures."""
    rows = list(_summary(found))
    scene = structure_evaluation_scene(found)
    return card(
        title("Learned structures, tested", _sizes(found)),
        table(_HEADINGS, rows[:_MOST_SYSTEMS], numbers=range(1, len(_HEADINGS))),
        quiet(
            f"{_asked(found)} CLL and AUC are over the test atoms of all folds, taken together, ± their "
            "standard errors."
        ),
        *(quiet(shortened(problem, 300)) for problem in found.problems[:_MOST_PROBLEMS]),
        scene_image(scene, _alternative(found)) if scene is not None else None,
        folded("predicate by predicate", *_by_predicate(found)) if rows else None,
        folded("is one better? paired t-tests over folds", _tests(found))
        if len(_finished(found)) > 1
        else None,
    )


def _alternative(found: StructureEvaluation) -> str:
    """Say what the picture shows, without names that come from data."""
    areas = ", ".join(f"{found.curve(name).area:.3f}" for name in _finished(found)[:MOST_NAMED])
    return f"Precision over recall of the systems in the table's order; areas under the curves: {areas}"


def _sizes(found: StructureEvaluation) -> str:
    finished = sum(result.finished for result in found.validated.results)
    number = len(found.systems) * len(found.folds)
    return (
        f"{count_of(len(found.systems), 'system')} on {count_of(len(found.folds), 'fold')},"
        f" {finished} of {number} finished"
    )


def _asked(found: StructureEvaluation) -> str:
    if found.testing.evidence == "all-other-atoms":
        return "Each atom is predicted given all other ground atoms."
    together = [" and ".join(group) for group in found.testing.groups if len(group) > 1]
    words = f", {'; '.join(together)} together" if together else ""
    how = "" if not found.testing.exact else ", exactly where a junction tree is small enough"
    return f"The atoms of each predicate are predicted given those of all others{words}{how}."


def _summary(found: StructureEvaluation) -> Iterator[tuple[str, ...]]:
    rows: Iterator[Any] = found.summary().itertuples()
    for row in rows:
        yield (
            shortened(str(row.system), _LONGEST), str(row.folds), _score(row.cll, row.cll_error),
            _score(row.auc, row.auc_error), _number(row.auc_by_predicate),
            "–" if isnan(row.learning_seconds) else f"{row.learning_seconds:.3g}",
        )  # fmt: skip


def _by_predicate(found: StructureEvaluation) -> Iterator[Element]:
    scene = predicates_scene(found)
    if scene is not None:
        yield scene_image(scene, "Precision over recall of each predicate; the areas are in the table below")
    yield _predicates_table(found)


def _predicates_table(found: StructureEvaluation) -> Element:
    frame = found.by_predicate().sort_values("predicate", key=_places(found), kind="stable")
    listed: Iterator[Any] = frame.head(_MOST_ROWS).itertuples()
    rows = (
        (
            shortened(str(row.predicate), _LONGEST), shortened(str(row.system), _LONGEST), f"{row.atoms:,}",
            f"{row.true:,}", _score(row.cll, row.cll_error), _score(row.auc, row.auc_error),
        )
        for row in listed
    )  # fmt: skip
    headings = ("predicate", "system", "atoms", "true", "CLL", "AUC")
    return bounded_table(headings, rows, len(frame), "rows", numbers=range(2, 6))


def _places(found: StructureEvaluation) -> Callable[[Any], Any]:
    """Return a key that puts rows of the same predicate beside each other, all atoms together last."""
    order = {name: place for place, name in enumerate(found.predicates)}
    return lambda names: names.map(lambda name: order.get(name, len(order)))


def _tests(found: StructureEvaluation) -> Element:
    listed: list[Any] = [*found.tests("cll").itertuples(), *found.tests("auc").itertuples()]
    rows = [
        (
            shortened(str(row.first), _LONGEST), shortened(str(row.second), _LONGEST), row.measure.upper(),
            _score(row.difference, row.error), str(row.folds), "–" if isnan(row.p) else f"{row.p:.3g}",
        )
        for row in listed
        if isnan(row.difference) or row.difference >= 0
    ]  # fmt: skip
    headings = ("better", "than", "by", "mean difference", "folds", "p, one-tailed")
    return bounded_table(headings, iter(rows[:_MOST_ROWS]), len(rows), "rows", numbers=(3, 4, 5))


def _score(value: float, error: float) -> str:
    return _number(value) + ("" if isnan(error) or isnan(value) else f" ± {error:.4f}")


def _number(value: float) -> str:
    return "–" if isnan(value) else f"{value:.4f}".replace("-inf", "−∞").replace("-", "−")


def structure_evaluation_text(found: StructureEvaluation) -> str:
    """Return an evaluation of learned structures as text."""
    lines = [f"  {name}: CLL {cll}, AUC {auc} ({folds} folds)"
             for name, folds, cll, auc, *_ in _summary(found)]  # fmt: skip
    problems = [f"  {shortened(problem, 300)}" for problem in found.problems[:_MOST_PROBLEMS]]
    return "\n".join([repr(found), *lines, *problems])
