"""Show results that are a sentence and a table of numbers, and searches that have not begun."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.formula_markup import formula_markup
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.static_tables import MOST_ROWS
from mlnlab.display.chart.axes import value_words
from mlnlab.display.runs.run_cards import calls_in_words

if TYPE_CHECKING:
    import pandas as pd

    from mlnlab.circuits.first_order import FirstOrderCircuit
    from mlnlab.counting.duckdb.duckdb_files import FactFiles
    from mlnlab.counting.incremental.incremental import IncrementalCounts
    from mlnlab.experiments.studies.count_spreads import Conditioning
    from mlnlab.experiments.studies.counting_growth import CountingGrowth
    from mlnlab.inference.ask.choosing import InferencePlan
    from mlnlab.learning.ask.tuning import TunedRate
    from mlnlab.structure.paths.find_paths import FindPaths

_LONGEST = 160


def frame_table(frame: pd.DataFrame, things: str) -> Table:
    """Return a data frame as a table; its index is left out."""
    rows = (tuple(map(_cell, row)) for row in frame.head(MOST_ROWS).itertuples(index=False, name=None))
    numbers = [place for place, kind in enumerate(frame.dtypes) if kind.kind in "if"]
    headings = [str(name).replace("_", " ") for name in frame.columns]
    return table_of(headings, rows, len(frame), things, numbers=numbers, where="to_frame() has them all")


def _cell(value: Any) -> str:  # noqa: ANN401 - a cell of a frame
    return value_words(value) if isinstance(value, float) else shorten_text(str(value), _LONGEST)


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
    rows = ((shorten_text(name), shorten_text(str(path), _LONGEST)) for name, path in files.files.items())
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
