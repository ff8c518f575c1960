"""A sweep over domain sizes: log Z, shares of true groundings and marginals as curves, and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.axes import Axis, place_axis, value_axis, value_words
from mlnlab.display.chart.plots import MOST_NAMED, Box, Line, Plot, entries, inner_box, plot_items
from mlnlab.display.lifted.circuits.circuit_boxes import number_text
from mlnlab.display.scene.building import legend
from mlnlab.display.scene.items import Group, Item, Layer, Scene
from mlnlab.lifted.ask.circuit_numbers import kind_of_atoms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.lifted.circuit.size_sweeps import Sweep

    Numbers = NDArray[np.float64]

MOST_LINES = 12  # of one plot
_WIDTH, _HEIGHT, _GAP = 810.0, 170.0, 12.0
_WIDE = 12.0  # a range so many times as large at its end as at its beginning is drawn by logarithms
_LONGEST_NAME, _WIDEST_NAME = 60, 250.0  # letters, pixels


def sweep_scene(found: Sweep) -> Scene:
    """Return three plots, one above the other: log Z, the formulas' expected shares, the marginals."""
    items: list[Item] = []
    y, plots = 4.0, sweep_plots(found)
    edge = min((_edge(plot) for plot in plots), default=_WIDTH)
    for number, plot in enumerate(plots):
        # Names at lines' ends take room; all axes end where those do that have the longest.
        box = Box(0, y, _WIDTH - (_edge(plot) - edge), _HEIGHT)
        items += plot_items(plot, box, number)
        y += _HEIGHT
        if len(plot.lines) > MOST_NAMED:
            group, height = legend(entries([line.name for line in plot.lines]), 56, y, _WIDTH - 60)
            items.append(_number_ids(group, number))
            y += height
        y += _GAP
    layer = Layer("plots", tuple(items), zooms=False)
    return Scene(_WIDTH, y, (layer,), "Sweep", f"{found!r}".strip("<>") + ".")


def _edge(plot: Plot) -> float:
    """Return where a plot's horizontal axis ends that has all the width."""
    inner = inner_box(plot, Box(0, 0, _WIDTH, _HEIGHT))
    return inner.x + inner.width


def _number_ids(item: Item, number: int) -> Item:
    """Return a legend whose ids no other plot's has."""
    if not isinstance(item, Group):
        return item
    children = tuple(_number_ids(child, number) for child in item.children)
    return replace(item, id=f"{item.id}-of-{number}" if item.id else "", children=children)


def sweep_plots(found: Sweep) -> tuple[Plot, ...]:
    """Return the plots of a sweep; one without varied sizes has its points side by side."""
    across, name = _across(found)
    horizontal = _horizontal(across, whole=name == "point")
    order = np.argsort(across, kind="stable")
    return tuple(
        Plot(words, lines, horizontal, _vertical(lines, shares=shares), name, widest_name=_WIDEST_NAME)
        for words, lines, shares in (
            ("log Z", (Line("log Z", across[order], found.log_z[order]),), False),
            ("expected share of true groundings", _formulas(found, across, order), True),
            ("probability of an atom", _marginals(found, across, order), True),
        )
        if lines
    )


def _across(found: Sweep) -> tuple[Numbers, str]:
    varied = found.varied
    if not varied:
        return np.arange(len(found), dtype=float), "point"
    return np.array([float(sizes[varied[0]]) for sizes in found.sizes]), shorten_text(varied[0], 20)


def _horizontal(across: Numbers, *, whole: bool) -> Axis:
    low, high = float(across.min()), float(across.max())
    if not whole and low > 0 and high > _WIDE * low:
        return value_axis(low, high, log=True)
    return place_axis(low, high, whole=True)


def _vertical(lines: Sequence[Line], *, shares: bool) -> Axis:
    values = np.concatenate([line.values for line in lines])
    known = values[np.isfinite(values)]
    if shares:
        return value_axis(0.0, 1.0)
    if not len(known):
        return value_axis(0.0, 1.0)
    low, high = float(known.min()), float(known.max())
    return value_axis(low, high, log=low > 0 and high > _WIDE * _WIDE * low)


def _formulas(found: Sweep, across: Numbers, order: NDArray[np.int64]) -> tuple[Line, ...]:
    expected, totals = found.expected_counts, found.groundings
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(totals > 0, expected / totals, np.nan)
    names = [shorten_text(str(one.formula), _LONGEST_NAME) for one in found.circuit.mln.formulas]
    return tuple(Line(name, across[order], shares[order, n]) for n, name in enumerate(names[:MOST_LINES]))


def _marginals(found: Sweep, across: Numbers, order: NDArray[np.int64]) -> tuple[Line, ...]:
    return tuple(
        Line(name, across[order], values[order]) for name, values in list(marginals_of(found))[:MOST_LINES]
    )


def marginals_of(found: Sweep) -> Iterator[tuple[str, Numbers]]:
    """Yield the marginals of each kind of atoms that the user's predicates have."""
    own = found.circuit.mln.vocabulary.predicates
    for number, symbol in enumerate(found.symbols):
        if symbol.predicate in own:
            total = found.true[number] + found.false[number]
            with np.errstate(divide="ignore", invalid="ignore"):
                yield (
                    kind_of_atoms(found.circuit.weighted, symbol),
                    np.where(total > 0, found.true[number] / total, np.nan),
                )


def sweep_card(found: Sweep) -> Card:
    """Return the card of a sweep: its curves, and a row for each point."""
    varied = found.varied or tuple(found.sizes[0] if len(found) else ())
    marginals = list(marginals_of(found))[:MOST_LINES]
    headings = (*varied, "log Z", "error below", *(f"P({name})" for name, _ in marginals))
    rows = (
        (*(f"{sizes[t]:,}" for t in varied), number_text(float(found.log_z[n])), f"{found.errors[n]:.0e}",
         *(value_words(float(values[n])) for _, values in marginals))
        for n, sizes in enumerate(found.sizes)
    )  # fmt: skip
    return Card(
        "Sweep",
        count_of(len(found), "point"),
        picture=sweep_scene(found),
        alternative="Log Z, shares of true groundings and marginals; the table below has the numbers.",
        table=table_of(headings, rows, len(found), "points", numbers=range(len(headings))),
    )
