"""Figure 4.1 in seconds: small data, short runs; it goes on where it stopped."""

from __future__ import annotations

import csv
import time
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from mlnlab.cli import main
from mlnlab.display.learning.studies.study_charts import figure_4_1_scene
from mlnlab.errors import ArgumentError
from mlnlab.evaluation.evaluating import Evaluation
from mlnlab.experiments.folds.kept_files import KeepingWarning
from mlnlab.experiments.reproduce import figure_4_1, figure_4_1_runs
from mlnlab.experiments.reproduce.figure_4_1 import LEARNERS, Settings, Workshop, pieces
from mlnlab.experiments.reproduce.figure_4_1_data import TASKS, make_task
from mlnlab.experiments.reproduce.figure_4_1_runs import (
    CLOCKS,
    Judging,
    finish_run,
    ground_databases,
    load_progress,
)
from mlnlab.experiments.reproduce.figure_4_1_scores import (
    Figure,
    Piece,
    Score,
    Tally,
    figure,
    pool_tallies,
    tally_of,
)
from mlnlab.learning.ask.held_out import hidden_atoms
from mlnlab.learning.ask.learner import weight_learner
from mlnlab.learning.problems.priors import Gaussian

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
    found = figure(web.name, made[1])
    assert not [piece.problem for piece in made[1] if piece.problem]
    for measure in ("cll", "auc"):
        curve = found.curve(measure)
        assert curve.names == LEARNERS
        assert all(np.isfinite(series.values).all() for series in curve.series)
    assert found.to_frame()["learner"].tolist() == list(LEARNERS)


def test_the_drawing_has_a_line_for_each_learner_and_a_plot_for_each_measure(web, made):
    scene = figure_4_1_scene(figure(web.name, made[1]))
    lines = [item.id for item in scene.items() if item.id.startswith("line-")]
    assert len(lines) == 2 * len(LEARNERS)
    words = {getattr(item, "text", "") for item in scene.items()}
    assert {"CLL of all predicates", "AUC of all predicates", *LEARNERS} <= words


def test_a_second_start_finds_what_is_finished_and_makes_the_rest(web, made, monkeypatch):
    folder, before = made
    again = list(pieces(web, QUICK, folder, LEARNERS, ["Cornell"]))
    assert [piece for piece, _ in again] == before
    assert all(reused for _, reused in again)
    kept_files = sorted(folder.glob("*pscg*.json"))
    kept_files[0].write_text("{")  # damaged: made anew
    with pytest.warns(KeepingWarning, match="is computed again"):
        found = list(pieces(web, QUICK, folder, LEARNERS, ["Cornell"]))
    assert [piece.learner for piece, reused in found if not reused] == ["pscg"]
    monkeypatch.setattr(Workshop, "make_piece", lambda *_: Piece("cd", "Cornell", "", (), (), problem="made"))
    changed = replace(QUICK, seconds=0.06)
    assert [p.problem for p, _ in pieces(web, changed, folder, ["cd"], ["Cornell"])] == ["made"]


@pytest.fixture(scope="module")
def ground(web):
    return ground_databases(web.mln, web.databases, web.query, Gaussian(0, 2), web.options)


@pytest.mark.parametrize("method", LEARNERS)
def test_a_learner_of_some_ground_databases_is_the_one_that_grounds_them_itself(web, ground, method):
    names = list(web.databases)[1:]
    shared = ground.learner_on(method, names, seed=3, iterations=4)
    alone = weight_learner(
        method, web.mln, [web.databases[name] for name in names], web.query, seed=3, iterations=4,
        prior=Gaussian(0, 2),
    )  # fmt: skip
    assert (shared.params, shared.optimizer.name) == (alone.params, alone.optimizer.name)
    assert shared.problem.objective.expecting == alone.problem.objective.expecting
    known = [str(one.formula) for one in shared.data.formulas]
    places = [known.index(str(one.formula)) for one in alone.data.formulas]
    np.testing.assert_array_equal(shared.problem.objective.counts[places], alone.problem.objective.counts)
    weights = np.zeros(len(known))
    weights[places] = np.random.default_rng(0).normal(size=len(places))
    hidden = ground.hide_atoms(list(web.databases)[:1], 400, 20, 0).evaluation(weights)
    own = hidden_atoms(alone.data, web.databases[next(iter(web.databases))], samples=400, burn_in=20)
    assert hidden.cll.value == pytest.approx(own.evaluation(weights[places]).cll.value, abs=0.05)


def run_to(ground, web, seconds, file):
    names = list(web.databases)
    learner = ground.learner_on("pscg", names[1:], seed=0, iterations=10**9)
    judging = Judging(ground.hide_atoms(names[:1], 30, 5, 0), web.alone, web.with_itself)
    return learner, judging, finish_run(learner, judging, seconds, 1.5, "key", file)


