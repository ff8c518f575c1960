"""``mlnlab infer`` on UAI and BIF files: tables, files, evidence, methods, and what is wrong."""

from __future__ import annotations

import csv
import json

import pytest

import mlnlab as ml
from mlnlab.cli import main

GREENHOUSE = ml.sample_network("greenhouse")


@pytest.fixture
def paths(tmp_path):
    ml.save_bif(GREENHOUSE, tmp_path / "greenhouse.bif")
    ml.save_uai(GREENHOUSE, tmp_path / "greenhouse.uai")
    evidence = ml.uai_evidence_text(GREENHOUSE, {"Wilting": "yes"})
    (tmp_path / "greenhouse.uai.evid").write_text(evidence)
    return [str(tmp_path / name) for name in ("greenhouse.bif", "greenhouse.uai", "greenhouse.uai.evid")]


def test_a_network_is_asked_by_name_given_evidence(paths, capsys):
    assert main(["infer", paths[0], paths[2], "--query", "Soil,Wilting"]) == 0
    shown = capsys.readouterr()
    assert "0.6378  Soil = dry" in shown.out
    assert "Wilting = yes  (evidence)" in shown.out
    assert len(shown.out.splitlines()) == 5
    assert "junction-tree: width 3" in shown.err
    assert "log Z" in shown.err


def test_uai_files_have_numbers_for_names(paths, capsys):
    number = GREENHOUSE.number("Soil")
    assert main(["infer", paths[1], paths[2], "-q", f"x{number}"]) == 0
    assert f"0.6378  x{number} = 0" in capsys.readouterr().out


def test_samples_have_errors_and_the_same_seed_the_same_answer(paths, capsys):
    words = ["infer", paths[0], "-q", "Soil", "--method", "gibbs", "--samples", "2000", "--seed", "4"]
    answers = []
    for _ in range(2):
        assert main(words) == 0
        answers.append(capsys.readouterr())
    assert answers[0].out == answers[1].out
    assert "±" in answers[0].out
    assert "gibbs: 4 chains of 2,000 samples each" in answers[0].err


def test_answers_go_to_files(paths, tmp_path, capsys):
    for ending in ("csv", "json", "MAR"):
        assert main(["infer", paths[0], "-q", "*", "-o", str(tmp_path / f"out.{ending}")]) == 0
    capsys.readouterr()
    exact = ml.marginals(GREENHOUSE)
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert {(r["variable"], r["value"]): float(r["probability"]) for r in rows} == {
        (name, value): p for name, one in exact.items() for value, p in one.items()
    }
    content = json.loads((tmp_path / "out.json").read_text())
    assert content["method"] == "junction-tree"
    assert len(content["marginals"]) == len(rows)
    again = ml.load_uai_marginals(tmp_path / "out.MAR", GREENHOUSE)
    assert dict(again["Soil"]) == dict(exact["Soil"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-q", "Soli"], "There is no variable Soli"),
        (["-q", "Soil", "--open", "Rain"], "a network has evidence files"),
        (["-q", "Soil", "--method", "gibs"], "There is no method 'gibs'"),
        (["-q", "Soil", "--method", "mean-field", "--samples", "3"], "mean-field has no option samples"),
        (["-q", "Soil", "--option", "damping=x"], "gibbs has no option damping"),
        (["-q", "Soil", "-o", "answer.txt"], "the ending must be .csv, .json or .MAR"),
        (["-q", ","], "--query is empty"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_an_exit_code(paths, words, sentence, capsys):
    assert main(["infer", paths[0], *words]) != 0
    shown = capsys.readouterr()
    assert sentence in shown.err
    assert "Traceback" not in shown.err
    assert not shown.out


def test_evidence_of_another_network_is_refused(paths, tmp_path, capsys):
    for text in ("1 99 0", "1 0 7"):
        (tmp_path / "other.evid").write_text(text)
        assert main(["infer", paths[0], str(tmp_path / "other.evid"), "-q", "Soil"]) != 0
        assert "which it does not have" in capsys.readouterr().err
