"""Draw LiftGraph: the hypergraph on the left, the lifted one on the right, a merge's gain below."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.runs.run_cards import calls_in_words
from mlnlab.display.runs.runs import RunPicture, Table, columns_of
from mlnlab.display.scene.building import legend
from mlnlab.display.scene.buttons import Button, button_line
from mlnlab.display.scene.items import Group, Item, Layer, Path, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.display.structure.lift.lift_panels import (
    add_sign,
    clusters_panel,
    constants_panel,
    gain_items,
    gain_rows,
    pair_items,
    strips,
)
from mlnlab.display.structure.lift.lift_run_view import PANEL, Before, LiftView, Told, lift_view
from mlnlab.display.structure.lift.lifted_hypergraphs import predicate_entries, scene_of

if TYPE_CHECKING:
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step
    from mlnlab.structure.lift.lift_graph import LiftGraph, LiftState, Merge
    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

WIDE = 900.0
_MOST_PAIRS = 8
_NO_RETURNS: Mapping[int, int] = {}
_ROW, _MOST_TYPES = 26.0, 6
_HINT = "Click two clusters of one type to see what merging them gains."
_HINT_FOR_PREDICATES = "Click two clusters of one type, or two predicates, to see what merging them gains."


@dataclass(frozen=True, eq=False)
class Looking:
    """The content of LiftGraph's picture: a run, and the messages of its stepper where there is one."""

    view: LiftView
    told: Callable[[], Told] | None = None


def lift_picture(source: LiftGraph) -> RunPicture:
    """Return the pictures of a run of LiftGraph."""
    return picture_at(Looking(lift_view(source)))


def picture_at(looking: Looking) -> RunPicture:
    """Return the pictures of a run."""
    view = looking.view
    return RunPicture(
        title=f"LiftGraph: {count_of(view.source.hypergraph.number_of_nodes, 'constant')}, λ ="
        f" {view.source.params.penalty:g}",
        parts={
            "merging": lambda step, trace: merging_scene(looking, step, trace),
            "lifted hypergraph": lambda step, _: lifted_scene(view, step),
        },
        caption=lambda step: caption(view, step, looking.told().returns if looking.told else {}),
        remarks=lambda step: _remarks(view, step),
        table=lambda step: _table(view, step),
    )


def lifted_scene(view: LiftView, step: Step[Any]) -> Scene:
    """Return the lifted hypergraph of a step alone, in places of its own; collapsed where it is large."""
    found = scene_of(view.lifted(step.state))
    return Scene(WIDE, 0, (), "There is nothing to draw") if found is None else found


def merging_scene(looking: Looking, step: Step[Any], trace: Trace[Any]) -> Scene:
    """Return a step: the steering, both hypergraphs, and the gain."""
    view, state = looking.view, step.state
    told = looking.told() if looking.told is not None else Told()
    labels = view.source.labels(state)
    if any(labels[cluster] != cluster for cluster in told.chosen):
        told = told._replace(chosen=())
    trial = trial_of(view, state, told)
    top = 4.0
    controls: list[Item] = []
    if looking.told is not None:
        controls, top = control_items(view, state, told, trial, top)
    before = view.before(step, trace)
    drawn, bottom = _panels(view, state, before, told, top)
    below, end = _below(view, state, before, trial, told, bottom)
    layers = (
        Layer("controls", tuple(controls), zooms=False),
        Layer("drawn", tuple(drawn)),
        Layer("gains", tuple(below), zooms=False),
    )
    wide = WIDE if view.slots is None else max(WIDE, 2 * view.slots.size[0] + 30)
    return Scene(wide, end + 4, layers, "LiftGraph", f"{caption(view, step)}.")


def trial_of(view: LiftView, state: LiftState, told: Told) -> Merge | None:
    """Return the merge of the two clicked clusters with its gain; ``None`` if fewer were clicked."""
    return view.source.gain(state, *told.chosen) if len(told.chosen) == 2 else None


