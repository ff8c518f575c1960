"""Counts, plans, constraint networks, Δn and groundings as displays: the pictures' numbers are the values."""

from __future__ import annotations

import base64
import re
import zlib
from itertools import product

import numpy as np
import pytest
from bs4 import BeautifulSoup

import mlnlab as ml
from mlnlab.counting.deltas.deltas import deltas
from mlnlab.display.counting.constraint_networks import network_scene
from mlnlab.display.counting.count_bars import counts_scene, number_text
from mlnlab.display.counting.counts_groundings import bars_scene, partitions, scene_of
from mlnlab.display.counting.counts_lit import MOST_LIT, OPEN, TRUE, VIOLATED, cells, matrix_scene
from mlnlab.display.counting.plan_trees import plan_scene, step_rows
from mlnlab.display.doors.bundles import bundle, bundle_size
from mlnlab.display.scene.items import Path, Picture, Rectangle, Text
from mlnlab.display.scene.text_fitting import text_width
from mlnlab.logic.evaluation import evaluate
from tests.display.card.test_golden import rows_of, text_of
from tests.display.things import HOSTILE

FIGURE_1 = ml.MLN.from_text("t = {A, B}\nR(t, t)\nS(t, t)\nT(t, t)\n1 !R(x, y) v S(y, z) v T(x, z)")
WORLD = ml.Database.from_text("R(A, B)\nR(B, A)\nS(A, B)\nT(A, B)", FIGURE_1)
SMOKERS = ml.sample("friends_smokers")
FRIENDS = "Friends(x, y) ∧ Friends(y, z) ⇒ Friends(x, z)"
TRANSITIVE = "Friends(x, y) ^ Friends(y, z) => Friends(x, z)"


def groundings(formula, **options):
    return ml.groundings(SMOKERS.mln, SMOKERS.db, formula, **options)


def texts_of(scene):
    return [item.text for item in scene.items() if isinstance(item, Text)]


def by_id(scene, prefix):
    return [item for item in scene.items() if item.id.startswith(prefix)]


# --- counts -------------------------------------------------------------------------------------


def test_counts_as_a_table():
    assert rows_of(ml.count(SMOKERS.mln, SMOKERS.db)) == [
        ["", "weight", "formula", "true", "violated", "groundings", "share that holds"],
        ["0", "0.4", "¬Smokes(x)", "5", "3", "8", "62.5 %"],
        ["1", "1.2", "¬Cancer(x)", "8", "0", "8", "100 %"],
        ["2", "1.5", "Smokes(x) ⇒ Cancer(x)", "5", "3", "8", "62.5 %"],
        ["3", "0.8", "Friends(x, y) ∧ Smokes(x) ⇒ Smokes(y)", "59", "5", "64", "92.19 %"],
    ]


def test_bars_are_as_long_as_the_shares():
    counts = ml.count(SMOKERS.mln, SMOKERS.db)
    rows = by_id(counts_scene(counts), "atom-")
    for row, true, total in zip(rows, counts, counts.groundings, strict=True):
        track, bar = [item for item in row.children if isinstance(item, Rectangle)]
        assert bar.width / track.width == pytest.approx(true / total, abs=0.002)
        assert f"{true:,} of {total:,} hold" in row.tooltip


def test_many_formulas_are_a_table_only_and_none_get_a_sentence():
    text = "P(t)\n" + "\n".join(f"{n / 7} P(C{n})" for n in range(60))
    mln = ml.MLN.from_text(text)
    counts = ml.count(mln, ml.Database.from_text("", mln))
    assert counts_scene(counts) is None
    assert len(rows_of(counts)) == 61
    empty = ml.MLN.from_text("P(t)")
    assert "The model has no formulas." in text_of(ml.count(empty, ml.Database.from_text("P(A)", empty)))


def test_numbers_of_any_size():
    assert number_text(1234567) == "1,234,567"
    assert number_text(10**18) == "1" + ",000" * 6
    assert number_text(10**400) == "about 10^400"
    mln = ml.MLN.from_text("P(t)\n1 P(a) v P(b) v P(c) v P(d) v P(e)").with_domains({"t": 10**8})
    counts = ml.count(mln, ml.Database.from_text("", mln))
    assert "about 10^40" in text_of(counts)
    (figure,) = [ml.plot(counts)]
    assert [list(bar.x) for bar in figure.data] == [[0.0], [1.0]]


