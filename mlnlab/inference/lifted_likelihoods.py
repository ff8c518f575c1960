"""The likelihood of a database by lifted inference: no atom is listed, only true groundings are counted."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from mlnlab.counting.counts import count
from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.inference.lifted_counts import cheaply_lifted
from mlnlab.lifted.cell_factors import TooManyVariablesError
from mlnlab.lifted.cell_likelihood import cell_likelihood
from mlnlab.lifted.cell_theory import cell_theory
from mlnlab.lifted.lift import lift
from mlnlab.lifted.lifted_likelihood import lifted_likelihood, refuse_closed_facts
from mlnlab.logic.weights import Hard
from mlnlab.model.world import World

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.lifted.lift import LiftedCircuit
    from mlnlab.model.database import Database
    from mlnlab.model.mln import MLN

LIFTED = "lifted"
MOST_SECONDS = 100.0  # of a sum over cells, where a circuit has too many sums


def circuit_for(
    expanded: MLN, db: Database, query: Sequence[str] | str | None, method: str, limit: int
) -> LiftedCircuit | None:
    """Return the circuit where lifting was asked for, or where it takes but a moment."""
    model = replace(expanded, semantics="textbook")  # marks and clauses are written out by now
    predicates = expanded.vocabulary.predicates
    if method == LIFTED:
        if query is not None:
            raise ArgumentError(
                "What is given tells constants apart, so that a conditional likelihood cannot be lifted:"
                " leave query= out for the likelihood of all atoms."
            )
        refuse_closed_facts(expanded, db)
        return lift(model).compile()
    if method != "auto" or query is not None or any(one.closed for one in predicates.values()):
        return None
    atoms = sum(db.number_of_atoms(name) for name in predicates)
    return cheaply_lifted(model) if atoms > limit.bit_length() else None


def lifted_log_likelihood(circuit: LiftedCircuit, expanded: MLN, db: Database) -> float:
    """Return log P(db), minus infinity where it breaks a hard formula or a block."""
    counts = count(expanded, db)
    hard = [isinstance(one.weight, Hard) for one in expanded.formulas]
    if any(broken for broken, is_hard in zip(counts.false, hard, strict=True) if is_hard):
        return -inf
    if any(one.exclusive for one in expanded.vocabulary.predicates.values()):
        world = World(expanded.vocabulary, frozenset(db.atoms()))
        if not world.respects_blocks():
            return -inf
    weights = [0.0 if value is None else value for value in circuit.mln.weights]
    found = lifted_likelihood(circuit, expanded.vocabulary, counts)
    try:
        return found.value(weights)
    except TooLargeError as problem:
        try:  # the terms of a sum over cells that matter may be few
            cells = cell_theory(circuit.weighted)
            return cell_likelihood(cells, found.sizes, counts.numbers, MOST_SECONDS).value(weights)
        except (TooLargeError, TooManyVariablesError):
            raise problem from None
