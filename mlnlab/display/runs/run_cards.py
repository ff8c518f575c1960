"""Show runs in cells: before they start, while they run, recorded, compared; and results that are a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.cards import MOST_ROWS, Card, Table, table_of
from mlnlab.display.card.formula_markup import formula_markup
from mlnlab.display.card.markup import Element, count_of, element, shorten_text
from mlnlab.display.chart.axes import value_words
from mlnlab.display.chart.curves import (
    MOST_PLOTS,
    Chart,
    curve_plot,
    describe_choice,
    evenly,
    learning_curve_scene,
    left_out,
    value_cell,
)
from mlnlab.errors import MlnlabError
from mlnlab.steps.recordings.learning_curve import LearningCurve, Series
from mlnlab.steps.recordings.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

    from mlnlab.circuits.first_order import FirstOrderCircuit
    from mlnlab.counting.duckdb.duckdb_files import FactFiles
    from mlnlab.counting.incremental.incremental import IncrementalCounts
    from mlnlab.display.scene.items import Scene
    from mlnlab.experiments.studies.count_spreads import Conditioning
    from mlnlab.experiments.studies.counting_growth import CountingGrowth
    from mlnlab.inference.ask.choosing import InferencePlan
    from mlnlab.inference.ask.sampler import Sampler
    from mlnlab.inference.ask.solver import Solver
    from mlnlab.learning.ask.tuning import TunedRate
    from mlnlab.steps.recordings.comparison import Comparison
    from mlnlab.steps.runs.live import Live
    from mlnlab.steps.step import Step
    from mlnlab.structure.paths.find_paths import FindPaths

_MOST_SHOWN = 8  # numbers of an array
_LONGEST = 200

# --- a step ---------------------------------------------------------------------------------------
_LONGEST_CELL = 160
_MOST_STEPS = 20  # in the table
_LONGEST_NAME = 60
_MOST_COMPARED = 2_000  # pairs of states; more are compared by their metrics alone
_LONGEST_SENTENCE = 600

# --- one run --------------------------------------------------------------------------------------


def step_card(step: Step[Any]) -> Card:
    """Return the card of a step: its metrics, and the parts of its state."""
    parts = list(_parts(step.state))
    rows = ((shorten_text(name), part_in_words(value)) for name, value in parts)
    metrics = _metrics_table(step.state.metrics())
    return Card(
        f"Step {step.index:,}",
        f"after {step.seconds:.3g} s",
        table=metrics,
        remarks=() if metrics.rows else ("Its state has no metrics.",),
        folds=(
            (
                f"the state, a {shorten_text(type(step.state).__name__)}",
                table_of(("part", "value"), rows, len(parts), "parts"),
            ),
        ),
    )


def _metrics_table(metrics: Mapping[str, float]) -> Table:
    rows = ((shorten_text(name), value_words(float(value))) for name, value in metrics.items())
    return table_of(("metric", "value"), rows, len(metrics), "metrics", numbers=(1,))


def _parts(state: object) -> Iterator[tuple[str, object]]:
    """Yield the fields of a state; of a state that is not a dataclass, its attributes."""
    if is_dataclass(state):
        yield from ((field.name, getattr(state, field.name)) for field in fields(state))
    else:
        yield from vars(state).items() if hasattr(state, "__dict__") else ()


def part_in_words(value: object) -> str:
    """Describe a part of a state in one line: a number, or its type with its shape or size."""
    match value:
        case np.ndarray():
            shape = " x ".join(f"{length:,}" for length in value.shape) or "single"
            shown = ", ".join(_number(item) for item in value.ravel()[:_MOST_SHOWN].tolist())
            return shorten_text(
                f"{shape} {value.dtype}: {shown}{', …' * (value.size > _MOST_SHOWN)}", _LONGEST
            )
        case bool() | int() | float() | str() | None:
            return shorten_text(_number(value), _LONGEST)
        case tuple() | list() | frozenset() | set() | dict():
            return f"{count_of(len(value), 'item')} in a {type(value).__name__}"
        case _:
            return shorten_text(type(value).__name__, _LONGEST)


def _number(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)


# --- a run ----------------------------------------------------------------------------------------


def live_card(live: Live[Any]) -> Card:
    """Return the card of a run as it is at this moment."""
    last = live.last
    where = "no step yet" if last is None else f"at step {last.index:,}"
    return Card(
        "Live run",
        f"{phase_in_words(live)}, {where}",
        lead=(shorten_text(live.reason, 400),) if live.reason else (),
        table=None if last is None else _metrics_table(last.state.metrics()),
        remarks=() if live.ended else (_steering(live),),
    )


def phase_in_words(live: Live[Any]) -> str:
    """Return the phase of a run, in a word or two."""
    if live.ended:
        return "failed" if live.error is not None else "ended"
    return "running" if live.running else "paused" if live.paused else "not started"


def _steering(live: Live[Any]) -> Element:
    """Say which calls steer the run as it is now."""
    if live.running:
        calls = (".pause()", ".stop()", ".wait()")
    else:
        calls = (".resume()" if live.paused else ".start()", ".step(5)", ".stop()")
    return calls_in_words("steer it: ", *calls)


def calls_in_words(words: str, *calls: str) -> Element:
    """Return a quiet sentence that ends in calls to be typed."""
    shown: list[Element | str] = []
    for call in calls:
        shown += [" · "] * bool(shown) + [element("code", call)]
    return element("div", words, *shown, kind="quiet")


def settings_table(params: object) -> Table:
    """Return the settings of an algorithm as a table."""
    settings = list(_parts(params))
    rows = ((name, part_in_words(value)) for name, value in settings)
    return table_of(("setting", "value"), rows, len(settings), "settings")


# --- samplers and searches ------------------------------------------------------------------------


def sampler_card(sampler: Sampler) -> Card:
    """Return the card of a sampler: its problem, its settings, and ways to watch it."""
    return _source_card("sampler", "sampled", sampler, _question(sampler))


def solver_card(solver: Solver) -> Card:
    """Return the card of a search: its problem, its settings, and ways to watch it."""
    atoms = count_of(sum(len(choice.atoms) for choice in solver.question.choices), "open atom")
    choices = count_of(len(solver.question.choices), "choice")
    return _source_card("solver", "searched", solver, f"{atoms} in {choices}")


def _source_card(word: str, done: str, source: Sampler | Solver, question: str) -> Card:
    ways = (f"next(iter({word}))", f"ml.Trace.of({word})", f"ml.stepper({word})", f"ml.live({word})")
    return Card(
        f"{word.capitalize()} {source.method.name}",
        question,
        table=settings_table(source.params),
        remarks=(
            calls_in_words(f"Nothing has been {done} yet. Go step by step: ", *ways),
            f"Needs: {source.method.needs}. From: {source.method.citation}.",
        ),
    )


def _question(sampler: Sampler) -> str:
    question = sampler.question
    atoms = sum(len(choice.atoms) for choice in question.choices)
    asked = count_of(len(question.query_atoms), "atom")
    formulas = f" and {count_of(len(question.query_formulas), 'formula')}" if question.query_formulas else ""
    return f"{count_of(atoms, 'open atom')}; asked: {asked}{formulas}"


# --- results that are a table ---------------------------------------------------------------------


def frame_table(frame: pd.DataFrame, things: str) -> Table:
    """Return a data frame as a table; its index is left out."""
    rows = (tuple(map(_cell, row)) for row in frame.head(MOST_ROWS).itertuples(index=False, name=None))
    numbers = [place for place, kind in enumerate(frame.dtypes) if kind.kind in "if"]
    headings = [str(name).replace("_", " ") for name in frame.columns]
    return table_of(headings, rows, len(frame), things, numbers=numbers, where="to_frame() has them all")


def _cell(value: Any) -> str:  # noqa: ANN401 - a cell of a frame
    return value_words(value) if isinstance(value, float) else shorten_text(str(value), _LONGEST_CELL)


def plan_card(plan: InferencePlan) -> Card:
    """Return the card of the method that would answer a question."""
    return Card(f"Inference by {plan.method}", f"about {plan.cost}", lead=(f"Because {plan.why}.",))


def tuned_rate_card(tuned: TunedRate) -> Card:
    """Return the card of the learning rates that were tried."""
    facts = repr(tuned).partition(" of ")[2].rstrip(">")
    ways = calls_in_words("Learn from all data with it: ", ".learn()")
    return Card("Learning rate", facts, table=frame_table(tuned.to_frame(), "rates"), remarks=(ways,))


def conditioning_card(found: Conditioning) -> Card:
    """Return the card of the variances of the counts."""
    facts = f"condition number {found.number:,.4g}, {count_of(len(found.formulas), 'formula')}"
    decided = f"Evidence decides all groundings of {found.constant:,}." if found.constant else ""
    table = frame_table(found.to_frame(), "formulas")
    return Card("Variances of the counts", facts, table=table, remarks=(decided,))


def counting_growth_card(growth: CountingGrowth) -> Card:
    """Return the card of measured seconds of counting, a row for each question."""
    table = frame_table(growth.to_frame(), "questions")
    return Card("Seconds of counting", table=table, remarks=("ml.plot(...) draws them.",))


def fact_files_card(files: FactFiles) -> Card:
    """Return the card of true atoms that stay in files."""
    rows = (
        (shorten_text(name), shorten_text(str(path), _LONGEST_CELL)) for name, path in files.files.items()
    )
    table = table_of(("predicate", "file"), rows, len(files.files), "files")
    return Card("Facts in files", repr(files).partition(": ")[2].rstrip(">"), table=table)


def incremental_counts_card(counts: IncrementalCounts) -> Card:
    """Return the card of counts that follow a changing world: those of its first chain."""
    chains = f" in {counts.chains:,} chains, of which the first is shown" if counts.chains > 1 else ""
    rows = (
        (str(place), formula_markup(formula), f"{int(number):,}")
        for place, (formula, number) in enumerate(zip(counts.formulas, counts.numbers, strict=False))
    )
    total = len(counts.formulas)
    table = table_of(("", "formula", "true"), rows, total, "formulas", numbers=(0, 2))
    return Card("Counts of a changing world", f"{count_of(total, 'formula')}{chains}", table=table)


def first_order_circuit_card(circuit: FirstOrderCircuit) -> Card:
    """Return the card of a circuit apart from its model."""
    order = circuit.nesting()
    cost = f"about n^{order} terms for domains of n" if order else "no sum over sizes"
    rows = ((str(n), type(one.body).__name__) for n, one in enumerate(circuit.definitions))
    number = len(circuit.definitions)
    table = table_of(("", "definition"), rows, number, "definitions", numbers=(0,))
    return Card("First-order circuit", f"{count_of(number, 'definition')}, {cost}", table=table)


def find_paths_card(search: FindPaths) -> Card:
    """Return the card of a search for paths that has not begun."""
    ways = calls_in_words("No path has been looked for yet: ", ".steps()", "ml.stepper(...)")
    graph = repr(search.graph).strip("<>").partition(": ")[2]
    return Card("FindPaths", f"up to {count_of(search.longest, 'hyperedge')} of {graph}", lead=(ways,))


# --- recordings -----------------------------------------------------------------------------------


def trace_chart(trace: Trace[Any]) -> Chart:
    """Return the metrics of a recorded run, each over its own axis."""
    curve = LearningCurve.from_trace(trace)
    plots = tuple(curve_plot(curve, (series,), series.name) for series in curve.series[:MOST_PLOTS])
    return Chart(f"Recorded run of {trace.recorded:,} steps", plots)


def trace_scene(trace: Trace[Any]) -> Scene | None:
    """Return the curves of a recording's metrics; none where it has no numbers."""
    curve = LearningCurve.from_trace(trace)
    return learning_curve_scene(curve) if _has_values(curve) else None