def _panels(
    view: LiftView, state: LiftState, before: Before | None, told: Told, top: float
) -> tuple[list[Item], float]:
    """Return both hypergraphs with their headings and legend, and where they end."""
    lifted, slots = view.lifted(state), view.slots
    graph = view.source.hypergraph
    left = f"the hypergraph: {graph.number_of_nodes:,} constants, {graph.number_of_edges:,} true atoms"
    right = f"lifted: {count_of(state.clusters, 'cluster')}, {count_of(state.hyperedges, 'hyperedge')}"
    # Where predicates are clustered, too, each hyperedge is drawn for each of its predicates.
    if view.together(state) and len(lifted.edges) > state.hyperedges:
        right += f"; {len(lifted.edges):,} drawn, by predicate"
    merged = view.predicates_in(state, told.chosen) if told.chosen else view.list_merged_predicates(state)
    entries = predicate_entries(lifted, merged, view.together(state), view.picks)
    explained, height = legend(entries, 8, 0, WIDE - 16)
    if slots is None:
        items, end = strips(view, lifted, before, told.chosen, top + 22, WIDE)
        heading = Text(id="left-heading", x=8, y=top + 15, text=f"{left}; {right}", look="words strong")
        return [heading, *items], end
    lit = frozenset((*before.first, *before.second) if before is not None else ())
    if told.chosen:
        chosen = frozenset(told.chosen)
        lit = frozenset(node for node, label in enumerate(lifted.labels.tolist()) if label in chosen)
    below = top + 20
    half = max(PANEL, slots.size[0]) + 10
    halves = (
        Group(id="constants", y=below, children=tuple(constants_panel(view, lifted, slots, lit, merged))),
        Group(id="clusters", x=half + 10, y=below,
              children=tuple(clusters_panel(view, lifted, slots, before, told.chosen, merged))),
    )  # fmt: skip
    end = below + slots.size[1]
    headings = (
        Text(id="left-heading", x=8, y=top + 15, text=left, look="words strong"),
        Text(id="right-heading", x=half + 18, y=top + 15, text=right, look="words strong"),
        Path(path=segments([((half, top + 4), (half, end))]), look="frame"),
    )
    below_both = Group(id="predicates", y=end + 2, children=(explained,))
    return [*headings, *halves, below_both], end + height + 6


def _below(
    view: LiftView, state: LiftState, before: Before | None, trial: Merge | None, told: Told, y: float
) -> tuple[list[Item], float]:
    """Return the gain of the merge, or of the one that is tried, with other pairs beside it."""
    merge = state.merge if trial is None else trial
    lifted = view.lifted(state)
    rule: Item = Path(path=segments([((8, y), (WIDE - 8, y))]), look="frame")
    pairs, heading, named_in = _other_pairs(view, state, before, trial, told)
    others, right = pair_items(view, named_in, pairs, fit_text(heading, 250, "strong"), y)
    if merge is None:
        words = "No merge gains any more." if state.ended else "Each constant is alone."
        words = "Which other one?" if told.chosen else words
        said = Text(id="gain-heading", x=8, y=y + 13, text=words, look="words strong")
        return [rule, said, *others], max(right, y + 26)
    after = lifted if trial is None else view.with_merge(state, trial)
    rows = gain_rows(view, after, merge)
    heading = f"{'would gain' if trial is not None else 'gain'} {add_sign(merge.gain)}, term by term"
    items, left = gain_items(after, rows, merge, heading, y)
    return [rule, *items, *others], max(left, right)


