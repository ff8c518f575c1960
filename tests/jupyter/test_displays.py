"""Displays are registered by name, once, lazily, and never in the way of others."""

from __future__ import annotations

import subprocess
import sys

import mlnlab as ml
from mlnlab.jupyter import register


def test_objects_and_lists_of_them_are_shown(notebook):
    mln = ml.MLN.from_text("Smokes(person)\n1.5 Smokes(x)")
    for value in (mln, mln.formulas, list(mln.formulas), ml.check("1 A(x)"), mln.formulas[0].formula):
        assert "mlnlab" in notebook.formats(value)["text/html"]
    assert notebook.formats(mln.formulas[0].formula)["text/latex"].startswith("$")
    assert notebook.formats({"formula": mln.formulas[0]})["text/plain"] == "{'formula': 1.5  Smokes(x)}"


def test_a_good_text_shows_that_nothing_was_found(notebook):
    found = ml.check("Smokes(person)\n1 Smokes(x)")
    assert found == ()
    shown = notebook.formats(found)
    assert shown["text/plain"] == "no problems"
    assert "no problems" in shown["text/html"]
    assert "error" in notebook.formats(ml.check("1 A(x)"))["text/html"]
    assert str(found) == "no problems"


def test_plain_text_cannot_steer_a_terminal(notebook):
    mln = ml.MLN.from_text('Smokes(person)\n1.5 Smokes("\x1b]0;owned\x07\u202e")')
    plain = notebook.formats(mln)["text/plain"]
    assert "owned" in plain
    assert not set(plain) & set("\x1b\x07\u202e")
    assert "\n" in plain


def test_other_objects_are_shown_as_before(notebook):
    for value in ([1, 2], (), [], ["<b>"], {"a": 1}, "text", 3.5):
        assert notebook.formats(value) == {"text/plain": repr(value)}


def test_subclasses_are_shown(notebook):
    class Mine(ml.MLN):
        pass

    assert "mlnlab" in notebook.formats(Mine())["text/html"]


def test_registering_again_changes_nothing(notebook):
    formatter = notebook.shell.display_formatter.mimebundle_formatter
    before = dict(formatter.deferred_printers), dict(formatter.type_printers)
    register(notebook.shell)
    assert (formatter.deferred_printers, formatter.type_printers) == before


def test_what_others_registered_for_lists_stays(notebook):
    formatter = notebook.shell.display_formatter.mimebundle_formatter
    formatter.for_type(list, print)
    register(notebook.shell)
    assert formatter.type_printers[list] is print


def test_registering_imports_no_engine():
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "import mlnlab, sys\n"
        "names = [name for name in sys.modules if name.startswith(('mlnlab.logic', 'mlnlab.display.'))]\n"
        "print(set(names) - {'mlnlab.display.doors', 'mlnlab.display.doors.display_registry'})\n"
        "print(shell.find_cell_magic('mln') is not None)"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout.split() == ["set()", "True"]
