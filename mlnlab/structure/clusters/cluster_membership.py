"""To which clusters unseen constants belong: LHL-LiftGraph's hidden memberships, from evidence.

Kok and Domingos (ICML 2009), section 4.2, "applying LiftGraph's MLN on the test sets": its first rule has
each constant in exactly one cluster, hard, so a constant's membership is one variable with a value for each
cluster of its type. Given all memberships, atoms are independent of each other. Where the memberships of
all unseen constants together have few values, each is visited, and the answer is exact. Else they are taken
to be independent (mean field), q(x ∈ γ), and renewed one constant after the other in closed form:

    log q(x ∈ γ) = sum over evidence atoms with x of E_q[log P(atom | the combination it is in)] + constant

That is chosen over sampling because one constant has hundreds of evidence atoms, which make its membership
all but certain, and chains that move one constant at a time would be stuck as surely as the best assignment
is; and because nothing is ground: false atoms count by the sizes of clusters, so that what the rules say of
a hundred thousand pairs costs as much as there are combinations. Each renewal increases a bound on the
evidence, so that it settles. Atoms of a constant with itself, r(x, x), are in combinations of one cluster
and are taken as such.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mlnlab.structure.clusters.cluster_scores import Memberships, Numbers, Places, PredicateScores

MOST_ASSIGNMENTS = 10_000
MOST_SWEEPS = 200
_SETTLED = 1e-6
_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class EvidenceAtoms:
    """The scores of an evidence predicate, and its true atoms as rows of constants' numbers."""

    scores: PredicateScores
    rows: Places

    @cached_property
    def _by_constant(self) -> Mapping[tuple[tuple[int, ...], int], Places]:
        found: dict[tuple[tuple[int, ...], int], list[int]] = {}
        for number, row in enumerate(self.rows.tolist()):
            at: dict[tuple[str, int], list[int]] = {}
            for place, constant in enumerate(row):
                at.setdefault((self.scores.types[place], constant), []).append(place)
            for (_, constant), places in at.items():
                found.setdefault((tuple(places), constant), []).append(number)
        return {key: np.array(numbers) for key, numbers in found.items()}

    def with_constant(self, places: tuple[int, ...], constant: int) -> Places:
        """Return the true atoms that have a constant at just these places of its type."""
        return self.rows[self._by_constant.get((places, constant), np.zeros(0, np.int64))]


def memberships(
    evidence: Sequence[EvidenceAtoms], known: Memberships, unseen: Mapping[str, Places], prior: Memberships
) -> list[tuple[float, Memberships]]:
    """Return how probable memberships are: assignments with their probabilities, or one of mean field.

    ``known`` holds the memberships of seen constants, and zeros for others; ``prior[type]`` the logarithms of
    how probable clusters are beforehand.
    """
    hidden = [(type_, int(one)) for type_, ones in unseen.items() for one in ones if known[type_].shape[1]]
    if prod(known[type_].shape[1] for type_, _ in hidden) <= MOST_ASSIGNMENTS:
        return list(_every_assignment(evidence, known, hidden, prior))
    return [(1.0, _mean_field(evidence, known, hidden, prior))]


def _every_assignment(
    evidence: Sequence[EvidenceAtoms], known: Memberships, hidden: Sequence[tuple[str, int]],
    prior: Memberships,
) -> Iterator[tuple[float, Memberships]]:  # fmt: skip
    found: list[tuple[float, Memberships]] = []
    for chosen in product(*(range(known[type_].shape[1]) for type_, _ in hidden)):
        assigned = {type_: rows.copy() for type_, rows in known.items()}
        score = 0.0
        for (type_, constant), cluster in zip(hidden, chosen, strict=True):
            assigned[type_][constant, cluster] = 1.0
            score += float(prior[type_][cluster])
        found.append((score + sum(_score(one, assigned) for one in evidence), assigned))
    logs = np.array([score for score, _ in found])
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    for share, (_, assigned) in zip(shares.tolist(), found, strict=True):
        if share > 0.0:
            yield share, assigned


def _score(one: EvidenceAtoms, assigned: Memberships) -> float:
    """Return the score of a predicate's atoms by its rules, where each constant is in one cluster."""
    scores = one.scores
    sizes = [assigned[type_].sum(axis=0) for type_ in scores.types]
    atoms = _product(
        [size[scores.combinations[:, place]] for place, size in enumerate(sizes)], len(scores.true)
    )
    return float(scores.of_any @ atoms + scores.of_true @ _of_rows(scores, one.rows, assigned))


def _product(factors: Sequence[Numbers], size: int) -> Numbers:
    found = np.ones(size)
    for factor in factors:
        found = found * factor
    return found


