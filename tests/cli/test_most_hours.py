"""``--most-hours``: commands refuse runs that would take longer, before they begin."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.cli import main

MODEL = "Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)\n"
FACTS = "Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)\n"
COMMANDS = {
    "infer": ("infer", "m.mln", "d.db", "-q", "Cancer"),
    "infer by name": ("infer", "m.mln", "d.db", "-q", "Cancer", "--method", "gibbs"),
    "infer in a network": ("infer", "n.bif", "-q", "Soil", "--method", "gibbs"),
    "evaluate": ("evaluate", "m.mln", "d.db", "-q", "Cancer"),
    "learn": ("learn", "m.mln", "d.db", "--method", "cd"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "m.mln").write_text(MODEL)
    (tmp_path / "d.db").write_text(FACTS)
    ml.save_bif(ml.sample_network("greenhouse"), tmp_path / "n.bif")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_run_that_takes_longer_is_refused_and_others_are_not(words, folder, capsys):
    assert main([*words, "--most-hours", "1e-9", "-o", "out.csv"]) != 0
    told = capsys.readouterr()
    assert "would take about" in told.err
    assert "--most-hours " in told.err or "name starts all the same" in told.err
    assert "most_hours" not in told.err
    assert "so_far" not in told.err
    assert not (folder / "out.csv").exists()
    assert main([*words, "--most-hours", "1", "-o", "out.csv"]) == 0
    assert (folder / "out.csv").exists()


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_hours_are_a_number_above_0(words, folder, capsys):
    assert main([*words, "--most-hours", "0"]) != 0
    assert "--most-hours must be a number above 0" in capsys.readouterr().err


def test_huge_options_are_refused_until_the_hours_are_allowed(folder, capsys):
    words = ("learn", "m.mln", "d.db", "--method", "cd", "--option", "iterations=1000000000000")
    assert main(list(words)) != 0
    assert "ask for less: --option iterations=100 is usual" in capsys.readouterr().err
    assert main(["learn", "m.mln", "d.db", "--option", "most_hours=3"]) != 0
    assert "write --most-hours instead" in capsys.readouterr().err
    for command in ("infer", "evaluate", "learn", "structure"):
        assert main([command, "--help"]) == 0
        assert "--most-hours H" in capsys.readouterr().out
