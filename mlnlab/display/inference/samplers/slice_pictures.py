"""Draw MC-SAT: the picture of other samplers, and its slices with their constraints and their choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.axes import value_words
from mlnlab.display.chart.curves import metric_plots, plots_scene
from mlnlab.display.inference.samplers.marked_rows import IDLE, IN, OUT, MarkedRow, marked_rows_scene
from mlnlab.display.inference.samplers.samplers import sampler_picture
from mlnlab.display.nodelink.ground_network_scenes import LitNetwork, lit_network
from mlnlab.display.runs.runs import Draw, RunPicture, step_before
from mlnlab.display.scene.building import Entry
from mlnlab.display.scene.items import Path, Scene
from mlnlab.inference.messages.beliefs import model_parts
from mlnlab.inference.sampling.slice_reading import SliceReader
from mlnlab.kernels.chains.sample_sat_components import FAILED, JUMPS, TIGHT
from mlnlab.kernels.chains.world_arrays import new_chain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.inference.ask.sampler import Sampler
    from mlnlab.logic.formulas.ground_atoms import GroundAtom
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

_SHOWN = {
    "selected": "clauses and tables asked for",
    "largest_component": "largest component, in choices",
    "tight_components": "components by SampleSAT, so far",
    "unsatisfied_slices": "of these kept as they were",
}
MOST_CONSTRAINTS = 30
MOST_NAMED = 8  # atoms that changed
_LONGEST = 12  # atoms of a constraint that are written out
_LONGEST_NAME = 160


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
    titles = {name: title for name, title in _SHOWN.items() if name in found.columns}
    plots = metric_plots(step, found, titles, around=(0.0, 1.0))
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


# --- rows -----------------------------------------------------------------------------------------
# Whether a constraint held is read from the world before the step, so it is known only where a step is one
# sweep; the constraints of the slice are in the state itself.


class Standing(NamedTuple):
    """The model's constraints in one step, held and chosen, in the order of their numbers."""

    held: NDArray[np.bool_] | None  # in the world before; none where that is not known
    chosen: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SliceView:
    """The model's clauses and tables, as a slice chooses among them."""

    reader: SliceReader
    chain: int = 0

    @cached_property
    def kept(self) -> NDArray[np.int64]:
        """The numbers of the constraints that a slice may choose: those with a weight."""
        ours = np.concatenate(model_parts(self.reader.ground.clauses))
        return np.flatnonzero(ours & (self._all_strengths != 0))

    @cached_property
    def strengths(self) -> NDArray[np.float64]:
        """The weight of the truth of each such constraint; below 0, a slice asks for its falsehood."""
        return np.asarray(self._all_strengths[self.kept])

    @property
    def _all_strengths(self) -> NDArray[np.float64]:
        network = self.reader.ground.network
        return np.concatenate([network.strengths, network.table_strengths])

    @cached_property
    def odds(self) -> NDArray[np.float64]:
        """With which probability each is chosen where it holds: 1 - exp(-|w|), 1 where it must hold."""
        return np.asarray(-np.expm1(-np.abs(self.strengths)))

    @cached_property
    def shown(self) -> NDArray[np.int64]:
        """The places of those that are drawn: the strongest, in the order of their numbers."""
        order = np.argsort(-np.abs(self.strengths), kind="stable")[:MOST_CONSTRAINTS]
        return np.sort(order)

    @cached_property
    def atoms(self) -> tuple[GroundAtom, ...]:
        """The open atoms."""
        choices = self.reader.ground.clauses.question.choices
        return tuple(atom for choice in choices for atom in choice.atoms)

    def _name(self, atom: int) -> str:
        return shorten_text(str(self.atoms[atom]), _LONGEST_NAME)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The texts of the drawn constraints."""
        return tuple(self._text(int(self.kept[place]), self.strengths[place]) for place in self.shown)

    def _text(self, constraint: int, strength: float) -> str:
        clauses = self.reader.ground.clauses
        if constraint >= clauses.number_of_clauses:
            table = constraint - clauses.number_of_clauses
            start, end = clauses.scope_starts[table : table + 2].tolist()
            firsts = clauses.first_atoms[clauses.scope[start:end][:_LONGEST]].tolist()
            about = ", ".join(map(self._name, firsts))
            source = clauses.sources[clauses.table_sources[table]]
            text = f"{shorten_text(source.text, _LONGEST_NAME)} (about {about})"
            return in_symbols(f"!({text})" if strength < 0 else text)
        start, end = clauses.starts[constraint : constraint + 2].tolist()
        opposite = strength < 0  # then all of its literals have to be false
        literals = [
            f"{'!' if bool(literal & 1) != opposite else ''}{self._name(literal >> 1)}"
            for literal in clauses.literals[start:end][:_LONGEST].tolist()
        ]
        more = [f"{end - start - _LONGEST:,} more"] if end - start > _LONGEST else []
        return in_symbols((" ^ " if opposite else " v ").join([*literals, *more]))

    def standing(self, state: Any, before: Any) -> Standing:  # noqa: ANN401 - states of MC-SAT
        """Return whether each constraint held and was chosen in the last step of the chain."""
        chosen = self.reader.select_constraints(state)[self.chain][self.kept]
        if before is None or state.sweeps - before.sweeps != 1:
            return Standing(None, chosen)
        network = self.reader.ground.network
        world = new_chain(network, before.chosen[self.chain], before.random[self.chain])
        bits = network.bits[network.table_starts[: len(world.cells)] + world.cells] != 0
        true = np.concatenate([world.satisfied != 0, bits])[self.kept]
        return Standing(true == (self.strengths > 0), chosen)

    def describe_changes(self, state: Any, before: Any) -> tuple[int, str]:  # noqa: ANN401 - states of MC-SAT
        """Return how many atoms of the drawn world are not as they were, and the first of them in words."""
        truths = self.reader.truths(state)[self.chain]
        places = np.flatnonzero(truths != self.reader.truths(before)[self.chain]).tolist()
        said = [
            f"{self._name(atom)} is {'true' if truths[atom] else 'false'}" for atom in places[:MOST_NAMED]
        ]
        more = [f"{len(places) - MOST_NAMED:,} more"] if len(places) > MOST_NAMED else []
        return len(places), ", ".join([*said, *more])


def slice_part(reader: SliceReader) -> Draw:
    """Return a function that draws the constraints of the first chain's last slice, and their chances."""
    view = SliceView(reader)

    def draw(step: Step[Any], trace: Trace[Any]) -> Scene:
        earlier = step_before(step, trace)
        before = None if earlier is None else earlier.state
        standing = view.standing(step.state, before)
        rows = [_row(view, number, int(place), standing) for number, place in enumerate(view.shown.tolist())]
        lines = _lines(view, step.state, before, standing)
        return marked_rows_scene(
            lines, rows, len(rows), ("what is asked for", "chance 1 - exp(-|w|)"), _entries(),
            ("A slice", " ".join(filter(None, lines))),
        )  # fmt: skip

    return draw


