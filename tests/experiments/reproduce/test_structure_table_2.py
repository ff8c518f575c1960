"""Table 2: the paper's parameters, our numbers beside its, and what is kept between two starts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mlnlab as ml
from mlnlab.cli import main
from mlnlab.cli.reproductions.table_2_command import options_of
from mlnlab.experiments.reproduce import table_2
from mlnlab.experiments.reproduce.table_2 import (
    DATASETS,
    Dataset,
    Published,
    Settings,
    list_systems,
    make_table,
    mark_better,
    system,
    table,
)
from mlnlab.experiments.reproduce.table_2_switches import switch_databases, switch_testing

RULES = "Actor(person)\nDirector(person)\n1 Actor(x)\n-1 Director(x)"
SMALL = Dataset(
    "small", "small", "small_decl.mln", "small_fold{}.db", 4, 0.1, 0.01, (("Actor", "Director"),), None,
    {"stub": Published(0.69, -0.13, 15.63)},
)  # fmt: skip


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data" / "small"
    folder.mkdir(parents=True)
    (folder / "small_decl.mln").write_text("Actor(person)\nDirector(person)\n")
    for fold in range(1, 6):
        (folder / f"small_fold{fold}.db").write_text(f"Actor(A{fold})\nActor(B{fold})\nDirector(D{fold})\n")
    return tmp_path / "data"


def test_parameters_are_those_of_the_paper():
    found = {name: system(one, "lhl", {}) for name, one in DATASETS.items()}
    assert {(one["penalty"], one["fewest"], one["sampled"], one["fraction"]) for one in found.values()} == {
        (1.0, 50, 500, 0.5)
    }
    assert [one["longest"] for one in found.values()] == [5, 5, 4]
    assert [one["length_penalty"] for one in found.values()] == [0.1, 0.01, 0.01]
    assert [one["path_length_penalty"] for one in found.values()] == [0.01, 0.001, 0.001]
    assert [one.published["lhl"].auc for one in DATASETS.values()] == [0.69, 0.22, 0.87]
    without = system(DATASETS["imdb"], "lhl-noheu", {"fraction": 1.0})
    assert "fewest" not in without
    assert without["fraction"] == 1.0
    with pytest.raises(ml.ArgumentError, match="did you mean"):
        system(DATASETS["imdb"], "lhk", {})


def test_systems_with_one_thing_changed_are_lhl_otherwise():
    apart = {name: system(one, "lhl-apart", {}) for name, one in DATASETS.items()}
    assert {name: {**one, "apart": ()} for name, one in apart.items()} == {
        name: {**system(one, "lhl", {}), "apart": ()} for name, one in DATASETS.items()
    }
    printed = system(DATASETS["imdb"], "lhl-printed", {})
    assert printed == {**system(DATASETS["imdb"], "lhl", {}), "units": False, "least_gain": 0.0}
    by_atoms = system(DATASETS["imdb"], "lhl-pll", {})
    weights = {"method": "pll", "deviation": 100.0}
    assert by_atoms == {**system(DATASETS["imdb"], "lhl", {}), "weights": weights}
    assert system(DATASETS["imdb"], "lhl-pll", {}, {"method": "ll"})["weights"] == {"method": "ll"}
    assert apart["cora"]["apart"] == DATASETS["cora"].predicates
    assert apart["imdb"]["apart"] == apart["uw-cse"]["apart"] == "all"


def test_our_numbers_stand_beside_the_papers_and_are_kept(data, tmp_path):
    calls = []

    def stub(databases, seed):
        calls.append(len(databases))
        return ml.MLN.from_text(RULES)

    found = make_table(SMALL, data, tmp_path / "results", {"stub": stub})
    assert calls == [4] * 5
    row = table(SMALL, found).iloc[0]
    by_hand = ml.evaluate(
        ml.MLN.from_text(RULES), list(SMALL.databases(data).values()), [["Actor", "Director"]]
    )
    written = (10_000 * by_hand.judged.probabilities + 1 / 2) / 10_001
    chances = np.where(by_hand.judged.truths, written, 1 - written)
    assert row["cll"] == pytest.approx(np.log(chances).mean())
    assert (row["paper_auc"], row["paper_cll"], row["paper_minutes"]) == (0.69, -0.13, 15.63)
    assert row["atoms"] == 5 * 6
    make_table(SMALL, data, tmp_path / "results", {"stub": stub}, Settings(only=("small_fold2",)))
    assert len(calls) == 5


def test_unit_clauses_say_how_often_a_predicate_holds(data):
    found = make_table(SMALL, data, None, ["units"], Settings(only=("small_fold1",)))
    said = found.pooled("units", "Actor").probabilities
    assert said == pytest.approx(2 / 3, abs=1e-3)  # two of three in each fold


def test_the_command_writes_its_table(data, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(table_2, "DATASETS", {"small": SMALL})
    monkeypatch.setattr(table_2, "refuse_wrong", lambda *_: None)  # nothing here is learned by its name
    monkeypatch.setattr(
        table_2, "system", lambda dataset, name, *switched: lambda *_: ml.MLN.from_text(RULES)
    )
    words = ["reproduce", "table-2", "--files", str(data), "--folder", str(tmp_path / "out"), "--data"]
    assert main([*words, "small", "--system", "stub", "--testing", "prior=1.0"]) == 0
    told = capsys.readouterr()
    assert "stub on small_fold1: AUC" in told.err
    assert "0.690" in told.out
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert {f"small-testing-prior-1.0{end}" for end in (".csv", "-by-predicate.csv", ".svg")} <= names
    assert "paper_auc" in (tmp_path / "out" / "small-testing-prior-1.0.csv").read_text()
    assert main([*words, "small", "--system", "stub", "--testing", "prior=1.0"]) == 0
    assert "kept from before" in capsys.readouterr().err
    assert "by fold" in told.out
    assert main([*words, "small"]) == 0
    usual = pd.read_csv(tmp_path / "out" / "small.csv")
    assert usual["system"].tolist() == [
        "units", "lhl", "lhl-liftgraph", "busl", "busl-nodangling", "msl", "msl-nodangling",
    ]  # fmt: skip
    folds = pd.read_csv(tmp_path / "out" / "small-by-fold.csv")
    whole = folds[(folds["system"] == "units") & (folds["predicate"] == "all together")]
    assert whole["fold"].tolist() == [f"small_fold{fold}" for fold in range(1, 6)]
    assert usual["auc_by_fold"][0] == pytest.approx(whole["auc"].mean())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--data", "imbd"], "imdb"),
        (["--data", "imdb", "--system", "lhk"], "lhl"),
        (["--data", "imdb", "--testing", "exact"], "fraction=1.0"),
        (["--data", "imdb", "--learning", "longets=3"], "longest"),
        (["--data", "imdb", "--system", "lhl-apart", "--learning", "longets=3"], "longest"),
        (["--data", "imdb", "--system", "lhl-pll", "--learning", "fraction=2"], "fraction"),
        (["--data", "imdb", "--learning", "fraction=2"], "fraction"),
        (["--data", "imdb", "--switch", "equality"], "did you mean equalities"),
        (["--data", "imdb", "--system", "lhl", "--switch", "bias"], "of msl alone"),
        (["--data", "imdb", "--dangling", "keep"], "did you mean kept"),
        (["--data", "imdb"], "no folder imdb"),
    ],
)
def test_bad_input_gets_a_sentence(tmp_path, capsys, options, words):
    given = ["reproduce", "table-2", "--folder", str(tmp_path), "--files", str(tmp_path), *options]
    assert main(given) == 1
    assert words in capsys.readouterr().err


def test_without_files_there_is_no_table(tmp_path, capsys):
    assert main(["reproduce", "table-2", "--folder", str(tmp_path)]) == 1
    assert "--files" in capsys.readouterr().err


def test_switches_change_the_question_or_the_data(data):
    asked = switch_testing(["all-other-atoms", "one-by-one"])
    assert asked == {"evidence": "all-other-atoms", "groups": ()}
    found = make_table(SMALL, data, None, {"stub": lambda *_: ml.MLN.from_text(RULES)},
                       Settings(switches=("one-by-one",)))  # fmt: skip
    assert found.testing.groups == (("Actor",), ("Director",))
    dbs = SMALL.databases(data)
    kept = switch_databases(SMALL, dbs, ["equalities"])
    same = kept["small_fold2"].relation("samePerson").true
    assert same.tolist() == [[n, n] for n in range(len(dbs["small_fold2"].domain("person")))]
    assert switch_databases(SMALL, dbs, ["one-by-one"]) == dbs
    with pytest.raises(ml.ArgumentError, match="cora never had these"):
        switch_databases(DATASETS["cora"], dbs, ["equalities"])


@pytest.mark.data
def test_as_many_equality_predicates_are_kept_as_the_paper_omitted(data_folder):
    for name, number in (("imdb", 4), ("uw-cse", 9)):
        dbs = switch_databases(DATASETS[name], DATASETS[name].databases(data_folder), ["equalities"])
        known = {name for db in dbs.values() for name in db.vocabulary.predicates}
        assert len([name for name in known if name.startswith("same")]) == number


def test_rivals_run_with_dangling_clauses_and_without_and_the_better_is_reported():
    assert list_systems(["units", "msl"], "both") == ["units", "msl", "msl-nodangling"]
    assert list_systems(["msl"], "left-out") == ["msl-nodangling"]
    found = system(DATASETS["imdb"], "msl-nodangling", {})
    assert found == {"method": "msl", "price": 0.1, "least_weight": 0.0, "dangling": False}
    assert system(DATASETS["uw-cse"], "busl", {})["length_penalty"] == 0.01
    rows = pd.DataFrame({"system": ["units", "busl", "busl-nodangling", "msl"], "auc": [0.9, 0.3, 0.4, 0.2]})
    assert mark_better(rows)["reported"].tolist() == [True, False, True, True]


def test_options_are_words_and_numbers():
    found = options_of(["fraction=1.0", "longest=4", "evidence=all-other-atoms", "dangling=True"])
    assert found == {"fraction": 1.0, "longest": 4, "evidence": "all-other-atoms", "dangling": True}
