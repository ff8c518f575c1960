"""Names from data on their way to a terminal: every command marks what steers it or cannot be seen."""

from __future__ import annotations

import io
import json
import sys
import warnings

import pytest

from mlnlab.cli import main
from mlnlab.cli.commands import doctor
from mlnlab.cli.output.marked_output import MarkedStream
from mlnlab.cli.output.progress_bar import ProgressBar

STEERING = "\x1b]0;owned\x07\x1b[31m"
NAMES = (f"a{STEERING}b", "\u202eesrever", "An\u200bna", "An\ufe0fna", "An\u00adna")
UNSEEN = "\x1b\x07\u202e\u200b\ufe0f\u00ad"
SHOWN = ("a�]0;owned��[31mb", "�esrever", "An�na")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.mln").write_text(
        "Smokes(person)\nFriends(person, person)\n1 Smokes(+x)\n1 Friends(x, y) ^ Smokes(x) => Smokes(y)\n"
    )
    lines = [f'Smokes("{name}")\nFriends("{name}", Bob)' for name in NAMES]
    (tmp_path / "d.db").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "bad.db").write_text("\n".join(f'Smoke("{name}")' for name in NAMES), encoding="utf-8")
    (tmp_path / f"{NAMES[0]}.db").write_text("Smokes(Bob", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("arguments", [
    ["learn", "m.mln", "d.db"],
    ["learn", "m.mln", "bad.db"],
    ["learn", "m.mln", "d.db", "--method", STEERING],
    ["structure", "m.mln", "d.db", "--method", "msl"],
    ["infer", "m.mln", "d.db", "-q", "Smokes", "--open", "Smokes"],
    ["infer", "m.mln", "d.db", "-q", f'Smokes("{NAMES[0]}")', "--method", "gibbs", "--samples", "100"],
    ["infer", "m.mln", "d.db", "-q", f"Nobody{STEERING}"],
    ["evaluate", "m.mln", "d.db", "-q", "Smokes"],
    ["check", "m.mln", "bad.db"],
    ["check", "m.mln", f"{NAMES[0]}.db"],
    ["check", "m.mln", "bad.db", "--format", "json"],
    ["convert", "bad.db", "out.csv", "--model", "m.mln"],
    ["run", f"{STEERING}.ipynb"],
    ["reproduce", "table-1", "--folder", f"{STEERING}/none"],
    ["doctor", STEERING],
    [STEERING],
])  # fmt: skip
def test_every_command_marks_names(folder, arguments, capsys):
    main(arguments)
    shown = capsys.readouterr()
    assert not set(UNSEEN) & set(shown.out + shown.err)


def test_a_model_is_shown_with_marks_and_written_without(folder, capsys):
    assert main(["learn", "m.mln", "d.db"]) == 0
    shown = capsys.readouterr()
    assert all(f'Smokes("{name}")' in shown.out for name in SHOWN)
    assert "-o writes names as they are" in shown.err
    assert main(["learn", "m.mln", "d.db", "-o", "learned.mln"]) == 0
    assert "�" not in capsys.readouterr().err
    written = (folder / "learned.mln").read_text(encoding="utf-8")
    assert all(name in written for name in NAMES)


def test_json_holds_names_as_they_are(folder, capsys):
    main(["check", "m.mln", f"{NAMES[0]}.db", "--format", "json"])
    out = capsys.readouterr().out
    assert out.isascii()
    assert [record["file"] for record in json.loads(out)] == [f"{NAMES[0]}.db"]


def test_warnings_are_marked(monkeypatch, capsys):
    def run(_arguments):
        print(
            warnings.formatwarning(UserWarning(STEERING), UserWarning, f"{STEERING}.py", 1), file=sys.stderr
        )
        return 0

    monkeypatch.setattr(doctor, "run", run)
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().err
    assert not set(UNSEEN) & set(shown)
    assert "owned" in shown


def test_a_progress_line_marks_names_and_goes_back_to_its_beginning():
    stream = io.StringIO()
    ProgressBar("x", None, MarkedStream(stream)).write(f"{NAMES[0]} \rb")
    assert stream.getvalue() == f"\r{SHOWN[0]} �b"
