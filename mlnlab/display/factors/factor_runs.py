"""Draw a run over a factor graph: the factors with news or the values of variables, and the results.

Each variable is a box with its distribution as a bar below it; a chain's present value stands in the box, and
a factor that had news to tell is lit. Distributions and what changes are further parts of the picture.
Structured mean field draws its tree, and IJGP its join graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, Any

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.axes import value_words
from mlnlab.display.chart.curves import LEAST, changes_scene
from mlnlab.display.factors.factor_graph_scenes import belief_node, distributions_scene
from mlnlab.display.factors.join_graph_pictures import NEWS, join_graph_drawing
from mlnlab.display.inference.samplers.belief_pictures import belief_picture
from mlnlab.display.nodelink.node_links import (
    MOST_NODES,
    Layout,
    Link,
    Node,
    NodeLink,
    box_size,
    lay_out_springs,
    write_note,
)
from mlnlab.display.runs.runs import Draw, RunPicture, Table, columns_of
from mlnlab.display.scene.building import Entry, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Path, Scene
from mlnlab.inference.messages.spanning_trees import Pair, strengths
from mlnlab.inference.messages.tree_ascent import Ascent, StructuredState, dependences
from mlnlab.inference.methods.structured_mean_field import field_of
from mlnlab.inference.networks import factor_ijgp, factor_structured_mean_field
from mlnlab.inference.networks.factor_gibbs import FactorGibbsState

if TYPE_CHECKING:
    from mlnlab.factors.graphs.random_variables import RandomVariable
    from mlnlab.inference.ask.sampler import Sampler
    from mlnlab.inference.messages.factor_arrays import FactorQuestion
    from mlnlab.inference.networks.factor_answers import NetworkMarginals
    from mlnlab.inference.networks.factor_asking import FactorRun
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

_MOST_ROWS = 2_000
_EARLY = 100  # sweeps; before, that something has not settled is nothing to warn of
_CALM, _LIT = "M-5.5 -5.5h11v11h-11Z", "M0 -7l7 7l-7 7l-7 -7Z"  # a square, and a rhomb
_TOO_LARGE = "Nothing is open, or there are too many variables to draw; distributions and table show them."


@dataclass(frozen=True, slots=True, eq=False)
class RunDrawing:
    """The places of open variables and of the factors over them; only looks change from step to step."""

    question: FactorQuestion
    layout: Layout
    ties: tuple[tuple[int, int], ...]

    def picture(self, found: NetworkMarginals, lit: Sequence[bool], values: Sequence[int] | None) -> NodeLink:
        """Return a step: distributions, which factors are lit, and the values of a chain."""
        variables = self.question.graph.variables
        count = len(variables)
        return NodeLink(
            title="Factor graph",
            layout=self.layout,
            nodes=(
                *(
                    belief_node(n, v, list(found[v.name].values()), None if values is None else values[n])
                    for n, v in enumerate(variables)
                ),
                *(self._factor(number, is_lit) for number, is_lit in enumerate(lit)),
            ),
            links=(
                Link(ends=self.ties),
                Link(ends=[(a, b) for a, b in self.ties if lit[a - count]], look="curve orange"),
            ),
            legend=_entries(chain=values is not None),
        )

    def _factor(self, number: int, is_lit: bool) -> Node:
        factor = self.question.graph.factors[self.question.numbers[number]]
        over = "over " + ", ".join(variable.name for variable in factor.scope)
        return Node(
            id=numbered_id("factor", number),
            # One kind of item for both, so that a step changes values alone.
            mark=Path(path=_LIT if is_lit else _CALM, look="disc orange" if is_lit else "disc blue"),
            tooltip=tooltip(factor.name or f"factor {number}", over),
            pick=False,
        )


def _entries(*, chain: bool) -> tuple[Entry, ...]:
    bars = Entry(mark("square", 5, "bar blue"), "bar: probabilities of values")
    if chain:
        return Entry(mark("circle", 5, "ring grey"), "variable: value in a chain"), bars
    return (
        Entry(mark("square", 5, "disc blue"), "factor"),
        Entry(mark("diamond", 5, "disc orange"), "factor whose messages changed most"),
        bars,
    )


def run_drawing(question: FactorQuestion, *, chain: bool) -> RunDrawing | None:
    """Lay out the open variables and their factors; return ``None`` if there are none, or too many."""
    count = question.number_of_variables
    if not 0 < count + question.number_of_tables <= MOST_NODES or not count:
        return None
    ties = [(count + n, v) for n, scope in enumerate(question.scopes()) for v in scope]
    names = [f"{v.name}: {max(v.values, key=len)}" if chain else v.name for v in question.graph.variables]
    return RunDrawing(question, lay_out_springs(names, question.number_of_tables, ties, 60.0), tuple(ties))


# --- the picture ----------------------------------------------------------------------------------


def factor_run_picture(run: FactorRun) -> RunPicture:
    """Return the pictures of a method's run over a factor graph."""
    name = run.method.name.replace("-", " ")
    title = name.upper() if name == factor_ijgp.NAME else name[:1].upper() + name[1:]
    drawing = run_drawing(run.question, chain=run.method.name == "gibbs")

    def graph(step: Step[Any], _trace: Trace[Any]) -> Scene:
        if drawing is None:
            return write_note(title, _TOO_LARGE)
        values = step.state.values[0].tolist() if isinstance(step.state, FactorGibbsState) else None
        drawn = drawing.picture(run.marginals(step.state), _mark_active_factors(run, step.state), values)
        return replace(drawn, title=title, words=_caption(step)).scene()

    def distributions(step: Step[Any], _trace: Trace[Any]) -> Scene:
        return distributions_scene(run.marginals(step.state)) or write_note(title, _TOO_LARGE)

    structured = run.method.name == factor_structured_mean_field.NAME
    return RunPicture(
        title=f"{title} over a factor graph",
        parts={
            **{part: draw for part, draw in _parts_of_method(run) if draw is not None},
            "graph": graph,
            "distributions": distributions,
            "changes": _changes,
        },
        caption=ascent_caption if structured else _caption,
        remarks=lambda step: _remarks(run, step),
        table=lambda step: _table(run.marginals(step.state)),
    )


