"""Draw runs of BUSL: template networks, whose links come and go, tests, cliques, and the clauses of these.

A node keeps the place that it has when it first stands beside the head: nothing moves while a network grows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import cos, pi, sin
from typing import TYPE_CHECKING

from mlnlab.display.card.formula_markup import formula_text
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.nodelink.node_links import Layout, Link, Node, NodeLink, box_size
from mlnlab.display.runs.runs import Column, RunPicture, Table
from mlnlab.display.scene.building import Entry, numbered_id, swatch, tooltip
from mlnlab.display.scene.items import Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.text_fitting import fitted_lines
from mlnlab.display.structure.clause_table_rows import number
from mlnlab.display.structure.structure_pictures import (
    clause_table,
    left_out,
    model_scene,
    progress_scene,
)
from mlnlab.display.structure.structure_progress import time_words
from mlnlab.structure.clauses.assembly import ASSEMBLING, rank_clauses
from mlnlab.structure.clauses.clause_making import clause_formula
from mlnlab.structure.clauses.judged_paths import RETAINED, count_judged_paths, judged_paths
from mlnlab.structure.learners.busl import JUDGING, LINKING, PHASES, TAKING
from mlnlab.structure.templates.template_networks import HEAD

if TYPE_CHECKING:
    from typing import Any

    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step
    from mlnlab.structure.ask.structure_learner import StructureLearner
    from mlnlab.structure.clauses.judged_paths import JudgedPath
    from mlnlab.structure.learners.busl import BuslState
    from mlnlab.structure.paths.variabilized import PathAtom, VariabilizedPath
    from mlnlab.structure.templates.grow_shrink import BlanketChange
    from mlnlab.structure.templates.template_networks import Clique, TemplateNetwork

MOST_AROUND, MOST_BELOW = 12, 4  # nodes around the head, and others that a step is about
_BOX, _LINE = 165.0, 16.0
_MIDDLE, _ACROSS, _DOWN = (420.0, 232.0), 330.0, 192.0
_LEFT, _PANEL = 846.0, 300.0  # where the words begin, and their width
_LOWEST = 460.0  # where a line of words may begin


@dataclass(frozen=True, slots=True)
class Focus:
    """The part of a run that a step is about: a network, a test or a clique, and a path of clauses."""

    network: TemplateNetwork
    change: BlanketChange | None = None
    clique: Clique | None = None
    judged: JudgedPath | None = None

    @classmethod
    def of(cls, state: BuslState) -> Focus | None:
        """Return that of a state; nothing before the first network."""
        if not state.networks:
            return None
        network = state.networks[-1]
        if state.phase == LINKING:
            return cls(network, change=network.changes[-1])
        if state.phase == TAKING:
            return cls(network, clique=network.cliques[-1])
        judged = tuple(judged_paths(state.candidates))
        place = len(judged) - 1
        if state.assembly is not None and state.assembly.tried:
            place = rank_clauses(judged)[state.assembly.tried - 1].number
        if state.phase not in {JUDGING, ASSEMBLING} or place < 0:
            return cls(network)
        path = judged[place].scores.path
        cliques = ((one, clique) for one in state.networks for clique in one.cliques if path in clique.paths)
        network, clique = next(cliques)
        return cls(network, clique=clique, judged=judged[place])

    @property
    def wanted(self) -> tuple[int, ...]:
        """The nodes that have to be drawn."""
        if self.change is not None:
            return self.change.node, self.change.other, *self.change.given
        return () if self.clique is None else self.clique.nodes


def network_scene(state: BuslState, vocabulary: Vocabulary, significance: float) -> Scene:
    """Draw the template network of a step with its test, or its clique and the clauses of that."""
    focus = Focus.of(state)
    if focus is None:
        words = "No template node is looked for yet."
        note = Text(id="words-0-0", x=8, y=20, text=words, look="words")
        return Scene(_LEFT + _PANEL, 40, (Layer("beside", (note,), zooms=False),), "Template network", words)
    network, drawn = focus.network, choose_nodes(focus)
    lines = [name_atoms(network, node, vocabulary) for node in drawn]
    layout = Layout(
        tuple(_places(drawn, focus)), tuple(box_size(own, _BOX - 18) for own in lines),
        (_LEFT, _MIDDLE[1] + _DOWN + 36 + 48 * (len(drawn) > _number_around(focus))), named=True,
    )  # fmt: skip
    scene = NodeLink(
        title="Template network",
        layout=layout,
        nodes=[_node(focus, node, own) for node, own in zip(drawn, lines, strict=True)],
        links=list(_links(focus, drawn)),
        legend=_LEGEND,
        words=f"The template of {network.head}, with {count_of(len(drawn) - 1, 'node')} around it.",
        left_out=say_left_out(focus, drawn),
    ).scene()
    line = Rectangle(x=_LEFT, y=6, width=1, height=scene.height - 12, look="bar grey faint")
    panel = (line, *_panel(focus, state, vocabulary, significance))
    return replace(scene, width=_LEFT + _PANEL, layers=(*scene.layers, Layer("beside", panel, zooms=False)))


# --- the nodes that are drawn, and their places ---------------------------------------------------


def list_around(network: TemplateNetwork) -> tuple[int, ...]:
    """Return the nodes that have stood beside the head, in the order in which they first did."""
    pairs = ((change.node, change.other) for change in network.changes)
    return tuple(dict.fromkeys(max(pair) for pair in pairs if HEAD in pair))


def _number_around(focus: Focus) -> int:
    """Return the number of drawn nodes that have places of their own: the head and those around it."""
    return 1 + min(len(list_around(focus.network)), MOST_AROUND)


def choose_nodes(focus: Focus) -> tuple[int, ...]:
    """Return the drawn nodes: the head, those around it, and others that the step is about."""
    around = (HEAD, *list_around(focus.network)[:MOST_AROUND])
    below = [node for node in dict.fromkeys(focus.wanted) if node not in around]
    return (*around, *below[:MOST_BELOW])


def _places(drawn: Sequence[int], focus: Focus) -> Iterator[tuple[float, float]]:
    yield _MIDDLE
    around = _number_around(focus) - 1
    for place in range(around):
        angle = 2 * pi * (5 * place % MOST_AROUND + 0.5) / MOST_AROUND  # those that follow stand apart
        yield _MIDDLE[0] + _ACROSS * sin(angle), _MIDDLE[1] - _DOWN * cos(angle)
    below = len(drawn) - 1 - around
    for place in range(below):
        yield _MIDDLE[0] + (place - (below - 1) / 2) * (_BOX + 30), _MIDDLE[1] + _DOWN + 56


def say_left_out(focus: Focus, drawn: Sequence[int]) -> str:
    """Say how many nodes of the network are not drawn, and why."""
    network = focus.network
    dropped = sum(bool(node.dropped) for node in network.nodes)
    others = len(network.nodes) - dropped - len(drawn)
    parts = [count_of(others, "other node") if others else "",
             count_of(dropped, "dropped node") if dropped else ""]  # fmt: skip
    told = " and ".join(filter(None, parts))
    return f"Not drawn: {told}; the table has them while nodes are linked." if told else ""


# --- looks ----------------------------------------------------------------------------------------


def _node(focus: Focus, node: int, lines: tuple[str, ...]) -> Node:
    change, network = focus.change, focus.network
    one = network.nodes[node]
    if focus.clique is not None and node in focus.clique.nodes:
        look = "wash green thick"
    elif change is not None and node in {change.node, change.other}:
        look = "wash orange thick"
    elif change is not None and node in change.given:
        look = "wash purple dashed"
    else:
        look = "wash blue" if node == HEAD else "ring grey"
    blanket = [str(network.nodes[other]) for other in network.blankets.get(node, ())]
    return Node(
        id=numbered_id("node", node), lines=lines, look=look,
        tooltip=tooltip(
            "the head" if node == HEAD else f"node {node}", *lines,
            f"holds for {one.held:,} of {count_of(network.rows, 'grounding')}",
            f"blanket: {', '.join(blanket)}" if blanket else "",
        ),
    )  # fmt: skip


def _links(focus: Focus, drawn: Sequence[int]) -> Iterator[Link]:
    """Yield a line for each two drawn nodes of which one is in the other's blanket, and for the test."""
    place_of = {node: place for place, node in enumerate(drawn)}
    blankets, change = focus.network.blankets, focus.change
    clique = set(focus.clique.nodes if focus.clique is not None else ())
    tested = {change.node, change.other} if change is not None else set()
    for pair in combinations(drawn, 2):
        one, other = sorted(pair)
        times = (other in blankets.get(one, ())) + (one in blankets.get(other, ()))
        if tested == {one, other}:
            look = "curve orange thick" if change is not None and change.added else "curve orange dashed"
        elif not times:
            continue
        elif {one, other} <= clique:
            look = "curve green thick" if times == 2 else "curve green thick dashed"
        else:
            look = "curve grey" if times == 2 else "curve grey dashed"
        yield Link(ends=((place_of[one], place_of[other]),), id=numbered_id("link", one, other), look=look)


