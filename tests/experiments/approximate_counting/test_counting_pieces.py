"""Pieces of work: CLLs as exact inference has them, limits that hold inside a step, tables of results."""

from __future__ import annotations

import signal
from dataclasses import replace
from itertools import pairwise
from math import inf, isnan, log

import numpy as np
import pytest

from mlnlab.errors import ArgumentError
from mlnlab.evaluation.evaluating import evaluate
from mlnlab.experiments.approximate_counting import counting_pieces
from mlnlab.experiments.approximate_counting.benchmark_sets import protein, smoker
from mlnlab.experiments.approximate_counting.counted_cll import counted_evaluation
from mlnlab.experiments.approximate_counting.counting_pieces import (
    METHODS,
    Piece,
    Settings,
    Work,
    is_exact,
    learn_piece,
    list_works,
    pieces,
)
from mlnlab.experiments.approximate_counting.counting_tables import CountingPieces, size_table
from mlnlab.experiments.approximate_counting.work_limits import TimeOverError, limit_work
from mlnlab.experiments.folds.kept_files import KeepingWarning
from mlnlab.learning.ask.learn_weights import learn_weights
from mlnlab.learning.counts.counter_choice import CounterChoice
from mlnlab.logic.formulas.weights import Soft, weight_value
from mlnlab.model.mln.mln import MLN
from tests.support.thoroughness import examples

SMALL = Settings(draws=30, samples=300, steps=6)
IJGP = CounterChoice("ijgp", {"i": 3})


@pytest.mark.random
def test_the_cll_is_that_of_exact_inference():
    rng = np.random.default_rng(5)
    for seed in range(examples(4)):
        made = smoker(20, seed=seed)
        _, test = made.split(0)
        weights = iter(rng.normal(0, 0.7, 5))
        weighted = [replace(one, weight=Soft(float(next(weights)))) for one in made.mln.formulas]
        model = MLN(made.mln.vocabulary, tuple(weighted))
        exact = evaluate(model, test, list(made.query), method="enumeration")
        for counter in (CounterChoice(), IJGP):
            found = counted_evaluation(model, test, made.query, counter, 1500, seed)
            assert found.cll.value == pytest.approx(exact.cll.value, abs=0.05)
            assert _by_atom(found) == pytest.approx(_by_atom(exact), abs=0.1)
            assert np.ptp(exact.judged.probabilities) > 0.2


def _by_atom(found):
    judged = found.judged
    return dict(zip(map(str, judged.atoms), judged.probabilities.tolist(), strict=True))


def test_weights_of_zero_pay_the_logarithm_of_two_for_each_atom():
    made = protein(25)
    found = counted_evaluation(made.mln, made.split(0)[1], made.query, CounterChoice(), 500)
    assert found.cll.value == pytest.approx(-log(2), abs=1e-12)
    with pytest.raises(ArgumentError, match="At least one Gibbs sample"):
        counted_evaluation(made.mln, made.whole, made.query, CounterChoice(), 0)


@pytest.mark.parametrize("method", METHODS)
def test_tree_join_graphs_learn_what_exact_counts_learn(method):
    made = smoker(25)
    exact, estimated = (learn_piece(made, Work(method, i), SMALL) for i in (0, 2))
    assert (exact.exact, estimated.exact) == (True, True)
    assert len(exact.times) == len(estimated.times) > 1
    assert estimated.changes == pytest.approx(exact.changes, rel=1e-6, abs=1e-9)
    assert estimated.cll == pytest.approx(exact.cll, abs=1e-6)
    assert isnan(exact.converged) == (method != "pll")


def test_weights_converge_where_five_steps_are_small():
    found = learn_piece(smoker(25), Work(i=0), replace(SMALL, settled=100.0, steps=50))
    assert (len(found.changes), found.converged) == (5, found.times[-1])
    assert found.ended == "|Δw| is below 100"


def test_pll_is_what_learn_weights_returns():
    made = smoker(30)
    found = learn_piece(made, Work("pll", 0), SMALL)
    alone = learn_weights(made.mln, made.split(0)[0], "pll", list(made.query), progress=False)
    model = MLN.from_text(found.model)
    assert [weight_value(one.weight) for one in model.formulas] == pytest.approx(alone.weights, abs=1e-5)


def test_a_join_graph_with_cycles_is_not_exact():
    mln = MLN.from_text("R(t, t)\nS(t, t)\nT(t, t)\nR(x, y) ^ S(y, z) => T(x, z)")
    db = smoker(10).whole
    vocabulary = mln.vocabulary.with_domain("t", db.vocabulary.domain("person"))
    known = replace(db, vocabulary=vocabulary, relations=type(db.relations)({}))
    assert [is_exact(mln, known, i) for i in (0, 1, 2, 3)] == [True, False, False, True]


def _work_for_ever(clock):
    with limit_work(0.01, inf, clock):
        while True:
            pass


@pytest.mark.parametrize("clock", ["wall", "processor"])
def test_time_is_over_inside_a_step_too(clock):
    kinds = (signal.SIGALRM, signal.SIGPROF)
    before = [signal.getsignal(kind) for kind in kinds]
    with pytest.raises(TimeOverError, match="were over"):
        _work_for_ever(clock)
    assert [signal.getsignal(kind) for kind in kinds] == before
    found = learn_piece(smoker(40), Work("vp", 0), replace(SMALL, seconds=1e-3))
    assert "seconds were over" in found.problem + found.ended
    assert isnan(found.converged)