def test_plot_stacks_true_and_violated():
    counts = ml.count(SMOKERS.mln, SMOKERS.db)
    figure = ml.plot(counts)
    assert [bar.name for bar in figure.data] == ["true", "violated"]
    for bar, numbers in zip(figure.data, (counts.numbers, counts.false), strict=True):
        assert list(bar.x) == [n / all_ for n, all_ in zip(numbers, counts.groundings, strict=True)]
    assert figure.data[0].customdata[3].endswith("59 of 64 hold")
    assert len(figure.to_json()) < 20_000
    with pytest.raises(ml.ArgumentError, match="no formulas"):
        ml.plot(ml.count(FIGURE_1.without(0), WORLD))


# --- plans --------------------------------------------------------------------------------------


def test_the_rows_of_a_plan_are_its_steps():
    plan = groundings(TRANSITIVE).plan
    rows = step_rows(plan)
    terms = [row for row in rows if not row.depth]
    assert [row.real for row in terms] == [term.count for term in plan.terms]
    assert sum(t.coefficient * t.count for t in plan.terms) == plan.count == 462
    inner = [row for row in rows if row.estimated is not None]
    in_words = re.findall(r"\(about ([\d,]+), in fact ([\d,]+)\)", str(plan))
    assert [(f"{row.estimated:,.0f}", f"{row.real:,}") for row in inner] == in_words
    for place, row in enumerate(rows):
        assert row.parent < place
        assert row.depth == (0 if row.parent < 0 else rows[row.parent].depth + 1)


def test_bars_of_a_plan_grow_with_the_real_sizes():
    scene = plan_scene(groundings(TRANSITIVE).plan)
    rows = step_rows(groundings(TRANSITIVE).plan)
    drawn = by_id(scene, "step-")
    assert len(drawn) == len(rows)
    lengths = {}
    for item, row in zip(drawn, rows, strict=True):
        bars = [child for child in item.children if isinstance(child, Rectangle)]
        assert bool(bars) == (row.estimated is not None)
        if bars:
            lengths.setdefault(row.real, set()).add(bars[0].width)
            assert f"in fact {row.real:,}" in item.tooltip
        words = f"{row.real:,}" if row.work is None else f"about {row.work:,.0f} look-ups"
        assert words in [child.text for child in item.children if isinstance(child, Text)]
    assert all(len(found) == 1 for found in lengths.values())
    ordered = [lengths[size].pop() for size in sorted(lengths)]
    assert ordered == sorted(ordered)
    assert all(item.x + item.width <= scene.width for item in scene.items() if isinstance(item, Rectangle))


def test_work_is_not_compared_with_rows():
    """A cycle looks up many entries and makes one number: that is no estimate that went wrong."""
    four = "Friends(x, y) ^ Friends(y, z) ^ Friends(z, w) ^ Friends(w, x)"
    for formula in (TRANSITIVE, four):
        plan = groundings(formula).plan
        rows = step_rows(plan)
        working = [place for place, row in enumerate(rows) if row.work is not None]
        assert working
        drawn = by_id(plan_scene(plan), "step-")
        for place in working:
            assert rows[place].estimated is None
            assert not any(isinstance(child, Rectangle | Path) for child in drawn[place].children)
            assert "look-ups, as estimated; one number comes out" in drawn[place].tooltip
        assert "look-ups, for one number)" in str(plan)
        largest = max(row.real for row in rows if row.estimated is not None)
        assert max(row.estimated for row in rows if row.estimated is not None) <= 64 * largest


def test_variables_that_no_atom_has_are_told_in_plain_words():
    plan = groundings("Friends(x, y) => Smokes(z)").plan
    assert "the ways to choose constants for all other variables" in str(plan)
    assert any("times the ways to choose" in row.words for row in step_rows(plan))


# --- constraint networks ------------------------------------------------------------------------


