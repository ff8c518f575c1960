"""Estimate atoms that were asked for but never true in lazy sampling: each held in 0 of n samples."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import nan, prod
from typing import TYPE_CHECKING

from mlnlab.errors import TooLargeError
from mlnlab.grounding.question.question import MOST_OPEN_ATOMS
from mlnlab.inference.answers.marginals import Estimate
from mlnlab.logic.formulas.ground_atoms import GroundAtom

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from mlnlab.grounding.lazy.decided_atoms import DecidedAtoms
    from mlnlab.logic.vocabulary import Vocabulary

CERTAINLY_FALSE = Estimate(0.0, 0.0, nan, nan)


@dataclass(frozen=True, slots=True, eq=False)
class UnseenAtoms:
    """The atoms of some predicates, all of which were asked for; of other predicates nothing is known.

    ``decided`` knows the predicates whose open atoms are never listed; of the others all that are open
    have estimates of their own, so that an unseen one is false by evidence.
    """

    predicates: tuple[str, ...]
    decided: DecidedAtoms
    estimate: Estimate  # of an open atom that was true in no sample

    def is_open(self, atom: GroundAtom) -> bool:
        """Return whether an atom is one of those that are never listed, and evidence leaves it open."""
        return atom.predicate in self.decided.keys and atom not in self.decided

    def estimate_of(self, atom: GroundAtom) -> Estimate | None:
        """Return the estimate of an atom that is not listed; ``None`` where it was not asked for."""
        if atom.predicate not in self.predicates:
            return None
        return self.estimate if self.is_open(atom) else CERTAINLY_FALSE

    def list_atoms(self, besides: Container[GroundAtom]) -> Iterator[GroundAtom]:
        """Yield these atoms one by one, those that are listed already left out."""
        vocabulary = self.decided.vocabulary
        refuse_many(vocabulary, self.predicates)
        for name in self.predicates:
            for arguments in product(*map(vocabulary.domain, vocabulary[name].types)):
                atom = GroundAtom(name, arguments)
                if atom not in besides:
                    yield atom


def refuse_many(vocabulary: Vocabulary, predicates: tuple[str, ...]) -> None:
    """Refuse to look at all atoms of some predicates where they are too many to do so one by one."""
    for name in predicates:
        number = prod(len(vocabulary.domain(type_)) for type_ in vocabulary[name].types)
        if number > MOST_OPEN_ATOMS:
            raise TooLargeError(
                f"{name} has {number:,} ground atoms; each would have to be judged, the false ones that no"
                f" sample made true included, and the limit is {MOST_OPEN_ATOMS:,}.", number,
                ["use fewer constants", "judge an answer on single atoms: ml.evaluate(answer, truth)"],
            )  # fmt: skip
