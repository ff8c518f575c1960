"""The command lines that we print work when they are typed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mlnlab.cli.commands import lab

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths with slashes")


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """An environment of its own, with or without our script in it."""

    def make(folder="project", *, script=True):
        commands = tmp_path / folder / ".venv" / "bin"
        commands.mkdir(parents=True)
        for name in ["python", *(["mlnlab"] if script else [])]:
            (commands / name).write_text("")
        monkeypatch.setattr(lab.sys, "executable", str(commands / "python"))
        return tmp_path / folder

    return make


def test_paths_are_shown_from_the_current_folder(installed, monkeypatch):
    project = installed()
    tour = project / "notebooks" / "00_tour.ipynb"
    monkeypatch.chdir(project)
    assert lab.format_command("run", tour) == ".venv/bin/mlnlab run notebooks/00_tour.ipynb"
    (project / "notebooks").mkdir()
    monkeypatch.chdir(project / "notebooks")
    assert lab.format_command("run", tour) == "../.venv/bin/mlnlab run 00_tour.ipynb"
    monkeypatch.chdir(project / ".venv" / "bin")
    assert lab.format_command("doctor") == "./mlnlab doctor"
    monkeypatch.chdir("/")
    assert lab.format_command("doctor") == f"{str(project)[1:]}/.venv/bin/mlnlab doctor"


def test_without_a_script_the_interpreter_is_named(installed, monkeypatch):
    project = installed("my project", script=False)
    monkeypatch.chdir(project)
    assert lab.format_command("run", Path("a b.ipynb")) == ".venv/bin/python -m mlnlab run 'a b.ipynb'"
    monkeypatch.chdir(project.parent)
    assert lab.format_command("doctor") == "'my project/.venv/bin/python' -m mlnlab doctor"