def test_figure_1_of_the_paper_is_drawn():
    network = ml.groundings(FIGURE_1, WORLD).network
    found = bundle(network)
    assert "Treewidth 2. Eliminating x, y, z, in this order, has width 2." in found["text/plain"]
    scene = network_scene(network)
    texts = texts_of(scene)
    assert {"(a)", "(b) ¬R(x, y)", "(c) S(y, z)", "(d) T(x, z)"} <= set(texts)
    assert texts.count("{A, B}") == 3
    assert [item.tooltip.split("\n")[0] for item in by_id(scene, "variable-")] == ["x", "y", "z"]
    for edge in by_id(scene, "constraint-"):  # the line ends where the words begin
        line, plate, words = edge.children
        assert isinstance(line, Path)
        assert plate.look == "plate"
        assert plate.x < words.x - text_width(words.text, words.look) / 2
        assert words.x + text_width(words.text, words.look) / 2 < plate.x + plate.width
        assert plate.y < words.y - 9 < words.y + 3 < plate.y + plate.height
    tables = [
        [child.text for child in panel.children if isinstance(child, Text) and child.text in "01"]
        for panel in by_id(scene, "phi-")
    ]
    assert tables == [["0", "1", "1", "0"], ["1", "0", "1", "1"], ["1", "0", "1", "1"]]
    assert rows_of(network)[1:] == [
        ["φ(x, y)", "¬R(x, y)", "true", "2", "50 %"],
        ["φ(y, z)", "S(y, z)", "false", "3", "75 %"],
        ["φ(x, z)", "T(x, z)", "false", "3", "75 %"],
    ]


@pytest.mark.parametrize(
    "clause",
    [
        "R(x, y) v R(y, x) v S(x, x)",  # twins, and a constraint of one variable
        "R(A, B)",  # no variables
        "R(A, x)",
        "x != y v R(x, y)",
        " v ".join(f"!R(x{n}, x{n + 1})" for n in range(30)),  # more variables than are drawn
    ],
)
def test_constraint_networks_of_other_shapes(clause):
    network = ml.groundings(FIGURE_1, WORLD, clause).network
    found = bundle(network)
    page = BeautifulSoup(found["text/html"], "html.parser")
    assert (page.img is None) == (not 0 < len(network.variables) <= 24)
    assert len(rows_of(network)) == len(network.constraints) + 1


# --- Δn -----------------------------------------------------------------------------------------


def test_deltas_are_a_table_with_the_usual_row_first():
    formulas = [weighted.formula for weighted in SMOKERS.mln.expand(SMOKERS.db).formulas]
    found = deltas(formulas, SMOKERS.db)["Friends"]
    (headings, first, *others) = rows_of(found)
    assert headings == ["", "now", *(f"Δn of formula {n}" for n in range(4)), "atoms", "of all"]
    assert first[:2] == ["default", "false"]
    merged = found.merged()
    assert [int(row[6]) for row in (first, *others)] == sorted(merged.multiplicities, reverse=True)
    assert sum(int(row[6]) for row in (first, *others)) == 64
    drawn = {
        (row[1] == "true", *(int(cell.replace("−", "-")) for cell in row[2:6])): int(row[6])
        for row in (first, *others)
    }
    every = np.array(list(product(range(8), repeat=2)), np.uint32)
    for truth, values in zip(found.truths(every), found.at(every), strict=True):
        drawn[(bool(truth), *values.tolist())] -= 1
    assert set(drawn.values()) == {0}
    assert rows_of(merged) == rows_of(found)


# --- groundings ---------------------------------------------------------------------------------


def png_cells(picture):
    """The numbers of the colours of a picture's pixels."""
    data = base64.b64decode(picture.source.partition(",")[2])
    width, height = (int.from_bytes(data[16 + 4 * k : 20 + 4 * k], "big") for k in range(2))
    start = data.index(b"IDAT")
    length = int.from_bytes(data[start - 4 : start], "big")
    lines = np.frombuffer(zlib.decompress(data[start + 4 : start + 4 + length]), np.uint8)
    return lines.reshape(height, width + 1)[:, 1:]


