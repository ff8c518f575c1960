"""Build the boxes of an explored circuit: their texts and their sizes.

Their sizes do not depend on numbers, so that a drawing whose weights change moves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.circuits.first_order.first_order_circuit import Counting, Leaf, calls_of, products_of
from mlnlab.display.lifted.circuits.circuit_nodes import Joined, atoms_of, node_words, numbers_words
from mlnlab.display.nodelink.node_links import SMALL_LINE
from mlnlab.display.scene.paths import polyline
from mlnlab.display.scene.text_fitting import text_width
from mlnlab.lifted.theory.symbol_names import shown_predicate, subdomain_names, symbol_at
from mlnlab.logic.formulas.ground_atoms import formula_constant

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.circuits.first_order.node_values import NodeValue
    from mlnlab.lifted.ask.lift import LiftedCircuit
    from mlnlab.lifted.compile.compiling import Compiled
    from mlnlab.lifted.theory.shattering import Symbol
    from mlnlab.lifted.theory.theory import Theory

CHART = 34.0
_NARROWEST, _WIDEST, _CHART_WIDTH = 64.0, 250.0, 170.0
_NUMBER_WIDTH = 172.0  # room for what a value takes
_MOST_ATOMS, _MOST_LEAVES = 4, 5
_EXACT = 1e7  # larger numbers are written by powers of ten
_BINS = 64
_VARIABLES = "xyzuvw"


class Box(NamedTuple):
    """A box: its lines, whether the sizes of a subset are drawn in it, and whether a value stands below."""

    lines: tuple[str, ...]
    has_chart: bool
    has_value: bool
    width: float
    height: float


def body_box(joined: Joined, symbols: Sequence[Symbol]) -> Box:
    """Return the box of a definition of which only the body is known, or nothing yet."""
    numbers = numbers_words(joined.numbers)
    if joined.body is None:
        return _box((f"{numbers}  ?",))
    words = node_words(joined.body, symbols)
    return _box((f"{numbers}  {words.sign}", *_shorten_atoms(words.atoms)))


def definition_box(
    one: Compiled, symbols: Sequence[Symbol], shared: int, joined: Joined, *, valued: bool,
    leaves: bool = True,
) -> Box:  # fmt: skip
    """Return the box of a definition; its leaves stand in it as far as there is room, or below it."""
    words = node_words(one.body if joined.body is None else joined.body, symbols)
    sign = words.sign
    if isinstance(one.body, Counting):  # as the papers have it
        sign = f"Σ  S ⊆ {subdomain_names(one.theory, symbols)[one.body.subdomain]}, |S| = k"
    first = f"{numbers_words(joined.numbers)}  {sign}" + (f"  · shared by {shared}" if shared > 1 else "")
    atoms = _shorten_atoms(words.atoms) if leaves else ()
    return _box((first, *atoms), isinstance(one.body, Counting), valued)


def leaf_box(text: str) -> Box:
    """Return the box of a leaf that is drawn by itself, or of a call of a definition above."""
    return _box((text,), narrowest=44.0)


def _box(
    lines: tuple[str, ...], has_chart: bool = False, valued: bool = False, narrowest: float = _NARROWEST
) -> Box:
    widths = [text_width(line, "small strong" if n == 0 else "small") for n, line in enumerate(lines)]
    width = max(narrowest, 20 + max(widths), _NUMBER_WIDTH * valued, _CHART_WIDTH * has_chart)
    height = 9 + (SMALL_LINE + 7) * valued + SMALL_LINE * len(lines) + CHART * has_chart
    return Box(lines, has_chart, valued, min(width, _WIDEST), height)


def _shorten_atoms(atoms: Sequence[str]) -> tuple[str, ...]:
    if len(atoms) <= _MOST_ATOMS:
        return tuple(atoms)
    return (*atoms[: _MOST_ATOMS - 1], f"and {len(atoms) - _MOST_ATOMS + 1} more")


def missing_value(circuit: LiftedCircuit) -> str:
    """Explain why a definition has no number, in words that stand in its place."""
    return "not used at these sizes" if circuit.circuit.is_complete else "no value by itself"


def value_line(value: NodeValue | None, missing: str = "not used at these sizes") -> str:
    """Return a definition's value and how often it is used, in few letters."""
    if value is None:
        return missing
    sign = "−" if value.is_negative else ""
    if value.value == -np.inf:
        return f"0 · used {number_text(value.uses)}×"
    return f"log {sign}{number_text(value.value)} · used {number_text(value.uses)}×"


