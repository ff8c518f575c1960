r"""Δn of a clause for all sampled atoms: products of looked-up numbers, few whatever its signs.

A clause is violated where the conjunction C of its negated literals is true: atoms that must be true, atoms
that must be false, variables that must differ. Let p of the occurrences U of the predicate be of the first
kind and m of the second, and G_U(a) be how many groundings make the rest of C true where U are the ground
atom a. By inclusion-exclusion over the occurrences, those outside U being free to be a as well,

    Δn_false(a) = sum over non-empty U of c_U G_U(a),   c_U = (-1)^m where a is false, (-1)^(p + 1) where true

since the groundings at which just U are a change by 1 if m = 0, by -1 if p = 0, and not at all else. With
m = 0 this is what :mod:`mlnlab.structure.clauses.dense_deltas` says. G_U falls apart into rooted sets
(:mod:`mlnlab.structure.clauses.rooted_counts`); where their tables were too large, plans of counts answer.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.structure.clauses.dense_deltas import MOST_GROUNDINGS, LookUp, unify_atoms
from mlnlab.structure.clauses.listed_atoms import ListedAtoms
from mlnlab.structure.clauses.rooted_counts import (
    DIFFERS,
    NEGATED,
    RootedCounts,
    TablesTooLarge,
    group_linked_atoms,
    root_atoms,
)
from mlnlab.structure.clauses.whole_model import deltas_of_clause
from mlnlab.structure.paths.variabilized import EQUALS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.structure.clauses.clause_making import ClauseKey
    from mlnlab.structure.clauses.clause_scores import SampledData
    from mlnlab.structure.clauses.rooted_counts import Row
    from mlnlab.structure.clauses.whole_model import AnyClause

    Numbers = NDArray[np.float64]

_MOST_KEPT = 20_000  # clauses whose terms are kept


class SignedTerm(NamedTuple):
    """The term of G_U: its sign for false and for true atoms, its factors, and arguments that are equal."""

    when_false: float
    when_true: float
    factors: tuple[LookUp, ...]
    equal: tuple[tuple[int, int], ...]


class ClauseChanges:
    """Counts Δn of clauses for the sampled atoms of all databases, those of a predicate behind each other."""

    def __init__(self, data: SampledData) -> None:
        """Begin with nothing counted."""
        self._data = data
        self.counts = RootedCounts(data.facts)
        self.vocabulary = self.counts.vocabulary
        self.listed = {name: ListedAtoms.of(self.counts, name, data.samples) for name in data.predicates}
        self._terms: OrderedDict[ClauseKey, dict[str, tuple[SignedTerm, ...]]] = OrderedDict()

    def of(self, clause: ClauseKey) -> Mapping[str, NDArray[np.generic]]:
        """Return the change of a clause's true groundings with each atom, by predicate."""
        types = clause.path.types(self.vocabulary)
        sizes = np.array([self.counts.sizes[type_] for type_ in types]).reshape(len(types), -1)
        if np.prod(sizes, axis=0, dtype=np.float64).max() * 2.0 ** len(clause.path.atoms) >= MOST_GROUNDINGS:
            return self._count_by_plans(clause)
        try:
            terms = self._terms_of(clause)
            return {name: self._sum(self.listed[name], own) for name, own in terms.items()}
        except TablesTooLarge:
            return self._count_by_plans(clause)

    def _terms_of(self, clause: ClauseKey) -> dict[str, tuple[SignedTerm, ...]]:
        found = self._terms.get(clause)
        if found is None:
            rows = violated_rows(clause, self.vocabulary)
            found = {name: tuple(signed_terms(rows, name)) for name in self._names(clause)}
            self._terms[clause] = found
            if len(self._terms) > _MOST_KEPT:
                self._terms.popitem(last=False)
        return found

    def _sum(self, atoms: ListedAtoms, terms: Sequence[SignedTerm]) -> Numbers:
        found = np.zeros(len(atoms.rows))
        for term in terms:
            value: Numbers | None = None
            for counted, arguments in term.factors:
                own = self.counts.of(counted)[atoms.places(arguments)]
                value = own if value is None else value * own
            for one, other in term.equal:
                same = (atoms.rows[:, one] == atoms.rows[:, other]).astype(np.float64)
                value = same if value is None else value * same
            if value is None:
                value = np.ones(len(atoms.rows))
            if term.when_false == term.when_true:
                found -= term.when_false * value
            else:
                found -= np.where(atoms.truths, term.when_true, term.when_false) * value
        return found

    def _count_by_plans(self, clause: AnyClause) -> dict[str, NDArray[np.generic]]:
        data = self._data
        own = [deltas_of_clause(counter, clause.path, clause.positive) for counter in data.counters]
        return {
            name: np.concatenate([
                deltas[name].at(sample[name].rows, sample[name].truths)[:, 0]
                for deltas, sample in zip(own, data.samples, strict=True)
            ])
            for name in self._names(clause)
        }  # fmt: skip

    def _names(self, clause: AnyClause) -> tuple[str, ...]:
        """Return the predicates of a clause whose atoms are scored."""
        names = dict.fromkeys(atom.predicate for atom in clause.path.atoms)
        return tuple(name for name in names if name in self.listed)


def violated_rows(clause: ClauseKey, vocabulary: Vocabulary) -> tuple[Row, ...]:
    """Return the conditions on its variables under which a clause is violated.

    >>> import mlnlab as ml
    >>> from mlnlab.structure.clauses.clause_making import clause_key
    >>> from mlnlab.structure.paths.variabilized import PathAtom
    >>> words = ml.MLN.from_text("F(person, person)").vocabulary
    >>> violated_rows(clause_key([PathAtom("F", (0, 1)), PathAtom("=", (0, 1))], 0b11), words)
    (('!=person', (0, 1)), ('!F', (0, 1)))
    """
    types = clause.path.types(vocabulary)
    found = []
    for place, (predicate, variables) in enumerate(clause.path.atoms):
        if predicate == EQUALS:
            found.append((DIFFERS + types[variables[0]], variables))
        else:
            found.append((NEGATED + predicate if clause.positive >> place & 1 else predicate, variables))
    return tuple(found)


def signed_terms(rows: Sequence[Row], name: str) -> Iterator[SignedTerm]:
    """Yield the term of each non-empty set U of a predicate's occurrences."""
    own = [place for place, (predicate, _) in enumerate(rows) if predicate in {name, NEGATED + name}]
    arity = len(rows[own[0]][1])
    for bits in range(1, 1 << len(own)):
        chosen = [place for number, place in enumerate(own) if bits >> number & 1]
        argument_of, equal = unify_atoms([rows[place][1] for place in chosen], arity)
        left = [
            (predicate, tuple(argument_of.get(v, arity + v) for v in variables))
            for place, (predicate, variables) in enumerate(rows) if place not in chosen
        ]  # fmt: skip
        negated = sum(rows[place][0] != name for place in chosen)
        factors = []
        for members in group_linked_atoms(frozenset(range(arity)), left):
            arguments = tuple(sorted({v for _, variables in members for v in variables if v < arity}))
            factors.append(LookUp(root_atoms(arguments, members), arguments))
        sign_true = -1.0 if (len(chosen) - negated) % 2 == 0 else 1.0
        yield SignedTerm(-1.0 if negated % 2 else 1.0, sign_true, tuple(factors), equal)
