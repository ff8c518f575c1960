"""The table of clauses: in a cell without a kernel, and as a view that is clicked, typed in and undone."""

from __future__ import annotations

from itertools import pairwise

import pytest

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle
from mlnlab.display.scene.items import Group, Text
from mlnlab.display.structure.clause_details import GRAPH, place_drawing
from mlnlab.display.structure.clause_table_rows import ShownTable, heading_items, number
from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.printing import to_text
from mlnlab.structure.ask.clause_provenance import lying
from mlnlab.structure.clauses.judged_paths import VERDICTS
from mlnlab.structure.lift.lifted_hypergraph import separate_constants
from mlnlab.structure.paths.variabilized import canonical_path

NOISY = "<img src=x onerror='window.harmed = 1'>"


def database():
    people = ["Anna", "Bob", "Carl", "Dora", "Eve", "Fred", NOISY]
    smokes, cancer, friends = ml.predicates("Smokes(p)\nCancer(p)\nFriends(p, p)")
    facts = [smokes(name) for name in people[::2]] + [cancer(name) for name in people[:5:2]]
    facts += [friends(a, b) for a, b in zip(people, people[2:], strict=False)]
    mln = ml.MLN.from_text("Smokes(p)\nCancer(p)\nFriends(p, p)")
    return ml.Database.from_text("", mln).with_atoms({str(fact): True for fact in facts})


@pytest.fixture(scope="module")
def learned():
    return ml.learn_structure(
        database(), longest=2, fewest=3, sampled=None, fraction=1.0, length_penalty=0.01, least_gain=0.0
    )


@pytest.fixture
def view(learned):
    made = ml.clause_table_view(learned)
    assert made.wait()
    yield made
    made.close()


def press(view, prefix, place=0):
    """Click the item of the drawing whose id begins like this; ``place`` is which of them."""
    ids = [item.id for item in view.static_scene().items() if item.press and item.id.startswith(prefix)]
    view.answer("press", {"id": ids[place]}, [])


def words(view):
    return [item.text for item in view.static_scene().items() if isinstance(item, Text)]


def rows(view):
    return [
        [child.text for child in item.children if isinstance(child, Text)]
        for item in view.static_scene().items()
        if isinstance(item, Group) and item.id.startswith("row-")
    ]


def test_a_table_and_a_provenance_show_themselves_without_a_kernel(learned):
    table = ml.clause_table(learned).where(verdict="retained")
    found = bundle(table)
    assert found["text/html"].count("<tr>") == len(table) + 1
    assert "table.search" in found["text/html"]
    assert found["text/plain"].startswith("Clauses · ")
    shown = bundle(ml.clause_table(learned).provenance(table[0].place))["text/html"]
    assert "groundings are true" in shown
    assert "<img" not in shown
    assert "of 1 paths" not in bundle(learned.dropped_paths())["text/html"]


def test_paths_that_mu_dropped_are_counted_and_named(learned):
    found = learned.dropped_paths()
    everything = ml.learn_structure(database(), longest=2, fewest=0, sampled=None, fraction=1.0)
    assert found.paths == len(everything.paths)
    assert found.dropped == len(everything.paths) - len(learned.paths) > 0
    thin = [one for one in everything.paths if one.true_atoms < found.count_needed_atoms(one)]
    assert {one.path for one in found.closest} == {one.path for one in thin}
    shares = [one.true_atoms / found.count_needed_atoms(one) for one in found.closest]
    assert shares == sorted(shares, reverse=True)


def test_where_a_path_lies_is_drawn_with_different_clusters_for_its_variables(learned):
    for place in range(0, len(learned.candidates), 5):
        found = ml.clause_table(learned).provenance(place)
        (graph,) = learned.graphs
        assert found.places
        for spot in found.places:
            assert len(set(spot.clusters)) == len(spot.clusters) == found.candidate.path.number_of_variables
            for atom, edge in zip(found.candidate.path.atoms, spot.edges, strict=True):
                assert graph.edges[edge].clusters == tuple(spot.clusters[v] for v in atom.variables)
        drawn, height = place_drawing(found, 0)
        assert drawn is not None
        assert height > 0


def test_a_path_lies_nowhere_where_two_of_its_variables_would_be_one_cluster():
    db = ml.Database.from_text("Friends(A, B)\nFriends(B, A)", ml.MLN.from_text("Friends(p, p)"))
    edges = separate_constants(ml.Hypergraph.from_database(db)).edges
    chain = canonical_path([("Friends", (0, 1)), ("Friends", (1, 2))])
    assert list(lying(0, edges, chain)) == []
    both_ways = canonical_path([("Friends", (0, 1)), ("Friends", (1, 0))])
    assert sorted(place.clusters for place in lying(0, edges, both_ways)) == [(0, 1), (1, 0)]


def test_a_candidate_knows_its_steps_in_the_trace(learned):
    trace = learned.trace
    for place, one in enumerate(learned.candidates):
        found = ml.clause_table(learned).provenance(place)
        state = trace.seek(found.judged).state.create
        assert state.newest.scores.path == one.path
        if found.assembled is not None:
            step = trace.seek(found.assembled.step).state.assembly
            assert found.assembled.kept == (one.path in {kept.path for kept in step.kept[-1:]})
            assert found.assembled.gain == step.gain
    assert any(ml.clause_table(learned).provenance(one).assembled.kept for one in learned.kept)


