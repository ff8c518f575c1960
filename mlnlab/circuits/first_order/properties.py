r"""Check that a circuit's value is a count: decomposable, deterministic and smooth, at small sizes.

Darwiche, A differential approach to inference in Bayesian networks (2003), for propositional circuits; the
first-order nodes promise the same of all their groundings. A circuit is folded in a semiring of its own. The
value of a definition is its scope, how many atoms of each symbol it names, and how many of its worlds have
0, 1, 2, ... true atoms:

- smooth: all cases of a sum, and all k of a counting node, name as many atoms of each symbol;
- decomposable: nothing names more atoms of a symbol than there are: a shared one is named twice;
- deterministic: no more worlds have j true atoms than there are sets of j atoms.

The last two are necessary: a circuit that shares few atoms, or counts few worlds twice, may pass at
some sizes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import comb
from typing import NamedTuple

import numpy as np

from mlnlab.algebra.semirings import Semiring
from mlnlab.circuits.first_order.first_order_circuit import Body, FirstOrderCircuit, products_of
from mlnlab.circuits.first_order.fold import Weights, all_values
from mlnlab.errors import ArgumentError, CircuitError, TooLargeError

MOST_ATOMS = 1_000  # that one value names
Scope = frozenset[tuple[int, int]]  # of each symbol: how many atoms


class Named(NamedTuple):
    """The atoms that a value names, and how many worlds of them have 0, 1, 2, ... true ones."""

    scope: Scope
    worlds: tuple[int, ...]


Value = Named | None  # None: impossible, which names whatever its other cases do
NOTHING = Named(frozenset(), (1,))


class _NotSmoothError(Exception):
    """Two cases name different atoms."""


def check_circuit(
    circuit: FirstOrderCircuit, sizes: Sequence[int], atoms: Sequence[int] | None = None
) -> None:
    r"""Raise an error that names the property a circuit breaks, and where, at these sizes of its root.

    ``atoms``: how many there are of each symbol, where that is known.

    >>> import mlnlab as ml
    >>> friends = ml.lift(ml.MLN.from_text("S(p)\nF(p, p)\nF(x, y) ^ S(x) => S(y).")).compile()
    >>> ml.check_circuit(friends.circuit, [3])
    >>> ml.check_circuit(friends.circuit, [3], atoms=[3, 3, 1])
    Traceback (most recent call last):
    mlnlab.errors.CircuitError: The circuit is not decomposable: 6 atoms of symbol 2 are named; there are 1.
    """
    if not isinstance(circuit, FirstOrderCircuit):
        raise ArgumentError(
            f"A circuit is needed, such as ml.lift(...).compile().circuit, not {circuit!r:.60}."
        )
    sizes = _whole_numbers("sizes", sizes)
    atoms = None if atoms is None else _whole_numbers("atoms", atoms)
    if not circuit.is_complete:
        raise ArgumentError(
            "This circuit cannot be checked yet: parts of it are compiled only when sizes are known."
        )
    wanted = circuit.definitions[circuit.root].subdomains
    if len(sizes) != wanted:
        raise ArgumentError(f"The circuit's root has {wanted} subdomains, not {len(sizes)}.")
    looked_at = _LookedAt(circuit)
    number = 1 + max((symbol for symbol in _symbols(circuit)), default=-1)
    true = [Named(frozenset({(symbol, 1)}), (0, 1)) for symbol in range(number)]
    false = [Named(frozenset({(symbol, 1)}), (1,)) for symbol in range(number)]
    try:
        values = all_values(looked_at, sizes, _NAMED, Weights(true, false))
    except _NotSmoothError as problem:
        raise CircuitError(
            f"The circuit is not smooth: in definition {looked_at.number} {problem} at sizes"
            f" {list(looked_at.sizes)}."
        ) from None
    root = (circuit.root, tuple(sizes))
    _check_atoms(values[root], atoms)
    for key in [root] if circuit.is_signed else values:  # below signs worlds are yet to cancel
        _check_worlds(key, values[key])


def _whole_numbers(name: str, given: object) -> list[int]:
    listed = isinstance(given, Iterable) and not isinstance(given, str | bytes)
    numbers: list[object] = list(given) if listed else [None]  # type: ignore[call-overload]
    found = [int(one) for one in numbers if isinstance(one, int | np.integer) and one >= 0]
    if len(found) < len(numbers):
        raise ArgumentError(f"{name} must be a list of whole numbers of at least 0, not {given!r:.60}.")
    return found


class _LookedAt:
    """A circuit that remembers which definition is evaluated."""

    def __init__(self, circuit: FirstOrderCircuit) -> None:
        self._circuit = circuit
        self.root, self.number = circuit.root, circuit.root
        self.sizes: Sequence[int] = ()

    def body(self, number: int, sizes: Sequence[int]) -> Body:
        """Return the body of a definition, and remember it."""
        self.number, self.sizes = number, sizes
        return self._circuit.body(number)


def _symbols(circuit: FirstOrderCircuit) -> set[int]:
    return {
        leaf.symbol
        for definition in circuit.definitions
        for product in products_of(definition.body)
        for leaf in product.leaves
    }


def _check_atoms(whole: Value, atoms: Sequence[int] | None) -> None:
    if whole is None:
        return
    for symbol, there_are in enumerate(atoms or ()):
        named = dict(whole.scope).get(symbol, 0)
        if named != there_are:
            broken = "decomposable" if named > there_are else "smooth"
            raise CircuitError(
                f"The circuit is not {broken}: {named:,} atoms of symbol {symbol} are named; there are"
                f" {there_are:,}."
            )


def _check_worlds(key: tuple[int, tuple[int, ...]], value: Value) -> None:
    """Refuse more worlds of some true atoms than there are sets of these, and fewer than none."""
    if value is None:
        return
    total = sum(number for _, number in value.scope)
    for true, worlds in enumerate(value.worlds):
        if not 0 <= worlds <= comb(total, true):
            raise CircuitError(
                f"The circuit is not deterministic: definition {key[0]} at sizes {list(key[1])} has"
                f" {worlds:,} worlds in which {true} of {total} atoms are true, of {comb(total, true):,}."
            )


# --- scopes and worlds as a semiring ----------------------------------------------------------------


def _add(first: Value, second: Value) -> Value:
    return _combine_worlds(first, second, 1)


def _subtract(first: Value, second: Value) -> Value:
    return _combine_worlds(first, second, -1)


def _combine_worlds(first: Value, second: Value, sign: int) -> Value:
    if second is None:
        return first
    if first is None:
        return Named(second.scope, tuple(sign * worlds for worlds in second.worlds))
    if first.scope != second.scope:
        (symbol, one), (_, other) = _first_difference(first.scope, second.scope)
        raise _NotSmoothError(f"one case names {one} atoms of symbol {symbol} and another one {other}")
    length = max(len(first.worlds), len(second.worlds))
    padded = [[*value.worlds, *[0] * (length - len(value.worlds))] for value in (first, second)]
    return Named(first.scope, tuple(a + sign * b for a, b in zip(*padded, strict=True)))


def _first_difference(first: Scope, second: Scope) -> tuple[tuple[int, int], tuple[int, int]]:
    symbol = min(symbol for symbol, _ in first ^ second)
    return (symbol, dict(first).get(symbol, 0)), (symbol, dict(second).get(symbol, 0))


def _multiply(first: Value, second: Value) -> Value:
    if first is None or second is None:
        return None
    scope: Counter[int] = Counter(dict(first.scope))
    scope.update(dict(second.scope))
    if scope.total() > MOST_ATOMS:
        raise TooLargeError(
            f"At these sizes more than {MOST_ATOMS:,} atoms are named; circuits are checked at small sizes.",
            float(scope.total()), ["check it at smaller sizes"],
        )  # fmt: skip
    return Named(frozenset(scope.items()), _convolve(first.worlds, second.worlds))


def _convolve(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    product = np.convolve(np.array(first, dtype=object), np.array(second, dtype=object))
    return tuple(int(number) for number in product)


def _power(value: Value, times: int) -> Value:
    total: Value = NOTHING
    for _ in range(times):
        total = _multiply(total, value)
    return total


def _multiple(value: Value, times: int) -> Value:
    return None if value is None or not times else Named(value.scope, tuple(times * w for w in value.worlds))


_NAMED: Semiring[Value] = Semiring("scopes", None, NOTHING, _add, _multiply, _power, _multiple, _subtract)
