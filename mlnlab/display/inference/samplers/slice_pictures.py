"""Draw MC-SAT: the picture of other samplers, and its slices with their constraints and their choice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.markup import count_of
from mlnlab.display.chart.axes import place_axis
from mlnlab.display.chart.curves import plots_scene, vertical_axis
from mlnlab.display.chart.plots import Line, Plot
from mlnlab.display.inference.samplers.samplers import sampler_picture
from mlnlab.display.inference.samplers.slice_rows import slice_part
from mlnlab.display.nodelink.ground_network_lit import LitNetwork, lit_network
from mlnlab.inference.messages.beliefs import model_parts
from mlnlab.inference.sampling.slice_reading import SliceReader
from mlnlab.kernels.chains.sample_sat_components import FAILED, JUMPS, TIGHT

if TYPE_CHECKING:
    from mlnlab.display.runs.runs import Draw, RunPicture
    from mlnlab.display.scene.items import Scene
    from mlnlab.inference.ask.sampler import Sampler
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

_SHOWN = {
    "selected": "clauses and tables asked for",
    "largest_component": "largest component, in choices",
    "tight_components": "components by SampleSAT, so far",
    "unsatisfied_slices": "of these kept as they were",
}


def slices_picture(sampler: Sampler) -> RunPicture:
    """Return the pictures of a run of MC-SAT."""
    found = sampler_picture(sampler)
    reader = sampler.reader()
    parts = {**found.parts, "slices": _slices_part}
    if isinstance(reader, SliceReader):
        if reader.ground.clauses.number_of_clauses + reader.ground.clauses.number_of_tables:
            parts["chosen"] = slice_part(reader)
        network = lit_network(reader.ground.clauses)
        if network is not None:
            parts["one slice"] = _one_slice_part(reader, network)
    return replace(found, title="MC-SAT sampling", parts=parts)


def _slices_part(step: Step[Any], trace: Trace[Any]) -> Scene:
    """Return curves of how large slices are, and of how they were drawn, up to a step."""
    found = trace.metrics()
    past = found.indices <= step.index
    steps = found.indices[past].astype(np.float64)
    across = place_axis(0, float(found.indices[-1]) if len(found) else 1.0, whole=True)
    plots = []
    for name, title in _SHOWN.items():
        if name in found.columns:
            line = Line(title, steps, found.columns[name][past])
            plots.append(
                Plot(title, (line,), across, vertical_axis((line,), around=(0.0, 1.0)), "step",
                     marked=step.index, named=False)
            )  # fmt: skip
    tallies = step.state.tallies
    words = (
        f"{count_of(int(tallies[:, TIGHT].sum()), 'component')} so far by SampleSAT, "
        f"{int(tallies[:, JUMPS].sum()):,} of them from a random world; "
        f"{count_of(int(tallies[:, FAILED].sum()), 'slice')} kept as they were."
    )
    return plots_scene(plots, "Slices", words)


def _one_slice_part(reader: SliceReader, network: LitNetwork, chain: int = 0) -> Draw:
    clauses = reader.ground.clauses
    ours, tables = model_parts(clauses)
    kept = np.concatenate([ours, tables])
    links = len(network.drawing.network.links)

    def draw(step: Step[Any], _trace: Trace[Any]) -> Scene:
        lit = np.zeros(links, np.bool_)
        asked = reader.select_constraints(step.state)[chain][kept]
        lit[: len(asked)] = asked
        words = (
            f"The last slice of chain {chain + 1} asked for {count_of(int(asked.sum()), 'link')}, lit here, "
            "and in the world that is drawn they all still hold."
        )
        truths = reader.truths(step.state)[chain]
        return network.scene((network.light_links(lit),), (), "One slice", words, truths=truths)

    return draw