def test_rows_are_filtered_sorted_searched_and_turned_by_clicks(view, learned):
    assert [row[1] for row in rows(view)] == [
        to_text(row.candidate.clause).replace("!", "¬").replace(" v ", " ∨ ") for row in view.table.page()
    ]
    press(view, "show-", 2)
    assert view.table.chosen.verdict == VERDICTS[0]
    press(view, "predicate-", 2)
    press(view, "literals-", 1)
    assert (view.table.chosen.predicate, view.table.chosen.literals) == ("Cancer", 2)
    for place, column, down in ((1, "score", False), (1, "score", True), (0, "judged", False)):
        press(view, "sort-", place)
        assert (view.table.order, view.table.descending) == (column, down)
    view.where(verdict="", predicate="", literals=0)
    press(view, "page-next")
    assert view.page == 1
    press(view, "page-before")
    assert view.page == 0
    view.answer("typed", {"type": "typed", "text": "!Smokes gain>0"}, [])
    assert view.page == 0
    assert all("!Smokes" in to_text(row.candidate.clause) for row in view.table)
    view.answer("typed", {"type": "typed", "text": "gian>0"}, [])
    assert "did you mean gain" in view.said["problem"]
    assert view.table.chosen.text == "!Smokes gain>0"  # as it was
    press(view, "show-", -1)
    assert view.wait()
    assert any(text.startswith("Heuristic 1:") for text in words(view))


def test_a_clause_is_looked_at_kept_thrown_out_and_undone_by_clicks(view, learned):
    before = learned.mln.weights
    dropped = next(row.place for row in ml.clause_table(learned) if not row.in_model)
    for _ in range(2):
        view.answer("press", {"id": f"row-{dropped}"}, [])
        assert view.selected == dropped
    assert view.wait()
    assert any(" violated" in text for text in words(view))
    plain, true = words(view), ml.clause_table(learned).provenance(dropped).groundings().true
    press(view, "truths-")
    assert sum(text.startswith("✓") for text in words(view)) == min(20, true) + sum(
        text.startswith("✓") for text in plain
    )
    assert f"{min(20, true)} of {true:,} that are true:" in words(view)
    press(view, "truths-")
    assert words(view) == plain
    press(view, "keep-")
    press(view, "keep-")  # a double click
    assert view.wait()
    assert view.learned.clauses[-1].by_hand
    assert any("1 kept and 0 thrown out" in text for text in words(view))
    press(view, "out-")
    assert view.wait()
    assert len(view.learned.kept) == len(learned.kept)
    for _ in range(3):  # the drawing that is clicked may be old: what is undone already is nothing
        view.answer("press", {"id": "undo"}, [])
    assert view.wait()
    assert view.learned.mln.weights == before
    assert not [item for item in view.static_scene().items() if item.id == "undo"]
    assert not any(text.startswith("!") for text in words(view))
    press(view, "close-")
    assert view.selected is None
    with pytest.raises(ArgumentError, match="Nothing was kept"):
        view.undo()
    with pytest.raises(ArgumentError, match="not in the model already"):
        view.throw_out(dropped)


def test_what_a_page_says_wrongly_does_no_harm(view):
    for kind, content in (
        ("press", {"id": "row-99"}), ("press", {"id": "../x"}), ("press", {}), ("typed", {"text": 3}),
        ("press", {"id": "predicate-99"}), ("press", {"id": "sort-99"}), ("press", {"id": "row"}),
        ("press", {"id": "show-8"}), ("press", {"id": "page-99"}), ("press", {"id": "keep-99"}),
        ("press", {"id": "row-0-1"}), ("press", {"id": "page-before"}), ("press", {"id": "undo"}),
        ("typed", {"text": "x" * 400}), ("nothing", {}),
    ):  # fmt: skip
        view.answer(kind, content, [])
    with pytest.raises(ArgumentError, match="There are pages 0 to"):
        view.turn_to(99)


def test_no_heading_stands_on_another(learned):
    shown = ShownTable(ml.clause_table(learned))
    plates = [group for group in heading_items(shown, 0.0) if isinstance(group, Group)]
    ends = [group.x + group.children[0].width for group in plates]
    assert all(group.x >= end for end, group in zip(ends, plates[1:], strict=False))


def test_numbers_of_a_column_have_equally_many_digits():
    assert [number(value) for value in (-2.5, -2.506, 1.0, 1234.0)] == ["−2.500", "−2.506", "1.000", "1234"]


def test_a_place_that_is_drawn_does_not_reach_what_is_said_beside_it():
    people = [name * 20 for name in "ABCDEFG"]
    facts = [f"S({name})" for name in people] + [f"F({a}, {b})" for a, b in pairwise(people)]
    db = ml.Database.from_text("\n".join(facts), ml.MLN.from_text("S(p)\nF(p, p)"))
    found = ml.learn_structure(db, "lhl-noheu", longest=2, fraction=1.0, least_gain=0.0, progress=False)
    drawn, _ = place_drawing(ml.clause_table(found).provenance(0), 0)
    boxes = [item for item in drawn.children if isinstance(item, Group)]
    assert boxes
    assert max(right_of(item) for item in boxes) <= GRAPH


def right_of(item, x=0.0):
    if isinstance(item, Group):
        return max((right_of(child, x + item.x) for child in item.children), default=0.0)
    return x + getattr(item, "x", 0.0) + getattr(item, "width", 0.0)
