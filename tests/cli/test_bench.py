"""``mlnlab bench``: a table of ratios, JSON, and what it says where C is absent, broken or wrong."""

from __future__ import annotations

import json
import stat
from itertools import islice

import pytest

from mlnlab.cli import main
from mlnlab.experiments import bench
from mlnlab.experiments.bench import (
    end_to_end,
    gibbs_speed,
    in_c,
    measurement,
    sample_sat_speed,
    walk_sat_speed,
)
from mlnlab.experiments.bench.measurement import Effort, Measurement, compared

NAMES = [
    "Gibbs, 1,000 friends and smokers",
    "Gibbs, random 3-SAT of 1,000 atoms",
    "Gibbs, random 3-SAT of 2,000 atoms",
    "MaxWalkSAT, 1,000 friends and smokers",
    "MaxWalkSAT, random 3-SAT of 1,000 atoms",
    "MaxWalkSAT, random 3-SAT of 2,000 atoms",
    "SampleSAT, 1,000 friends and smokers",
    "SampleSAT, random 3-SAT of 1,000 atoms",
    "SampleSAT, random 3-SAT of 2,000 atoms",
    "Belief propagation, 1,000 friends and smokers",
    "Gibbs, 60 x 60 variables of 4 values",
    "Enumeration, 2^24 worlds",
]
needs_compiler = pytest.mark.skipif(in_c.find_compiler() is None, reason="no C compiler here")


@pytest.fixture(autouse=True)
def _little_to_measure(monkeypatch):
    tiny = Effort(rounds=1, updates=20_000, open_atoms=24, sums=1)
    monkeypatch.setattr(measurement, "QUICK", tiny)
    monkeypatch.setattr(measurement, "FULL", tiny)
    for speed in (gibbs_speed, walk_sat_speed, sample_sat_speed):
        monkeypatch.setattr(speed, "SIZES", (1_000, 2_000))


@needs_compiler
def test_ratios_beside_the_same_loops_in_c(capsys):
    assert main(["bench", "--quick"]) == 0
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert lines[0].split() == ["mlnlab", "C", "ratio", "memory"]
    assert [line[: len(name)] for line, name in zip(lines[1:], NAMES, strict=False)] == NAMES
    assert lines[1].endswith("million updates a second")
    assert "-O3 -march=native" in lines[-1]
    assert shown.err.splitlines() == [f"measured: {name}" for name in NAMES]


@needs_compiler
def test_json_has_the_machine_and_every_number(capsys):
    assert main(["bench", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"machine", "compiler", "measurements"}
    assert [record["name"] for record in found["measurements"]] == NAMES
    for record in found["measurements"]:
        assert record["same_results"] is True
        assert record["ours"] > 0
        assert record["in_c"] > 0
        assert record["ratio"] > 0
        assert record["memory"] > 0


def test_only_what_is_named(capsys):
    assert main(["bench", "--only", "enumeration"]) == 0
    assert capsys.readouterr().err.splitlines() == [f"measured: {NAMES[-1]}"]


def test_whole_questions_need_data(capsys):
    assert main(["bench", "--only", "end-to-end"]) != 0
    assert "--data" in capsys.readouterr().err


def test_whole_questions_beside_the_recorded_rival(reference_folder, capsys, monkeypatch):
    monkeypatch.setattr(end_to_end, "SAMPLES", 100)
    monkeypatch.setattr(end_to_end, "ROUNDS", 1)
    folder = reference_folder / "alchemy-inputs"
    assert main(["bench", "--only", "end-to-end", "--json", "--data", str(folder)]) == 0
    found = json.loads(capsys.readouterr().out)["questions"]
    assert [one["name"] for one in found] == [row[0] for row in (*end_to_end.SAMPLED, *end_to_end.GROUND)]
    assert all(one["value"] > 0 and 0 < one["memory"] < 500e6 for one in found)


def test_without_a_compiler_our_own_speeds(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    assert main(["bench"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["mlnlab", "memory"]
    assert lines[-1] == "There is no C compiler here (gcc or cc), so these are our own speeds only."
    assert len(lines) == 2 + len(NAMES)


@pytest.fixture
def _only_the_first(monkeypatch):
    """Measure no more than what comes first, where just the words about the compiler are looked at."""
    every = bench.measurements
    monkeypatch.setattr(bench, "measurements", lambda *arguments: islice(every(*arguments), 1))


@pytest.mark.usefixtures("_only_the_first")
def test_a_compiler_that_fails_is_named_with_its_reason(monkeypatch, tmp_path, capsys):
    script = tmp_path / "gcc"
    script.write_text("#!/bin/sh\necho 'gcc: error: no \x1b[31mlicence' >&2\nexit 1\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["bench"]) == 0
    said = capsys.readouterr().out.splitlines()[-1]
    assert said == f"These are our own speeds only: {script} failed: gcc: error: no �[31mlicence"


@pytest.mark.usefixtures("_only_the_first")
def test_a_compiler_that_makes_nothing_loadable(monkeypatch, tmp_path, capsys):
    script = tmp_path / "gcc"
    script.write_text('#!/bin/sh\nfor word; do case $word in *.so) echo no > "$word";; esac; done\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["bench"]) == 0
    assert f"What {script} makes cannot be loaded" in capsys.readouterr().out


@needs_compiler
def test_other_results_in_c_are_a_failure(monkeypatch, tmp_path, capsys):
    for source in in_c.SOURCES.glob("*.c"):
        text = source.read_text().replace("if (w >> a & 1) marginals", "if (w >> a & 2) marginals")
        text = text.replace("double told = log(worth)", "double told = 0.5 * log(worth)")
        # Numbers below a half only: other ones, but none by which a loop would look beside its arrays.
        (tmp_path / source.name).write_text(text.replace("0x1.0p-53", "0x0.8p-53"))
    monkeypatch.setattr(in_c, "SOURCES", tmp_path)
    assert main(["bench", "--json"]) == 1
    shown = capsys.readouterr()
    found = json.loads(shown.out)["measurements"]
    assert [record["same_results"] for record in found] == [False] * len(NAMES)
    assert f"mlnlab bench: {NAMES[0]}: C comes to other results than mlnlab." in shown.err


def test_a_ratio_is_the_median_of_the_rounds():
    found = compared("x", "steps", 6_000_000, [(1.0, 2.0), (2.0, 2.0), (3.0, 30.0)], same_results=True)
    assert found == Measurement("x", "steps", 3.0, 3.0, 2.0, same_results=True)
    assert compared("x", "steps", 6_000_000, [(2.0, None)], same_results=True) == Measurement(
        "x", "steps", 3.0
    )
