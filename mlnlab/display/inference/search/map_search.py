"""Draw a search for a most probable world: its cost, the broken formulas, the flipped atom and the reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.axes import place_axis, value_words
from mlnlab.display.chart.curves import vertical_axis
from mlnlab.display.chart.plots import Box, Line, Plot, plot_items
from mlnlab.display.inference.samplers.marked_rows import MADE, OUT, MarkedRow, marked_rows_scene
from mlnlab.display.inference.samplers.samplers_view import History
from mlnlab.display.inference.search.map_view import SearchView, search_view, worlds_part
from mlnlab.display.runs.runs import Draw, RunPicture, Table, columns_of, step_before
from mlnlab.display.scene.building import WIDTH, Entry, explained_scene, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text
from mlnlab.kernels.chains.modes import score_options, settle_option
from mlnlab.kernels.search.walk_steps import BY_NOISE, NOBODY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.inference.ask.solver import Solver
    from mlnlab.kernels.chains.world_arrays import Chain
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

MOST_BROKEN = 14  # that are written out
MOST_IN_TABLE = 1_000
_TALL, _ROW, _LINE = 200.0, 19.0, 17.0
_SOFT = "M-5 -5h10v10h-10Z"
_HARD = "M0 -7L7 0L0 7L-7 0Z"
_NEW = "M-9 -9h18v18h-18Z"
_WRITTEN = {"icm": "ICM", "max-walk-sat": "MaxWalkSAT", "rc2": "RC2"}  # as their papers write them
_NAMES = {"cost": "cost now", "best_cost": "best world", "bound": "proven bound"}
MOST_MOVES = 14
_MOST_WEIGHED = 200  # choices of one formula, besides the one that was changed
_ZERO = 1e-12


class CostRow(NamedTuple):
    """The costs at one step."""

    place: int
    costs: tuple[float, ...]


def search_picture(solver: Solver) -> RunPicture:
    """Return the pictures of a search's run; the model is grounded once, here."""
    view = search_view(solver)
    name = solver.method.name
    return RunPicture(
        title=f"{_WRITTEN.get(name, name[:1].upper() + name[1:])}: search for a most probable world",
        parts=_parts(view),
        caption=lambda step: _caption(view, step),
        remarks=_remarks,
        table=lambda step: _table(view, step),
    )


def _parts(view: SearchView) -> dict[str, Draw]:
    parts = {"search": search_part(view), "worlds": worlds_part(view)}
    if view.solver.method.name != "rc2":  # a proof moves from bound to bound, not from world to world
        parts["moves"] = moves_part(view)
    return parts


def search_part(view: SearchView) -> Draw:
    """Return a function that draws the costs over the steps, the last move, and the broken formulas."""
    history = History(lambda step: CostRow(step.index, _costs(step)))

    def draw(step: Step[Any], trace: Trace[Any]) -> Scene:
        rows = history.until(step, trace)
        names = [_NAMES[key] for key in _NAMES if key in step.state.metrics()]
        across = np.array([row.place for row in rows], np.float64)
        values = np.array([row.costs for row in rows], np.float64).reshape(len(rows), len(names)).T
        lines = tuple(Line(name, across, row) for name, row in zip(names, values, strict=True))
        axis = place_axis(0, float(max(trace.indices[-1] if len(trace) else 0, step.index, 10)), whole=True)
        plot = Plot(
            "cost of what is broken", lines, axis, vertical_axis(lines, around=(0.0,)), marked=step.index
        )
        items = list(plot_items(plot, Box(0, 4, WIDTH, _TALL), 0))
        move, top = view.move(step.state), 4 + _TALL + 20
        for number, line in enumerate(_two_lines(move.words)):
            items.append(
                Text(id=numbered_id("move", number), x=8, y=top + number * _LINE, text=line, look="words")
            )
        below, bottom = _broken_items(view, step, trace, top + 2 * _LINE + 8)
        drawn, size = Layer("drawn", (*items, *below)), (WIDTH, bottom)
        return explained_scene((drawn,), _entries(), size, "Search", _in_words(view, step), gap=0, foot=8)

    return draw


def _costs(step: Step[Any]) -> tuple[float, ...]:
    metrics = step.state.metrics()
    return tuple(metrics[key] for key in _NAMES if key in metrics)


def _two_lines(words: str) -> tuple[str, str]:
    first, _, second = words.partition(". ")
    return fit_text(first + "." * bool(first), WIDTH - 16), fit_text(second, WIDTH - 16)


