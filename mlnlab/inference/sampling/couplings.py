"""Which open atoms hold each other where they are, so that chains that change one at a time get stuck.

An atom's log-odds move with its neighbours: ten weak formulas can push it as far as a strong one. What
matters is how far they can push it *either way*, the smaller of the two, with everything added up. Atoms that
are pushed less than a threshold change now and then whatever their neighbours do; they are let go, their
neighbours feel only what they are on average, and so on until no more can be let go. The atoms that are left,
the core, hold each other: all of them have to change together, one against all others. A rule in one
direction leaves no core, since its premise is pushed one way only; rules in both directions, or in a circle,
do.

A clause pushes an atom where its other literals are false. What was let go is summed out: where others are
false with probability p, a weight w is worth -log(1 - p + p exp(-w)). Of several others in the core, one
decides, and each further one is taken to be false half of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.errors import MlnlabError
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.networks.network_size import open_atoms_of, size_of
from mlnlab.grounding.question.question import Opening, list_atoms
from mlnlab.inference.sampling.estimates import open_atoms
from mlnlab.inference.sampling.tree_plans import MOST_GROUND

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses

    Reals = NDArray[np.float64]
    Numbers = NDArray[np.int64]
    Bits = NDArray[np.bool_]

HARD = 30.0  # what must hold pushes as much
_MOST_ROUNDS = 1_000  # of letting atoms go
_LEAST = 1e-12  # a probability below which a clause does not push


@dataclass(frozen=True, slots=True)
class Core:
    """Open atoms that hold each other: their number, and the log-odds of the least and most held one."""

    atoms: int
    least: float
    most: float
    example: str  # the atom that is held most

    def __str__(self) -> str:
        if self.atoms == 1:
            return f"{self.example} is pushed both ways by log-odds of {self.most:.3g}"
        least, most = f"{self.least:.3g}", f"{self.most:.3g}"
        return (
            f"{self.atoms:,} open atoms hold each other, {self.example} among them: each is pushed both ways,"
            f" by log-odds of {most if least == most else f'{least} to {most}'} in total"
        )


class _Pushes(NamedTuple):
    """The pushes on atoms: pairs of a group (a clause or a table) and an atom in it, groups in order."""

    groups: Numbers
    atoms: Numbers
    lowest: Reals  # the least and the most that a group adds to the atom's log-odds
    highest: Reals
    signs: Reals  # which truth of the atom keeps a clause from pushing others; 0 in tables
    averages: Reals  # what a table adds on average


def small_ground(asked: Opening) -> GroundClauses | None:
    """Ground a model where that takes a moment; ``None`` where it is too large, or not to be ground."""
    try:
        # Atoms first: groundings take longer to be counted.
        if sum(open_atoms_of(asked).values()) > MOST_GROUND or size_of(asked).most_open > MOST_GROUND:
            return None
        return ground_clauses(list_atoms(asked))
    except MlnlabError:
        return None


def core_of(clauses: GroundClauses, threshold: float) -> Core | None:
    """Return the atoms that hold each other by at least so much; ``None`` where there are none."""
    alone, pushes = _pushes_of(clauses)
    held, force = np.zeros(clauses.number_of_atoms, np.bool_), np.zeros(clauses.number_of_atoms)
    held[pushes.atoms] = True
    typical = 1.0 / (1.0 + np.exp(-np.clip(alone, -50, 50)))
    for _ in range(_MOST_ROUNDS):
        down, up = _ranges(alone, pushes, held, typical)
        force = np.minimum(-down, up)
        typical = 1.0 / (1.0 + np.exp(-np.clip((down + up) / 2, -50, 50)))
        still = held & (force >= threshold)
        if (still == held).all():
            break
        held = still
    if not held.any():
        return None
    most = int(np.argmax(np.where(held, force, -np.inf)))
    least = float(force[held].min())
    return Core(int(held.sum()), least, float(force[most]), str(open_atoms(clauses)[most]))


def _ranges(alone: Reals, pushes: _Pushes, held: Bits, typical: Reals) -> tuple[Reals, Reals]:
    """Return the least and largest log-odds of each atom; those not held have their typical truth."""
    atoms, groups, count = pushes.atoms, pushes.groups, len(alone)
    false = np.where(pushes.signs > 0, 1.0 - typical[atoms], typical[atoms])
    free = np.where(held[atoms] | (pushes.signs == 0), 0.0, np.log(np.maximum(false, _LEAST)))
    number = int(groups[-1]) + 1 if len(groups) else 0
    others = np.bincount(groups, free, number)[groups] - free
    core = np.bincount(groups, held[atoms], number)[groups] - held[atoms]
    share = np.exp(others) * 0.5 ** np.maximum(core - 1, 0)
    worth = -np.log1p(
        share * np.expm1(-np.clip(pushes.signs * (pushes.lowest + pushes.highest), -HARD, HARD))
    )
    worth *= pushes.signs
    is_table = pushes.signs == 0
    low = np.where(is_table, np.where(core > 0, pushes.lowest, pushes.averages), np.minimum(0.0, worth))
    high = np.where(is_table, np.where(core > 0, pushes.highest, pushes.averages), np.maximum(0.0, worth))
    settled = ~is_table & (core == 0)  # no other is held: it pushes by what it does on average
    low, high = np.where(settled, low + high, low), np.where(settled, low + high, high)
    return alone + np.bincount(atoms, low, count), alone + np.bincount(atoms, high, count)


def _pushes_of(clauses: GroundClauses) -> tuple[Reals, _Pushes]:
    """Return the log-odds of each atom by itself, and the pushes of groups on atoms."""
    starts = clauses.starts.astype(np.int64)
    sizes = starts[1:] - starts[:-1]
    weights = np.repeat(np.where(clauses.hard, HARD, clauses.weights), sizes)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    atoms, signs = (clauses.literals >> 1).astype(np.int64), np.where(clauses.literals & 1, -1.0, 1.0)
    ties = np.repeat(sizes, sizes) > 1
    alone = np.bincount(atoms[~ties], (signs * weights)[~ties], clauses.number_of_atoms).astype(np.float64)
    found = _Pushes(
        groups[ties], atoms[ties], np.minimum(0.0, signs * weights)[ties],
        np.maximum(0.0, signs * weights)[ties], signs[ties], np.zeros(int(ties.sum())),
    )  # fmt: skip
    return alone, _with_tables(clauses, found, alone)


def _with_tables(clauses: GroundClauses, found: _Pushes, alone: Reals) -> _Pushes:
    """Return the pushes of clauses and behind them those of tables; tables of one choice go to ``alone``."""
    firsts, ends = clauses.first_atoms.astype(np.int64), clauses.scope_starts.astype(np.int64).tolist()
    known: dict[tuple[object, ...], list[tuple[int, int, float, float, float]]] = {}
    rows: list[tuple[float, ...]] = []
    for table in range(clauses.number_of_tables):
        places = slice(ends[table], ends[table + 1])
        scope = clauses.scope[places].astype(np.int64)
        shape = tuple(clauses.options[scope].tolist())
        atoms_of = (firsts[scope + 1] - firsts[scope]).tolist()
        key = int(clauses.bit_starts[table]), shape, clauses.strides[places].tobytes(), tuple(atoms_of)
        if key not in known:
            known[key] = _table_pushes(clauses, table, shape, atoms_of)
        weight = HARD if clauses.table_hard[table] else float(clauses.table_weights[table])
        for axis, option, low, high, average in known[key]:
            atom = int(firsts[scope[axis]]) + option
            ends_at = sorted((weight * low, weight * high))
            if len(shape) == 1:
                alone[atom] += weight * average
            else:
                rows.append((clauses.number_of_clauses + table, atom, *ends_at, weight * average))
    if not rows:
        return found
    columns = np.array(rows, np.float64).T
    added = (columns[0].astype(np.int64), columns[1].astype(np.int64), columns[2], columns[3])
    added_all = (*added, np.zeros(len(rows)), columns[4])
    return _Pushes(*(np.concatenate(pair) for pair in zip(found, added_all, strict=True)))


def _table_pushes(
    clauses: GroundClauses, table: int, shape: tuple[int, ...], atoms_of: list[int]
) -> list[tuple[int, int, float, float, float]]:
    """Return a table's effect per unit of weight on each atom: at least, at most, on average."""
    found: list[tuple[int, int, float, float, float]] = []
    # One that counts what holds of its parts does not say by its own cells alone what an atom changes, or is
    # too wide to be listed: it pushes by its weight.
    if table in clauses.gates.roots:
        return [(a, o, -1.0, 1.0, 0.0) for a, number in enumerate(atoms_of) for o in range(number)]
    start = int(clauses.scope_starts[table])
    cells = np.zeros((1,) * len(shape), np.int64)
    for axis, size in enumerate(shape):
        along_axis = [size if other == axis else 1 for other in range(len(shape))]
        cells = cells + (np.arange(size) * int(clauses.strides[start + axis])).reshape(along_axis)
    true = clauses.bits[int(clauses.bit_starts[table]) + cells].astype(np.float64)
    for axis, number in enumerate(atoms_of):
        along = np.moveaxis(true, axis, 0).reshape(shape[axis], -1)
        for option in range(number):
            others = (along.sum(axis=0) - along[option]) / max(1, shape[axis] - 1)
            more = along[option] - others
            found.append((axis, option, float(more.min()), float(more.max()), float(more.mean())))
    return found
