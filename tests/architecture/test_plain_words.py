"""Sentences for people are plain English: errors, manuals, displays, the prose of notebooks and papers.

Phrases that no native speaker would say are found by their words; CONTRIBUTING says what to write.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

import mlnlab

PACKAGE = Path(mlnlab.__file__).parent
TOP = PACKAGE.parent
PAPERS = ("README.md", "mlnlab/ARCHITECTURE.md", "mlnlab/GLOSSARY.md", "mlnlab/LANGUAGE.md")
ODD = re.compile(
    r"(?<!there )\b(?:is|are) no (?!longer|more|larger|further|better|other)"
    r"|\b(?:shall|anew|belongs? into|inside of|the very same|not among the constants of|without names"
    r"|knows? no|takes nothing|tells what|told of|from [01] on|what (?:stands|was found|is told)"
    r"|stands? (?:there|in front|behind|inside|alone|in the place)|so many (?:atoms|rows|steps))\b",
    re.IGNORECASE,
)
BUDGET = 0  # odd phrases that are left; the number only falls


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("formulas that are no clauses", 1),
        ("Smo alone is no formula", 1),
        ("It takes the very same way.", 1),
        ("Mon is not among the constants of day, without names", 2),
        ("There is no formula 7; the model is no longer open.", 0),
        ("It is not a clause.", 0),
    ],
)
def test_odd_phrases_are_found(text, number):
    assert len(ODD.findall(text)) == number


def test_odd_phrases_become_fewer():
    found = [
        f"{place}: {match[0]}"
        for place, text in sentences()
        for match in ODD.finditer(" ".join(text.split()))
    ]
    assert len(found) <= BUDGET, found


def sentences():
    """Yield the texts that people read, each with its place."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for line, text in texts_in(path):
            yield f"{path.relative_to(TOP)}:{line}", text
    for path in sorted((TOP / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                yield path.name, "".join(cell["source"])
    for name in PAPERS:
        yield name, (TOP / name).read_text(encoding="utf-8")


def texts_in(path):
    """Yield the texts of a source file other than docstrings, with their lines; an f-string in its pieces."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    documented = (node for node in nodes if isinstance(node, kinds) and ast.get_docstring(node))
    docstrings = {id(node.body[0].value) for node in documented}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value