def _broken_items(
    view: SearchView, step: Step[Any], trace: Trace[Any], top: float
) -> tuple[list[Item], float]:
    """Return a row for each of the heaviest broken formulas; as many rows at every step."""
    broken = view.broken(step.state).tolist()
    before = _before(view, step, trace)
    more = len(broken) - MOST_BROKEN
    words = f"{count_of(len(broken), 'ground formula')} broken now" + (
        f", the heaviest {MOST_BROKEN}:" if more > 0 else ":" * bool(broken)
    )
    items: list[Item] = [Text(id="heading", x=8, y=top, text=words, look="words strong")]
    strengths = view.strengths
    for place in range(MOST_BROKEN):
        constraint = broken[place] if place < len(broken) else -1
        is_new = before is not None and constraint >= 0 and constraint not in before
        items.append(
            _row(view, constraint, float(strengths[constraint]), top + (place + 1) * _ROW, place, is_new)
        )
    return items, top + (MOST_BROKEN + 0.5) * _ROW


def _row(view: SearchView, constraint: int, strength: float, y: float, place: int, is_new: bool) -> Group:
    known = constraint >= 0
    text = view.text(constraint) if known else ""
    hard = known and view.is_hard(constraint)
    cost = ("must hold" if hard else value_words(strength)) if known else ""
    return Group(
        id=numbered_id("broken", place), x=16, y=y, tooltip=tooltip(text, cost) if known else "",
        children=(
            Path(path=(_HARD if hard else _SOFT) if known else "", look="bar orange" if hard else "bar blue"),
            Path(path=_NEW if is_new else "", look="curve orange"),
            Text(x=70, y=4.5, text=cost, look="number", anchor="end"),
            Text(x=84, y=4.5, text=fit_text(text, WIDTH - 120), look="words"),
        ),
    )  # fmt: skip


def _before(view: SearchView, step: Step[Any], trace: Trace[Any]) -> set[int] | None:
    """Return the constraints broken in the recorded step before this one."""
    earlier = step_before(step, trace)
    return None if earlier is None else set(view.broken(earlier.state).tolist())


def _entries() -> list[Entry]:
    return [
        Entry(Path(path=_SOFT, look="bar blue"), "broken, with its cost"),
        Entry(Path(path=_HARD, look="bar orange"), "broken, but must hold"),
        Entry(Path(path=_NEW, look="curve orange"), "broken since the last step"),
    ]


def _in_words(view: SearchView, step: Step[Any]) -> str:
    return f"{_caption(view, step)}. {view.move(step.state).words}".strip()


def _caption(view: SearchView, step: Step[Any]) -> str:
    metrics = step.state.metrics()
    costs = [f"{_NAMES[key]} {value_words(metrics[key])}" for key in _NAMES if key in metrics]
    return ", ".join([_progress(step), *costs, f"{count_of(len(view.broken(step.state)), 'formula')} broken"])


def _progress(step: Step[Any]) -> str:
    state = step.state
    for name, noun in (("flips", "flip"), ("sweeps", "sweep"), ("cores", "core")):
        if hasattr(state, name):
            walk = f" of walk {state.walk + 1:,}" if getattr(state, "walk", 0) else ""
            return count_of(getattr(state, name), noun) + walk
    return f"step {step.index:,}"


def _remarks(step: Step[Any]) -> list[str]:
    hard = step.state.metrics().get("hard_unsatisfied_in_best", 0)
    return [f"In the best world so far {count_of(int(hard), 'hard formula')} did not hold."] if hard else []


def _table(view: SearchView, step: Step[Any]) -> Table:
    broken = view.broken(step.state).tolist()
    strengths = view.strengths
    rows = tuple(
        (
            shorten_text(view.text(number), 200),
            "must hold" if view.is_hard(number) else round(float(strengths[number]), 6),
        )
        for number in broken[:MOST_IN_TABLE]
    )
    title = "Broken ground formulas"
    if len(broken) > MOST_IN_TABLE:
        title = f"The heaviest {MOST_IN_TABLE:,} of {len(broken):,} broken ground formulas"
    return Table(title, columns_of(("ground formula", "cost"), (1,)), rows)


# --- moves ----------------------------------------------------------------------------------------
# A walk draws a broken formula and changes one of its atoms, so its candidates follow from the state alone.
# Iterated modes and annealing go through all choices in turn: what each change cost at its turn follows from
# the world before the sweep and the changes that came first.


class Candidate(NamedTuple):
    """A change of one choice: its option then, by how much the cost changes, and whether it was made."""

    choice: int
    option: int
    change: float
    made: bool
    note: str = ""


class Told(NamedTuple):
    """The description of a step's moves: two lines, and the candidates."""

    lines: tuple[str, str]
    candidates: tuple[Candidate, ...]