def _other_pairs(
    view: LiftView, state: LiftState, before: Before | None, trial: Merge | None, told: Told
) -> tuple[Sequence[Merge], str, LiftedHypergraph]:
    """Return the pairs beside the gain, their heading, and the clustering in which they are named."""
    lifted = view.lifted(state)
    if told.chosen:
        type_ = view.type_of(told.chosen[0])
        found = view.source.candidates(state, type_)
        if trial is None:
            pairs = [pair for pair in found if told.chosen[0] in (pair.first, pair.second)]
        else:
            tried = trial.first, trial.second
            pairs = [pair for pair in found if (pair.first, pair.second) != tried]
        return pairs[:_MOST_PAIRS], f"best pairs of type {shorten_text(type_)} now", lifted
    if state.merge is not None:
        heading = f"the next best pairs of type {shorten_text(state.merge.type)}"
        return state.runners_up[:_MOST_PAIRS], heading, view.before_merge(state, before)
    if view.slots is None:
        return (), "", lifted
    types = view.source.problem.clustered_types
    best = sorted(
        (pair for type_ in types for pair in view.source.candidates(state, type_)[:_MOST_PAIRS]),
        key=lambda pair: -pair.gain,
    )
    return best[:_MOST_PAIRS], "the best pairs now", lifted


# --- in words -------------------------------------------------------------------------------------


def caption(view: LiftView, step: Step[Any], returns: Mapping[int, int] = _NO_RETURNS) -> str:
    """Say a step in one line; ``returns`` tells which steps are earlier ones again."""
    state: LiftState = step.state
    again = f" (step {returns[step.index]:,} again)" if step.index in returns else ""
    place = f"step {step.index:,}{again}"
    if state.ended:
        return f"{place}: no merge gains any more, {_sizes(state)}"
    if state.merge is None:
        return f"{place}: each constant alone, {_sizes(state)}"
    merge = state.merge
    way = "by hand" if state.by_hand else f"round {state.round:,}"
    sum_ = f"{add_sign(merge.likelihood)} likelihood {add_sign(merge.prior)} prior"
    names = " and ".join(_constant(view, node) for node in (merge.first, merge.second))
    return (
        f"{place}, {way}: {names} merge ({shorten_text(merge.type, 40)}),"
        f" gain {add_sign(merge.gain)} = {sum_}; {_sizes(state)}"
    )


def _constant(view: LiftView, node: int) -> str:
    return shorten_text(view.source.problem.name_of(node), 40)


def _sizes(state: LiftState) -> str:
    return f"{count_of(state.clusters, 'cluster')}, log-posterior {state.log_posterior:,.2f}"


def _remarks(view: LiftView, step: Step[Any]) -> Sequence[str]:
    state: LiftState = step.state
    found = []
    if state.merge is not None and state.by_hand and state.merge.gain < 0:
        found.append(f"This merge by hand costs {-state.merge.gain:,.2f} of log-posterior.")
    if view.slots is None:
        found.append("Too many constants to draw each: clusters are strips, the largest first named.")
    return found


def _table(view: LiftView, step: Step[Any]) -> Table:
    """Return a row for each combination of the merge; where there is none, one for each cluster."""
    state: LiftState = step.state
    lifted = view.lifted(state)
    if state.merge is None:
        rows = tuple(
            (shorten_text(lifted.type_of(cluster)), view.name(lifted, cluster), int(lifted.sizes[cluster]))
            for cluster in lifted.clusters[:2_000].tolist()
        )
        return Table("Clusters", columns_of(("type", "cluster", "constants"), (2,)), rows)
    terms = tuple(
        (row.words, row.counts, row.likelihood, row.prior, row.likelihood + row.prior)
        for row in gain_rows(view, lifted, state.merge)
    )
    pairs = tuple(
        (f"instead: {_constant(view, pair.first)} and {_constant(view, pair.second)}", "", pair.likelihood,
         pair.prior, pair.gain)
        for pair in state.runners_up
    )  # fmt: skip
    columns = columns_of(("combination", "true of all", "likelihood", "prior", "gain"), (2, 3, 4))
    return Table("What the merge gained", columns, (*terms, *pairs))


# --- controls -------------------------------------------------------------------------------------


