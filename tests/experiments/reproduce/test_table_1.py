"""Table 1 of lifted learning: pieces are kept, problems have reasons, and lifted weights are best on IMDB."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, log2

import pytest

import mlnlab as ml
from mlnlab.cli import main
from mlnlab.errors import ArgumentError
from mlnlab.experiments.folds.kept_files import KeepingWarning
from mlnlab.experiments.reproduce import table_1_learning
from mlnlab.experiments.reproduce.table_1 import results, structure_of
from mlnlab.experiments.reproduce.table_1_data import (
    DATASETS,
    Dataset,
    Split,
    best_words,
    information_gain,
    two_variable_clauses,
)
from mlnlab.experiments.reproduce.table_1_learning import Settings, refuse_endless, result
from mlnlab.experiments.reproduce.table_1_results import LikelihoodTable, make_published_table
from mlnlab.experiments.studies.planted_rules import MODEL, make_planted_database
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import atoms

BARE = ml.MLN.from_text("Smokes(person)\nFriends(person, person)")
TEXTS = (
    "Smokes(A)\nSmokes(B)\nFriends(A, B)\nFriends(B, C)",
    "Smokes(D)\nFriends(D, E)\nFriends(E, D)\nFriends(E, F)",
    "Smokes(G)\nSmokes(H)\nFriends(G, H)\nFriends(I, G)",
)


def _splits(_files):
    databases = [ml.Database.from_text(text, BARE) for text in TEXTS]
    for n, db in enumerate(databases):
        yield Split(f"fold{n + 1}", tuple(databases[:n] + databases[n + 1 :]), db, BARE)


FRIENDS = Dataset("friends", _splits, lambda _: ("Smokes(x) ^ Friends(x, y) => Smokes(y)",))


def test_each_result_is_kept_and_made_anew_where_settings_differ(tmp_path):
    given = (FRIENDS, tmp_path, tmp_path, ["hand"], ["pll", "lwl"])
    first = list(results(*given))
    assert len(first) == 6
    assert not any(kept for _, kept in first)
    (tmp_path / "friends-hand-fold2-lwl.json").write_text("{")
    with pytest.warns(KeepingWarning, match="is computed again"):
        again = list(results(*given))
    assert [kept for _, kept in again] == [True, True, True, False, True, True]
    assert [one.log_likelihood for one, _ in again] == [one.log_likelihood for one, _ in first]
    assert not any(kept for _, kept in results(*given, settings=Settings(deviation=3.0)))
    table = LikelihoodTable(tuple(one for one, _ in first))
    assert list(table.table().columns) == ["data", "structure", "fold", "pscg", "pll", "lwl", "best"]
    training = table.to_frame().pivot_table("training", "fold", "learner")
    assert (training["lwl"] >= training["pll"] - 1e-6).all()  # it maximises just that, but for the prior
    assert len(table.exceptions()) == (table.table()["best"] == "pll").sum()
    assert table.seconds().set_index("learner")["compiling_share"]["lwl"] > 0


def test_what_does_not_compile_is_listed_with_its_reason():
    split = next(_splits(None))
    mln = ml.MLN.from_text(
        "Smokes(person)\nFriends(person, person)\nFriends(x, y) ^ Friends(y, z) => Friends(x, z)"
    )
    found = result("friends", "by test", split, "lwl", mln, Settings())
    assert isnan(found.log_likelihood)
    assert "No rule lifts" in found.problem
    assert list(LikelihoodTable((found,)).problems()["problem"]) == [found.problem]


def test_fifty_clauses_of_two_variables():
    mln = two_variable_clauses(BARE, 50, seed=3)
    rules = [one.formula for one in mln.formulas[2:]]
    assert len(rules) == len(set(map(str, rules))) == 50
    assert all(2 <= len(atoms(rule)) <= 4 and len(free_variables(rule)) <= 2 for rule in rules)
    assert two_variable_clauses(BARE, 50, seed=3) == mln


def test_what_became_of_theories_that_the_paper_could_not_compile_is_told(monkeypatch):
    def refused(*_):
        raise ml.TooLargeError("Each step of lifted learning would take long.", 1.0, [])

    split = next(_splits(None))
    mln = ml.MLN.from_text("Smokes(person)\nSmokes(x) ^ Smokes(y)\n" + "Smokes(x)\n" * 50)
    with pytest.raises(
        ml.TooLargeError, match=r"given up after 1e-09 seconds, with \d+ definition.* waiting"
    ):
        refuse_endless(mln, 1e-9)
    monkeypatch.setattr(table_1_learning, "refuse_costly", refused)
    monkeypatch.setattr(table_1_learning, "cells_of", lambda _: None)
    found = result("friends", "fifty", split, "lwl", mln, Settings())
    assert "Each step of lifted learning would take" in found.problem
    assert min(found.definitions, found.order, found.compiling_seconds, found.peak_megabytes) > 0
    table = LikelihoodTable((found, replace(found, definitions=0, problem="too long")))
    assert list(table.problems()["definitions"]) == [found.definitions, 0]
    said = f"2 attempts, of which 1 compiled, to {found.definitions:,} definitions"
    assert said in table.failure()
    assert "0 were learned and judged" in table.failure()
    assert LikelihoodTable((replace(found, formulas=50),)).failure() == ""


def test_theories_of_over_fifty_formulas_are_learned_by_cells_from_the_pseudo_likelihoods_weights(
    monkeypatch,
):
    monkeypatch.setattr(table_1_learning, "OPTIONS", {"lwl": {"iterations": 4}})
    split = next(_splits(None))
    mln = two_variable_clauses(split.bare, 50)
    found = {name: result("friends", "fifty", split, name, mln, Settings()) for name in ("pll", "lwl")}
    assert not any(one.problem for one in found.values())
    assert min(one.cells for one in found.values()) > 1
    assert found["lwl"].training > found["pll"].training
    lwl = ml.MLN.from_text(found["lwl"].model)
    assert ml.log_likelihood(lwl, split.test, method="lifted") == pytest.approx(found["lwl"].log_likelihood)
    assert "cells at most" in LikelihoodTable(tuple(found.values())).failure()


def test_words_by_information_gain():
    pages = ["Course"] * 4 + ["Student"] * 4
    assert information_gain({str(n): "Course" for n in range(4)}, pages) == pytest.approx(1.0)
    assert information_gain({"a": "Course", "b": "Student"}, pages) == pytest.approx(0.0)
    mixed = information_gain({str(n): "Course" for n in range(2)}, pages)
    assert mixed == pytest.approx(1 - 0.75 * -(1 / 3 * log2(1 / 3) + 2 / 3 * log2(2 / 3)))
    model = ml.MLN.from_text("Has(page, word)\nClass(page, class)")
    facts = [f"Class(P{n}, {'Course' if n < 4 else 'Student'})" for n in range(8)]
    facts += [f"Has(P{n}, Exam)" for n in range(4)] + ["Has(P0, Home)", "Has(P7, Home)", "Has(P1, Grade)"]
    assert best_words(ml.Database.from_text("\n".join(facts), model), 2) == ["Exam", "Grade"]


def test_the_papers_numbers_have_its_two_exceptions():
    table = make_published_table()
    assert len(table) == 24
    assert sorted(table["best"].value_counts().items()) == [("lwl", 22), ("pll", 1), ("pscg", 1)]


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ((["hans"], ["lwl"], ()), "There is no structure hans"),
        ((["hand"], ["lwll"], ()), "There is no learner lwll"),
        ((["hand"], ["lwl"], ["fold9"]), "There is no fold fold9"),
    ],
)
def test_wrong_names_are_refused(given, match, tmp_path):
    with pytest.raises(ArgumentError, match=match):
        list(results(FRIENDS, tmp_path, None, *given))


@pytest.mark.parametrize("structure", ["busl", "msl"])
def test_structures_of_rivals_are_small_clauses_beside_all_units(structure):
    databases = [make_planted_database(seed, 0.1, people=12, things=4) for seed in range(3)]
    bare = ml.MLN.from_text(MODEL)
    split = Split("fold", tuple(databases[1:]), databases[0], bare)
    units, mln = len(bare.vocabulary.predicates), structure_of(FRIENDS, structure, split)
    assert to_text(mln.formulas[0].formula) == "Friends(v1, v2)"
    rules = [one.formula for one in mln.formulas[units:]]
    assert rules
    assert all(len(atoms(rule)) <= 4 and len(free_variables(rule)) <= 3 for rule in rules)
    assert all(len(atoms(rule)) > 1 or to_text(rule) == "Friends(p, p)" for rule in rules)
    assert len(structure_of(FRIENDS, structure, split, most_seconds=0.0).formulas) < len(mln.formulas)


@pytest.mark.data
def test_lhl_with_short_paths_learns_rules_that_are_lifted(data_folder):
    split = next(iter(DATASETS["imdb"].splits(data_folder)))
    mln = structure_of(DATASETS["imdb"], "lhl-pairs", split)
    rules = [one.formula for one in mln.formulas[6:]]
    assert "!workedUnder(p1, p2) v actor(p1)" in set(map(to_text, rules))
    assert all(len(free_variables(rule)) <= 2 for rule in rules)
    assert not ml.lift(mln).compile().unlifted


@pytest.mark.data
def test_imdb_by_the_command(data_folder, tmp_path, capsys):
    words = ["reproduce", "table-1", "--folder", str(tmp_path), "--files", str(data_folder), "--data", "imdb"]
    words += ["--structure", "hand", "--fold", "imdb_fold4", "--learner", "pll", "--learner", "lwl"]
    assert main(words) == 0
    found = (tmp_path / "table-1-imdb.csv").read_text().splitlines()
    assert found[1].endswith("lwl")
    _, _, _, _, pll, lwl, _ = found[1].split(",")
    assert float(pll) == pytest.approx(-348.4077, abs=1e-3)
    assert float(lwl) == pytest.approx(-276.954, abs=0.1)
    assert "imdb, hand, imdb_fold4, lwl: -277.0" in capsys.readouterr().err
    assert main([*words[:4], *words[6:]]) != 0  # without files
    assert set(DATASETS) == {"imdb", "uw-cse", "webkb"}


@pytest.mark.data
def test_webkb_has_a_split_for_each_direction_of_a_pair(data_folder):
    splits = list(DATASETS["webkb"].splits(data_folder))
    assert len(splits) == 8
    for split in splits:
        assert len([name for name in split.bare.vocabulary.predicates if name.startswith("Has")]) <= 10
        assert len(split.test.domain("page")) > 200