def _parts_of_method(run: FactorRun) -> Iterator[tuple[str, Draw | None]]:
    """Yield the parts that belong to one method: the tree of a field, the clusters of a join graph."""
    variables = run.question.graph.variables
    if run.method.name == factor_structured_mean_field.NAME:
        yield "tree", tree_part(factor_structured_mean_field.ascent_of(run.params, run.question), variables)
    if run.method.name == factor_ijgp.NAME:
        names = [variable.name for variable in variables]
        drawing = join_graph_drawing(factor_ijgp.propagation(run.params, run.question).graph, names)
        if drawing is not None:
            yield "clusters", lambda step, _trace: drawing.scene(step.state.changes)


def _mark_active_factors(run: FactorRun, state: Any) -> list[bool]:  # noqa: ANN401 - each method has states of its own
    """Return which factors had news to tell in the last sweep."""
    changes = getattr(state, "changes", None)  # of each factor, but for fields on trees and clusters
    of_others = isinstance(state, StructuredState | factor_ijgp.FactorClusterState)
    if changes is None or of_others or float(changes.max(initial=0.0)) <= LEAST:
        return [False] * run.question.number_of_tables
    found: list[bool] = (changes >= NEWS * changes.max()).tolist()
    return found


def _changes(step: Step[Any], trace: Trace[Any]) -> Scene:
    number = len(trace.metrics().columns)
    return changes_scene(step, trace, f"{count_of(number, 'metric')} over the run.")


def _caption(step: Step[Any]) -> str:
    state = step.state
    sweep = f"sweep {state.sweeps:,}"
    if isinstance(state, FactorGibbsState):
        kept = count_of(state.samples, "sample") if state.samples else "burning in, no samples yet"
        return f"{sweep} of {count_of(len(state.values), 'chain')}: {kept}"
    if not state.sweeps:
        return "before the first sweep"
    ended = ", settled" if state.converged else ""
    return f"{sweep}: changes up to {value_words(float(state.largest_change))}{ended}"


def _remarks(run: FactorRun, step: Step[Any]) -> Sequence[str]:
    return run.marginals(step.state).warnings if step.state.sweeps >= _EARLY else ()


def _table(found: NetworkMarginals) -> Table:
    columns = columns_of(("variable", "value", "probability", "error"), (2, 3))
    rows = [
        (shorten_text(name), shorten_text(value), round(p, 6), float(f"{found.error(name, value):.2g}"))
        for name, one in found.items()
        for value, p in one.items()
    ]
    return Table("Distributions", columns, tuple(rows[:_MOST_ROWS]))


# --- structured mean field ------------------------------------------------------------------------

