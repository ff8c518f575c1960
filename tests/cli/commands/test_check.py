"""``mlnlab check``: what it reports, in which form, and its exit codes."""

from __future__ import annotations

import json

import pytest

from mlnlab.cli import main
from mlnlab.syntax.formulas import analysis

SOUND = "Smokes(person)\n1.5 Smokes(x)\n"
WARNED = SOUND + "2 Smokes(y)\n"
BROKEN = "Smokes(person)\n1.5 Smoke(x)\n1 (Smokes(x)\n"


@pytest.fixture
def files(tmp_path):
    """A function that writes files and returns their paths."""

    def write(**texts):
        paths = []
        for name, text in texts.items():
            path = tmp_path / name.replace("_", ".")
            path.write_text(text)
            paths.append(str(path))
        return paths

    return write


def test_a_sound_model(files, capsys):
    assert main(["check", *files(a_mln=SOUND)]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "no problems in 1 file\n"


def test_all_problems_are_shown_with_carets(files, capsys):
    (path,) = files(a_mln=BROKEN)
    assert main(["check", path]) == 1
    shown = capsys.readouterr()
    assert f"{path}:2:5: error: there is no predicate Smoke; did you mean Smokes?" in shown.out
    assert "    1.5 Smoke(x)\n        ^^^^^\n" in shown.out
    assert f"{path}:3:3: error" in shown.out
    assert shown.err == "2 errors in 1 file\n"


def test_warnings_fail_only_where_asked(files, capsys):
    paths = files(a_mln=WARNED)
    assert main(["check", *paths]) == 0
    assert main(["check", *paths, "--strict"]) == 1
    assert "1 warning in 1 file" in capsys.readouterr().err


def test_data_are_checked_against_the_model_before_them(files, capsys):
    paths = files(a_mln=SOUND, a_db="Smokes(Anna)\n", b_mln="Other(thing)\n1 Other(x)", b_db="Smokes(Anna)\n")
    assert main(["check", *paths]) == 1
    shown = capsys.readouterr()
    assert next(line for line in shown.out.splitlines() if ": error:" in line).startswith(f"{paths[3]}:1:1")
    assert "1 error in 4 files" in shown.err


def test_data_without_a_model(files, capsys):
    assert main(["check", *files(a_db="Smokes(Anna)\n")]) == 0
    assert "no model was given" in capsys.readouterr().out


def test_json(files, capsys):
    (path,) = files(a_mln=BROKEN)
    assert main(["check", "--format", "json", path]) == 1
    first, second = json.loads(capsys.readouterr().out)
    assert (first["file"], first["line"], first["column"], first["end_column"]) == (path, 2, 5, 10)
    assert first["code"] == "unknown-predicate"
    assert first["repair"] == "Smokes"
    assert second["severity"] == "error"


def test_what_cannot_be_read(tmp_path, capsys):
    assert main(["check", str(tmp_path), str(tmp_path / "none.mln"), str(tmp_path / "none.db")]) == 1
    shown = capsys.readouterr().out
    assert "is a folder" in shown
    assert "There is no file" in shown


def test_a_model_is_analysed_once(files, capsys, monkeypatch):
    calls = []
    original = analysis._assemble_analysis
    monkeypatch.setattr(analysis, "_assemble_analysis", lambda *a: calls.append(a) or original(*a))
    assert main(["check", *files(a_mln=SOUND, a_db="Smokes(Anna)\n")]) == 0
    assert len(calls) == 1


def test_empty_files_get_a_note(files, capsys):
    model, comments, facts, sound = files(a_mln="", b_mln="// only this\n", a_db="\n// none\n", c_mln=SOUND)
    assert main(["check", model, comments, sound, facts]) == 0
    shown = capsys.readouterr()
    for path in (model, comments, facts):
        assert f"{path}:1:1: note: this file says nothing [says-nothing]\n" in shown.out
    assert shown.err == "3 notes in 4 files\n"


def test_calculations_with_decimals_are_reported(files, capsys):
    (path,) = files(a_mln="t = {1,...,5}\nP(t)\n1 P(x+1.5)\n")
    assert main(["check", path]) == 1
    assert f"{path}:3:" in capsys.readouterr().out