def _has_values(curve: LearningCurve) -> bool:
    return any(np.isfinite(series.values).any() for series in curve.series)


def trace_card(trace: Trace[Any]) -> Card:
    """Return the card of a recording."""
    curve = LearningCurve.from_trace(trace)
    scene = learning_curve_scene(curve) if _has_values(curve) else None
    known = len(trace.metrics())
    return Card(
        "Recorded run",
        _sizes(trace, curve),
        picture=scene,
        alternative=f"Curves of {count_of(len(curve), 'metric')} over {count_of(trace.recorded, 'step')}.",
        undrawn="Its states have no metrics to draw." if len(trace) else "Nothing has been recorded yet.",
        table=_steps_table(trace, curve) if len(trace) else None,
        remarks=(*_remarks(trace, curve, scene), describe_choice(min(_MOST_STEPS, known), known)),
    )


def _sizes(trace: Trace[Any], curve: LearningCurve) -> str:
    watched = len(set(trace.watches) & set(curve.names))
    metrics = count_of(len(curve) - watched, "metric")
    watches = f", {count_of(watched, 'watch', 'watches')}" if watched else ""
    return f"{count_of(trace.recorded, 'step')}, {metrics}{watches}"


def _remarks(trace: Trace[Any], curve: LearningCurve, scene: Scene | None) -> list[str]:
    """List the dropped states, and the parts that are not drawn."""
    found = [] if scene is None else left_out(curve, scene)
    if len(trace) < trace.recorded:
        found.append(
            f"To stay in its memory it kept {len(trace):,} of {trace.recorded:,} states, evenly over the run;"
            f" metrics are known of {count_of(len(trace.metrics()), 'step')}."
        )
    return found


