"""Random small models with evidence, whose every world can be listed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import assume
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.grounding.question import Question, pose
from mlnlab.logic.ground_atoms import GroundAtom
from mlnlab.logic.weights import Hard, Soft, WeightedFormula
from tests import oracles, strategies

# Quantifiers, counts, a function, weights of both signs.
MIXED = """
person = {A, B, C}
house = {H, I, J}
S(person)
F(person, person)
Lives(person, house!)
0.6 S(x) ^ F(x,y) => S(y)
-0.7 EXIST y F(x,y)
0.4 EXIST>=2 x S(x)
0.3 Lives(x,h) ^ Lives(y,h) => F(x,y)
0.6 Lives(x, H) <=> S(x)
0.9 S(x) ^ F(x, x)
"""


@st.composite
def models(draw, most_atoms=9, hard=True):
    """A model over a few atoms; sometimes its first formula is hard as well."""
    vocabulary = draw(strategies.vocabularies())
    assume(0 < len(oracles.all_atoms(vocabulary)) <= most_atoms)
    numbers = st.floats(-2, 2).map(lambda value: round(value, 2))
    formulas = draw(st.lists(strategies.formulas(vocabulary, depth=2), min_size=1, max_size=3))
    soft = [WeightedFormula(formula, Soft(draw(numbers))) for formula in formulas]
    more = [replace(soft[0], weight=Hard())] if hard and draw(st.integers(0, 3)) == 0 else []
    return ml.MLN(vocabulary, (*more, *soft))


@dataclass(frozen=True)
class Asked:
    """A question, and the truth about it."""

    question: Question
    oracle: oracles.Oracle
    evidence: dict[GroundAtom, bool]
    asked: object


@st.composite
def questions(draw, most_atoms=8, hard=True):
    """A model with evidence, soft evidence, a condition and a formula that is asked for."""
    mln = draw(models(most_atoms, hard))
    atoms = oracles.all_atoms(mln.vocabulary)
    marks = st.sampled_from([None, None, None, True, False, 0.3, 0.9])
    marked = dict(zip(atoms, draw(st.lists(marks, min_size=len(atoms), max_size=len(atoms))), strict=True))
    known = {atom: mark for atom, mark in marked.items() if isinstance(mark, bool)}
    soft = {atom: mark for atom, mark in marked.items() if isinstance(mark, float)}
    given = (draw(strategies.formulas(mln.vocabulary, depth=1)),) if hard and draw(st.booleans()) else ()
    asked = draw(strategies.formulas(mln.vocabulary, depth=2))
    db = ml.Database(mln.vocabulary).with_atoms({str(a): m for a, m in (known | soft).items()})
    names = list(mln.vocabulary.predicates)
    truth = oracles.oracle(mln, known, soft, given)
    assume(truth.log_z > float("-inf"))
    inhabited = list(dict.fromkeys(atom.predicate for atom in atoms))
    return Asked(pose(mln, db, [*inhabited, asked], names, given), truth, known, asked)
