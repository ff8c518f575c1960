"""A conflict is told as minimal only after it was ground anew, alone, and judged without any selectors.

All parts together must have no world; all but any one of them must have one.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from mlnlab.errors import TooLargeError
from mlnlab.grounding.clause_making import ground_clauses
from mlnlab.grounding.question import Choice, Question
from mlnlab.inference.refutation import is_impossible
from mlnlab.logic.formulas import Not
from mlnlab.logic.weights import Hard, WeightedFormula

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from mlnlab.logic.formulas import Formula
    from mlnlab.logic.ground_atoms import GroundAtom
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.mln import MLN


def fact(atom: GroundAtom, value: bool, vocabulary: Vocabulary) -> Formula:
    """Return what a fact says as a formula."""
    said = atom.atom(vocabulary[atom.predicate].types)
    return said if value else Not(said)


def contradict(
    claims: Sequence[Formula | Choice], atoms: Collection[GroundAtom], mln: MLN, until: float
) -> bool | None:
    """Return whether claims about some atoms contradict each other; ``None`` where a moment passes first."""
    blocks = [claim for claim in claims if isinstance(claim, Choice)]
    bound = {atom for block in blocks for atom in block.atoms}
    free = [Choice((atom,), may_be_none=True) for atom in atoms if atom not in bound]
    formulas = [WeightedFormula(claim, Hard()) for claim in claims if not isinstance(claim, Choice)]
    model = replace(mln, formulas=tuple(formulas))
    if time.monotonic() > until:
        return None
    try:
        clauses = ground_clauses(Question(model, frozenset(), (*blocks, *free), (), (), (), ()))
    except TooLargeError:
        return None
    return is_impossible(clauses, until)


def is_minimal(
    claims: Sequence[Formula | Choice], atoms: Collection[GroundAtom], mln: MLN, until: float
) -> bool | None:
    """Return whether none of the claims can be left out; ``None`` where that took too long."""
    for left_out in range(len(claims)):
        answer = contradict([*claims[:left_out], *claims[left_out + 1 :]], atoms, mln, until)
        if answer is not False:
            return None if answer is None else False
    return True
