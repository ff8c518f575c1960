"""Faults of one token: found where programs have them, put in exactly there, judged by the tests nearby."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.__main__ import words_of
from tests.mutants.judge import changed_codes, exchange
from tests.mutants.nearest import nearest
from tests.mutants.sites import sites, with_fault

TEXT = '''"""Words with 1 < 2 and not True."""
from typing import TYPE_CHECKING
if TYPE_CHECKING and 1 < 2:
    pass
__all__ = ["a" + "b"]

def is_near(a: Literal[3], b, *, é="ü" + "1", most=7) -> Literal[4]:
    if not a and b is not None or a in (b,):
        zip(a, b, strict=True)
        raise ValueError("no" if a < 3 else f"{a + b}")
    return a * 2 - b // 3 <= most and (  # 1 < 2
        é != b % 5
    )
'''
BOUND = "def first(values, n):\n    return values[:n] if n <= len(values) else values\n"
LEAST = "\n\ndef least(values):\n    return sorted(values)[0]\n\nMOST = 3\n"
TESTS = """
from mlnlab.logic.bounds import MOST, first, least

def test_red_without_a_fault():
    assert first("abc", 1) == "b"

def test_it():
    assert first("abc", 1) == "a"
    assert least("cab") == "a"

def test_the_top_of_the_module():
    assert len(first("abcd", MOST)) == 3
"""


def test_operators_comparisons_words_and_numbers_are_found_in_order():
    found = [(site.line, site.before, site.after) for site in sites("x.py", TEXT)]
    assert found == [
        (7, "7", "8"),
        (8, "not ", ""), (8, "and", "or"), (8, "is not", "is"), (8, "or", "and"), (8, "in", "not in"),
        (11, "*", "+"), (11, "2", "3"), (11, "-", "+"), (11, "//", "/"), (11, "3", "4"), (11, "<=", "<"),
        (11, "and", "or"),
        (12, "!=", "=="), (12, "%", "//"), (12, "5", "6"),
    ]  # fmt: skip


def test_one_token_changes_and_the_text_is_still_a_program():
    for site in sites("x.py", TEXT):
        changed = with_fault(TEXT, site)
        assert changed != TEXT
        assert len(changed) - len(TEXT) == len(site.after) - len(site.before)
        ast.parse(changed)
    with pytest.raises(AssertionError, match="no longer the text"):
        with_fault("# " + TEXT, sites("x.py", TEXT)[0])


def test_the_nearest_tests_come_first(tmp_path):
    texts = {
        "mlnlab/logic/forms/unification.py": "",
        "mlnlab/logic/rules.py": "from mlnlab.logic.forms.unification import unify",
        "tests/logic/forms/test_unification.py": "",
        "tests/logic/forms/test_clauses.py": "",
        "tests/logic/test_rules.py": "import mlnlab.logic.rules",
        "tests/logic/test_bounds.py": "",
        "tests/lifted/test_pairs.py": "from mlnlab.logic.forms import unification",
        "tests/lifted/test_others.py": "",
        "tests/browser/test_pages.py": "from mlnlab.logic.forms import unification",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    groups = nearest(tmp_path, Path("mlnlab/logic/forms/unification.py"))
    assert [[path.name for path in group] for group in groups] == [
        ["test_unification.py", "test_pairs.py"],
        ["test_clauses.py"],
        ["test_rules.py"],
        ["test_bounds.py"],
    ]


def test_a_trial_tells_what_no_test_notices_and_goes_on_where_it_was(tmp_path, repository):
    """On a small tree of its own, in which one test fails anyhow, and the others know two faults of three."""
    package, tests = tmp_path / "mlnlab" / "logic", tmp_path / "tests" / "logic"
    for folder in (package, tests):
        folder.mkdir(parents=True)
    (tmp_path / "mlnlab" / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "bounds.py").write_text(BOUND + LEAST)
    (tests / "test_bounds.py").write_text(TESTS)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\npythonpath = ["."]\nmarkers = ["x"]\n'
    )
    program = (
        "import pathlib; from tests.mutants import __main__ as trial\n"
        f"trial.ROOT = pathlib.Path({str(tmp_path)!r})\n"
        "trial.NEEDED, trial.ENGINE = ('mlnlab', 'tests', 'pyproject.toml'), ('logic',)\n"
        "trial._load_what_all_need = lambda: None\n"
        "trial.main()"
    )
    command = [sys.executable, "-c", program, "--sites", "3", "--results", str(tmp_path / "results.jsonl")]
    said = [
        subprocess.run(command, cwd=repository, check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    ]
    assert "survived" in said[0]  # nobody asks for as many values as there are
    for words in said:
        assert "3 of 3 faults were tried; 2 turned a test red." in words
        assert "survived: mlnlab/logic/bounds.py: return values[:n] if n < len(values) else values" in words
    lines = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert len(lines) == 4  # the survivor was tried again
    assert [line["verdict"] for line in lines].count("survived") == 2


def test_a_fault_changes_the_code_of_its_function_and_of_those_around_it():
    text = "MOST = 3\ndef keep(values, n=2):\n    return [value for value in values if value < n]\n"
    inside = next(site for site in sites("x.py", text) if site.before == "<")
    namespace = {}
    exec(compile(text, "x.py", "exec", dont_inherit=True), namespace)
    keep, before = namespace["keep"], namespace["keep"](range(4))
    exchange(changed_codes(text, with_fault(text, inside), "x.py"))
    assert (before, keep(range(4))) == ([0, 1], [0, 1, 2])
    outside = [site for site in sites("x.py", text) if site.before in {"2", "3"}]
    assert [changed_codes(text, with_fault(text, site), "x.py") for site in outside] == [None, None]


def test_what_is_shown_to_be_equivalent_stands_with_its_reason(repository):
    lines = (repository / "tests" / "mutants" / "equivalent.txt").read_text(encoding="utf-8").splitlines()
    entries = [line for line in lines if line and not line.startswith("#")]
    for entry, reason in zip(entries[::2], entries[1::2], strict=True):
        file = entry.split(": ")[0]
        assert (repository / file).is_file(), f"{file} is no longer there"
        faulty = {words_of(site, repository) for site in sites(file, (repository / file).read_text())}
        assert entry in faulty, f"no fault of one token gives this line any more: {entry}"
        assert reason.startswith("    "), f"a reason belongs below: {entry}"
