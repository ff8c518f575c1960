"""Lifting that nobody asked for by name: tried within a budget of work, so that a trial takes a moment.

A circuit is compiled up to some clauses, and cells up to some kinds of elements; of the sums of cells, whose
terms are mostly dropped, bounds tell how many are left, and none is added. Budgets count work, not seconds,
so that the same question is answered by the same method on every machine.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.circuits.first_order.evaluation_cost import count_needed_values, predicted_numbers
from mlnlab.errors import MlnlabError, count_of
from mlnlab.lifted.ask.cell_theory import CellTheory, cell_theory
from mlnlab.lifted.ask.lift import Lift, LiftedCircuit, lift
from mlnlab.steps import budget
from mlnlab.steps.runs.working import observers_of_work

if TYPE_CHECKING:
    from mlnlab.lifted.theory.evidence import Evidence
    from mlnlab.model.mln.mln import MLN


class Trial(NamedTuple):
    """A lifted model, the seconds and bytes that answering by it takes, and its size in words."""

    compiled: LiftedCircuit | CellTheory
    seconds: float
    memory: float

    @property
    def text(self) -> str:
        """The lifted model's size, in words."""
        if isinstance(self.compiled, LiftedCircuit):
            return f"{count_of(len(self.compiled.circuit), 'definition')} stand for all constants"
        return f"{count_of(self.compiled.compiled.cells, 'kind of element')} stand for all constants"


def lifted_within_budget(mln: MLN, known: Evidence | None = None) -> Lift:
    """Lift a model within a moment's work, ready to compile; refuse one that no rule lifts."""
    return lift(
        mln, known, limit=budget.MOST_TRIED_DEFINITIONS, recursions=0, work=float(budget.MOST_TRIED_CLAUSES)
    )


def trial_of(mln: MLN, known: Evidence | None = None, *, by_cells: bool = True) -> Trial | None:
    """Return a circuit or cells, whichever answers faster at the model's sizes; nothing if neither does."""
    if len(mln.formulas) > budget.MOST_TRIED_FORMULAS:
        return None
    try:
        lifted = lifted_within_budget(mln, known)
    except MlnlabError:
        return None
    found = _circuit(lifted)
    if by_cells and (found is None or found.seconds > budget.SOON_LIFTED):
        trials = [one for one in (found, _cells(lifted)) if one is not None]
        found = min(trials, key=lambda one: one.seconds, default=None)
    return found


def _circuit(lifted: Lift) -> Trial | None:
    try:
        # Part of a larger work that says how far it is, or silent.
        circuit = lifted.compile(progress=None if observers_of_work() else False)
        sizes = circuit.subdomain_sizes(None)
    except MlnlabError:
        return None
    if not circuit.circuit.recursive():
        numbers = predicted_numbers(circuit.circuit, sizes)
    else:
        numbers = count_needed_values(circuit.circuit, sizes, budget.MOST_TRIED_BALLS)
        if numbers > budget.MOST_TRIED_BALLS:
            return None
    if circuit.by_floats:
        each, most = budget.LIFTING.number, budget.MOST_LIFTED_NUMBERS
    else:
        each, most = (
            budget.LIFTING.ball * (budget.TALLIED if circuit.weighted.tallies else 1.0),
            budget.MOST_LIFTED_NUMBERS / 10,
        )
    if numbers > most:
        return None
    seconds = len(circuit.circuit) * budget.LIFTING.definition + numbers * each
    return Trial(circuit, seconds, float(numbers * budget.LIFTED_NUMBER))


def _cells(lifted: Lift) -> Trial | None:
    """Return cells whose sums have few terms, as far as bounds tell within a budget of work."""
    own, alone = lifted.weighted.mln.vocabulary.predicates, Counter[tuple[str, int]]()
    for symbol in lifted.weighted.shattered.symbols:
        if symbol.predicate in own and len(symbol.variables) == 1:
            alone[symbol.variables[0], symbol.group(0)] += 1
    if max(alone.values(), default=0) > budget.MOST_TRIED_SYMBOLS:
        return None
    try:
        cells = cell_theory(lifted.weighted)
        if not cells.in_floats:
            terms = cells.terms()
            seconds = terms * budget.LIFTING.signed_term
        else:
            work = cells.work(budget.FEW_PRODUCTS, budget.MOST_BOUNDING)
            seconds, terms = work * budget.LIFTING.product, 0
    except MlnlabError:
        return None
    if terms > budget.MOST_TRIED_TERMS or seconds > budget.MOST_TRIED_PRODUCTS * budget.LIFTING.product:
        return None
    return Trial(cells, budget.LIFTING.cells + seconds, float(terms * budget.LIFTED_NUMBER))