def _steps_table(trace: Trace[Any], curve: LearningCurve) -> Table:
    """Return the first, the last and evenly chosen steps with their numbers."""
    found = trace.metrics()
    places = evenly(len(found), _MOST_STEPS)
    names = curve.names[:MOST_PLOTS]
    rows = (
        (
            f"{found.indices[place]:,}",
            f"{found.seconds[place]:.3g}",
            *(value_cell(found.columns[name][place]) for name in names),
        )
        for place in places.tolist()
    )
    watched = set(trace.watches)
    headings = (*(shorten_text(name, _LONGEST_NAME) + " (watched)" * (name in watched) for name in names),)
    headings = ("step", "seconds", *headings)
    name = "some of its steps"
    return table_of(headings, rows, len(places), "steps", numbers=range(len(headings)), name=name)


# --- two runs -------------------------------------------------------------------------------------


def comparison_chart(comparison: Comparison) -> Chart:
    """Return the metrics that two runs have in common, each over its own axis."""
    curves = shared_curves(comparison)[:MOST_PLOTS]
    plots = tuple(curve_plot(curve, curve.series, curve.measure) for curve in curves)
    return Chart("Two runs", plots, f"{count_of(len(plots), 'metric')} of two runs.")


def comparison_scene(comparison: Comparison) -> Scene | None:
    """Return the metrics that two runs have in common as curves over each other."""
    return comparison_chart(comparison).scene()