def _of_rows(scores: PredicateScores, rows: Places, q: Memberships, leaving: tuple[int, ...] = ()) -> Numbers:
    """Return for each combination how many of some atoms are in it, places of ``leaving`` not looked at."""
    others = [place for place in range(len(scores.types)) if place not in leaving]
    if not others:
        return np.full(len(scores.true), float(len(rows)))
    parts = [q[scores.types[place]][rows[:, place]] for place in others]
    if len(others) == 1:
        return np.asarray(parts[0].sum(axis=0)[scores.combinations[:, others[0]]])
    found = np.zeros(len(scores.true))
    at_once = max(1, _CELLS // max(1, len(found)))
    for first in range(0, len(rows), at_once):
        cells = [part[first : first + at_once][:, scores.combinations[:, place]]
                 for part, place in zip(parts, others, strict=True)]  # fmt: skip
        found += np.multiply.reduce(cells).sum(axis=0)
    return found


def _mean_field(
    evidence: Sequence[EvidenceAtoms], known: Memberships, hidden: Sequence[tuple[str, int]],
    prior: Memberships,
) -> Memberships:  # fmt: skip
    """Renew the memberships of one unseen constant after the other until they settle."""
    q = {type_: rows.copy() for type_, rows in known.items()}
    sizes = {type_: rows.sum(axis=0) for type_, rows in q.items()}

    def renew(type_: str, constant: int, *, hard: bool) -> float:
        before = q[type_][constant].copy()
        sizes[type_] = sizes[type_] - before
        field = prior[type_] + sum(_field(one, type_, constant, q, sizes) for one in evidence)
        renewed = np.zeros(len(field))
        if hard:
            renewed[np.argmax(field)] = 1.0
        else:
            renewed = np.exp(field - field.max())
            renewed /= renewed.sum()
        q[type_][constant] = renewed
        sizes[type_] = sizes[type_] + renewed
        return float(np.abs(renewed - before).max())

    # Constants come in one by one, each in the cluster where those before it would have it: from memberships
    # that are all alike, those whose clusters could as well change their names would never be told apart.
    order = list(_by_acquaintance(evidence, hidden))
    for type_, constant in order:
        renew(type_, constant, hard=True)
    for _ in range(MOST_SWEEPS):
        if max([renew(type_, constant, hard=False) for type_, constant in order], default=0.0) < _SETTLED:
            break
    return q


def _by_acquaintance(
    evidence: Sequence[EvidenceAtoms], hidden: Sequence[tuple[str, int]]
) -> Iterator[tuple[str, int]]:
    """Yield unseen constants: next is always who has most true atoms with those that are there already."""
    waiting: list[list[tuple[str, int]]] = []  # of each true atom, who in it is not there
    atoms_of: dict[tuple[str, int], list[int]] = {one: [] for one in hidden}
    left = set(hidden)
    for one in evidence:
        for row in one.rows.tolist():
            absent = [each for each in dict.fromkeys(zip(one.scores.types, row, strict=True)) if each in left]
            for each in absent:
                atoms_of[each].append(len(waiting))
            waiting.append(absent)
    told = dict.fromkeys(hidden, 0)
    for absent in waiting:
        if len(absent) == 1:
            told[absent[0]] += 1
    heap = [(-told[one], place, one) for place, one in enumerate(hidden)]
    heapify(heap)
    places = {one: place for place, one in enumerate(hidden)}
    while heap:
        number, _, who = heappop(heap)
        if who not in left or -number != told[who]:
            continue
        left.discard(who)
        yield who
        for atom in atoms_of[who]:
            waiting[atom].remove(who)
            if len(waiting[atom]) == 1:
                other = waiting[atom][0]
                told[other] += 1
                heappush(heap, (-told[other], places[other], other))


def _field(
    one: EvidenceAtoms, type_: str, constant: int, q: Memberships, sizes: Mapping[str, Numbers]
) -> Numbers:
    """Return each cluster's score for a constant from a predicate's atoms; ``sizes`` leave it out."""
    scores = one.scores
    found = np.zeros(q[type_].shape[1])
    for places in scores.subsets(type_):
        clusters = scores.combinations[:, places[0]]
        fits = np.all(scores.combinations[:, places] == clusters[:, None], axis=1)
        others = [place for place in range(len(scores.types)) if place not in places]
        atoms = _product(
            [sizes[scores.types[place]][scores.combinations[:, place]] for place in others], len(clusters)
        )
        said = scores.of_any * atoms
        rows = one.with_constant(places, constant)
        if len(rows):
            said = said + scores.of_true * _of_rows(scores, rows, q, places)
        found += np.bincount(clusters[fits], said[fits], len(found))
    return found
