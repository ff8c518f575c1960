"""A path in words beside its drawing: its hyperedges, its conjunction and clause, its support."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.formula_markup import formula_text
from mlnlab.display.scene.items import Item, Path, Rectangle, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, fitted_lines, text_width
from mlnlab.display.structure.lift.lifted_edges import edge_name
from mlnlab.display.structure.paths.path_lit import IN_PATH, NEWEST
from mlnlab.errors import count_of
from mlnlab.logic.formulas.formulas import And, Not, Or
from mlnlab.structure.paths.variabilized import variabilize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.display.structure.paths.path_view import PathView
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.structure.paths.find_paths import PathState
    from mlnlab.structure.paths.variabilized import VariabilizedPath

WIDTH, LINE = 318.0, 16.0
_MOST_LINES = 6


def conjunction_of(path: VariabilizedPath, vocabulary: Vocabulary) -> Formula:
    """Return the conjunction that a path says is true somewhere."""
    atoms = path.formulas(vocabulary)
    return And(atoms) if len(atoms) > 1 else atoms[0]


def clause_of(path: VariabilizedPath, vocabulary: Vocabulary) -> Formula:
    """Return the clause of negative literals that a path is turned into."""
    literals = tuple(Not(atom) for atom in path.formulas(vocabulary))
    return Or(literals) if len(literals) > 1 else literals[0]


def did_words(view: PathView, state: PathState) -> str:
    """Describe the last change."""
    if state.did == "began":
        return "The search begins: no hyperedge is in the path."
    if state.ended:
        return f"All paths are found: {state.found:,}."
    name = edge_name(view.lifted, view.lifted.edges[state.edge])
    if state.did == "added":
        return f"added {name}"
    return f"took {name} back: {state.reason}"


def verdict_words(state: PathState) -> str:
    """Say whether the path is kept, and why."""
    if not state.verdict:
        return state.reason if state.did == "added" else ""
    return f"{state.verdict}: {state.reason}"


def panel_items(
    view: PathView, state: PathState, earlier: int | None, x: float, top: float
) -> tuple[list[Item], float]:
    """Return the words of a state, and where they end; the path of step ``earlier`` looks like this one."""
    items: list[Item] = []
    y = top + LINE
    for number, line in enumerate(fitted_lines(did_words(view, state), WIDTH, 3, "strong")):
        items.append(Text(id=f"did-{number}", x=x, y=y, text=line, look="words strong"))
        y += LINE
    y += 4
    for place, edge in enumerate(view.edges(state.path), 1):
        hue = NEWEST if state.did == "added" and edge.number == state.edge else IN_PATH
        items.append(Rectangle(x=x, y=y - 9, width=4, height=11, look=f"bar {hue}"))
        counts = f"{edge.true:,} of {edge.atoms:,}"
        room = WIDTH - 19 - text_width(counts, "small")
        name = fit_text(f"{place}. {edge_name(view.lifted, edge)}", room, "small")
        items.append(Text(id=f"edge-words-{place}", x=x + 9, y=y, text=name, look="words small"))
        items.append(Text(x=x + WIDTH, y=y, text=counts, anchor="end", look="number small"))
        y += LINE
    if not state.path:
        return [*items, *_totals(state, x, y + 4)], y + 2 * LINE
    path = variabilize(view.lifted, state.path)
    vocabulary = view.lifted.hypergraph.vocabulary
    said = {"conjunction": conjunction_of(path, vocabulary), "clause": clause_of(path, vocabulary)}
    for name, formula in said.items():
        y += 6
        items.append(Text(x=x, y=y, text=name, look="quiet small"))
        y += LINE
        for number, line in enumerate(fitted_lines(formula_text(formula), WIDTH, _MOST_LINES)):
            items.append(Text(id=f"{name}-{number}", x=x, y=y, text=line, look="words"))
            y += LINE
    items += _support(view, state, x, y + 6)
    y += 5 * LINE
    if earlier is not None:
        words = f"A path that looks like it was found at step {earlier:,} before."
        items.append(Text(id="earlier", x=x, y=y + LINE, text=words, look="quiet small"))
    return [*items, *_totals(state, x, y + LINE + 6)], y + 3 * LINE


def _support(view: PathView, state: PathState, x: float, y: float) -> Iterator[Item]:
    """Yield the support: the number of true atoms, the number needed, and the verdict."""
    needed = view.source.fewest * len(state.path)
    alike = f"{count_of(state.support, 'true atom')} in all paths that look like it"
    yield Text(id="support", x=x, y=y, text=alike, look="words small")
    own = f"{state.true_atoms:,} in this one" + (f"; needed: {needed:,g}" if needed else "")
    yield Text(id="own", x=x, y=y + LINE, text=own, look="words small")
    total = max(view.lifted.hypergraph.number_of_edges, needed, 1)
    share = (WIDTH - 4) / total
    enough = state.support >= needed
    look = f"bar {'grey' if enough else 'orange'}"
    yield Rectangle(x=x, y=y + LINE + 7, width=WIDTH - 4, height=7, look="panel")
    yield Rectangle(id="bar", x=x, y=y + LINE + 7, width=state.support * share, height=7, look=look)
    if needed:
        at = x + needed * share
        tick = segments([((at, y + LINE + 4), (at, y + LINE + 17))])
        yield Path(id="needed", path=tick, look="curve thick")
    for number, line in enumerate(fitted_lines(verdict_words(state), WIDTH, 2, "small strong")):
        look = "words small" + " strong" * (number == 0 and bool(state.verdict))
        yield Text(id=f"verdict-{number}", x=x, y=y + LINE * (2 + number) + 14, text=line, look=look)


def _totals(state: PathState, x: float, y: float) -> Iterator[Item]:
    words = f"{count_of(state.found, 'path')} found, {state.kept:,} kept, {state.dropped:,} dropped"
    yield Text(id="totals", x=x, y=y + LINE, text=words, look="words")
