"""Displays are found by the names of types: all are there, all resolve, and few modules are imported."""

from __future__ import annotations

import ast
import inspect
import json
import logging
import subprocess
import sys
from importlib import import_module

import pytest

import mlnlab as ml
from mlnlab.display.doors import bundles, display_registry
from mlnlab.display.doors.bundles import bundle
from mlnlab.display.doors.display_registry import CARDS, function_at, home_of, qualified_name

TABLES = ("CARDS", "LIST_CARDS", "RUN_PICTURES", "STATE_PICTURES", "FIGURES")
MOST_MODULES = 40  # that the first picture of probabilities imports
# Tuples and mappings, which IPython shows, and arguments, which are written as they are read.
NO_DISPLAY = {"Findings", "FrozenMapping", "LazyRound"}
ARGUMENTS = {"Fixed", "Gaussian", "Hard", "HeldOut", "Laplace", "RandomVariable", "Soft", "ToLearn"}


@pytest.mark.parametrize("table", TABLES)
def test_every_entry_names_a_type_and_a_function(table):
    for name, home in getattr(display_registry, table).items():
        module, _, type_name = name.rpartition(".")
        kind = getattr(import_module(module), type_name)
        assert qualified_name(kind) == name, "the entry names a module that the type is not defined in"
        assert home_of(kind, getattr(display_registry, table)) == home
        assert callable(function_at(home))


def test_every_method_picture_belongs_to_a_method():
    from mlnlab.inference.method_registry import find_method

    for name, home in display_registry.METHOD_PICTURES.items():
        assert find_method(name).name == name
        assert callable(function_at(home))


def test_a_subclass_is_shown_as_its_nearest_base():
    class Mine(ml.MLN):
        pass

    class Yours(Mine):
        pass

    assert home_of(Yours, CARDS) == CARDS[qualified_name(ml.MLN)]
    assert home_of(Yours, {**CARDS, qualified_name(Mine): "a:b"}) == "a:b"
    assert home_of(int, CARDS) is None


def public_types():
    """Yield the public classes, and the types that public functions return, by the names in annotations."""
    for public in sorted(ml.__all__):
        value = getattr(ml, public)
        if isinstance(value, type):
            yield public, value
        elif inspect.isfunction(value):
            module = inspect.getmodule(value)
            homes = {
                alias.asname or alias.name: node.module
                for node in ast.walk(ast.parse(inspect.getsource(module)))
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
            }
            text = value.__annotations__["return"]
            for node in ast.walk(ast.parse(str(text), mode="eval")):
                if isinstance(node, ast.Name):
                    home = homes.get(node.id, module.__name__)
                    kind = getattr(import_module(home), node.id, None) if home.startswith("mlnlab") else None
                    if isinstance(kind, type):
                        yield public, kind


def test_every_public_result_has_an_entry():
    from ipywidgets import Widget

    results = {
        kind: public
        for public, kind in public_types()
        if not issubclass(kind, Exception | Widget) and kind.__name__ not in ARGUMENTS | NO_DISPLAY
    }
    assert len(results) > 50
    assert not {f"{kind.__name__} of ml.{of}" for kind, of in results.items() if home_of(kind, CARDS) is None}


FIRST_PICTURE = """
import json, sys
import mlnlab as ml
mln = ml.MLN.from_text("Smokes(person)\\n1.5 Smokes(x)")
marginals = ml.infer(mln, ml.Database.from_text("?Smokes(Anna)", mln), query=["Smokes"])
before = set(sys.modules)
from mlnlab.display.doors.bundles import bundle
assert "<img" in bundle(marginals)["text/html"]
print(json.dumps(sorted(name for name in set(sys.modules) - before if name.startswith("mlnlab."))))
"""


def test_the_first_picture_imports_only_modules_that_draw_it():
    out = subprocess.run(
        [sys.executable, "-c", FIRST_PICTURE], capture_output=True, text=True, check=True
    ).stdout
    modules = json.loads(out)
    assert "mlnlab.display.inference.probabilities" in modules
    assert len(modules) < MOST_MODULES, modules
    assert all(name.startswith("mlnlab.display") for name in modules)


def test_a_failing_display_raises_under_tests_and_is_logged_elsewhere(monkeypatch, caplog):
    def fail(_value):
        raise ZeroDivisionError("nothing \x1b[31m to divide by")

    monkeypatch.setattr(bundles, "function_at", lambda _home: fail)
    mln = ml.MLN.from_text("Smokes(person)")
    with pytest.raises(ZeroDivisionError):
        bundle(mln)
    monkeypatch.delenv("MLNLAB_RAISE")
    with caplog.at_level(logging.ERROR, "mlnlab.display"):
        assert bundle(mln) == {"text/plain": repr(mln)}
    record = caplog.records[0]
    assert record.name == "mlnlab.display"
    assert "The display of this MLN failed" in record.getMessage()
    assert "Traceback (most recent call last)" in record.getMessage()
    assert "ZeroDivisionError" in record.getMessage()
    assert "\x1b" not in record.getMessage()