def _lines(view: SliceView, state: Any, before: Any, standing: Standing) -> tuple[str, str, str]:  # noqa: ANN401
    number, chosen = len(standing.chosen), int(standing.chosen.sum())
    left_out = number - len(view.shown)
    rest = f" The {len(view.shown)} strongest are drawn." if left_out else ""
    if before is None:
        return (f"Chain 1 begins in a random world in which everything holds that must.{rest}", "", "")
    if standing.held is None:
        sweeps = state.sweeps - before.sweeps
        first = f"The last slice of chain 1 chose {chosen:,} of {count_of(number, 'ground formula')}.{rest}"
        second = f"A step is {sweeps:,} sweeps here; sweeps_per_state=1 also shows what held before."
    else:
        held = int(standing.held.sum())
        first = f"Of {count_of(number, 'ground formula')} {held:,} held in the world of chain 1 before.{rest}"
        second = f"{chosen:,} of these were chosen, each with the chance beside it; all chosen still hold."
    changed, named = view.describe_changes(state, before)
    of = count_of(len(view.atoms), "atom")
    third = f"The world drawn in the slice: {changed:,} of {of} changed{': ' * bool(named)}{named}."
    return first, second, third


def _row(view: SliceView, number: int, place: int, standing: Standing) -> MarkedRow:
    strength, odds = float(view.strengths[place]), float(view.odds[place])
    weight = "hard" if np.isinf(strength) else f"w {value_words(abs(strength))}"
    if standing.chosen[place]:
        mark, look, note = IN, "bar blue", "chosen"
    elif standing.held is not None and not standing.held[place]:
        mark, look, note = OUT, "curve orange", "did not hold"
    else:
        mark, look, note = IDLE, "curve grey", "passed over" if standing.held is not None else "not chosen"
    tip = f"chosen with probability {odds:.4f} where it holds"
    return MarkedRow(view.texts[number], f"{weight}: {odds:.2f}", odds, mark, look, note, tip)


def _entries() -> Sequence[Entry]:
    return (
        Entry(Path(path=IN, look="bar blue"), "held and was chosen"),
        Entry(Path(path=IDLE, look="curve grey"), "held and was passed over"),
        Entry(Path(path=OUT, look="curve orange"), "did not hold: cannot be chosen"),
    )
