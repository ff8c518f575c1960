"""BUSL's template networks as a picture: links, tests, cliques and clauses are those of the states."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.card.formula_markup import formula_text
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.display.scene.items import Group, Path, Rectangle, Text
from mlnlab.display.structure.learner_runs.busl_pictures import (
    MOST_AROUND,
    MOST_BELOW,
    Focus,
    choose_nodes,
    list_around,
    name_atoms,
)
from mlnlab.experiments.studies.planted_rules import make_planted_database
from mlnlab.structure.clauses.clause_making import clause_formula
from mlnlab.structure.learners.busl import JUDGING, LINKING, TABULATING, TAKING
from mlnlab.structure.paths.variabilized import PathAtom
from mlnlab.structure.templates.grow_shrink import BlanketChange
from mlnlab.structure.templates.template_networks import TemplateNetwork
from mlnlab.structure.templates.template_nodes import TemplateNode


@pytest.fixture(scope="module")
def learner():
    db = make_planted_database(1, 0.1, people=14, things=5)
    return ml.structure_learner("busl", db, longest=3, length_penalty=0.001)


@pytest.fixture(scope="module")
def trace(learner):
    return ml.Trace.of(learner)


@pytest.fixture(scope="module")
def picture(learner):
    return picture_of(learner)


def number_of(item):
    return int(item.id.rpartition("-")[2])


def boxes_in(scene):
    """The drawn nodes by their numbers: place, lines, and the look of their box."""
    return {
        number_of(item): (
            (item.x, item.y),
            tuple(child.text for child in item.children if isinstance(child, Text)),
            [child.look for child in item.children if isinstance(child, Rectangle)][-1],
        )
        for item in scene.items()
        if isinstance(item, Group) and item.id.startswith("node-")
    }


def links_in(scene):
    """The drawn links by their nodes: their looks."""
    return {
        tuple(map(int, item.id.split("-")[1:])): item.look
        for item in scene.items()
        if isinstance(item, Path) and item.id.startswith("link-")
    }


def words_in(scene):
    return " ".join(
        item.text for item in scene.items() if isinstance(item, Text) and item.id.startswith("words-")
    )


def scenes_of(trace, picture, phase=""):
    for step in trace:
        if not phase or step.state.phase == phase:
            yield step, picture.parts["network"](step, trace)


def test_links_are_those_of_the_blankets(trace, picture):
    met = set()
    for step, scene in scenes_of(trace, picture):
        focus = Focus.of(step.state)
        blankets, boxes = focus.network.blankets, boxes_in(scene)
        change = focus.change
        tested = tuple(sorted((change.node, change.other))) if change else ()
        expected = {
            tuple(sorted((node, other)))
            for node, blanket in blankets.items() for other in blanket
            if {node, other} <= set(boxes)
        }  # fmt: skip
        links = links_in(scene)
        assert set(links) == expected | ({tested} if tested else set())
        for pair, look in links.items():
            one, other = pair
            both = other in blankets.get(one, ()) and one in blankets.get(other, ())
            if pair == tested:
                assert look == ("curve orange thick" if change.added else "curve orange dashed")
            else:
                assert ("dashed" in look) == (not both)
                assert ("green" in look) == (
                    focus.clique is not None and set(pair) <= set(focus.clique.nodes)
                )
            met.add(look)
    assert {"curve orange thick", "curve orange dashed", "curve grey", "curve grey dashed"} <= met


def test_nodes_have_their_atoms_and_looks_their_roles(learner, trace, picture):
    vocabulary = learner.databases[0].vocabulary
    for step, scene in scenes_of(trace, picture):
        focus = Focus.of(step.state)
        for number, (_, lines, look) in boxes_in(scene).items():
            assert lines == name_atoms(focus.network, number, vocabulary)
            if focus.clique is not None:
                assert ("green" in look) == (number in focus.clique.nodes)
            elif focus.change is not None:
                assert ("orange" in look) == (number in {focus.change.node, focus.change.other})
                assert ("purple" in look) == (number in focus.change.given)
        assert set(focus.wanted) <= set(boxes_in(scene)) or len(choose_nodes(focus)) >= MOST_BELOW


def test_nodes_stay_where_they_are_while_a_network_grows(trace, picture):
    places, head = {}, ""
    for step, scene in scenes_of(trace, picture, LINKING):
        network = step.state.networks[-1]
        if network.head != head:
            places, head = {}, network.head
        boxes = boxes_in(scene)
        for number in (0, *list_around(network)[:MOST_AROUND]):
            assert places.setdefault(number, boxes[number][0]) == boxes[number][0]
        assert len({place for place, _, _ in boxes.values()}) == len(boxes)


def test_the_sentence_of_a_test_has_its_statistic_and_its_p(learner, trace, picture):
    vocabulary, met = learner.databases[0].vocabulary, set()
    for step, scene in scenes_of(trace, picture, LINKING):
        network = step.state.networks[-1]
        change = network.changes[-1]
        said = words_in(scene)
        verb = "joins" if change.added else "leaves"
        other = " ∧ ".join(name_atoms(network, change.other, vocabulary))
        assert f"{other} {verb} the blanket of" in said
        assert (f"p = {change.p:.3g}" if change.p else "p < 1e-300") in said
        assert ("p ≤ 0.05: they depend" if change.added else "p > 0.05: they are independent") in said
        assert f"{verb} the blanket of" in picture.caption(step)
        assert f"χ² = {change.statistic:.4g}" in picture.caption(step) or change.statistic >= 1e4
        met.add(change.added)
    assert met == {True, False}


def test_a_clique_shows_the_paths_that_it_gives_and_a_path_its_clauses(learner, trace, picture):
    vocabulary = learner.databases[0].vocabulary
    gave = 0
    for step, scene in scenes_of(trace, picture, TAKING):
        clique = step.state.networks[-1].cliques[-1]
        said = words_in(scene)
        if clique.paths:
            gave += 1
            assert " ∨ ".join(f"±{formula_text(one)}" for one in clique.paths[0].formulas(vocabulary)) in said
        else:
            assert "It gives no new path" in said
    assert gave
    judged = 0
    for step, scene in scenes_of(trace, picture, JUDGING):
        focus = Focus.of(step.state)
        if focus.judged is None:
            continue
        judged += 1
        scores = focus.judged.scores
        assert scores.path in focus.clique.paths
        best = int(scores.clauses[scores.scores.argmax()])
        assert formula_text(clause_formula(scores.path, best, vocabulary)) in said_of(scene)
    assert judged == len(trace[-1].state.paths)


def said_of(scene):
    return words_in(scene).replace("✓ ", "").replace("– ", "")


def test_the_clause_tried_for_the_model_is_named_with_its_gain(learner, trace, picture):
    vocabulary = learner.databases[0].vocabulary
    kept = left = 0
    for step, scene in scenes_of(trace, picture, "assembling"):
        assembly = step.state.assembly
        if not assembly.tried:
            continue
        assert ("is kept in the model" in words_in(scene)) == assembly.accepted
        if assembly.accepted:
            clause = assembly.kept[-1]
            assert formula_text(clause_formula(clause.path, clause.positive, vocabulary)) in words_in(scene)
        kept, left = kept + assembly.accepted, left + (not assembly.accepted)
    assert kept
    assert left


def test_the_table_has_all_nodes_and_then_the_clauses(trace, picture):
    for step in trace:
        table = picture.table(step)
        if step.state.phase in {TABULATING, LINKING, TAKING}:
            network = step.state.networks[-1]
            assert [row[2] for row in table.rows] == [node.held for node in network.nodes]
            assert [row[6] for row in table.rows] == [node.dropped for node in network.nodes]
            assert [n for n, row in enumerate(table.rows) if row[4]] == sorted(network.blankets.get(0, ()))
        elif step.state.candidates:
            assert table.columns[1].name == "clause"


def test_nodes_that_are_not_drawn_are_counted(trace, picture):
    for step in trace:
        focus = Focus.of(step.state)
        drawn = len(boxes_in(picture.parts["network"](step, trace)))
        left = len(focus.network.nodes) - drawn
        said = " ".join(picture.remarks(step))
        dropped = sum(bool(node.dropped) for node in focus.network.nodes)
        assert (f"{left - dropped:,} other node" in said) == (left > dropped)
        assert (f"{dropped:,} dropped node" in said) == (dropped > 0)


def test_a_head_without_a_network_says_why():
    model = ml.MLN.from_text("a = {A, B}\nP(a)\nQ(a)\nR(a)")
    learner = ml.structure_learner("busl", ml.Database.from_text("P(A)\nQ(A)\nQ(B)", model))
    trace, picture = ml.Trace.of(learner), picture_of(learner)
    said = [" ".join(picture.remarks(step)) for step in trace]
    assert any("Q(a) is true for all of its groundings" in words for words in said)
    assert any("R(a) has no true atom" in words for words in said)
    words = [words_in(scene) for _, scene in scenes_of(trace, picture)]
    assert any("No test is made: R(a) has no true atom" in one for one in words)
    assert picture.caption(trace[-1]).startswith("no template node is linked to its head")


def test_networks_of_many_nodes_are_drawn_in_part():
    atoms = [TemplateNode((PathAtom("Knows", (0, 1)),), 30)]
    atoms += [TemplateNode((PathAtom(f"P{n}", (0,)),), 20) for n in range(40)]
    changes = tuple(BlanketChange(0, n, tuple(range(1, n)), True, 9.0, 1, 0.001) for n in range(1, 31))
    focus = Focus(TemplateNetwork("Knows", tuple(atoms), 100, "", changes), change=changes[-1])
    drawn = choose_nodes(focus)
    assert len(drawn) == 1 + MOST_AROUND + MOST_BELOW
    assert {0, 30} <= set(drawn)  # the test's own nodes before those that were given


def test_a_run_pauses_where_a_template_begins_and_where_cliques_are_taken(learner, trace):
    def begins(phase):
        steps = list(trace)
        return [
            now.index for before, now in zip([None, *steps], steps, strict=False)
            if now.state.phase == phase and (before is None or before.state.phase != phase)
        ]  # fmt: skip

    view = ml.stepper(learner, delay=0)
    for name in ("template", "cliques"):
        view.choose(f"act-pause-{name}")
    found = []
    expected = sorted({*begins(TABULATING), *begins(TAKING)} - {0})
    for _ in expected:
        view.play()
        view.wait()
        found.append(view.shown.index)
    assert found == expected
    view.close()


def test_a_stepper_goes_back_and_scrubs(learner, trace):
    view = ml.stepper(learner, delay=0)
    for _ in range(6):
        view.step()
        view.wait()
    assert view.shown.index == 6
    view.back()
    assert view.shown.index == 5
    view.seek(2)
    drawn = boxes_in(view.static_scene())
    assert drawn == boxes_in(picture_of(learner).parts["network"](trace[2], trace))
    view.close()
