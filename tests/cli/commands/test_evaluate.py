"""``mlnlab evaluate``: tables, files, groups of predicates, and bad input."""

from __future__ import annotations

import json
import math

import pytest

import mlnlab as ml
from mlnlab.cli import main

MODEL = "Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)\n"
FACTS = "Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)\n"


@pytest.fixture
def paths(tmp_path):
    (tmp_path / "a.mln").write_text(MODEL)
    (tmp_path / "a.db").write_text(FACTS)
    (tmp_path / "b.db").write_text("Smokes(Zoe)\n")
    return [str(tmp_path / name) for name in ("a.mln", "a.db", "b.db")]


def test_a_table_of_scores(paths, capsys):
    assert main(["evaluate", *paths[:2], "-q", "Cancer"]) == 0
    shown = capsys.readouterr()
    heading, row = shown.out.splitlines()
    assert heading.split() == ["predicate", "atoms", "true", "CLL", "AUC"]
    assert row.split()[:4] == ["Cancer", "3", "2", "-0.8653"]
    assert "exact" in shown.err


def test_each_query_is_hidden_for_itself(paths, capsys):
    assert main(["evaluate", *paths, "-q", "Cancer", "-q", "Smokes"]) == 0
    apart = capsys.readouterr().out
    assert [line.split()[0] for line in apart.splitlines()] == ["predicate", "Cancer", "Smokes", "all"]
    assert main(["evaluate", *paths, "-q", "Cancer,Smokes"]) == 0
    assert capsys.readouterr().out != apart


def test_files(paths, capsys, tmp_path):
    assert main(["evaluate", *paths[:2], "-q", "Cancer", "-o", str(tmp_path / "out.json")]) == 0
    (record, _) = json.loads((tmp_path / "out.json").read_text())
    mln = ml.load(paths[0])
    expected = ml.evaluate(mln, ml.load_db(paths[1], mln), query=["Cancer"])
    assert record["cll"] == pytest.approx(expected.cll.value)
    assert record["auc_error"] == pytest.approx(expected.auc.error)
    assert main(["evaluate", *paths[:2], "-q", "Cancer", "-o", str(tmp_path / "out.csv")]) == 0
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == "atom,probability,true,log_probability"
    assert math.exp(float(lines[1].rpartition(",")[2])) == pytest.approx(float(lines[1].split(",")[1]))
    assert capsys.readouterr().out.endswith("out.csv\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-q", "Cancr"], "Cancer"),
        (["-q", " , "], "--query is empty"),
        (["-q", "Cancer", "-o", "scores.txt"], "the ending tells the format"),
        (["-q", "Cancer", "-o", "nowhere/scores.csv"], "no folder"),
        (["-q", "Cancer", "--prior", "-2"], "prior"),
        (["-q", "Cancer", "--method", "gibs"], "gibbs"),
    ],
)
def test_bad_input_gets_a_sentence(paths, capsys, arguments, words):
    assert main(["evaluate", *paths[:2], *arguments]) != 0
    shown = capsys.readouterr()
    assert words in shown.err
    assert "Traceback" not in shown.err
