"""Draw BUSL: its template networks, the model, its progress, and the tables of nodes and clauses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.runs.runs import Column, RunPicture, Table
from mlnlab.display.structure.clause_table_rows import number
from mlnlab.display.structure.learner_runs.busl_networks import (
    Focus,
    choose_nodes,
    describe_test,
    name_atoms,
    network_scene,
    say_left_out,
)
from mlnlab.display.structure.structure_pictures import (
    clause_table,
    left_out,
    model_scene,
    progress_scene,
)
from mlnlab.display.structure.structure_progress import time_words
from mlnlab.structure.clauses.assembly import ASSEMBLING
from mlnlab.structure.clauses.judged_paths import RETAINED, count_judged_paths
from mlnlab.structure.learners.busl import JUDGING, LINKING, PHASES, TAKING

if TYPE_CHECKING:
    from typing import Any

    from mlnlab.display.scene.items import Scene
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step
    from mlnlab.structure.ask.structure_learner import StructureLearner
    from mlnlab.structure.learners.busl import BuslState
    from mlnlab.structure.templates.template_networks import TemplateNetwork

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
