"""The command line's promises: manuals with examples, one sentence instead of a traceback, exit codes."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from types import SimpleNamespace

import pytest

from mlnlab import cli
from mlnlab.cli.registry import command_modules
from mlnlab.errors import InputError

COMMANDS = sorted(module.__name__.rpartition(".")[2] for module in command_modules())


def test_the_commands_are_there():
    assert {"doctor", "lab", "run", "warmup"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_reads_like_a_manual(command, capsys):
    assert cli.main([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"mlnlab {command}" in shown
    assert "examples:" in shown
    assert len(shown.splitlines()) > 10


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("mlnlab ")


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["run"], ["run", "x.ipynb", "--timeout", "soon"]])
def test_wrong_usage_is_explained(arguments, capsys):
    assert cli.main(arguments) == 2
    assert "usage: mlnlab" in capsys.readouterr().err


def raising(error):
    def run(_arguments):
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (InputError("the file is strange."), 1, "mlnlab lab: the file is strange."),
        (PermissionError(13, "Permission denied", "a.html"), 1, "mlnlab lab: a.html: permission denied."),
        (KeyboardInterrupt(), 130, "stopped"),
        (KeyError("x"), 1, "unexpected KeyError: 'x'"),
    ],
)
def test_errors_become_one_sentence(error, code, sentence, monkeypatch, capsys):
    arguments = SimpleNamespace(command="lab", run=raising(error))
    monkeypatch.setattr(cli, "_parser", lambda: SimpleNamespace(parse_args=lambda _: arguments))
    assert cli.main([]) == code
    shown = capsys.readouterr()
    assert sentence in shown.err
    assert len(shown.err.splitlines()) == 1
    assert shown.out == ""


def test_a_defect_shows_its_place_when_asked(monkeypatch, capsys):
    arguments = SimpleNamespace(command="lab", run=raising(KeyError("x")))
    monkeypatch.setattr(cli, "_parser", lambda: SimpleNamespace(parse_args=lambda _: arguments))
    monkeypatch.setenv("MLNLAB_DEBUG", "1")
    assert cli.main([]) == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows closes pipes differently")
def test_a_reader_that_leaves_is_no_error():
    command = f"'{sys.executable}' -m mlnlab doctor --json | true"
    finished = subprocess.run(command, shell=True, check=False, capture_output=True, text=True)
    assert finished.stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="closes a stream the POSIX way")
@pytest.mark.parametrize(("command", "closed"), [
    *product(["--version", "lab --help"], [">&-", "2>&-", ">&- 2>&-"]),
    ("doctor --json", ">&- 2>&-"),
])  # fmt: skip
def test_a_closed_stream_is_no_error(command, closed, tmp_path):
    line = f"'{sys.executable}' -m mlnlab {command} {closed}"
    finished = subprocess.run(line, shell=True, check=False, capture_output=True, text=True)
    assert "unexpected" not in finished.stdout + finished.stderr
    assert "Error" not in finished.stdout + finished.stderr
    assert finished.returncode == 0 or command == "doctor --json"


@pytest.mark.parametrize("line", [
    "M D E -q X --seed 3",
    "M -q X D E --seed 3",
    "-q X M --seed 3 D E",
    "M D -q X --seed 3 E",
    "--seed 3 M D --query=X E",
    "-q X --seed 3 -- M D E",
    "M -q X --seed 3 -- D E",
])  # fmt: skip
@pytest.mark.parametrize("command", ["infer", "learn", "evaluate"])
def test_options_stand_anywhere_between_files(command, line):
    read = cli._parser().parse_args([command, *line.split()])
    assert [str(path) for path in (read.model, *read.databases)] == ["M", "D", "E"]
    assert (read.query, str(read.seed)) == (["X"], "3")


def test_files_behind_two_dashes_are_no_options():
    read = cli._parser().parse_args(["check", "a.mln", "--strict", "b.db", "--", "--strict", "-"])
    assert [path.name for path in read.files] == ["a.mln", "b.db", "--strict", "-"]


@pytest.mark.parametrize("line", ["learn M", "infer -q X", "learn M D --nonsense E", "infer M D", "run"])
def test_missing_and_unknown_arguments_are_still_told(line, capsys):
    assert cli.main(line.split()) == 2
    assert "error: " in capsys.readouterr().err
