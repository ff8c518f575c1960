"""How far off counts by clusters are on random clauses: the mean relative error, by treewidth and i.

Of the number of groundings that falsify a clause; 300 clauses of 3 to 6 variables over 5 constants. Measured:
treewidth 2: .12 at i = 1 and 2; 3: .34, .34, .33; 4: .27, .27, .31, .07; with i = w* + 1 it is 0. So it need
not fall with i.
"""

from __future__ import annotations

from collections import defaultdict
from random import Random

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.counting.counts.counts import counts_of
from mlnlab.counting.elimination.cluster_counter import ClusterCounter
from mlnlab.counting.elimination.constraint_network import constraint_network
from mlnlab.counting.facts.sorted_facts import facts_of
from mlnlab.factors.join_graphs.propagation import ClusterParams

pytestmark = pytest.mark.benchmark

CLAUSES, CONSTANTS = 300, 5


def draw_clause(random):
    """Draw a clause of binary literals, and a world."""
    constants = [f"C{number}" for number in range(CONSTANTS)]
    variables = "uvwxyz"[: random.randint(3, 6)]
    pairs = [(one, other) for one in variables for other in variables if one < other]
    chosen = random.sample(pairs, random.randint(len(variables), len(pairs)))
    literals = [f"{random.choice(['', '!'])}{random.choice('RST')}({one}, {other})" for one, other in chosen]
    text = f"t = {{{', '.join(constants)}}}\nR(t, t)\nS(t, t)\nT(t, t)\n1 {' v '.join(literals)}"
    mln = ml.MLN.from_text(text)
    atoms = (f"{name}({a}, {b})" for name in "RST" for a in constants for b in constants)
    return mln, facts_of(ml.Database.from_text("\n".join(a for a in atoms if random.random() < 0.5), mln))


def test_errors_by_treewidth():
    random, errors, settled = Random(1), defaultdict(list), []
    for _ in range(CLAUSES):
        mln, facts = draw_clause(random)
        formula = mln.formulas[0].formula
        network = constraint_network(formula, facts)
        every = CONSTANTS ** len(network.variables)
        exact = every - counts_of([formula], facts)[0]
        if not exact:
            continue
        for i in range(1, network.treewidth + 2):
            found = ClusterCounter(formula, facts.vocabulary, ClusterParams(i=i, sweeps=200))(facts)
            errors[network.treewidth, i].append(abs(every - found.number - exact) / exact)
            settled.append(found.settled)
            assert found.number == every - exact or i <= network.treewidth
    print(f"\n{np.mean(settled):.0%} settled")
    for width in sorted({width for width, _ in errors}):
        row = ", ".join(f"i={i} {np.mean(errors[width, i]):.2g}" for i in range(1, width + 2))
        print(f"treewidth {width} ({len(errors[width, 1])} clauses): {row}")
