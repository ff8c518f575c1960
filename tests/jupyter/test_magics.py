"""The cell magics: what they keep, what they show, and every kind of wrong use."""

from __future__ import annotations

import pytest

import mlnlab as ml

MODEL = "%%mln\nSmokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)\n"


def test_a_model_is_kept_and_shown(notebook):
    (shown,), _ = notebook.run(MODEL)
    assert "Smokes(x) ⇒ Cancer(x)" in shown["text/plain"]
    assert "mlnlab-predicate" in shown["text/html"]
    assert isinstance(notebook.variables["mln"], ml.MLN)
    assert notebook.variables["mln"].name == "mln"


def test_a_model_gets_the_name_and_semantics_asked_for(notebook):
    notebook.run(MODEL.replace("%%mln", "%%mln smokers --semantics alchemy"))
    assert notebook.variables["smokers"].semantics == "alchemy"
    assert "mln" not in notebook.variables


def test_remarks_stand_under_the_model_with_the_lines_of_the_cell(notebook):
    (shown,), _ = notebook.run(MODEL + "2 Smokes(z) => Cancer(z)\n")
    assert "%%mln cell:5:1: warning: this repeats line 4" in shown["text/plain"]
    assert "%%mln cell:5:1" in shown["text/html"]
    assert [d.code for d in notebook.variables["mln"].diagnostics] == ["repeated-formula"]


def test_all_errors_are_shown_in_place_and_the_old_model_stays(notebook):
    notebook.run(MODEL)
    before = notebook.variables["mln"]
    (shown,), printed = notebook.run("%%mln\nSmokes(person)\n1 Smoke(x)\n1 (Smokes(x)\n")
    assert not notebook.result.success
    assert printed == "CellError: This cell has problems; mln keeps its value.\n"
    assert notebook.variables["mln"] is before
    text = shown["text/plain"]
    assert text.startswith("This cell has problems; mln keeps its value.")
    assert "%%mln cell:3:3: error: there is no predicate Smoke" in text
    assert "%%mln cell:4:3: error: this ( is never closed" in text
    assert "\n    1 Smoke(x)\n      ^^^^^\n" in text
    assert "<u>Smoke</u>" in shown["text/html"]


def test_without_an_old_model_none_is_made(notebook):
    (shown,), _ = notebook.run("%%mln strange\n1 Smoke(x)\n")
    assert "strange was not created" in shown["text/plain"]
    assert "strange" not in notebook.variables


def test_an_included_file_is_found_in_the_folder(notebook, tmp_path):
    (tmp_path / "common.mln").write_text("Smokes(person)\n")
    cell = f'%%mln --folder "{tmp_path}"\n#include "common.mln"\n1 Smokes(x)\n'
    (shown,), _ = notebook.run(cell)
    assert "1 formula" in shown["text/plain"]


def test_facts_are_kept_and_shown(notebook):
    notebook.run(MODEL)
    (shown,), _ = notebook.run("%%db\nSmokes(Anna)\n")
    assert "Smokes        1         1    100 %  Smokes(Anna)" in shown["text/plain"]
    assert list(notebook.variables["db"].rows("Smokes")) == [("Anna",)]
    (shown,), _ = notebook.run("%%db monday --model mln\nSmoke(Anna)\nSmokes(Anna, Bob)\n")
    assert "%%db cell:2:1: error" in shown["text/plain"]
    assert "%%db cell:3:" in shown["text/plain"]
    assert "monday" not in notebook.variables


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("%%mln --wrong\nA(t)\n", "%%mln: unrecognized arguments: --wrong"),
        ("%%mln 1x\nA(t)\n", "'1x' cannot name a variable"),
        ("%%mln class\nA(t)\n", "'class' cannot name a variable"),
        ("%%mln a b\nA(t)\n", "unrecognized arguments: b"),
        ('%%mln "a\nA(t)\n', "%%mln: no closing quotation"),
        ("%%mln --semantics other\nA(t)\n", "invalid choice"),
        ("%%db\nA(B)\n", "%%db: there is no model mln; make one with a %%mln cell first."),
        ("%%db --model os\nA(B)\n", "%%db: there is no model os"),
    ],
)
def test_wrong_use_gets_a_sentence(notebook, cell, sentence):
    _, printed = notebook.run(cell)
    assert sentence in printed
    assert "UsageError" in printed
    assert "Traceback" not in printed


def test_facts_of_something_else_than_a_model(notebook):
    notebook.run(MODEL)
    notebook.run("number = 3")
    _, printed = notebook.run("%%db --model number\nSmokes(Anna)\n")
    assert "number is a int, not a model; name one of mln after --model." in printed


def test_our_errors_show_as_one_block_without_a_traceback(notebook):
    _, printed = notebook.run("import mlnlab as ml\nml.MLN.from_text('1 Smoke(x)')")
    assert not notebook.result.success
    assert printed.startswith("InputError: <text> has 1 error.")
    assert "    1 Smoke(x)\n      ^^^^^" in printed
    assert "Traceback" not in printed
    assert "/mlnlab/" not in printed


def test_magics_have_manuals(notebook):
    assert "#include" in notebook.shell.find_cell_magic("mln").__doc__
    assert "--model" in notebook.shell.find_cell_magic("db").__doc__


def test_a_cell_that_keeps_going_only_shows_its_problems(notebook):
    for cell in ("%%mln --keep-going\n1 Smoke(x)\n", MODEL, "%%db --keep-going\nSmoke(Anna)\n"):
        _, printed = notebook.run(cell)
        assert notebook.result.success
        assert printed == ""
    notebook.run("%%db\nSmoke(Anna)\n")
    assert not notebook.result.success


def test_the_manuals_say_that_a_cell_fails(notebook):
    for name in ("mln", "db"):
        manual = notebook.shell.find_cell_magic(name).__doc__
        assert "the cell fails" in manual
        assert "--keep-going" in manual
