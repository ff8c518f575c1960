"""Figure 4.1 in seconds: small data, short runs; it goes on where it stopped."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from mlnlab.cli import main
from mlnlab.errors import ArgumentError
from mlnlab.experiments import figure_4_1
from mlnlab.experiments.figure_4_1 import LEARNERS, Piece, Score, Settings, figure, mean_curve, pieces
from mlnlab.experiments.figure_4_1_data import TASKS

QUICK = Settings(seconds=0.05, samples=30, burn_in=5)


@pytest.fixture(scope="module")
def web():
    return TASKS["small-web"](None)


@pytest.fixture(scope="module")
def made(web, tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    found = list(pieces(web, QUICK, folder, LEARNERS, ["Cornell"]))
    return folder, [piece for piece, _ in found]


def test_every_learner_of_the_figure_has_a_curve(web, made):
    found = figure(web, made[1])
    assert not [piece.problem for piece in made[1] if piece.problem]
    for measure in ("cll", "auc"):
        curve = found.curve(measure)
        assert curve.names == LEARNERS
        assert all(np.isfinite(series.values).all() for series in curve.series)
    assert found.to_frame()["learner"].tolist() == list(LEARNERS)


def test_a_second_start_finds_what_is_finished_and_makes_the_rest(web, made, monkeypatch):
    folder, before = made
    again = list(pieces(web, QUICK, folder, LEARNERS, ["Cornell"]))
    assert [piece for piece, _ in again] == before
    assert all(reused for _, reused in again)
    kept = sorted(folder.glob("*pscg*.json"))
    kept[0].write_text("{")  # damaged: made anew
    assert [p.learner for p, reused in pieces(web, QUICK, folder, LEARNERS, ["Cornell"]) if not reused] == [
        "pscg"
    ]
    monkeypatch.setattr(figure_4_1, "made", lambda *_: Piece("cd", "Cornell", "", (), (), problem="made"))
    changed = Settings(seconds=0.06, samples=30, burn_in=5)
    assert [p.problem for p, _ in pieces(web, changed, folder, ["cd"], ["Cornell"])] == ["made"]


def test_what_goes_wrong_is_told_and_not_kept(web, tmp_path, monkeypatch):
    def broken(*_, **__):
        raise ArgumentError("It broke.")

    monkeypatch.setattr(figure_4_1, "weight_learner", broken)
    found = list(pieces(web, QUICK, tmp_path, ["cd"], ["Texas"]))
    assert [piece.problem for piece, _ in found] == ["It broke."]
    assert not list(tmp_path.iterdir())


def test_rates_are_tuned_for_either_measure(web, tmp_path):
    settings = Settings(seconds=0.05, tuning_seconds=0.02, rates=(1e-4, 1e-3), samples=20, burn_in=2)
    ((piece, _),) = pieces(web, settings, tmp_path, ["cd"], ["Cornell"])
    assert len(piece.rates) == 2
    assert set(piece.rates) <= {1e-4, 1e-3}
    assert piece.scores("cll", "all")
    assert piece.scores("auc", "all")


def test_means_over_folds_are_of_the_latest_scores():
    runs = [[Score("all", 0, 0.5, -1.0, 0.1), Score("all", 1, 4.0, -0.5, 0.5)],
            [Score("all", 0, 1.0, -3.0, 0.3), Score("all", 1, 2.0, -0.7, 0.9)]]  # fmt: skip
    seconds, means = mean_curve(runs, "cll")
    assert (seconds[0], seconds[-1]) == pytest.approx((1.0, 4.0))
    assert means[0] == pytest.approx(-2.0)
    assert means[-1] == pytest.approx(-0.6)


def test_citations_are_judged_without_pairs_of_a_thing_with_itself(tmp_path):
    task = TASKS["citations"](None)
    ((piece, _),) = pieces(task, QUICK, tmp_path, ["pscg"], [next(iter(task.databases))])
    assert not piece.problem
    assert {score.of for score in piece.by_cll} == {"all", "SameBib"}


def test_the_command(tmp_path, capsys):
    given = ["reproduce", "figure-4.1", "--folder", str(tmp_path), "--seconds", "0.05", "--samples", "20",
             "--learner", "cd", "--learner", "dn", "--fold", "Cornell"]  # fmt: skip
    assert main(given) == 0
    shown = capsys.readouterr()
    assert "cd on Cornell" in shown.err
    assert main(given) == 0
    assert "kept from before" in capsys.readouterr().err
    names = {file.name for file in tmp_path.iterdir()}
    assert {"small-web-cll-all.svg", "small-web-auc-all.html", "small-web-scores.csv"} <= names
    with (tmp_path / "small-web-scores.csv").open() as file:
        assert [row["learner"] for row in csv.DictReader(file)] == ["cd", "dn"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--data", "corra"], "cora"),
        (["--data", "cora"], "--files"),
        (["--learner", "pscgg"], "pscg"),
        (["--fold", "Oxford"], "Cornell"),
        (["--seconds", "0"], "--seconds"),
    ],
)
def test_bad_input_gets_a_sentence(tmp_path, capsys, options, words):
    assert main(["reproduce", "figure-4.1", "--folder", str(tmp_path), *options]) != 0
    shown = capsys.readouterr().err
    assert words in shown
    assert "Traceback" not in shown
