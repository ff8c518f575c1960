"""The suite draws the same random examples everywhere; ``make proof`` draws others, which a seed repeats."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

from hypothesis import settings

from tests.support.thoroughness import IN_PROOF

TESTS = Path(__file__).resolve().parents[1]


def test_examples_are_the_same_everywhere_but_in_a_proof():
    assert settings.default.derandomize is not IN_PROOF
    assert settings.default.database is None


def test_each_test_draws_more_examples_in_a_proof():
    """A fixed number stands only where the examples are fixed, too."""
    fixed = [
        f"{path.relative_to(TESTS)}:{call.lineno}"
        for path in TESTS.rglob("*.py")
        if "max_examples" in (text := path.read_text(encoding="utf-8"))
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call) and fixes_its_examples(call)
    ]
    assert not fixed


def test_each_test_that_draws_examples_by_itself_is_part_of_a_proof():
    """Those of Hypothesis are found by its own mark."""
    forgotten = [
        f"{path.relative_to(TESTS)}::{test.name}"
        for path in TESTS.rglob("test_*.py")
        if "examples(" in (text := path.read_text(encoding="utf-8"))
        for test in ast.walk(ast.parse(text))
        if isinstance(test, ast.FunctionDef) and test.name.startswith("test_") and draws_by_itself(test)
    ]
    assert not forgotten


def draws_by_itself(test):
    """Tell whether a test calls `examples(...)` outside Hypothesis's settings without the mark for it."""
    marks = [ast.unparse(decorator) for decorator in test.decorator_list]
    if any(mark.startswith(("given(", "pytest.mark.random")) for mark in marks):
        return False
    calls = [node for part in test.body for node in ast.walk(part) if isinstance(node, ast.Call)]
    draws = any(ast.unparse(call.func) == "examples" for call in calls)
    return draws or any("examples(" in mark for mark in marks)


def fixes_its_examples(call):
    """Tell whether a call names a number of examples without `examples(...)` and without derandomising."""
    options = {option.arg: option.value for option in call.keywords}
    return isinstance(options.get("max_examples"), ast.Constant) and "derandomize" not in options


def test_a_proof_names_the_seed_that_repeats_it(repository):
    command = ["make", "--dry-run", "proof", "SEED=7", "TIMES=3"]
    said = subprocess.run(command, cwd=repository, check=True, capture_output=True, text=True).stdout
    for part in ("make proof SEED=$seed TIMES=3 repeats", "--hypothesis-seed=$seed", "seed=7;"):
        assert part in said