def test_a_run_that_was_killed_goes_on_from_its_last_score(web, ground, tmp_path, monkeypatch):
    saving, saved = figure_4_1_runs.save_checkpoint, []

    def killed(path, progress):
        saving(path, progress)
        saved.append(progress)
        if len(saved) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(figure_4_1_runs, "save_checkpoint", killed)
    with pytest.raises(KeyboardInterrupt):
        run_to(ground, web, 0.4, tmp_path / "run.npz")
    monkeypatch.setattr(figure_4_1_runs, "save_checkpoint", saving)
    before = load_progress(tmp_path / "run.npz", "key")
    assert before.scores == saved[-1].scores
    assert len(before.scores) == 4
    assert load_progress(tmp_path / "run.npz", "other").state is None
    learner, _, scores = run_to(ground, web, 0.4, tmp_path / "run.npz")
    assert scores[:4] == before.scores
    assert scores[-1].seconds >= 0.4
    assert [score.iteration for score in scores] == sorted({score.iteration for score in scores})
    # To the bit where a run that nothing stopped comes to.
    last = load_progress(tmp_path / "run.npz", "key").state
    whole = next(islice(iter(learner), last.iteration, None))
    np.testing.assert_array_equal(last.weights, whole.weights)


def test_seconds_may_be_the_processors(web, ground, tmp_path):
    names, ticks = list(web.databases), iter(range(10**6))
    learner = ground.learner_on("cd", names[1:], seed=0, iterations=10**9)
    judging = Judging(ground.hide_atoms(names[:1], 30, 5, 0), web.alone, web.with_itself)
    scores = finish_run(learner, judging, 10.0, 3.0, "key", tmp_path / "run.npz", lambda: float(next(ticks)))
    assert [(score.iteration, score.seconds) for score in scores] == [(0, 1.0), (2, 3.0), (8, 9.0), (9, 10.0)]
    assert CLOCKS["processor"] is time.process_time


def test_a_longer_run_continues_a_shorter_one(web, ground, tmp_path):
    _, _, shorter = run_to(ground, web, 0.05, tmp_path / "run.npz")
    _, _, longer = run_to(ground, web, 0.15, tmp_path / "run.npz")
    assert longer[: len(shorter)] == shorter
    assert longer[-1].seconds >= 0.15


def test_tallies_say_what_evaluations_of_the_atoms_say(web, ground):
    names, weights = (
        list(web.databases),
        np.random.default_rng(1).normal(size=len(ground.learner.data.formulas)),
    )
    found = [ground.hide_atoms([name], 100, 5, 0).evaluation(weights).judged for name in names[:2]]
    tallies = tuple(tally_of("all", judged, 100) for judged in found)
    every = ground.hide_atoms(names[:2], 100, 5, 0).evaluation(weights)
    both = pool_tallies(tuple(tally_of("all", part, 100) for part in _parts(every, found)))
    for tally, evaluation in ((tallies[0], Evaluation(found[0])), (both, every)):
        assert tally.atoms == len(evaluation.judged)
        assert tally.cll == pytest.approx((evaluation.cll.value, evaluation.cll.error))
        assert tally.auc == pytest.approx(evaluation.auc.value)
        assert tally.auc_error() == pytest.approx(evaluation.auc.error, rel=0.3)


def _parts(every, found):
    first = len(found[0])
    marks = [place < first for place in range(len(every.judged))]
    return every.judged.where(marks), every.judged.where([not mark for mark in marks])


def test_what_goes_wrong_is_told_and_not_kept(web, tmp_path, monkeypatch):
    def broken(*_, **__):
        raise ArgumentError("It broke.")

    monkeypatch.setattr(figure_4_1, "finish_run", broken)
    found = list(pieces(web, QUICK, tmp_path, ["cd"], ["Texas"]))
    assert [piece.problem for piece, _ in found] == ["It broke."]
    assert not list(tmp_path.iterdir())


def test_rates_are_tuned_for_either_measure(web, tmp_path):
    settings = Settings(seconds=0.05, tuning_seconds=0.02, rates=(1e-4, 1e-3), samples=20, burn_in=2)
    ((piece, _),) = pieces(web, settings, tmp_path, ["cd"], ["Cornell"])
    assert len(piece.rates) == 2
    assert set(piece.rates) <= {1e-4, 1e-3}
    assert piece.scores("cll")
    assert piece.scores("auc")


def score(seconds, *rows):
    return Score(0, seconds, (Tally("all", 10, rows),))


def test_curves_are_of_the_latest_scores_of_all_folds_atoms_together():
    runs = [(score(0.5, (5, 1, 1)), score(4.0, (0, 0, 1), (10, 1, 0))), (score(1.0, (0, 0, 6)),)]
    found = Figure("t", tuple(Piece("cd", f"fold {n}", "", run, run) for n, run in enumerate(runs)))
    series = found.curve("cll").series[0]
    assert series.across("seconds")[[0, -1]] == pytest.approx([1.0, 4.0])
    sure = np.log(10.5 / 11)
    assert series.values[0] == pytest.approx((2 * np.log(0.5) + 6 * sure) / 8)
    assert series.values[-1] == pytest.approx(sure)
    assert found.curve("auc").series[0].values[-1] == pytest.approx(1.0)
    row = found.to_frame().iloc[0]
    assert (row["folds"], row["atoms"], row["seconds"]) == (2, 8, 4.0)


