"""Draw a sampler's chains: the log-weights of their worlds, and their answers to some queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.chart.axes import Axis, place_axis, value_axis
from mlnlab.display.chart.bars import WIDTH
from mlnlab.display.chart.curves import vertical_axis
from mlnlab.display.chart.plots import Box, Line, Plot, entries, plot_items
from mlnlab.display.inference.samplers.samplers_view import History, SamplerView
from mlnlab.display.scene.building import legend
from mlnlab.display.scene.items import Item, Layer, Scene, Text

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from mlnlab.display.runs.runs import Draw
    from mlnlab.inference.sampling.state_reading import ChainsReader
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

MOST_CHAINS = 16
_FIRST_REACH = 64  # sweeps
_TALL, _SMALL, _GAP = 190.0, 140.0, 12.0


class ChainsRow(NamedTuple):
    """A step's record: its number of sweeps, each chain's log-weight, and its answers to chosen queries."""

    sweeps: int
    log_weights: NDArray[np.float64]
    fractions: NDArray[np.float64]


def chains_part(view: SamplerView, reader: ChainsReader) -> Draw:
    """Return a function that draws a curve for each chain."""

    def read(step: Step[Any]) -> ChainsRow:
        state = step.state
        fractions = reader.fractions(state, view.chosen)[:MOST_CHAINS]
        return ChainsRow(state.sweeps, state.log_weights[:MOST_CHAINS], fractions)

    history = History(read)
    shares = value_axis(0, 1, most=3)
    unit = Axis(0.0, 1.0, shares.ticks, shares.words)

    def draw(step: Step[Any], trace: Trace[Any]) -> Scene:
        rows = history.until(step, trace)
        sweeps = np.array([row.sweeps for row in rows], np.float64)
        weights = np.array([row.log_weights for row in rows], np.float64).T
        answers = np.array([row.fractions for row in rows], np.float64).transpose(2, 1, 0)
        across = place_axis(0, _reach(rows[-1].sweeps, reader.sweeps), whole=True)
        lines = _lines(sweeps, weights)
        burn_in = (0.0, float(reader.burn_in))
        plots = [
            Plot(
                "log-weight of the worlds", lines, across, vertical_axis(lines), "sweep", burn_in, named=False
            )
        ]
        for place, answer in zip(view.chosen, answers, strict=True):
            level = view.exact.get(place, -1.0)  # outside: the line is there, and empty
            title, drawn = view.name(place), _lines(sweeps, answer)
            plots.append(Plot(title, drawn, across, unit, "sweep", burn_in, level=level, named=False))
        return _scene(plots, len(step.state.log_weights))

    return draw


def _reach(done: int, whole: int) -> int:
    """Return how far the axis goes: it doubles when the curves reach its end, up to the whole run."""
    reach = _FIRST_REACH
    while reach < done:
        reach *= 2
    return min(reach, max(whole, done))


def _lines(sweeps: NDArray[np.float64], values: NDArray[np.float64]) -> tuple[Line, ...]:
    return tuple(Line(f"chain {number}", sweeps, row) for number, row in enumerate(values, 1))


def _scene(plots: list[Plot], chains: int) -> Scene:
    items: list[Item] = list(plot_items(plots[0], Box(0, 4, WIDTH, _TALL), 0))
    half, top = (WIDTH - _GAP) / 2, 4 + _TALL + _GAP
    for number, plot in enumerate(plots[1:]):
        box = Box(number % 2 * (half + _GAP), top + number // 2 * (_SMALL + _GAP), half, _SMALL)
        items += plot_items(plot, box, number + 1)
    bottom = top + -(-(len(plots) - 1) // 2) * (_SMALL + _GAP)
    names = [line.name for line in plots[0].lines]
    explained, height = legend(entries(names), 8, bottom, WIDTH - 16)
    words = "Under the name of a query: the share of its samples in which each chain alone found it true."
    if chains > len(names):
        words += f" {len(names)} of {chains:,} chains are drawn."
    note = Text(x=8, y=bottom + height + 14, text=words if len(plots) > 1 else "", look="quiet small")
    layers = (Layer("plots", tuple(items)), Layer("explained", (explained, note), zooms=False))
    return Scene(WIDTH, bottom + height + 22, layers, "Chains", f"{len(names)} chains over sweeps.")
