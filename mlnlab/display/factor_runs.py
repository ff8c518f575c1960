"""The pictures of a run over a factor graph: who tells news or has which value, and what follows for each.

Each variable is a box with its distribution as a bar below it; a chain's present value stands in the box, and
a factor that had news to tell is lit. Distributions and what changes are further parts of the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlnlab.display.axes import value_words
from mlnlab.display.bars import WIDTH
from mlnlab.display.curves import LEAST, changes_scene
from mlnlab.display.factor_bars import distributions_scene
from mlnlab.display.factor_graph_scenes import (
    BAR,
    HEIGHT,
    MOST_NODES,
    MOST_STRETCHES,
    box_width,
    points,
    stretches,
    titled,
    variables_layout,
    with_legend,
)
from mlnlab.display.markup import count_of, shortened
from mlnlab.display.probabilities import probability_in_words
from mlnlab.display.runs import Column, RunPicture, Table
from mlnlab.display.scene.building import Entry, label, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Rectangle, Scene
from mlnlab.display.scene.look import HUES
from mlnlab.display.scene.paths import Point, segments
from mlnlab.display.tree_pictures import ascent_caption, tree_part
from mlnlab.inference import factor_structured_mean_field
from mlnlab.inference.factor_gibbs import FactorGibbsState
from mlnlab.inference.tree_ascent import StructuredState

if TYPE_CHECKING:
    from mlnlab.display.runs import Draw
    from mlnlab.inference.factor_answers import NetworkMarginals
    from mlnlab.inference.factor_arrays import FactorQuestion
    from mlnlab.inference.factor_asking import FactorRun
    from mlnlab.steps.step import Step
    from mlnlab.steps.trace import Trace

NEWS = 0.05  # a factor had news where a message of it changed by such a share of the largest change
_NAMED = 60  # up to so many variables have their names in boxes
_MOST_ROWS = 2_000
_EARLY = 100  # sweeps; before, that something has not settled is nothing to warn of
_CALM, _LIT = "M-5.5 -5.5h11v11h-11Z", "M0 -7l7 7l-7 7l-7 -7Z"  # a square, and a rhomb
_TOO_LARGE = "Nothing is open, or so many variables are not drawn; distributions and table show them."


@dataclass(frozen=True, slots=True, eq=False)
class RunDrawing:
    """Where the open variables and the factors over them stand; what changes from step to step are looks."""

    question: FactorQuestion
    names: tuple[str, ...]  # with room for the longest value, where a chain has values
    at: tuple[Point, ...]
    ties: tuple[tuple[int, int], ...]
    size: tuple[float, float]

    def scene(self, found: NetworkMarginals, lit: Sequence[bool], values: Sequence[int] | None) -> Scene:
        """Return a step: distributions, which factors are lit, and the values of a chain."""
        count = len(self.names)
        edges = (
            Path(path=segments((self.at[a], self.at[b]) for a, b in self.ties), look="link"),
            Path(
                path=segments((self.at[a], self.at[b]) for a, b in self.ties if lit[a - count]),
                look="curve orange",
            ),
        )
        squares = tuple(self._square(number, is_lit) for number, is_lit in enumerate(lit))
        boxes = tuple(
            self._box(number, found, None if values is None else values[number]) for number in range(count)
        )
        layers = Layer("edges", edges), Layer("factors", squares), Layer("variables", boxes)
        return with_legend(_entries(chain=values is not None), layers, self.size)

    def _square(self, number: int, is_lit: bool) -> Group:
        factor = self.question.graph.factors[self.question.numbers[number]]
        over = "over " + ", ".join(variable.name for variable in factor.scope)
        return Group(
            id=numbered_id("factor", number),
            x=self.at[len(self.names) + number][0],
            y=self.at[len(self.names) + number][1],
            tooltip=tooltip(factor.name or f"factor {number}", over),
            children=(
                # One kind of item for both, so that a step changes values alone.
                Path(path=_LIT if is_lit else _CALM, look="disc orange" if is_lit else "disc blue"),
            ),
        )

    def _box(self, number: int, found: NetworkMarginals, value: int | None) -> Group:
        variable = self.question.graph.variables[number]
        shares = found[variable.name]
        rows = [f"{v}: {probability_in_words(p)}" for v, p in list(shares.items())[:MOST_STRETCHES]]
        now = [] if value is None else [f"first chain: {variable.values[value]}"]
        children: tuple[Item, ...]
        if len(self.names) > _NAMED:
            place = max(range(variable.size), key=list(shares.values()).__getitem__)
            look = HUES[(place if value is None else value) % len(HUES)]
            children = (Circle(x=0, y=0, radius=7, look=f"disc {look}"),)
        else:
            width = box_width(self.names[number])
            text = variable.name if value is None else f"{variable.name}: {variable.values[value]}"
            frame = (
                Rectangle(x=-width / 2, y=-HEIGHT / 2, width=width, height=HEIGHT, corner=8, look=word)
                for word in ("plate", "ring grey")
            )
            words = label(0, 4.5, text, width - 10, "words")
            children = (*frame, words, *stretches(list(shares.values()), width))
        return Group(
            id=numbered_id("variable", number),
            x=self.at[number][0],
            y=self.at[number][1],
            tooltip=tooltip(variable.name, *now, *rows),
            children=children,
        )


def _entries(*, chain: bool) -> tuple[Entry, ...]:
    bars = Entry(mark("square", 5, "bar blue"), "bar: probabilities of values")
    if chain:
        return Entry(mark("circle", 5, "ring grey"), "variable: value in a chain"), bars
    return (
        Entry(mark("square", 5, "disc blue"), "factor"),
        Entry(mark("diamond", 5, "disc orange"), "factor that told news"),
        bars,
    )


def run_drawing(question: FactorQuestion, *, chain: bool) -> RunDrawing | None:
    """Return the layout of what is open; none where there is nothing, or too much."""
    count = question.number_of_variables
    if not 0 < count + question.number_of_tables <= MOST_NODES or not count:
        return None
    ties = [(count + n, v) for n, scope in enumerate(question.scopes()) for v in scope]
    names = tuple(
        f"{v.name}: {max(v.values, key=len)}"[:200] if chain else v.name for v in question.graph.variables
    )
    placed = variables_layout(names, question.number_of_tables, ties, 60.0)
    size = placed.size[0], placed.size[1] + BAR + 4
    return RunDrawing(question, names, tuple(points(placed.places)), tuple(ties), size)


# --- the picture ----------------------------------------------------------------------------------


def factor_run_picture(run: FactorRun) -> RunPicture:
    """Return the pictures of a method's run over a factor graph."""
    name = run.method.name.replace("-", " ")
    title = name[:1].upper() + name[1:]
    drawing = run_drawing(run.question, chain=run.method.name == "gibbs")
    empty = Scene(
        WIDTH, 40, (Layer("nothing", (label(WIDTH / 2, 24, _TOO_LARGE, WIDTH - 20, "quiet"),)),), ""
    )

    def graph(step: Step[Any], _trace: Trace[Any]) -> Scene:
        if drawing is None:
            return titled(empty, title, _TOO_LARGE)
        values = step.state.values[0].tolist() if isinstance(step.state, FactorGibbsState) else None
        scene = drawing.scene(run.marginals(step.state), _lit(run, step.state), values)
        return titled(scene, title, _caption(step))

    def distributions(step: Step[Any], _trace: Trace[Any]) -> Scene:
        return distributions_scene(run.marginals(step.state)) or titled(empty, title, _TOO_LARGE)

    structured = run.method.name == factor_structured_mean_field.NAME
    tree = _tree_part(run) if structured else None
    return RunPicture(
        title=f"{title} over a factor graph",
        parts={
            **({"tree": tree} if tree is not None else {}),
            "graph": graph,
            "distributions": distributions,
            "changes": _changes,
        },
        caption=ascent_caption if structured else _caption,
        remarks=lambda step: _remarks(run, step),
        table=lambda step: _table(run.marginals(step.state)),
    )


def _tree_part(run: FactorRun) -> Draw | None:
    ascent = factor_structured_mean_field.ascent_of(run.params, run.question)
    return tree_part(ascent, run.question.graph.variables)


def _lit(run: FactorRun, state: Any) -> list[bool]:  # noqa: ANN401 - each method has states of its own
    """Return which factors had news to tell in the last sweep."""
    changes = getattr(state, "changes", None)  # of each factor, but of variables where these are on a tree
    if changes is None or isinstance(state, StructuredState) or float(changes.max(initial=0.0)) <= LEAST:
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
    columns = (
        Column("variable"),
        Column("value"),
        Column("probability", number=True),
        Column("error", number=True),
    )
    rows = [
        (shortened(name), shortened(value), round(p, 6), float(f"{found.error(name, value):.2g}"))
        for name, one in found.items()
        for value, p in one.items()
    ]
    return Table("Distributions", columns, tuple(rows[:_MOST_ROWS]))