def test_the_matrix_has_the_truth_of_each_grounding():
    found = groundings("Friends(x, y) ^ Smokes(x) => Smokes(y)")
    (picture,) = [item for item in scene_of(found).items() if isinstance(item, Picture)]
    world, people = SMOKERS.db.world(), SMOKERS.db.domain("person")
    x, y = found.variables
    expected = [
        [TRUE if evaluate(found.formula, world, {x: a, y: b}) else VIOLATED for b in people] for a in people
    ]
    assert png_cells(picture).tolist() == expected
    assert picture.rows == tuple(f"x = {name}" for name in people)
    assert picture.columns == tuple(f"y = {name}" for name in people)
    assert "true (59)" in texts_of(scene_of(found))


def test_the_matrix_shows_what_evidence_leaves_open():
    found = groundings("Friends(x, y) ^ Smokes(x) => Smokes(y)", open="Smokes")
    kinds = cells(found)
    for number, kind in ((TRUE, "decided true"), (OPEN, "open"), (VIOLATED, "decided violated")):
        assert (kinds == number).sum() == found.number(kind)
    assert found.open > 0
    second = BeautifulSoup(bundle(found)["text/html"], "html.parser").find_all("table")[1]
    assert [[cell.text for cell in row.find_all("td")] for row in second.find_all("tr")[1:]] == [
        ["true by evidence", f"{found.decided_true}", "81.25 %"],
        ["violated by evidence", "0", "0 %"],
        ["open", f"{found.open}", "18.75 %"],
    ]


def test_a_large_matrix_still_shows_single_violations():
    mln = ml.MLN.from_text("F(t, t)\n1 !F(x, y)")
    nothing = ml.Database.from_text("\n".join(f"!F(C{n}, C{n})" for n in range(900)), mln)
    db = nothing.with_facts("\n".join(f"F(C{n}, C{(n * 37 + 1) % 900})" for n in range(0, 900, 100)))
    scene = matrix_scene(ml.groundings(mln, db))
    (picture,) = [item for item in scene.items() if isinstance(item, Picture)]
    pixels = png_cells(picture)
    assert max(pixels.shape) < 600
    assert (pixels == VIOLATED).sum() == 9


def test_violated_groundings_are_lit_in_the_hypergraph():
    found = groundings(TRANSITIVE)
    scene = scene_of(found)
    lit = by_id(scene, "grounding-")
    assert [item.tooltip.split("\n")[0] for item in lit] == [
        str(g) for g in found.sample("violated", MOST_LIT)
    ]
    assert "3 of 50 violated lit" in texts_of(scene)


def test_a_large_one_has_bars_and_samples():
    facts = "\n".join(f"Friends(P{n}, P{(7 * n) % 400})" for n in range(400))
    mln = ml.MLN.from_text("Friends(person, person)")
    found = ml.groundings(mln, ml.Database.from_text(facts, mln), TRANSITIVE)
    shown = text_of(found)
    assert rows_of(found)[1][1] == f"{found.true:,}"
    assert texts_of(scene_of(found))[:2] == ["true", f"{found.true:,}"]
    assert f"5 of {found.violated:,} violated" in shown
    assert "if its parts were independent" in shown
    assert bundle_size(bundle(found)) < 60_000


def test_a_sentence_and_one_of_no_groundings():
    mln = ml.MLN.from_text("P(t)\nQ(u)")
    db = ml.Database.from_text("P(A)", mln)
    found = ml.groundings(mln, db, "EXIST x P(x)")
    assert (found.total, found.true) == (1, 1)
    assert rows_of(found)[1] == ["true", "1", "100 %"]
    assert "has no constants" in text_of(ml.groundings(mln, db, "Q(x)"))


def test_reasons_are_sentences_and_a_table():
    why = groundings(TRANSITIVE).why
    assert [line[4:] for line in bundle(why)["text/plain"].splitlines()[1:]] == [
        f"50 of 512 groundings of {FRIENDS} are violated; 45 would be if its parts were independent.",
        "Friends(x, y) holds for 24 bindings of x, y, 37.5 % of all.",
        "Joining Friends(y, z) multiplies them by 3.08, to 74; by 3 if independent.",
        "¬Friends(x, z) keeps 67.6 % of them, 50; 62.5 % if independent, so 1.08 times as many.",
        "Most is due to ¬Friends(x, z): it leaves more than independence would.",
    ]
    assert rows_of(why)[1:] == [
        ["Friends(x, y)", "x, y", "24", "24", "24", "1"],
        ["Friends(y, z)", "z", "74", "3.083", "3", "1.03"],
        ["¬Friends(x, z)", "–", "50", "0.6757", "0.625", "1.08"],
    ]