def moves_part(view: SearchView) -> Draw:
    """Return a function that draws the last step's moves, each with its change of cost."""

    def draw(step: Step[Any], trace: Trace[Any]) -> Scene:
        told = moves_of(view, step, trace)
        ranked = sorted(told.candidates, key=lambda one: (not one.made, -abs(one.change)))
        kept = {(one.choice, one.option) for one in ranked[:MOST_MOVES]}
        shown = [one for one in told.candidates if (one.choice, one.option) in kept]
        largest = max((abs(_soft(view, one.change)[1]) for one in shown), default=0.0) or 1.0
        rows = [_candidate_row(view, one, largest) for one in shown]
        more = len(told.candidates) - len(rows)
        below = f" {count_of(more, 'smaller one')} not drawn." if more > 0 else ""
        lines = (told.lines[0], told.lines[1] + below)
        words = " ".join(filter(None, lines))
        return marked_rows_scene(
            lines, rows, MOST_MOVES, ("change", "less cost | more cost"), _move_entries(), ("Moves", words),
            both_sides=True,
        )  # fmt: skip

    return draw


def moves_of(view: SearchView, step: Step[Any], trace: Trace[Any]) -> Told:
    """Describe a step's moves and their reasons."""
    earlier = step_before(step, trace)
    before = None if earlier is None else earlier.state
    if hasattr(step.state, "last"):
        return _told_walk(view, step.state, before)
    return _told_sweeps(view, step.state, before)


# --- walks ----------------------------------------------------------------------------------------


def _told_walk(view: SearchView, state: Any, before: Any) -> Told:  # noqa: ANN401 - states of MaxWalkSAT
    constraint, choice, option, why = state.last.tolist()
    if constraint < 0:
        return Told(("No move was made yet.", ""), ())
    first = f"Drawn among the broken ones: {view.text(constraint)}"
    if choice < 0:
        reason = "All that could repair it has just changed (tabu), so the walk waits."
    elif why == BY_NOISE:
        reason = "Noise: one of its changes, drawn at random, whatever it costs."
    else:
        reason = "Greedy: of its changes that are not tabu, the one that costs least."
    if before is not None and state.flips - before.flips > 1:
        reason += f" The last of {state.flips - before.flips:,} flips; flips_per_state=1 tells each."
    world = state.chosen.copy()
    if choice >= 0:
        world[choice] = option  # as it was before the move
    made = (choice, int(state.chosen[choice]) if choice >= 0 else -1)
    tabu = _tabu_atoms(state, before)
    return Told((first, reason), tuple(_candidates(view, constraint, world, made, tabu)))


def _tabu_atoms(state: Any, before: Any) -> frozenset[int]:  # noqa: ANN401 - states of MaxWalkSAT
    """Return the atoms that had just flipped before the last move, where the state before it is known."""
    if before is None or state.flips - before.flips != 1 or state.walk != before.walk:
        return frozenset()
    return frozenset(atom for atom in before.recent.tolist() if atom != int(NOBODY))


def _candidates(
    view: SearchView, constraint: int, world: NDArray[np.uint32], made: tuple[int, int], tabu: frozenset[int]
) -> Iterator[Candidate]:
    """Yield the changes that a walk weighs to repair a constraint, with the cost of each."""
    chain = view.reader.landscape.chain(world, np.zeros(4, np.uint64))
    network = view.reader.landscape.network
    seen = set()
    firsts = view.reader.landscape.clauses.first_atoms
    own = [(made[0], -1, int(firsts[made[0]]))] if made[0] >= 0 else []  # seen already, unless cut away
    for choice, wanted, watched in (*_ways(view, constraint, chain), *own):
        if choice in seen or int(network.options[choice]) < 2:
            continue
        seen.add(choice)
        score_options(network, chain, np.int64(choice))
        scores, chosen = chain.scores[: int(network.options[choice])].tolist(), int(world[choice])
        others = [option for option in range(len(scores)) if option != chosen]
        option = wanted if wanted >= 0 else max(others, key=scores.__getitem__)
        options = {option, made[1]} if choice == made[0] else {option}
        note = "tabu" if watched in tabu else ""
        for way in sorted(options):
            yield Candidate(choice, way, scores[chosen] - scores[way], (choice, way) == made, note)


