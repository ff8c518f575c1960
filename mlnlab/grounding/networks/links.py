"""Find the links of open atoms: ground clauses, tables, and blocks of which one atom must be true."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.grounding.clauses.ground_clauses import GroundClauses, Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


class Links(NamedTuple):
    """Link k joins the atoms ``members[starts[k] : starts[k + 1]]`` and comes from source ``sources[k]``.

    The first links are clauses, ``clauses`` holds their numbers; then come tables, then blocks.
    """

    starts: Numbers
    members: Numbers
    sources: Numbers
    clauses: Numbers

    def __len__(self) -> int:  # of a NamedTuple it would be the number of fields
        return len(self.sources)

    def atoms_of(self, link: int) -> Numbers:
        """Return the numbers of the atoms that a link joins."""
        return self.members[self.starts[link] : self.starts[link + 1]]


class _Part(NamedTuple):
    """Some links: how many atoms each has, the atoms one behind the other, and where each comes from."""

    sizes: Numbers
    members: Numbers
    sources: Numbers


def block_predicates(clauses: GroundClauses) -> tuple[str, ...]:
    """Return the predicates that have open blocks."""
    choices = clauses.question.choices
    return tuple(dict.fromkeys(choice.atoms[0].predicate for choice in choices if len(choice.atoms) > 1))


def link_sources(clauses: GroundClauses) -> tuple[Source, ...]:
    """Return where links come from: the sources of the clauses, and behind them declarations of blocks."""
    vocabulary = clauses.question.vocabulary
    blocks = [Source(str(vocabulary[name]), "block", 0.0, hard=True) for name in block_predicates(clauses)]
    return (*clauses.sources, *blocks)


def links_between(clauses: GroundClauses) -> Links:
    """Return all links; queries link no atoms."""
    asked = np.array([source.kind == "query" for source in clauses.sources], np.bool_)
    kept = np.flatnonzero(~asked[clauses.clause_sources])
    parts = (_clauses(clauses, kept), _tables(clauses, asked), _blocks(clauses))
    sizes, members, sources = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return Links(np.concatenate([[0], np.cumsum(sizes)]), members, sources, kept)


def _clauses(clauses: GroundClauses, kept: Numbers) -> _Part:
    starts = clauses.starts.astype(np.int64)
    sizes = np.diff(starts)[kept]
    literals = clauses.literals[_runs(starts[:-1][kept], sizes)].astype(np.int64)
    return _Part(sizes, literals >> 1, clauses.clause_sources[kept].astype(np.int64))


def _tables(clauses: GroundClauses, asked: NDArray[np.bool_]) -> _Part:
    """Return the atoms of all choices that a table depends on."""
    kept = np.flatnonzero(~asked[clauses.table_sources])
    starts = clauses.scope_starts.astype(np.int64)
    choices = clauses.scope[_runs(starts[:-1][kept], np.diff(starts)[kept])].astype(np.int64)
    firsts = clauses.first_atoms.astype(np.int64)
    atoms = np.diff(firsts)[choices]
    ends = np.concatenate([[0], np.cumsum(atoms)])[np.concatenate([[0], np.cumsum(np.diff(starts)[kept])])]
    members = _runs(firsts[choices], atoms)
    return _Part(np.diff(ends), members, clauses.table_sources[kept].astype(np.int64))


def _blocks(clauses: GroundClauses) -> _Part:
    firsts = clauses.first_atoms.astype(np.int64)
    blocks = np.flatnonzero(np.diff(firsts) > 1)
    places = {name: len(clauses.sources) + place for place, name in enumerate(block_predicates(clauses))}
    choices = clauses.question.choices
    sources = [places[choices[block].atoms[0].predicate] for block in blocks.tolist()]
    sizes = np.diff(firsts)[blocks]
    return _Part(sizes, _runs(firsts[blocks], sizes), np.array(sources, np.int64))


def _runs(starts: Numbers, sizes: Numbers) -> Numbers:
    """Return the runs starts[i], starts[i] + 1, ..., each of ``sizes[i]`` numbers, one after the other."""
    before = np.concatenate([[0], np.cumsum(sizes)])
    return np.asarray(np.arange(before[-1]) + np.repeat(starts - before[:-1], sizes))
