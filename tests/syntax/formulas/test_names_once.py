"""A name that is unknown is one problem, however often a text uses it; its places are told in lines."""

from __future__ import annotations

import json

import pytest

import mlnlab as ml
from mlnlab.cli import main
from mlnlab.display.card.findings import diagnostic_markup
from mlnlab.display.card.markup import plain_text
from mlnlab.syntax.formulas.analysis import analyse


def refusal(text, **options):
    with pytest.raises(ml.InputError) as found:
        ml.MLN.from_text(text, **options)
    return found.value


def test_an_unknown_predicate_is_reported_once_with_its_lines():
    text = "P(t)\n" + "1 Zork(x) => P(x)\n" * 52
    error = refusal(text)
    (problem,) = error.diagnostics
    assert error.summary == "<text> has 1 error."
    assert [span.line for span in (problem.span, *problem.again)] == list(range(2, 54))
    lines = "also on lines 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 and 39 more"
    assert lines in str(error)
    assert str(error).count("no predicate Zork") == 1
    assert lines in plain_text(diagnostic_markup(problem))
    assert [one.message for one in ml.check(text)] == [problem.message]


def test_two_names_are_two_problems_and_a_line_is_named_once():
    error = refusal("P(t)\n1 Zork(x) ^ Zork(y) => P(x)\n1 Bork(x) => P(x)\n1 Zork(x) => Bork(x) ^ P(x)")
    assert error.summary == "<text> has 2 errors."
    assert [(one.span.line, one.elsewhere) for one in error.diagnostics] == [(2, "lines 2, 4"), (3, "line 4")]


@pytest.mark.parametrize("line", ["1 P(f(x))", "1 EXIST x:zork P(x)"])
def test_functions_and_types_too(line):
    error = refusal("P(t)\n" + f"{line}\n" * 4)
    assert any(one.elsewhere == "lines 3, 4, 5" for one in error.diagnostics)


def test_other_files_are_named(tmp_path):
    (tmp_path / "more.mln").write_text("1 Zork(x) => P(x)\n")
    error = refusal('P(t)\n#include "more.mln"\n1 Zork(x) => P(x)', folder=tmp_path)
    (problem,) = error.diagnostics
    assert problem.span.file == str(tmp_path / "more.mln")
    assert problem.elsewhere == "line 3 of <text>"


def test_editors_still_mark_each_place():
    assert len(analyse("P(t)\n" + "1 Zork(x) => P(x)\n" * 5).diagnostics) == 5


def test_the_command_line_lists_the_places(tmp_path, capsys):
    (tmp_path / "m.mln").write_text("P(t)\n1 Zork(x) => P(x)\n1 Zork(x)\n")
    assert main(["check", str(tmp_path / "m.mln"), "--format", "json"]) == 1
    (record,) = json.loads(capsys.readouterr().out)
    assert [one["line"] for one in record["again"]] == [3]
