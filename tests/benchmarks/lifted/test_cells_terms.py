"""Cells: how many terms sums have and how many are added, by clauses, predicates and domain size.

Run it as a program for the tables, with CPU seconds: ``python tests/benchmarks/lifted/test_cells_terms.py``
"""

from __future__ import annotations

import time

import pytest

import mlnlab as ml
from mlnlab.errors import TooLargeError
from tests.benchmarks.lifted.test_lifted_speed import FRIENDS, random_clauses

SIZES = {"person": 58, "film": 4, "type": 7}  # of IMDB's first fold


def predicates_text(number):
    """A model with so many predicates of one argument that all interact."""
    declared = "F(d, d)\n" + "".join(f"S{n}(d)\n" for n in range(number))
    soft = [f"{0.3 + 0.1 * n} F(x, y) ^ S{n}(x) => S{(n + 1) % number}(y)" for n in range(number)]
    return declared + "\n".join(soft)


def seconds(function):
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def by_cells(text):
    return ml.lift(ml.MLN.from_text(text)).compile(method="cells")


@pytest.mark.benchmark
def test_fifty_random_clauses_over_imdb():
    """At least 10 of 20 are evaluated at IMDB's sizes; others have more than 10^12 terms that may matter."""
    evaluated, refused = 0, []
    for seed in range(20):
        theory = by_cells(random_clauses(50, seed))
        assert theory.compiled.cells <= 18
        try:
            found = theory.sum_cells(SIZES, expectations=True)
        except TooLargeError as error:
            refused.append(error.estimate)
            continue
        assert found.terms < 10**7
        assert found.error < 1e-7
        evaluated += 1
    assert evaluated >= 10
    assert min(refused, default=1e13) > 1e12


@pytest.mark.benchmark
def test_terms_that_are_added_hardly_grow_with_the_domain():
    theory = by_cells(FRIENDS)
    added = [theory.sum_cells({"d": n}, expectations=True).terms for n in (1_000, 30_000, 1_000_000)]
    assert max(added) < 20_000


def print_tables():
    """Print growth with clauses, with predicates of one argument, and with domain size."""
    for number in (2, 5, 10, 20, 50, 100):
        print_row(f"{number:>3} clauses", random_clauses(number, 0), SIZES)
    for number in (1, 2, 3, 4):
        print_row(f"{number} predicates", predicates_text(number), {"d": 60})
    for n in (100, 1_000, 10_000, 100_000, 1_000_000):
        print_row(f"n = {n:>9,}", FRIENDS, {"d": n})
    for n in (30, 60, 120, 240):
        print_row(f"3 predicates, n = {n:>3}", predicates_text(3), {"d": n})
    print("fifty random clauses over IMDB's predicates, seeds 0 to 19:")
    for seed in range(20):
        print_row(f"seed {seed:>2}", random_clauses(50, seed), SIZES)


def print_row(name, text, sizes):
    compiled, theory = seconds(lambda: by_cells(text))
    start = f"{name}: {theory.compiled.cells:>3} cells in {compiled:.2f} s, {theory.terms(sizes):8.2e} terms"
    try:
        used, found = seconds(lambda: theory.sum_cells(sizes, expectations=True))
    except TooLargeError as error:
        print(f"{start}: refused, {error.estimate:.2e} may matter", flush=True)
        return
    print(
        f"{start}, {found.terms:>9,} added: value and counts in {used:.2f} s, error {found.error:.0e}",
        flush=True,
    )


if __name__ == "__main__":
    print_tables()