MOST_DRAWN = 150  # variables
_NARROW, _WIDE = 1.5, 6.0  # half the width of a branch
_MOST_INFORMATION = log(2.0)  # nats, as one bit: the widest branch


@dataclass(frozen=True, slots=True, eq=False)
class TreeDrawing:
    """The places of variables; only widths and looks change from step to step."""

    ascent: Ascent
    variables: tuple[RandomVariable, ...]
    layout: Layout
    left_out: tuple[Pair, ...]  # pairs that the model ties and the tree does not
    tied: dict[Pair, float]

    def scene(self, state: StructuredState) -> Scene:
        """Return a step: branches as wide as they tell, lit where they changed, and distributions."""
        told = dependences(self.ascent, state)
        starts = self.ascent.on_tree.forest.value_starts.tolist()
        shares = [state.probabilities[a:b].tolist() for a, b in pairwise(starts[:-1])]
        branches = count_of(len(self.ascent.branches), "branch", "branches")
        return NodeLink(
            title="Tree",
            layout=self.layout,
            nodes=[belief_node(n, variable, shares[n]) for n, variable in enumerate(self.variables)],
            links=(
                Link(ends=self.left_out, look="link quiet"),
                *(
                    self._branch(number, pair, told.get(pair, 0.0), state)
                    for number, pair in enumerate(self.ascent.branches)
                ),
            ),
            legend=_ENTRIES,
            words=f"{branches} of the tree, and {count_of(len(self.left_out), 'pair')} beside it.",
        ).scene()

    def _branch(self, number: int, pair: Pair, told: float, state: StructuredState) -> Link:
        one, other = pair
        lower = one if int(self.ascent.on_tree.forest.parents[one]) == other else other
        most = float(state.changes.max(initial=0.0))
        is_known = state.sweeps > 0 and most > LEAST
        is_lit = is_known and float(state.changes[lower]) >= NEWS * most
        return Link(
            ends=(pair,),
            id=numbered_id("branch", number),
            look="bar orange" if is_lit else "bar blue",
            half=_NARROW + (_WIDE - _NARROW) * min(1.0, told / _MOST_INFORMATION),
            tooltip=tooltip(
                " and ".join(self.variables[variable].name for variable in pair),
                f"mutual information {told:.3g} nats",
                f"strength {self.tied.get(pair, 0.0):.3g} in the model",
            ),
        )


_ENTRIES = (
    Entry(mark("square", 5, "bar blue"), "branch: the wider, the more mutual information"),
    Entry(mark("square", 5, "bar orange"), "changed in this sweep"),
    Entry(mark("square", 5, "bar grey"), "thin: tied, not in the tree"),
)


def tree_drawing(ascent: Ascent, variables: Sequence[RandomVariable]) -> TreeDrawing | None:
    """Return the layout, the tree's branches being its springs; none where there is nothing, or too much."""
    if not 0 < len(variables) <= MOST_DRAWN:
        return None
    tied = strengths(ascent.products)
    names = [variable.name for variable in variables]
    length = 54.0 + 0.55 * max(box_size([name])[0] for name in names)
    layout = lay_out_springs(names, 0, ascent.branches, length, bars=True)
    left_out = tuple(sorted(set(tied) - set(ascent.branches)))
    return TreeDrawing(ascent, tuple(variables), layout, left_out, tied)


def tree_part(ascent: Ascent, variables: Sequence[RandomVariable]) -> Draw | None:
    """Return how a step is drawn; none where it is not."""
    drawing = tree_drawing(ascent, variables)
    if drawing is None:
        return None

    return lambda step, _trace: drawing.scene(step.state)


def structured_picture(sampler: Sampler) -> RunPicture:
    """Return the pictures of structured mean field over ground Markov logic: beliefs, the tree, changes."""
    field = field_of(sampler.params, sampler.question)
    picture, tree = belief_picture(sampler), tree_part(field.ascent, field.variables)
    parts = {"tree": tree, **picture.parts} if tree is not None else picture.parts
    return replace(picture, parts=parts, caption=ascent_caption)


def ascent_caption(step: Step[Any]) -> str:
    """Say where the ascent is and how high its bound."""
    state = step.state
    bound = f"log Z is at least {state.bound:.6g}"
    if not state.naive_sweeps and not state.sweeps:
        return f"before the first sweep: {bound}"
    if not state.sweeps:
        return f"all independent, sweep {state.naive_sweeps:,}: {bound}"
    return f"on the tree, sweep {state.sweeps:,}: {bound}{', settled' if state.converged else ''}"