def number_text(number: float) -> str:
    """Return a number so that a small change of it is seen, in at most ten letters."""
    size = abs(number)
    if not isfinite(number) or (size and not 1e-4 <= size < _EXACT):
        return f"{number:.4g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")
    return f"{number:,.0f}" if size >= 1e4 else f"{number:,.{5 if size >= 1 else 4}g}"


def chart_path(chosen: NDArray[np.float64] | None, x: float, y: float, width: float) -> str:
    """Return how probable each size of a subset is, as a line from 0 to all elements above a base line."""
    if chosen is None or not len(chosen):
        return polyline([(x, y + CHART - 8), (x + width, y + CHART - 8)])
    heights = _take_maxima(np.clip(chosen, 0.0, None))
    most = float(heights.max()) or 1.0
    base, room = y + CHART - 8, CHART - 12
    step = width / max(len(heights) - 1, 1)
    return polyline([(x + step * n, base - room * float(h) / most) for n, h in enumerate(heights)])


def _take_maxima(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest of each run of values, so that a narrow peak is seen."""
    if len(values) <= _BINS:
        return values
    edges = np.linspace(0, len(values), _BINS + 1).astype(int)
    return np.array([values[a:b].max() for a, b in pairwise(edges)])


def leaf_texts(one: Compiled, symbols: Sequence[Symbol]) -> tuple[str, ...]:
    """Return a product's leaves as the paper's Figure 1 has them; those of free atoms are one."""
    texts: list[str] = []
    free: list[str] = []
    left = list(range(len(one.theory.pieces)))
    for product in products_of(one.body):
        for leaf in product.leaves:
            if leaf.sign in ("true", "false"):
                texts.append(_leaf_text(leaf, one.theory, left, symbols))
            else:
                free += atoms_of((leaf,), symbols)
    if len(texts) > _MOST_LEAVES:
        texts[_MOST_LEAVES - 1 :] = [f"and {len(texts) - _MOST_LEAVES + 1} more"]
    if free:
        texts.append(f"free: {free[0]}" if len(free) == 1 else f"free: {len(free)} kinds of atoms")
    return tuple(texts)


def _leaf_text(leaf: Leaf, theory: Theory, left: list[int], symbols: Sequence[Symbol]) -> str:
    symbol, names = symbol_at(leaf.symbol, symbols), subdomain_names(theory, symbols)
    sign = "¬" if leaf.sign == "false" else ""
    place = _piece_of(leaf, theory, left)
    if place is None:
        return atoms_of((leaf,), symbols)[0]
    left.remove(place)
    piece = theory.pieces[place]
    if len(piece.subdomains) != len(symbol.variables):
        return atoms_of((leaf,), symbols)[0]
    shown = [_VARIABLES[p] if isinstance(p, int) else formula_constant(p) for p in symbol.pattern]
    atom = f"{sign}{shown_predicate(symbol.predicate)}({', '.join(shown)})"
    where = ", ".join(f"{_VARIABLES[n]} ∈ {names[b]}" for n, b in enumerate(piece.subdomains))
    return f"∀{where}: {atom}" if where else atom


def _piece_of(leaf: Leaf, theory: Theory, left: Sequence[int]) -> int | None:
    """Return the piece that a leaf settles, where that is certain.

    Its number of atoms does not tell F(x, y) from F(y, x); a clause of this literal alone does.
    """
    wanted = sorted(s for size, m in leaf.times.falling for s, _ in size.terms * m)
    found = [
        place
        for place in left
        if theory.pieces[place].symbol == leaf.symbol and sorted(theory.pieces[place].subdomains) == wanted
    ]
    said = {(clause.literals[0].piece, clause.literals[0].positive) for clause in theory.clauses
            if len(clause.literals) == 1}  # fmt: skip
    units = [place for place in found if (place, leaf.sign == "true") in said]
    if units:
        return units[0]
    return found[0] if len(found) == 1 else None


def callers(circuit: LiftedCircuit) -> Mapping[int, tuple[int, ...]]:
    """Return for each definition which ones call it, each as often as it does."""
    found: dict[int, list[int]] = {one.number: [] for one in circuit.definitions}
    for one in circuit.definitions:
        for call in calls_of(one.body):
            found[call.definition].append(one.number)
    return {number: tuple(sources) for number, sources in found.items()}
