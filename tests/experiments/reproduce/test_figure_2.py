"""Figure 2 of lifted learning: the optimum is that of a closed form in 77 digits, and files are kept."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from mlnlab.cli import main
from mlnlab.counting.counts.counts import count
from mlnlab.errors import ArgumentError
from mlnlab.experiments.folds.kept_files import KeepingWarning
from mlnlab.experiments.reproduce import figure_2
from mlnlab.experiments.reproduce.figure_2 import MODEL, LiftedScaling, friends_and_smokers, timing, timings
from mlnlab.model.mln.mln import MLN

BITS = 256


def _log_z_and_expectations(n, weights):
    """Z(n) = sum over k smokers of C(n, k) e^(s k) v^(k (n - k)) t^(n^2 - k (n - k)), in balls."""
    from flint import arb

    c, f, s = weights
    violable, other = c.exp() + f.exp(), c.exp() * (1 + f.exp())
    ratio = violable / other
    term, total, smokers, mixed = arb(1), arb(0), arb(0), arb(0)
    powers = ratio ** (n - 1)  # of the step from k to k + 1: ratio^(n - 2 k - 1)
    for k in range(n + 1):
        total, smokers, mixed = total + term, smokers + term * k, mixed + term * (k * (n - k))
        if k < n:
            term = term * (n - k) / (k + 1) * s.exp() * powers
            powers = powers / ratio / ratio
    smokers, mixed = smokers / total, mixed / total
    rest = n * n - mixed
    friend = f.exp() / (1 + f.exp())
    expected = (rest + mixed * c.exp() / violable, rest * friend + mixed * f.exp() / violable, smokers)
    return total.log() + other.log() * (n * n), expected


def _optimum(n, observed, start):
    """Newton's method; the Hessian, by differences, need not be exact."""
    from flint import arb, arb_mat, ctx

    before, ctx.prec = ctx.prec, BITS
    try:
        weights = [arb(float(w)) for w in start]

        def gap(at):
            return [o - e for o, e in zip(observed, _log_z_and_expectations(n, at)[1], strict=True)]

        step = arb(2) ** -80
        columns = []
        for i in range(3):
            moved = [w + step * (i == j) for j, w in enumerate(weights)]
            columns.append([(a - b) / step for a, b in zip(gap(moved), gap(weights), strict=True)])
        hessian = arb_mat([[columns[j][i].mid() for j in range(3)] for i in range(3)])
        for _ in range(4):
            delta = hessian.solve(arb_mat([[one.mid()] for one in gap(weights)]))
            weights = [(w - delta[i, 0]).mid() for i, w in enumerate(weights)]
        assert max(float(abs(one).upper()) for one in gap(weights)) < 1e-20
        log_z = _log_z_and_expectations(n, weights)[0]
        value = sum(w * o for w, o in zip(weights, observed, strict=True)) - log_z
        return np.array([float(w) for w in weights]), float(value)
    finally:
        ctx.prec = before


@pytest.mark.parametrize("people", [100, 30_000])
def test_the_optimum_is_that_of_the_closed_form(people):
    found = timing(people, seed=7)
    db = friends_and_smokers(people, seed=7)
    observed = list(count(MLN.from_text(MODEL), db))
    weights, value = _optimum(people, observed, found.weights)
    assert found.weights == pytest.approx(weights, abs=1e-7)
    assert found.log_likelihood == pytest.approx(value, abs=1e-8)
    assert found.gap < 1e-3
    assert found.atoms == people**2 + people


def test_a_second_start_goes_on_where_the_first_one_stopped(tmp_path):
    first = list(timings([20, 50], tmp_path))
    assert [kept for _, kept in first] == [False, False]
    (tmp_path / "20-people-seed-0.json").write_text('{"people": 20')  # a disk that was full
    with pytest.warns(KeepingWarning, match="is computed again"):
        again = list(timings([20, 50, 80], tmp_path))
    assert [kept for _, kept in again] == [False, True, False]
    assert again[1][0] == first[1][0]
    assert json.loads((tmp_path / "80-people-seed-0.json").read_text())["record"]["fields"]["people"] == 80
    frame = LiftedScaling(tuple(one for one, _ in again)).to_frame()
    assert list(frame["people"]) == [20, 50, 80]
    assert (frame["total"] > 0).all()


def test_people_are_a_number():
    for wrong in (0, -3, 2_000_000, True, 2.5, "many"):
        with pytest.raises(ArgumentError, match="number of people"):
            friends_and_smokers(wrong)


def test_the_command_writes_a_table_and_curves(tmp_path, capsys):
    words = ["reproduce", "figure-2", "--folder", str(tmp_path), "--people", "30", "--people", "60"]
    assert main(words) == 0
    assert "30 people" in capsys.readouterr().err
    assert main(words) == 0
    told = capsys.readouterr()
    assert told.err.count("kept from before") == 2
    assert "3660" in told.out
    assert (tmp_path / "figure-2.csv").read_text().startswith("people,atoms")
    assert (tmp_path / "figure-2.html").exists()
    assert main(["reproduce", "figure-2", "--folder", str(tmp_path), "--people", "0"]) != 0


def test_on_a_full_disk_the_command_prints_the_table_all_the_same(tmp_path, capsys, monkeypatch, full_disk):
    measured = figure_2.timing

    def fill(*arguments):
        full_disk.is_full = True
        return measured(*arguments)

    monkeypatch.setattr(figure_2, "timing", fill)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        code = main(["reproduce", "figure-2", "--folder", str(tmp_path), "--people", "30", "--people", "60"])
    assert code == 1
    said = capsys.readouterr()
    assert f"warning: The folder {tmp_path / 'figure-2'} cannot be written to: No space left" in said.err
    assert [line.split()[0] for line in said.out.splitlines()] == ["people", "30", "60"]
    assert said.err.count("figure-2.csv cannot be written: No space left on device.") == 1


def test_the_command_refuses_an_impossible_folder_before_it_measures(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(figure_2, "timing", pytest.fail)
    (tmp_path / "file").touch()
    assert main(["reproduce", "figure-2", "--folder", str(tmp_path / "file"), "--people", "30"]) == 1
    assert "file cannot be made: File exists." in capsys.readouterr().err
