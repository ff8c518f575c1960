"""Pair atoms whose probability was computed with their truth in a database, for every measure to use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.inference.answers.marginals import Marginals
from mlnlab.model.database.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.logic.formulas.ground_atoms import GroundAtom


@dataclass(frozen=True, slots=True, eq=False)
class JudgedAtoms:
    """Atoms, the probability that each was given, and whether it is true."""

    atoms: tuple[GroundAtom, ...]
    probabilities: NDArray[np.float64]
    truths: NDArray[np.bool_]
    samples: NDArray[np.float64]  # how many each probability was estimated from; infinity where it is exact
    left_out: int = 0  # queries that evidence decides, that are no atoms, or whose truth is not known

    def __len__(self) -> int:
        return len(self.atoms)

    def of(self, predicates: Iterable[str]) -> JudgedAtoms:
        """Return the atoms of some predicates."""
        wanted = frozenset(predicates)
        return self.where([atom.predicate in wanted for atom in self.atoms])

    def where(self, marks: Sequence[bool]) -> JudgedAtoms:
        """Return those of the atoms, in their order, that are marked."""
        places = [place for place, marked in enumerate(marks) if marked]
        kept = tuple(self.atoms[place] for place in places)
        return JudgedAtoms(kept, self.probabilities[places], self.truths[places], self.samples[places])

    @property
    def predicates(self) -> tuple[str, ...]:
        """The predicates of the atoms, in the order in which they come."""
        return tuple(dict.fromkeys(atom.predicate for atom in self.atoms))


@dataclass(frozen=True, slots=True, eq=False)
class AtomProbabilities:
    """Ground atoms and their probabilities, as models give them that are asked without sampling."""

    atoms: tuple[GroundAtom, ...]
    probabilities: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.atoms)

    def judge_atoms(self, truth: Database) -> JudgedAtoms:
        """Pair the atoms with their truth in a database; atoms that it does not list are false."""
        true = set(truth.atoms())
        undecided = set(truth.atoms("unknown")) | {atom for atom, _ in truth.soft_evidence()}
        found = JudgedAtoms(
            self.atoms,
            self.probabilities,
            np.array([atom in true for atom in self.atoms], bool),
            np.full(len(self.atoms), np.inf),
        )
        if not undecided:
            return found
        return found.where([atom not in undecided for atom in self.atoms])


def judge_marginals(marginals: Marginals, truth: Database) -> JudgedAtoms:
    """Return the queried atoms whose truth a database tells; atoms that it does not list are false.

    Left out are facts of the evidence, formulas, atoms that the database marks as unknown or gives a
    probability, and those whose constants it does not know.
    """
    _check(marginals, truth)
    asked = tuple(_list_asked_atoms(marginals))
    found = list(_list_known_atoms(asked, marginals, truth))
    not_listed = len(asked) - len(marginals.question.query_atoms)
    true = set(truth.atoms())
    samples = float(marginals.number_of_worlds) if marginals.estimates else np.inf
    return JudgedAtoms(
        tuple(found),
        np.array([marginals.probabilities.get(str(atom), 0.0) for atom in found], np.float64),
        np.array([atom in true for atom in found], bool),
        np.full(len(found), samples),
        len(marginals) + not_listed - len(found),
    )


def join_judgements(parts: Iterable[JudgedAtoms]) -> JudgedAtoms:
    """Return the atoms of several answers as one."""
    every = list(parts)
    return JudgedAtoms(
        tuple(atom for part in every for atom in part.atoms),
        np.concatenate([part.probabilities for part in every]),
        np.concatenate([part.truths for part in every]),
        np.concatenate([part.samples for part in every]),
        sum(part.left_out for part in every),
    )


def _check(marginals: object, truth: object) -> None:
    if not isinstance(marginals, Marginals):
        raise ArgumentError(
            f"Probabilities from ml.infer(...) are compared with a truth, not {marginals!r:.60}."
        )
    if not isinstance(truth, Database):
        raise ArgumentError(
            f"The truth is a database, from ml.Database.from_text or ml.load_db, not {truth!r:.60}."
        )


def _list_asked_atoms(marginals: Marginals) -> Iterator[GroundAtom]:
    """Yield the atoms that were asked for, those included that a sampler does not list: true in no sample."""
    listed = dict.fromkeys(marginals.question.query_atoms)
    yield from listed
    if marginals.unseen is not None:
        yield from marginals.unseen.list_atoms(besides=listed)


def _list_known_atoms(
    asked: Iterable[GroundAtom], marginals: Marginals, truth: Database
) -> Iterator[GroundAtom]:
    unseen = marginals.unseen
    unknown = {atom for choice in marginals.question.choices for atom in choice.atoms}
    undecided = set(truth.atoms("unknown")) | {atom for atom, _ in truth.soft_evidence()}
    vocabulary = truth.vocabulary
    domains = {
        name: [frozenset(vocabulary.domain(type_)) for type_ in predicate.types]
        for name, predicate in vocabulary.predicates.items()
    }
    for atom in asked:
        known = domains.get(atom.predicate)
        is_open = atom in unknown or (unseen is not None and unseen.is_open(atom))
        if not is_open or atom in undecided or known is None:
            continue
        if all(constant in domain for constant, domain in zip(atom.arguments, known, strict=True)):
            yield atom