def _line(look: str) -> Item:
    return Path(path="M-7,0L7,0", look=look)


# The same in all steps, so that nothing jumps.
_LEGEND = (
    Entry(swatch("wash blue"), "head, in the middle"),
    Entry(_line("curve grey"), "each in the other's blanket"),
    Entry(_line("curve grey dashed"), "one in the other's blanket"),
    Entry(swatch("wash orange thick"), "tested"),
    Entry(swatch("wash purple dashed"), "given"),
    Entry(_line("curve orange thick"), "added"),
    Entry(_line("curve orange dashed"), "removed"),
    Entry(swatch("wash green thick"), "in the clique"),
)


# --- in words -------------------------------------------------------------------------------------


def name_atoms(network: TemplateNetwork, node: int, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the atoms of a node: the head's variables are called alike in all nodes.

    They are the first letters of their types with numbers, those of the head first.
    """
    names: dict[int, str] = {}
    times: dict[str, int] = {}
    found = []
    for place, atom in enumerate((*network.nodes[HEAD].atoms, *network.nodes[node].atoms)):
        for variable, type_ in zip(atom.variables, vocabulary[atom.predicate].types, strict=True):
            letter = type_[:1].lower()
            if variable not in names:
                times[letter] = times.get(letter, 0) + 1
                names[variable] = f"{letter}{times[letter]}"
        if place:
            found.append(_name_atom(atom, names))
    return tuple(found)


def _name_atom(atom: PathAtom, names: dict[int, str]) -> str:
    return f"{atom.predicate}({', '.join(names[variable] for variable in atom.variables)})"


def describe_test(network: TemplateNetwork, change: BlanketChange, vocabulary: Vocabulary) -> str:
    """Say which change was made, with the statistic and the p of its test."""
    node, other = (" ∧ ".join(name_atoms(network, one, vocabulary)) for one in (change.node, change.other))
    freedom = count_of(change.freedom, "degree of freedom", "degrees of freedom")
    p = f"p = {change.p:.3g}" if change.p else "p < 1e-300"  # what is smaller is 0 in floats
    given = f", given {count_of(len(change.given), 'node')}" if change.given else ""
    return (
        f"{other} {'joins' if change.added else 'leaves'} the blanket of {node}: "
        f"χ² = {number(change.statistic, 4)} with {freedom}, {p}{given}"
    )


def _panel(focus: Focus, state: BuslState, vocabulary: Vocabulary, significance: float) -> list[Item]:
    """Return the words beside a network, from the network to the test, or to the clique and its clauses."""
    rows = _describe_network(focus, vocabulary)
    if focus.change is not None:
        rows = chain(rows, _describe_change(focus.network, focus.change, vocabulary, significance))
    if focus.clique is not None:
        number_of = focus.network.cliques.index(focus.clique) + 1
        nodes = count_of(len(focus.clique.nodes), "node")
        rows = chain(rows, [(f"Clique {number_of:,}: {nodes}, the head among them", "words strong")])
        rows = chain(
            rows,
            _list_paths(focus.clique.paths, vocabulary) if focus.judged is None
            else _list_clauses(focus.judged, state, vocabulary),
        )  # fmt: skip
    items: list[Item] = []
    x, y, left = _LEFT + 12, 20.0, 0
    for place, (words, look) in enumerate(rows):
        if y > _LOWEST:
            left += 1
            continue
        y += 6 * ("strong" in look)
        for part, line in enumerate(fitted_lines(words, _PANEL - 28, 6, look) or [""]):
            items.append(Text(id=numbered_id("words", place, part), x=x, y=y, text=line, look=look))
            y += _LINE
    if left:
        items.append(Text(id="words-more", x=x, y=y, text=f"and {left:,} more", look="quiet"))
    return items


def _describe_network(focus: Focus, vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    network = focus.network
    head, *_ = name_atoms(network, HEAD, vocabulary)
    yield f"Template of {head}", "words strong"
    yield f"{count_of(network.rows, 'grounding')}, {network.nodes[HEAD].held:,} true", "quiet"
    nodes, kept = len(network.nodes) - 1, len(network.kept) - 1
    yield f"{count_of(nodes, 'template node')}, {nodes - kept:,} dropped", "quiet"
    own = head.partition("(")[2].removesuffix(")")
    yield f"({own}: the head's; other variables of each node are its own)" if own else "", "quiet"
    if network.remark:
        yield f"No test is made: {network.remark}.", "words"
    if focus.change is not None or focus.clique is not None:
        return
    if nodes:
        yield "Nodes, and for how many groundings each holds", "words strong"
    for place, node in enumerate(network.nodes[1:], 1):
        words = f"{node.held:,}  {' ∧ '.join(name_atoms(network, place, vocabulary))}"
        yield f"{words}, dropped" if node.dropped else words, "quiet" if node.dropped else "words"


def _describe_change(
    network: TemplateNetwork, change: BlanketChange, vocabulary: Vocabulary, significance: float
) -> Iterator[tuple[str, str]]:
    yield f"{describe_test(network, change, vocabulary)}.", "words"
    verdict = "they depend on each other" if change.added else "they are independent"
    sign = "≤" if change.added else ">"
    yield f"p {sign} {significance:g}: {verdict}{', given' if change.given else ''}", "words strong"
    for node in change.given:
        yield " ∧ ".join(name_atoms(network, node, vocabulary)), "words"


def _list_paths(paths: Sequence[VariabilizedPath], vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    """Yield the new paths of a clique: the atoms of clauses, which come with all signs."""
    if not paths:
        yield "It gives no new path: all are known or too long.", "words"
        return
    yield f"It gives {count_of(len(paths), 'new path')}, of clauses with all signs:", "words"
    for path in paths:
        yield " ∨ ".join(f"±{formula_text(atom)}" for atom in path.formulas(vocabulary)), "words"


def _list_clauses(judged: JudgedPath, state: BuslState, vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    """Yield the clauses of a path, the best first, and the clause that was tried for the model."""
    scores, assembly = judged.scores, state.assembly
    tried = -1
    if assembly is not None and assembly.tried:
        clause = rank_clauses(judged_paths(state.candidates))[assembly.tried - 1]
        tried, did = clause.positive, "is kept in" if assembly.accepted else "is left out of"
        words = formula_text(clause_formula(clause.path, clause.positive, vocabulary))
        yield f"{words} {did} the model: the WPLL gains {number(assembly.gain, 4)}", "words strong"
        yield f"{len(assembly.kept):,} of {assembly.tried:,} tried clauses kept", "quiet"
    kept = int((judged.verdicts == RETAINED).sum())
    yield f"{kept:,} of {count_of(len(judged.verdicts), 'clause')} of its path retained", "words strong"
    order = sorted(range(len(scores.clauses)), key=lambda place: -float(scores.scores[place]))
    for place in order:
        positive = int(scores.clauses[place])
        words = formula_text(clause_formula(scores.path, positive, vocabulary))
        gain = number(float(scores.scores[place]) - state.without, 3)
        sign = "✓" if judged.verdicts[place] == RETAINED else "–"
        yield f"{sign} {words}  ({gain})", "words strong" if positive == tried else "words"


# --- pictures -------------------------------------------------------------------------------------

_COLUMNS = (
    Column("atoms"), Column("node", number=True), Column("holds for", number=True),
    Column("of the groundings", number=True), Column("in the head's blanket"),
    Column("has the head in its blanket"), Column("why dropped"),
)  # fmt: skip


def busl_picture(source: StructureLearner) -> RunPicture:
    """Return the pictures of a run of BUSL."""
    vocabulary, params = source.databases[0].vocabulary, source.params
    facts = sum(db.number_of_facts() for db in source.databases)

    def draw_network(step: Step[Any], _trace: Trace[Any]) -> Scene:
        return network_scene(step.state, vocabulary, params.significance)

    def draw_progress(step: Step[Any], trace: Trace[Any]) -> Scene:
        words = f"{caption(step.state, vocabulary)} · {time_words(step.seconds)} so far"
        return progress_scene(step, trace, PHASES, 1.0 if step.state.ended else 0.0, words)

    def list_numbers(step: Step[Any]) -> Table | None:
        if step.state.phase in {JUDGING, ASSEMBLING}:
            return clause_table(source.candidates(step.state), step.state.model)
        return node_table(step.state.networks[-1], vocabulary) if step.state.networks else None

    return RunPicture(
        title=f"{source.method.name}: {count_of(facts, 'true atom')}",
        parts={
            "network": draw_network,
            "model": lambda step, _trace: model_scene(step.state, vocabulary),
            "progress": draw_progress,
        },
        caption=lambda step: caption(step.state, vocabulary),
        remarks=lambda step: list_remarks(step.state),
        table=list_numbers,
    )


def list_remarks(state: BuslState) -> tuple[str, ...]:
    """Say which nodes, clauses and candidates are not drawn, and why a head has no network."""
    focus = Focus.of(state)
    if focus is None:
        return left_out(state)
    told = (focus.network.remark, say_left_out(focus, choose_nodes(focus)))
    return (*(f"{words[0].upper()}{words[1:]}" for words in told if words), *left_out(state))


def caption(state: BuslState, vocabulary: Vocabulary) -> str:
    """Describe the work that led to a state, in one line."""
    if state.ended:
        return f"{state.ended}: {count_of(len(state.model), 'clause')}, WPLL {number(state.score, 5)}"
    focus = Focus.of(state)
    if focus is None:
        return state.phase
    head = focus.network.head
    if state.phase == LINKING and focus.change is not None:
        return shorten_text(describe_test(focus.network, focus.change, vocabulary), 300)
    if state.phase == TAKING and focus.clique is not None:
        number_of, of = len(focus.network.cliques), count_of(len(focus.clique.paths), "new path")
        return f"{head}: clique {number_of:,} of {len(focus.clique.nodes)} nodes gives {of}"
    if state.phase == ASSEMBLING and state.assembly is not None and state.assembly.tried:
        one = state.assembly
        did = "kept" if one.accepted else "left out"
        return f"clause {one.tried:,} of {one.clauses:,} {did}: WPLL {number(one.value, 5)} ({one.gain:+.3g})"
    if state.phase in {JUDGING, ASSEMBLING}:
        if focus.judged is None or state.phase == ASSEMBLING:
            return f"unit clauses alone: WPLL {number(state.without, 5)}"
        done, verdicts = count_judged_paths(state.candidates), focus.judged.verdicts
        kept = f"{int((verdicts == RETAINED).sum()):,} of {count_of(len(verdicts), 'clause')} retained"
        return f"path {done:,} of {len(state.paths):,}: {kept}"
    return f"{head}: {count_of(len(focus.network.nodes) - 1, 'template node')}"


def node_table(network: TemplateNetwork, vocabulary: Vocabulary) -> Table:
    """Return the template nodes of a head with their columns' counts, blankets and reasons."""
    blankets = network.blankets
    rows = tuple(
        (
            " ∧ ".join(name_atoms(network, place, vocabulary)), place, node.held,
            node.held / max(1, network.rows), "yes" if place in blankets.get(0, ()) else "",
            "yes" if 0 in blankets.get(place, ()) else "", node.dropped,
        )
        for place, node in enumerate(network.nodes)
    )  # fmt: skip
    return Table(f"{count_of(len(rows), 'template node')} of {network.head}", _COLUMNS, rows)