@pytest.mark.parametrize("name", HOSTILE[:6])
def test_hostile_names_stay_text(name):
    (x, y, z) = ml.variables("x, y, z")
    likes = ml.predicates("Likes(person, person)")[0]
    mln = ml.MLN.from_formulas([(1, (likes(x, y) & likes(y, z)) >> likes(x, z)), (1, likes(x, name))])
    db = ml.Database.from_frames({"Likes": {"a": [name, "Anna", name], "b": ["Anna", name, name]}}, mln)
    for formula in (0, 1, "Likes(x, y) => Likes(y, x)"):
        found = ml.groundings(mln, db, formula)
        for value in (found, found.plan, found.why, found.network):
            shown = bundle(value)
            assert "text/html" in shown
            tags = {tag.name for tag in BeautifulSoup(shown["text/html"], "html.parser").find_all()}
            assert not tags & {"script", "b"}
    shown = ml.plot(ml.count(mln, db)).to_json()
    assert "<script" not in shown
    assert "$" not in shown


def test_each_group_of_kinds_adds_up_to_all_groundings():
    """Five kinds in one table would add up to twice as many, and to 200 %."""
    found = groundings("Friends(x, y) => (Smokes(x) <=> Smokes(y))", open="Smokes")
    assert found.open
    for value, headings in ((found, 2), (groundings(TRANSITIVE), 1)):
        page = BeautifulSoup(bundle(value)["text/html"], "html.parser")
        tables = [
            t
            for t in page.find_all("table")
            if [th.text for th in t.find_all("th")][1:] == ["number", "of all"]
        ]
        assert len(tables) == headings == len(partitions(value))
        for one in tables:
            rows = [[cell.text for cell in row.find_all("td")] for row in one.find_all("tr")[1:]]
            assert sum(int(number.replace(",", "")) for _, number, _ in rows) == value.total
    labels = " ".join(texts_of(bars_scene(found)))
    assert "open atoms taken as false: violated" in labels
    assert "open atoms left open: open" in labels
    assert "  open atoms left open " in bundle(found)["text/plain"]


def test_where_not_all_groundings_could_be_tried_that_is_said():
    mln = ml.MLN.from_text("t = {A, B}\nP(t)\nQ(t, u)").with_domains({"u": 3000})
    db = ml.Database.from_text("?P(A)", mln)
    text = "(EXIST x (P(x) ^ Q(x, y))) v (FORALL x !(P(x) ^ Q(x, y)))"
    assert "too many to try each" in text_of(ml.groundings(mln, db, text, open=["P", "Q"]))
    assert "too many to try each" not in text_of(groundings("Smokes(x)", open="Smokes"))


def test_plans_of_counting_and_errors_of_counts_are_tables():
    mln = ml.MLN.from_text("t = {A, B}\nR(t, t)\nS(t, t)\nT(t, t)\n1 !R(x, y) v S(y, z) v T(x, z)")
    db = ml.Database.from_text("R(A, B)\nR(B, A)\nS(A, B)\nT(A, B)", mln)
    plan = bundle(ml.counting_plan(mln, db, i=3))["text/plain"]
    assert "¬R(x, y) ∨ S(y, z) ∨ T(x, z)" in plan
    assert "ms, exact" in plan
    assert "nothing has been counted" in plan
    error = ml.counting_error(mln, db, counter="ijgp", i=2)
    shown = bundle(error)["text/plain"]
    assert f"ε = {error.epsilon:,.6g} in all 4,096 worlds" in shown
    few = bundle(ml.counting_error(mln, db, ["R"], counter="ijgp", i=2))["text/plain"]
    assert "in all 16 worlds" in few