def _ways(view: SearchView, constraint: int, chain: Chain) -> Iterator[tuple[int, int, int]]:
    """Yield the choices that may repair a constraint, the option wanted (-1: the best), the atom watched."""
    clauses = view.reader.landscape.clauses
    firsts = clauses.first_atoms.astype(np.int64)
    if constraint >= clauses.number_of_clauses:
        table = constraint - clauses.number_of_clauses
        start, end = clauses.scope_starts[table : table + 2].tolist()
        for choice in clauses.scope[start:end][:_MOST_WEIGHED].tolist():
            yield choice, -1, int(min(firsts[choice] + int(chain.chosen[choice]), firsts[choice + 1] - 1))
        return
    unwanted = view.reader.landscape.network.strengths[constraint] < 0
    start, end = clauses.starts[constraint : constraint + 2].tolist()
    for literal in clauses.literals[start:end][:_MOST_WEIGHED].tolist():
        atom = literal >> 1
        true = bool(chain.values[atom])
        if unwanted and true == bool(literal & 1):
            continue  # false already
        choice = int(np.searchsorted(firsts, atom, side="right")) - 1
        yield choice, -1 if true else atom - int(firsts[choice]), atom


# --- sweeps ---------------------------------------------------------------------------------------


def _told_sweeps(view: SearchView, state: Any, before: Any) -> Told:  # noqa: ANN401 - each has its own
    heat = getattr(state, "temperature", None)
    if before is None:
        return Told(("No move was made yet.", ""), ())
    if heat is None and state.walk != before.walk:
        return Told(("Nothing changed any more: a new try begins in a random world.", ""), ())
    sweeps = state.sweeps - before.sweeps
    found = tuple(_changes(view, before.chosen, state.chosen, heat if sweeps == 1 else None))
    number = f"{len(found):,} of {count_of(len(state.chosen), 'choice')} changed"
    if heat is None:
        first = f"Each choice in turn took its best option given all others: {number}."
        second = "Nothing changed: a local optimum." if not found and state.settled else ""
    elif sweeps == 1:
        first = f"Each choice in turn was drawn again at temperature {value_words(heat)}: {number}."
        second = "Behind each change its chance at that temperature, exp(-cost / temperature) in proportion."
    else:
        first = f"In {sweeps:,} sweeps, the last at temperature {value_words(heat)}: {number} in the end."
        second = "Costs as if they had changed one by one; sweeps_per_state=1 tells each sweep."
    return Told((first, second), found)


def _changes(
    view: SearchView, before: NDArray[np.uint32], after: NDArray[np.uint32], heat: float | None
) -> Iterator[Candidate]:
    """Yield the changes between two worlds, one after the other in the order of a sweep."""
    network = view.reader.landscape.network
    chain = view.reader.landscape.chain(before, np.zeros(4, np.uint64))
    for choice in np.flatnonzero(before != after).tolist():
        score_options(network, chain, np.int64(choice))
        scores = chain.scores[: int(network.options[choice])]
        old, new = int(before[choice]), int(after[choice])
        note = "" if heat is None else f"{_chance(scores, new, heat):.2g}"
        yield Candidate(choice, new, float(scores[old] - scores[new]), made=True, note=note)
        settle_option(network, chain, np.int64(choice), np.int64(new))


def _chance(scores: NDArray[np.float64], option: int, heat: float) -> float:
    """Return the probability with which an option is drawn at a temperature."""
    best = float(scores.max())
    shares = [exp((score - best) / heat) for score in scores.tolist()]
    return shares[option] / sum(shares)


# --- rows -----------------------------------------------------------------------------------------


def _soft(view: SearchView, change: float) -> tuple[int, float]:
    """Return how many formulas that must hold a change breaks (or mends, below 0), and the soft cost."""
    penalty = view.reader.landscape.penalty
    hard = round(change / penalty)
    soft = change - hard * penalty
    return hard, 0.0 if abs(soft) < _ZERO * penalty else soft


def _candidate_row(view: SearchView, one: Candidate, largest: float) -> MarkedRow:
    hard, soft = _soft(view, one.change)
    number = cost_words(hard, soft)
    share = (1.0 if hard > 0 else -1.0) if hard else soft / largest
    mark, look = (MADE, "bar blue") if one.made else (OUT, "curve grey") if one.note == "tabu" else ("", "")
    said = ("made" if one.made else "", one.note)
    return MarkedRow(
        view.option(one.choice, one.option), number, share, mark, look, one.note,
        " · ".join(filter(None, said)),
    )  # fmt: skip


def cost_words(hard: int, soft: float) -> str:
    """Return a change of cost in words: ``+0.4``, ``-1 hard``."""
    parts = [f"{hard:+,} hard"] if hard else []
    if soft or not hard:
        parts.append("0" if not soft else f"{'+' if soft > 0 else '-'}{value_words(abs(soft))}")
    return " ".join(parts)


def _move_entries() -> Sequence[Entry]:
    return (
        Entry(Path(path=MADE, look="bar blue"), "the change that was made"),
        Entry(Path(path=OUT, look="curve grey"), "tabu: it had just changed"),
    )
