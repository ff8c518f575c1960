"""log Z of a model by lifted inference, where nothing has to be grounded for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.errors import MlnlabError
from mlnlab.lifted.lift import lift

if TYPE_CHECKING:
    from mlnlab.lifted.cell_theory import CellTheory
    from mlnlab.lifted.lift import LiftedCircuit
    from mlnlab.model.mln import MLN

# What is tried without being asked for: a compilation of a moment, and sums of a moment.
MOST_FORMULAS, MOST_DEFINITIONS, MOST_TERMS, MOST_SIGNED_TERMS = 60, 300, 10_000_000, 300
MOST_CELLS = 100_000_000  # terms, most of which are dropped; where signs cancel none can be


def cheaply_counted(mln: MLN) -> LiftedCircuit | CellTheory | None:
    """Return what tells log Z of a model whose domains have sizes; nothing where that might take long."""
    circuit = cheaply_lifted(mln)
    if circuit is not None or len(mln.formulas) > MOST_FORMULAS:
        return circuit
    try:
        cells = lift(mln).compile(method="cells")
        terms = cells.terms()
    except MlnlabError:
        return None
    return None if cells.is_signed or terms > MOST_CELLS else cells


def cheaply_lifted(mln: MLN) -> LiftedCircuit | None:
    """Return the circuit of a model whose domains have sizes; nothing where that might take long."""
    if len(mln.formulas) > MOST_FORMULAS:
        return None
    try:
        circuit = lift(mln, limit=MOST_DEFINITIONS, recursions=0).compile()
    except MlnlabError:
        return None
    return circuit if takes_a_moment(circuit) else None


def takes_a_moment(circuit: LiftedCircuit) -> bool:
    """Return whether the sums of a circuit are short for the model's domains."""
    largest = max((len(domain) for domain in circuit.mln.vocabulary.types.values()), default=0)
    most = MOST_SIGNED_TERMS if circuit.is_signed else MOST_TERMS
    return bool((largest + 1) ** max(circuit.circuit.nesting(), circuit.is_signed) <= most)
