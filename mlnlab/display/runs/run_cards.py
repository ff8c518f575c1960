"""Show runs in cells: before they start, while they run, one step of them; and results that are a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.cards import MOST_ROWS, Card, Table, table_of
from mlnlab.display.card.formula_markup import formula_markup
from mlnlab.display.card.markup import Element, count_of, element, shorten_text
from mlnlab.display.chart.axes import value_words

if TYPE_CHECKING:
    import pandas as pd

    from mlnlab.circuits.first_order.first_order_circuit import FirstOrderCircuit
    from mlnlab.counting.duckdb.duckdb_files import FactFiles
    from mlnlab.counting.incremental.incremental import IncrementalCounts
    from mlnlab.experiments.studies.count_spreads import Conditioning
    from mlnlab.inference.ask.choosing import InferencePlan
    from mlnlab.inference.ask.sampler import Sampler
    from mlnlab.inference.ask.solver import Solver
    from mlnlab.learning.ask.tuning import TunedRate
    from mlnlab.steps.runs.live import Live
    from mlnlab.steps.step import Step
    from mlnlab.structure.paths.find_paths import FindPaths

_MOST_SHOWN = 8  # numbers of an array
_LONGEST = 200
_LONGEST_CELL = 160

# --- a step ---------------------------------------------------------------------------------------


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
