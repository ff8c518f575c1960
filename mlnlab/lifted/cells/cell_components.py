"""A two-variable model in parts: ground atoms are decided one way after the other, the rest falls apart.

Once the ground atoms are decided that formulas over elements mention, predicates that no formula connects are
independent, so that their sums multiply. What is the same under several decisions is one component.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.lifted.cells.cell_factors import AtomAt, Factor, TwoVariableModel, drop_idle_atoms
from mlnlab.lifted.cells.cell_tables import Feature, Table, Weighed, made_table
from mlnlab.lifted.cells.cells import Cells, made_cells

MOST_DECIDED = 12  # ground atoms, all of whose truth values are gone through


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """``ground`` has a row for each decision; ``branches`` says which components each leaves."""

    ground: Table
    branches: tuple[tuple[int, ...], ...]
    components: tuple[Cells, ...]
    free: tuple[int, ...]  # symbols of more variables, which no formula mentions


def made_parts(model: TwoVariableModel, formulas: frozenset[int]) -> Parts:
    """Return the parts of a model; of soft formulas, only some count."""
    factors = [f for f in model.factors if f.formula is None or f.formula in formulas]
    decided = tuple(dict.fromkeys(a.symbol for f in factors if f.kinds for a in f.atoms if not a.elements))
    if len(decided) > MOST_DECIDED:
        raise TooLargeError(
            f"{len(decided)} ground atoms are mentioned beside variables, which is 2^{len(decided)} cases.",
            2.0 ** len(decided), ["mention fewer constants in formulas", "compile with method='rules'"],
        )  # fmt: skip
    rows = np.array(list(product([False, True], repeat=len(decided))), dtype=bool).reshape(
        2 ** len(decided), len(decided)
    )
    known: dict[object, int] = {}
    components: list[Cells] = []
    branches = []
    for row in rows:
        values = dict(zip(decided, row.tolist(), strict=True))
        reduced = [_fix_ground_atoms(f, values) for f in factors if f.kinds]
        reduced = [f for f in reduced if f.formula is not None or not f.truth.all()]
        branch = []
        for own, inside in _group_symbols(model, reduced):
            key = (own, tuple((f.formula, f.kinds, f.atoms, f.truth.tobytes()) for f in inside))
            if key not in known:
                known[key] = len(components)
                components.append(made_cells(model, own, inside))
            branch.append(known[key])
        branches.append(tuple(branch))
    free = tuple(n for n, s in enumerate(model.symbols) if len(s.variables) > 2)
    return Parts(_ground_table(model, factors, decided, rows), tuple(branches), tuple(components), free)


def _fix_ground_atoms(factor: Factor, values: Mapping[int, bool]) -> Factor:
    """Return a factor with its ground atoms fixed to the decided values."""
    index = tuple(slice(None) if a.elements else int(values[a.symbol]) for a in factor.atoms)
    kept = tuple(a for a in factor.atoms if a.elements)
    return drop_idle_atoms(Factor(factor.formula, factor.kinds, kept, np.asarray(factor.truth[index])))


def _group_symbols(
    model: TwoVariableModel, factors: Sequence[Factor]
) -> Iterable[tuple[tuple[int, ...], list[Factor]]]:
    """Yield sets of symbols that factors connect, with these; factors without symbols go by their kinds."""
    import networkx as nx

    graph: nx.Graph[object] = nx.Graph()
    graph.add_nodes_from(n for n, s in enumerate(model.symbols) if len(s.variables) in {1, 2})
    for factor in factors:
        names: list[object] = [a.symbol for a in factor.atoms] or [factor.kinds]
        nx.add_path(graph, names)
    home = {name: n for n, part in enumerate(nx.connected_components(graph)) for name in part}
    inside: dict[int, list[Factor]] = {}
    for factor in factors:
        place = home[factor.atoms[0].symbol if factor.atoms else factor.kinds]
        inside.setdefault(place, []).append(factor)
    for number in range(len(set(home.values()))):
        own = tuple(name for name in home if home[name] == number and isinstance(name, int))
        if own or number in inside:
            yield own, inside.get(number, [])


def _ground_table(
    model: TwoVariableModel, factors: Sequence[Factor], decided: tuple[int, ...], rows: np.ndarray
) -> Table:
    """Return a table of each decision's weight, with all other ground atoms summed out."""
    features = []
    places = {s: rows[:, n] for n, s in enumerate(decided)}
    for number, symbol in enumerate(model.symbols):
        weighed = Weighed("symbol", number)
        if symbol.variables:
            continue
        if number in places:
            features.append(Feature(weighed, (), places[number]))
        else:
            features.append(Feature(weighed, (AtomAt(number, ()),), np.array([[False, True]])))
    for factor in factors:
        if factor.kinds:
            continue
        index = [n for n, a in enumerate(factor.atoms) if a.symbol in places]
        others = [n for n in range(len(factor.atoms)) if n not in index]
        truth = factor.truth.transpose(*index, *others)
        if index:
            truth = truth[tuple(places[factor.atoms[n].symbol].astype(np.intp) for n in index)]
        else:
            truth = truth[None]
        weighed = Weighed("hard") if factor.formula is None else Weighed("formula", factor.formula)
        features.append(Feature(weighed, tuple(factor.atoms[n] for n in others), truth))
    return made_table((len(rows),), features)