def control_items(
    view: LiftView, state: LiftState, told: Told, trial: Merge | None, y: float
) -> tuple[list[Item], float]:
    """Return two lines of buttons, for steps and for clicked clusters, and the position below them."""
    words = "next merge of"
    items: list[Item] = [Text(x=8, y=y + 13.5, text=words, look="quiet small")]
    line, end = button_line(_types(view), 14 + text_width(words, "small"), y)
    items += line
    further, _ = button_line(_further(state), end + 12, y)
    items += further
    return [*items, *_second_line(view, state, told, trial, y + _ROW)], y + 2 * _ROW


def _types(view: LiftView) -> list[Button]:
    types = view.source.problem.clustered_types
    return [
        (
            f"act-type-{number}",
            fit_text(shorten_text(name), 180, "small"),
            "go on to the next merge of this type",
        )
        for number, name in enumerate(types[:_MOST_TYPES])
    ]


def _further(state: LiftState) -> list[Button]:
    half = state.clusters // 2
    if half < 2:
        return []
    return [
        (f"act-until-{half}", f"until {half:,} clusters", "go on until no more are left, or nothing gains")
    ]


def _second_line(view: LiftView, state: LiftState, told: Told, trial: Merge | None, y: float) -> list[Item]:
    lifted = view.lifted(state)
    if trial is not None:
        names = f"{view.name(lifted, trial.first)} + {view.name(lifted, trial.second)}"
        words = f"{fit_text(names, 360, 'strong')}: gain {add_sign(trial.gain)}"
        keep = ("act-keep", "merge them", "the run goes on from there")
        leave = ("act-leave", "leave them", "as they are")
        until = ("act-together", "go on until they merge", "or until nothing gains any more")
        return _line(words, "words strong", [keep, leave, until], y)
    if told.chosen:
        name = fit_text(view.name(lifted, told.chosen[0]), 300, "strong")
        words = f"{name} and …? Click another cluster of type {shorten_text(view.type_of(told.chosen[0]))}."
        return _line(words, "words", [("act-leave", "leave it", "choose another one")], y)
    buttons: list[Button] = []
    if state.by_hand:
        buttons.append(("act-undo", "undo this merge", "the run goes on from the step before it"))
    if not told.newest:
        buttons.append(("act-return", "go on from here", "the run continues with this step as its newest"))
    hint = _HINT_FOR_PREDICATES if view.picks else _HINT
    return _line(hint, "quiet small", buttons, y)


def _line(words: str, look: str, buttons: list[Button], y: float) -> list[Item]:
    items, _ = button_line(buttons, 20 + text_width(words, look), y)
    return [Text(id="hint", x=8, y=y + 13.5, text=words, look=look), *items]


# --- card -----------------------------------------------------------------------------------------


def lift_graph_card(source: LiftGraph) -> Card:
    """Return the card of a search that has not begun."""
    types = source.hypergraph.constants
    rows = ((shorten_text(name), f"{len(numbers):,}") for name, numbers in types.items())
    ways = (".run()", ".steps()", "ml.stepper(...)")
    return Card(
        "LiftGraph",
        _question(source),
        table=table_of(("type", "constants"), rows, len(types), "types", numbers=(1,)),
        remarks=(
            calls_in_words("Nothing has been merged yet. Lift it at once, or go step by step: ", *ways),
            "From: Kok and Domingos (2009), Learning via Hypergraph Lifting, algorithm 2.",
        ),
    )


def _question(source: LiftGraph) -> str:
    graph, params = source.hypergraph, source.params
    sizes = f"{count_of(graph.number_of_nodes, 'constant')}, {count_of(graph.number_of_edges, 'true atom')}"
    smoothed = f", smoothing {params.smoothing}" if any(params.smoothing) else ""
    also = ", predicates are clustered too" if params.cluster_predicates else ""
    return f"{sizes}; λ = {params.penalty:g}{smoothed}{also}"