def test_the_thesis_stands_beside_the_scores_of_cora_that_it_tells():
    run = (Score(3, 1.0, (Tally("all", 10, ((9, 2, 1),)), Tally("SameBib", 10, ((9, 2, 1),)))),)
    table = Figure("cora", tuple(Piece(name, "f", "", run, run) for name in ("pscg", "cd"))).to_frame()
    own = table[table["of"] == "SameBib"].set_index("learner")
    assert own.loc["pscg", ["thesis_auc", "thesis_best_auc"]].tolist() == [0.990, 0.992]
    assert np.isnan(own.loc["cd", "thesis_auc"])
    assert own.loc["Singla and Domingos 2006", "thesis_auc"] == 0.988
    assert [str(table[name].dtype) for name in ("folds", "atoms")] == ["Int64", "Int64"]  # shown as such


def test_citations_are_judged_without_pairs_of_a_thing_with_itself(tmp_path):
    task = TASKS["citations"](None)
    ((piece, _),) = pieces(task, QUICK, tmp_path, ["pscg"], [next(iter(task.databases))])
    assert not piece.problem
    assert {tally.of for score in piece.by_cll for tally in score.tallies} == {"all", "SameBib"}


def test_the_command(tmp_path, capsys):
    given = ["reproduce", "figure-4.1", "--folder", str(tmp_path), "--seconds", "0.05", "--samples", "20",
             "--learner", "cd", "--learner", "dn", "--fold", "Cornell"]  # fmt: skip
    assert main(given) == 0
    shown = capsys.readouterr()
    assert "cd on Cornell" in shown.err
    assert main(given) == 0
    assert "kept from before" in capsys.readouterr().err
    assert main([*given, "--burn-in", "2", "--deviation", "0.5"]) == 0
    shown = capsys.readouterr()
    assert "kept from before" not in shown.err
    assert shown.out.startswith("small-web-deviation-0.5-burn-in-2:")
    names = {file.name for file in tmp_path.iterdir()}
    assert "small-web-deviation-0.5-burn-in-2-scores.csv" in names
    assert {"small-web.svg", "small-web-auc-all.html", "small-web-scores.csv"} <= names
    with (tmp_path / "small-web-scores.csv").open() as file:
        assert [row["learner"] for row in csv.DictReader(file)] == ["cd", "dn"]


def test_switches_reach_the_learners_that_know_them_and_make_other_results(web, made):
    folder, before = made
    settings = replace(QUICK, switches=(("burn_in", 3), ("largest_step", 0.5)))
    again = {p.learner: (p, reused) for p, reused in pieces(web, settings, folder, LEARNERS, ["Cornell"])}
    known = {piece.learner: piece.settings for piece in before}
    assert {name for name, (_, reused) in again.items() if reused} == {"vp", "vp-pw"}  # have neither
    assert all(
        (piece.settings == known[name]) == (name in {"vp", "vp-pw"}) for name, (piece, _) in again.items()
    )
    learner = Workshop(web, settings, folder).learner("pscg", ["Cornell"])
    assert learner.params.largest_step == 0.5
    assert learner.problem.objective.expecting.burn_in == 3


def test_a_rate_that_is_given_is_not_tuned(web, tmp_path):
    settings = replace(QUICK, tuning_seconds=0.02, switches=(("rate", 1e-3),))
    ((piece, _),) = pieces(web, settings, tmp_path, ["cd"], ["Cornell"])
    assert not piece.rates
    assert Workshop(web, settings, tmp_path).learner("cd", ["Cornell"]).params.rate == 1e-3


def test_wider_canopies_leave_more_pairs_to_ask_about():
    usual, wide = make_task("citations"), make_task("citations", canopy=0.0)
    name = next(iter(usual.databases))
    assert len(wide.databases[name].relations["SameBib"].false) == 0
    assert len(usual.databases[name].relations["SameBib"].false) > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--clock", "procesor"], "processor"),
        (["--begin", "dta"], "data"),
        (["--burn-in", "-1"], "burn_in"),
        (["--largest-step", "0"], "largest_step"),
        (["--deviation", "nan"], "--deviation"),
        (["--learner", "vp", "--burn-in", "5"], "vp"),
        (["--canopy", "0.5"], "citations"),
        (["--data", "citations", "--canopy", "2"], "--canopy"),
        (["--data", "corra"], "cora"),
        (["--data", "cora"], "--files"),
        (["--learner", "pscgg"], "pscg"),
        (["--fold", "Oxford"], "Cornell"),
        (["--seconds", "0"], "--seconds"),
        (["--spacing", "1"], "--spacing"),
    ],
)
def test_bad_input_gets_a_sentence(tmp_path, capsys, options, words):
    assert main(["reproduce", "figure-4.1", "--folder", str(tmp_path), *options]) != 0
    shown = capsys.readouterr().err
    assert words in shown
    assert "Traceback" not in shown