def test_memory_that_is_used_up_ends_a_piece_and_the_limit_is_taken_back(monkeypatch):
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_DATA)

    def fill_memory(*_):
        np.ones(100_000_000)

    with monkeypatch.context() as changed:
        changed.setattr(counting_pieces, "_learn", fill_memory)
        found = learn_piece(smoker(20), Work(), replace(SMALL, megabytes=200.0))
    assert (found.problem, found.clls) == ("200 megabytes were used up", ())
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    assert learn_piece(smoker(20), Work("pll", 0), SMALL).problem == ""


def test_a_second_start_goes_on_where_the_first_one_stopped(tmp_path):
    made, works = smoker(20), list_works(["pll"], [0, 2], [0, 1])
    first = list(pieces(made, works[:3], SMALL, tmp_path))
    assert [kept for _, kept in first] == [False] * 3
    file = next(path for path in tmp_path.iterdir() if first[0][0].key in path.name)
    file.write_text(file.read_text().replace("pll", "PLL"))
    with pytest.warns(KeepingWarning, match="is computed again"):
        again = list(pieces(made, works, SMALL, tmp_path))
    assert [kept for _, kept in again] == [False, True, True, False]
    assert again[1][0] == first[1][0]
    others = list(pieces(made, works[:1], replace(SMALL, samples=200), tmp_path))
    assert not others[0][1]  # other settings have a piece of their own


def test_weights_are_judged_at_times_of_a_ratio():
    found = learn_piece(smoker(25), Work("vp", 0), replace(SMALL, spacing=2.0, settled=1e-9, steps=40))
    assert found.judged[-1] == len(found.times) - 1
    assert len(found.clls) == len(found.judged) > 2
    times = [found.times[step] for step in found.judged[:-1]]
    assert all(later >= 2 * sooner for sooner, later in pairwise(times))


def test_settings_and_works_are_checked():
    for wrong in ({"draws": 0}, {"samples": 0}, {"seconds": 0}, {"spacing": 1.0}, {"settled": 0}):
        with pytest.raises(ArgumentError):
            Settings(**wrong)
    with pytest.raises(ArgumentError, match="these are: cd, vp, pll"):
        Work("dn")
    with pytest.raises(ArgumentError, match="i"):
        Work("cd", -1)


# --- tables ----------------------------------------------------------------------------------------


def _piece(method="cd", i=2, fold=0, cll=-0.5, converged=1.0, **others):
    done = {"times": (0.5, 1.0), "changes": (0.1,), "judged": (1,), "clls": (cll,)}
    return Piece("er", method, i, fold, others.pop("fraction", 1.0), 0, "", **{**done, **others},
                 converged=converged, peak_megabytes=300.0, ended="")  # fmt: skip


def test_table_3_has_the_best_i_and_the_deviation_over_folds():
    done = CountingPieces((
        _piece(i=1, cll=-0.9), _piece(i=2, cll=-0.6), _piece(i=2, fold=1, cll=-0.8),
        _piece("vp", i=3, exact=True, cll=-0.4), _piece("pll", i=0, times=(), clls=(), problem="X"),
        _piece(i=3, cll=-0.1, fraction=0.5), _piece(i=0, times=(), clls=(), problem="X"),
        _piece(i=2, fold=2, times=(), clls=(), problem="X"),
    ))  # fmt: skip
    table = done.cll_table().set_index(["system", "dataset"])
    best = table.loc[("CD", "er")]
    assert (best["i"], best["folds"], best["CLL"]) == ("2", 2, pytest.approx(-0.7))
    assert best["±"] == pytest.approx(np.std([-0.6, -0.8], ddof=1))
    assert table.loc[("VP", "er"), "i"] == "3*"
    assert table.loc[("PLL", "er"), "i"] == "exact"
    assert isnan(table.loc[("PLL", "er"), "CLL"])
    assert table.loc[("Alchemy-CD", "smoker"), "printed"] == "*"
    assert table.loc[("Tuffy-MCSAT", "webkb"), "printed"] == "-0.89 ± 0.05"


def test_table_4_has_an_x_where_weights_did_not_converge():
    done = CountingPieces((_piece(i=1, converged=float("nan")), _piece(i=3, exact=True), _piece("vp", i=2)))
    table = done.bound_table()
    assert list(table["i"]) == ["1", "3*"]
    assert list(table["seconds"]) == ["X", "1.0"]
    assert list(table["printed CLL"]) == [-0.6943, -0.693]


def test_curves_are_over_fractions_and_over_time():
    done = CountingPieces((_piece(fraction=0.1, cll=-0.9, converged=0.2), _piece(), _piece(i=0, cll=-0.4)))
    (name, (ks, clls)), *rest = done.by_fraction("cll").items()
    assert (name, rest) == ("CD2", [])
    assert (list(ks), list(clls)) == ([0.1, 1.0], [-0.9, -0.5])
    seconds, changes = done.by_time("changes")["CD exact"]
    assert (list(seconds), list(changes)) == ([1.0], [0.1])
    assert repr(done) == "<CountingPieces: 3 pieces of work>"
    assert len(done.to_frame()) == 3


def test_table_2_has_the_printed_sizes_beside_ours():
    (row,) = size_table([smoker()]).to_dict("records")
    assert (row["atoms"], row["printed atoms"], row["parameters"], row["printed parameters"]) == (
        63_000, 63e3, 5, 5,
    )  # fmt: skip
