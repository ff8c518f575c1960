"""Enumeration beside the same sum in C: log Z and the marginal of every atom."""

from __future__ import annotations

import time
from math import isclose
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.inference.ask.asking import infer
from mlnlab.model.mln.mln import MLN
from tests.benchmarks.beside_c.measurement import Measurement, compared

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.inference.answers.marginals import Marginals
    from tests.benchmarks.beside_c.in_c import FunctionsInC

PEOPLE = "ABCD"
WEIGHTS = (1.5, 1.1, -0.5, 1.0, 0.7)  # of the formulas in their order; enumeration.c knows the formulas
MODEL = """
e = {{A, B, C, D}}
S(e)
C(e)
F(e, e)
{more}
1.5 S(x) => C(x)
1.1 F(x, y) => (S(x) <=> S(y))
-0.5 F(x, y)
1 {premise} => S(x)
0.7 F(x, y) ^ F(y, z) => F(x, z)
"""


def model_of(atoms: int) -> MLN:
    """Return the model with 24 atoms, or with G() and H() besides; without G() the fourth formula is true."""
    more = "G()\nH()" if atoms == 26 else ""
    return MLN.from_text(MODEL.format(more=more, premise="G()" if more else "⊥"))


def worlds_per_second(atoms: int, sums: int, in_c: FunctionsInC) -> Measurement:
    """Sum over all worlds of 24 or 26 atoms, by turns with C."""
    mln, marginals = model_of(atoms), np.zeros(atoms)
    infer(MLN.from_text("e = {A}\nS(e)\n1 S(x)"))  # imports what is needed
    rounds, same, memory = [], True, 0
    for _ in range(sums):
        began = time.perf_counter()  # the clock of the wall: numpy may use threads of its own
        found = infer(mln, method="enumeration")
        own, memory = time.perf_counter() - began, found.memory
        began = time.perf_counter()
        log_z = in_c.sum_over_worlds(atoms, np.array(WEIGHTS), marginals)
        rounds.append((own, time.perf_counter() - began))
        same = same and agree(found, log_z, marginals)
    return compared(
        f"Enumeration, 2^{atoms} worlds", "worlds", 2**atoms, rounds, same_results=same, memory=memory
    )


def agree(found: Marginals, log_z: float, marginals: NDArray[np.float64]) -> bool:
    """Return whether log Z and all marginals are those of C, whose atoms come in the order of their names."""
    names = [*(f"S({x})" for x in PEOPLE), *(f"C({x})" for x in PEOPLE)]
    names += [f"F({x}, {y})" for x in PEOPLE for y in PEOPLE]
    names += ["G()", "H()"][: len(marginals) - len(names)]
    return isclose(found.log_z, log_z, rel_tol=1e-9) and all(
        isclose(found[name], marginal, abs_tol=1e-9) for name, marginal in zip(names, marginals, strict=True)
    )
