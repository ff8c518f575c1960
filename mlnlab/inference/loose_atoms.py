"""Atoms that slices leave loose, and what keeps the others false: the priors of lazy sampling."""

from __future__ import annotations

from dataclasses import replace
from math import exp
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.grounding.merging import merged
from mlnlab.logic.ground_atoms import GroundAtom

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from mlnlab.grounding.clauses import GroundClauses
    from mlnlab.grounding.lazy_priors import LazyModel


class Loose(NamedTuple):
    """The atoms that some slice leaves loose, and a row for each slice that tells which."""

    atoms: tuple[GroundAtom, ...]
    rows: NDArray[np.uint8]


def draw_loose(
    model: LazyModel, kept: frozenset[GroundAtom], true: Collection[GroundAtom], slices: int,
    random: np.random.Generator,
) -> Loose:  # fmt: skip
    """Draw for some slices which of the false atoms' priors they do not ask for, each with exp(-s).

    ``kept`` atoms have their priors among the clauses; those that are ``true`` now may get false in between.
    """
    now = frozenset(true)
    decided = model.ground.decided
    events: set[tuple[int, GroundAtom]] = set()
    for name, strength in model.strengths.items():
        own = {atom for atom in kept | now if atom.predicate == name}
        idle = model.open_atoms.get(name, 0) - len(own)
        number = int(random.binomial(slices * idle, exp(-strength))) if idle > 0 else 0
        domains = [decided.vocabulary.domain(type_) for type_ in decided.vocabulary[name].types]
        found: set[tuple[int, GroundAtom]] = set()
        while len(found) < number:  # drawn again where an atom is none of these, or was drawn already
            numbers = [int(random.integers(len(domain))) for domain in domains]
            atom = GroundAtom(name, tuple(d[n] for d, n in zip(domains, numbers, strict=True)))
            if atom not in own and not decided.holds_row(name, numbers):
                found.add((int(random.integers(slices)), atom))
        events |= found
    atoms = tuple(sorted(now - kept | {atom for _, atom in events}))
    places = {atom: place for place, atom in enumerate(atoms)}
    rows = np.zeros((slices, len(atoms)), np.uint8)
    for row, atom in events:
        rows[row, places[atom]] = 1
    for atom in sorted(now - kept):  # each takes a number, so their order must not be that of a set
        rows[:, places[atom]] = random.random(slices) < exp(-model.strengths[atom.predicate])
    return Loose(atoms, rows)


def with_priors(
    clauses: GroundClauses, atoms: NDArray[np.int64], strengths: NDArray[np.float64]
) -> GroundClauses:
    """Return the clauses with a prior for each of some atoms, those on the same literals made one."""
    number = len(atoms)
    none, last = np.zeros(number, np.bool_), max(0, len(clauses.sources) - 1)
    joined = replace(
        clauses,
        starts=np.concatenate([clauses.starts, clauses.starts[-1] + np.arange(1, number + 1)]).astype(
            np.uint32
        ),
        literals=np.concatenate([clauses.literals, 2 * atoms + 1]).astype(np.uint32),
        weights=np.concatenate([clauses.weights, strengths]),
        hard=np.concatenate([clauses.hard, none]),
        negated=np.concatenate([clauses.negated, none]),
        clause_sources=np.concatenate([clauses.clause_sources, np.full(number, last)]).astype(np.uint32),
    )
    return merged(joined)
