"""Variances of formulas' counts where every open atom is true with probability 1/2, independently.

Three ways, in the order in which they are preferred: by Δn, by ground clauses, by drawn worlds; see
:mod:`mlnlab.experiments.conditioning`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Literal

import numpy as np

from mlnlab.counting.counts import count
from mlnlab.counting.delta_rows import DeltaRowCounter
from mlnlab.counting.facts import facts_of
from mlnlab.counting.formula_families import families
from mlnlab.counting.renumbering import renumbered
from mlnlab.errors import ArgumentError
from mlnlab.grounding.ground_model import ground
from mlnlab.grounding.network_size import network_size
from mlnlab.logic.printing import to_text
from mlnlab.logic.relations import Relation, sorted_rows
from mlnlab.logic.traversal import atoms, predicates
from mlnlab.logic.vocabulary import FrozenMapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.grounding.clauses import GroundClauses
    from mlnlab.model.database import Database
    from mlnlab.model.mln import MLN

    Numbers = NDArray[np.float64]

How = Literal["one open atom", "ground clauses", "drawn worlds"]
Found = tuple[list[int], How, "Numbers", "Numbers"]
_MOST_ATOMS = 20_000_000
_LONGEST = 10  # open atoms of a clause whose subsets are written out


def count_variances(
    model: MLN, db: Database, query: Sequence[str], most_clauses: int, samples: int, rng: np.random.Generator
) -> Iterator[Found]:
    """Yield places of formulas, how their variances were found, the variances and their standard errors."""
    opened = {name: open_rows(db, name) for name in query}
    alone: list[int] = []
    joint: list[int] = []
    for place, weighted in enumerate(model.formulas):
        number = sum(atom.predicate in opened for atom in atoms(weighted.formula))
        (joint if number > 1 else alone).append(place)
    yield alone, "one open atom", _by_deltas(_some(model, alone), db, query), np.zeros(len(alone))
    batches, drawn = _batches(model, joint, db, query, most_clauses)
    for places in batches:
        clauses = ground(_some(model, places), db, list(query)).clauses
        for source, place in enumerate(places):
            found = _by_clauses(clauses, source)
            if found is None:
                drawn.append(place)
            else:
                yield [place], "ground clauses", np.array([found]), np.zeros(1)
    if drawn:
        yield drawn, "drawn worlds", *_by_drawing(_some(model, drawn), db, opened, samples, rng)


def _batches(
    model: MLN, places: list[int], db: Database, query: Sequence[str], most: int
) -> tuple[list[list[int]], list[int]]:
    """Return formulas to be ground together, with at most so many clauses, and those too large for that."""
    batches: list[list[int]] = []
    too_large, room = [], 0
    sizes = network_size(_some(model, places), db, list(query)).sources if places else ()
    for place, size in zip(places, sizes, strict=False):
        if size.most_open > most:
            too_large.append(place)
        elif size.most_open > room or not batches:
            batches.append([place])
            room = most - size.most_open
        else:
            batches[-1].append(place)
            room -= size.most_open
    return batches, too_large


def _some(model: MLN, places: Sequence[int]) -> MLN:
    return replace(model, formulas=tuple(model.formulas[place] for place in places), places=())


def open_rows(db: Database, name: str) -> NDArray[np.uint32]:
    """Return the atoms of a predicate that a database does not list, as rows of constant numbers."""
    sizes = [len(db.vocabulary.domain(type_)) for type_ in db.vocabulary[name].types]
    if prod(sizes) > _MOST_ATOMS:
        raise ArgumentError(
            f"{name} has {prod(sizes):,} ground atoms; at most {_MOST_ATOMS:,} can be looked at."
        )
    relation = db.relation(name)
    if len(relation.unknown) or len(relation.soft):
        raise ArgumentError(
            f"Of {name}, facts are listed as unknown or soft; list known ones only, the rest is open."
        )
    is_open = np.ones(prod(sizes), bool)
    for rows in (relation.true, relation.false):
        if len(rows):
            is_open[np.ravel_multi_index(tuple(rows.T.astype(np.int64)), sizes)] = False
    places = np.unravel_index(np.flatnonzero(is_open), sizes)
    return np.stack(places, axis=1).astype(np.uint32) if sizes else np.zeros((int(is_open[0]), 0), np.uint32)


def _by_deltas(model: MLN, db: Database, query: Sequence[str]) -> Numbers:
    """Return Σ Δn(a)² / 4 over the open atoms, for formulas in which no two of them meet."""
    formulas = [weighted.formula for weighted in model.formulas]
    vocabulary = model.vocabulary_with(db)
    used = {name for formula in formulas for name in predicates(formula)}
    counter = DeltaRowCounter(families(formulas), len(formulas), vocabulary)
    facts = facts_of(db, vocabulary)
    found = np.zeros(len(formulas))
    for name in query:
        if name in used:
            relation = db.relation(name)
            listed = {name: np.concatenate([relation.true, relation.false])}
            rows = counter(facts, name, renumbered(listed, db.vocabulary, vocabulary)[name])
            found += rows.values.squares.gathered(rows.multiplicities)
    return found / 4.0


def _by_clauses(clauses: GroundClauses, source: int) -> float | None:
    """Return the sum of the squared coefficients of a count, or ``None`` where clauses do not say all.

    A clause of k atoms is false with indicator Π (1 ± s_a) / 2, where s_a is 1 for a true atom, else -1, so
    that each subset of its atoms has the coefficient ± 2^-k.
    """
    own = np.flatnonzero(clauses.clause_sources == source)
    lengths = np.diff(clauses.starts.astype(np.int64))[own]
    if (clauses.table_sources == source).any() or (len(lengths) and lengths.max() > _LONGEST):
        return None
    by_size: dict[int, list[tuple[NDArray[np.int64], Numbers]]] = {}
    for length in np.unique(lengths[lengths > 0]).tolist():
        which = own[lengths == length]
        literals = clauses.literals[clauses.starts[which].astype(np.int64)[:, None] + np.arange(length)]
        literals = np.sort(literals.astype(np.int64), axis=1)
        # The indicator is taken off where the grounding is the clause itself, else added.
        signs = np.where(literals % 2 == 0, -1.0, 1.0)
        whole = np.where(clauses.negated[which], 1.0, -1.0) * 0.5**length
        for size in range(1, length + 1):
            for chosen in combinations(range(length), size):
                part = list(chosen)
                by_size.setdefault(size, []).append(
                    (literals[:, part] // 2, whole * signs[:, part].prod(axis=1))
                )
    return float(sum(_squares(parts, clauses.number_of_atoms) for parts in by_size.values()))


def _squares(parts: list[tuple[NDArray[np.int64], Numbers]], number: int) -> float:
    """Return the sum of the squares of the coefficients after adding up those of equal subsets."""
    subsets = np.concatenate([rows for rows, _ in parts])
    coefficients = np.concatenate([values for _, values in parts])
    keys = subsets[:, 0]
    for column in subsets.T[1:]:
        keys = np.unique(keys * number + column, return_inverse=True)[1]
    totals = np.bincount(np.unique(keys, return_inverse=True)[1], coefficients)
    return float(totals @ totals)


def _by_drawing(
    model: MLN, db: Database, opened: dict[str, NDArray[np.uint32]], samples: int, rng: np.random.Generator
) -> tuple[Numbers, Numbers]:
    """Return the variances of the counts in drawn worlds, and standard errors by fourth moments."""
    counts = np.zeros((samples, len(model.formulas)))
    for sample in range(samples):
        relations = dict(db.relations)
        for name, rows in opened.items():
            true = np.concatenate([db.relation(name).true, rows[rng.random(len(rows)) < 0.5]])
            relations[name] = Relation(rows.shape[1], sorted_rows(true))
        counts[sample] = list(count(model, replace(db, relations=FrozenMapping(relations))))
    centred = counts - counts.mean(axis=0)
    variances = (centred**2).sum(axis=0) / (samples - 1)
    fourth = (centred**4).mean(axis=0)
    return variances, np.sqrt(np.maximum(0.0, fourth - variances**2) / samples)


def open_constraints(model: MLN, db: Database, query: Sequence[str]) -> str:
    """Return a formula that evidence leaves open, or an empty text where there is none."""
    if not model.formulas:
        return ""
    clauses = ground(model, db, list(query)).clauses
    for weighted, tally in zip(model.formulas, clauses.tallies, strict=False):
        if tally.groundings - tally.true - tally.false:
            return to_text(weighted.formula)
    return ""


def transitivity_variance(things: int) -> float:
    """Return the variance of the count of ``Same(x, y) ^ Same(y, z) => Same(x, z)`` without canopies.

    All pairs of different things are open, each thing is itself. Over ordered triples of different things,
    single atoms have the coefficient (n - 2) / 8, premises together 1 / 8, a premise with the conclusion -1
    / 4 (each such pair is in two groundings), all three -1 / 8.
    """
    return things * (things - 1) * (things - 2) * (things + 4) / 64
