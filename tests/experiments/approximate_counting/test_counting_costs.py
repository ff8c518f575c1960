"""Table 1 as measured: slopes of exact powers are found; the command makes every part, small."""

from __future__ import annotations

import pytest

from mlnlab.cli import main
from mlnlab.counting.counts.counts import count
from mlnlab.experiments.approximate_counting.counting_costs import (
    TREEWIDTH,
    CostPoint,
    Growth,
    costs_frame,
    measure_costs,
    printed_slope,
    random_rules,
    slopes,
)
from mlnlab.factors.trees.treewidth import treewidth_of

SMALL = Growth((4, 6), (1, 2), (1, 2), draws=3)


def test_slopes_of_exact_powers_are_their_exponents():
    points = [
        CostPoint(along, "cd", d, d * d, formulas, i, 10, 0, 3e-6 * formulas * d**i, 5.0 * d * formulas)
        for along, d, formulas, i in Growth().points()
    ]
    found = slopes(points).set_index(["along", "i"])
    for i in (1, 2, 3):
        row = found.loc[("atoms", i)]
        assert row["slope of seconds"] == pytest.approx(i / 2)
        assert row["slope of seconds"] == pytest.approx(row["printed, seconds"])
        assert row["slope of megabytes"] == pytest.approx(0.5)
    assert found.loc[("formulas", 2), "slope of seconds"] == pytest.approx(1)
    assert found.loc[("i", "1 to 3"), "slope of seconds"] == pytest.approx(1)


def test_printed_slopes_stop_at_the_treewidth():
    assert [printed_slope("vp", "atoms", "seconds", i) for i in (1, 2, 3, 4)] == [0.5, 1, 1.5, 1.5]
    assert [printed_slope("vp", "atoms", "megabytes", i) for i in (1, 2, 3)] == [0.5, 1, 1]
    assert [printed_slope("pll", "atoms", "seconds", i) for i in (1, 3)] == [1.5, 2.5]


def test_the_rules_have_the_treewidth_that_the_printed_slopes_suppose():
    mln, db = random_rules(5, 3)
    triangle = (frozenset({1, 2}), frozenset({0, 2}), frozenset({0, 1}))  # x, y, z stand in pairs
    assert treewidth_of(triangle).upper == TREEWIDTH
    assert len(count(mln, db)) == 3
    assert all(total == 5**3 for total in count(mln, db).groundings)


def test_measurements_are_kept(tmp_path):
    first = list(measure_costs(SMALL, ["cd", "pll"], tmp_path))
    again = list(measure_costs(SMALL, ["cd", "pll"], tmp_path))
    assert [point for point, _ in again] == [point for point, _ in first]
    assert all(kept for _, kept in again)
    frame = costs_frame([point for point, _ in first])
    assert (frame[["seconds", "megabytes"]] > 0).all(axis=None)
    assert set(slopes([point for point, _ in first])["along"]) == {"atoms", "formulas", "i"}


# --- the command -----------------------------------------------------------------------------------


def _command(tmp_path, *words):
    return main(["reproduce", "counting", "--folder", str(tmp_path), *words])


def test_the_command_makes_tables_and_goes_on_where_it_stopped(tmp_path, capsys):
    words = ("--part", "table-3", "--part", "table-4", "--data", "smoker", "--fold", "1", "--i", "0",
             "--draws", "20", "--samples", "200", "--steps", "3")  # fmt: skip
    assert _command(tmp_path, *words) == 0
    told = capsys.readouterr()
    assert told.err.count("kept from before") == 1  # table 4 has cd's piece of table 3
    assert "Tuffy-MCSAT" in told.out
    assert "-0.698 ± 0.04" in (tmp_path / "table-3.csv").read_text()
    assert _command(tmp_path, *words) == 0
    assert capsys.readouterr().err.count("kept from before") == 4


def test_the_command_draws_figures(tmp_path, capsys):
    words = ("--part", "figure-2", "--part", "figure-3", "--data", "smoker", "--fold", "1", "--i", "0",
             "--k", "0.2", "--k", "0.4", "--draws", "20", "--samples", "100", "--steps", "9",
             "--settled", "9")  # fmt: skip
    assert _command(tmp_path, *words) == 0
    for part in ("figure-2", "figure-3"):
        picture = (tmp_path / f"{part}.svg").read_text()
        assert "Tuffy stopped" in picture
        assert "CD exact" in picture
        assert (tmp_path / f"{part}.html").exists()
    capsys.readouterr()


def test_the_command_measures_sizes_and_growth(tmp_path, capsys):
    words = ("--part", "table-1", "--part", "table-2", "--data", "smoker", "--draws", "3", "--learner", "cd",
             "--constants", "4", "--constants", "6")  # fmt: skip
    assert _command(tmp_path, *words) == 0
    assert "63000" in capsys.readouterr().out
    assert (tmp_path / "table-1.csv").read_text().startswith("method,along")


def test_wrong_arguments_are_refused(tmp_path, capsys):
    for words, said in (
        (("--data", "smokers"), "There is no data smokers"),
        (("--part", "table-3", "--data", "smoker", "--fold", "6"), "--fold is a number from 1 to 5"),
        (("--part", "table-3", "--data", "smoker", "--learner", "dn"), "these are: cd, vp, pll"),
        (("--part", "table-3", "--data", "er"), "--files names the folder"),
        (("--part", "figure-2", "--data", "smoker", "--k", "2"), "sampling fraction"),
        (("--part", "table-1", "--constants", "1"), "two different numbers of constants"),
    ):  # fmt: skip
        assert _command(tmp_path, *words) == 1
        assert said in capsys.readouterr().err
