"""Compute all numbers of cells at once for sizes and weights: cell weights and expected elements."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.lifted.ask.cell_rows import CellRows, cell_rows
from mlnlab.lifted.ask.circuit_numbers import CircuitNumbers, marginals_of
from mlnlab.lifted.circuit.arithmetic import LiftedValue
from mlnlab.lifted.circuit.lifted_questions import groundings_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mlnlab.lifted.ask.cell_theory import CellTheory

LIVE_TERMS = 2_000_000  # by floats, which drop nearly all of them
LIVE_EXACT_TERMS = 20_000  # where signs cancel, twenty microseconds each


@dataclass(frozen=True, slots=True, eq=False)
class CellShares:
    """The cells of a component with the expected elements in each, out of the number of its kind."""

    rows: CellRows
    elements: tuple[float, ...]  # not numbers where signs cancel
    of: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class CellNumbers:
    """The numbers of cells at some sizes and weights; components with the most cells come first."""

    all: CircuitNumbers
    parts: tuple[CellShares, ...]


def cell_numbers(
    theory: CellTheory, domains: Mapping[str, int], weights: Sequence[float] | None = None
) -> CellNumbers:
    """Return all numbers; refuse those too slow for a slider."""
    sizes = theory.domain_sizes(domains)
    refuse_slow_cells(theory, sizes)
    numbers = [0.0 if w is None else float(w) for w in (theory.mln.weights if weights is None else weights)]
    found, counts = theory.answer(domains, numbers)
    totals = tuple(float(groundings_of(one.formula, sizes)) for one in theory.mln.formulas)
    everything = CircuitNumbers(
        sizes, tuple(numbers), LiftedValue(found.value, found.error, found.arithmetic), tuple(counts), totals,
        marginals_of(theory.weighted, theory.model.symbols, found.true, found.true + found.false), {},
    )  # fmt: skip
    return CellNumbers(everything, _shares(theory, domains, numbers, sizes))


def refuse_slow_cells(theory: CellTheory, sizes: Mapping[str, int], points: int = 1) -> None:
    """Refuse sums of too many terms for a moment, in words that name the sizes."""
    terms, most = theory.terms(sizes) * points, LIVE_EXACT_TERMS if theory.is_signed else LIVE_TERMS
    if terms > most:
        told = ", ".join(f"{type_} = {size:,}" for type_, size in sizes.items())
        raise TooLargeError(
            f"With {told} the sum over the numbers of elements in cells has {terms:.3g} terms, too many to"
            f" follow a slider; the limit here is {most:,}.", float(terms),
            ["take smaller domains", "ask cells.log_z(...), which may take its time"],
        )  # fmt: skip


def _shares(
    theory: CellTheory, domains: Mapping[str, int], weights: Sequence[float], sizes: Mapping[str, int]
) -> tuple[CellShares, ...]:
    try:
        rows = cell_rows(theory, weights)
    except OverflowError as problem:
        raise ArgumentError("The exponentials of these weights are too large to be shown.") from problem
    expected = theory.expected_elements(domains, weights)
    merged = theory.compiled.merged
    order = sorted(range(len(merged)), key=lambda n: -sum(len(kind.chosen) for kind in merged[n].kinds))
    parts = []
    for one, number in zip(rows, order, strict=True):
        many = [theory.kind_size(kind.name, sizes) for kind in merged[number].cells.kinds]
        lengths = [len(kind.chosen) for kind in merged[number].kinds]
        of = tuple(int(n) for n in np.repeat(many, lengths))
        elements = (nan,) * len(of) if expected is None else tuple(np.concatenate(expected[number]).tolist())
        parts.append(CellShares(one, elements, of))
    return tuple(parts)