def shared_curves(comparison: Comparison) -> list[LearningCurve]:
    """Return a curve for each metric that two runs have in common."""
    left, right = comparison.left.metrics(), comparison.right.metrics()
    found = []
    for name in left.columns:
        if name in right.columns:
            series = (
                Series("left", left.indices.astype(np.float64), left[name], left.seconds),
                Series("right", right.indices.astype(np.float64), right[name], right.seconds),
            )
            curve = LearningCurve(series, name)
            found += [curve] if _has_values(curve) else []
    return found


def comparison_card(comparison: Comparison) -> Card:
    """Return the card of two runs side by side."""
    return Card(
        "Two runs side by side",
        count_of(len(comparison), "pair of steps", "pairs of steps"),
        lead=(where_they_part(comparison), _alone(comparison)),
        picture=comparison_scene(comparison),
        alternative="Curves of two runs over each other; the table has their largest differences.",
        undrawn="They have no metric in common to draw.",
        table=_differences_table(comparison) if len(comparison) else None,
    )


def where_they_part(comparison: Comparison) -> str:
    """Say in one sentence where two runs part."""
    if not len(comparison):
        return "No step of one run belongs to a step of the other."
    exact = len(comparison) <= _MOST_COMPARED
    try:
        parted = comparison.first_divergence(tolerance=None if exact else 0.0)
    except MlnlabError as problem:
        return shorten_text(str(problem), _LONGEST_SENTENCE)
    if parted is not None:
        return shorten_text(str(parted), _LONGEST_SENTENCE)
    compared = "" if exact else " in their metrics; their states were not compared, because they are many"
    return f"The runs do not diverge: all {len(comparison):,} pairs of steps are the same{compared}."


def _alone(comparison: Comparison) -> str:
    sides = ((comparison.only_left, "left"), (comparison.only_right, "right"))
    parts = [f"{count_of(len(steps), 'step')} only {side}" for steps, side in sides if steps]
    return f"Without a partner: {' and '.join(parts)}." if parts else ""


def _differences_table(comparison: Comparison) -> Table:
    largest = comparison.largest_differences()
    rows = ((shorten_text(name, _LONGEST_NAME), value_cell(value)) for name, value in largest.items())
    return table_of(
        ("metric", "largest difference"), rows, len(largest), "metrics", numbers=(1,),
        where="to_frame() has all steps", name="largest differences",
    )  # fmt: skip
