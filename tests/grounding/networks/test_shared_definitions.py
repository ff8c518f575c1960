"""Formulas that count the same literals share the variables that count them."""

from __future__ import annotations

import numpy as np
import pytest
from pysat.solvers import Solver

import mlnlab as ml
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.networks.propositional import Propositions
from mlnlab.grounding.question.question import pose

PERSONS = f"p = {{{', '.join(f'P{n}' for n in range(8))}}}\nQ(p)\nR(p)\nE(p)\n"


def propositions_of(formula, facts):
    mln = ml.MLN.from_text(PERSONS + formula)
    question = pose(mln, ml.Database.from_text(facts, mln), ["Q", "R"])
    return Propositions(ground_clauses(question, most_cells=4))


@pytest.mark.parametrize("counted", ["Q(x)", "(Q(x) ^ R(x))", "(Q(x) <=> R(x))"])
def test_equal_counts_have_the_same_variables(counted):
    made = propositions_of(f"(EXIST!=3 x {counted}) <=> E(y).", "E(P0)")
    tables = [made.table(number, holds=True) for number in range(made.clauses.number_of_tables)]
    assert len(tables) == 8
    literals = {abs(literal) for part in tables for clause in part for literal in clause}
    alone = {abs(literal) for clause in tables[0] for literal in clause}
    assert literals == alone
    roots = {part[-1][0] for part in tables}
    assert len(roots) == 2
    assert sum(roots) == 0


def test_each_part_brings_its_own_definitions():
    """A part alone means what it means with all the others."""
    made = propositions_of("(EXIST!=3 x (Q(x) ^ R(x))) <=> E(y).", "E(P0)")
    atoms = [atom for choice in made.clauses.question.choices for atom in choice.atoms]
    rng = np.random.default_rng(4)
    parts = [made.table(number, holds=True) for number in range(made.clauses.number_of_tables)]
    seen = set()
    for number, part in enumerate(parts):
        with Solver(name="glucose4", bootstrap_with=part) as solver:
            for _ in range(60):
                world = {atom: bool(rng.random() < 0.7) for atom in atoms}
                both = sum(world["Q", (f"P{n}",)] and world["R", (f"P{n}",)] for n in range(8))
                signs = [place if world[atom] else -place for place, atom in enumerate(atoms, 1)]
                assert solver.solve(assumptions=signs) == ((both != 3) == (number == 0))
                seen.add((both == 3, number == 0))
    assert len(seen) == 4
