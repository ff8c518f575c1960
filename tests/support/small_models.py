"""Random small models with evidence, whose every world can be listed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from hypothesis import assume, reject
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.grounding.question.question import Question, pose
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.formulas.weights import Hard, Soft, WeightedFormula
from tests.support import oracles, strategies

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
def models(draw, most_atoms=9, hard=True, blocks=False):
    """A model over a few atoms; sometimes its first formula is hard as well."""
    vocabulary = draw(strategies.vocabularies(blocks=blocks))
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


@dataclass(frozen=True)
class Blocked:
    """A question to a model with blocks, in the words of ``ml.infer``, and the truth about it."""

    mln: ml.MLN
    db: ml.Database
    words: dict[str, object]  # query, open, closed and given
    asked: object  # the formula among the queries
    known: dict[GroundAtom, bool]
    soft: dict[GroundAtom, float]

    @cached_property
    def oracle(self):
        """The worlds that agree with what is known."""
        return oracles.oracle(self.mln, self.known, self.soft, tuple(self.words["given"]))


@st.composite
def blocked_questions(draw, most_atoms=7):
    """A question with exclusive atoms and functions, closed predicates, and atoms marked unknown or soft.

    Often the facts contradict a block, or leave it nothing: then the oracle has no world.
    """
    mln = draw(models(most_atoms, blocks=True))
    predicates = mln.vocabulary.predicates
    # A function that is closed may be undefined, which is more than its blocks say.
    closable = [name for name, predicate in predicates.items() if not predicate.function]
    closed = draw(st.lists(st.sampled_from(closable), unique=True, max_size=1)) if closable else []
    marks = st.sampled_from([None, None, None, None, "?", "?", False, False, True, 0.3, 0.9])
    marked = {atom: draw(marks) for atom in oracles.all_atoms(mln.vocabulary)}
    facts = {str(a): None if mark == "?" else mark for a, mark in marked.items() if mark is not None}
    known = {atom: mark for atom, mark in marked.items() if isinstance(mark, bool)}
    known |= {a: False for a, mark in marked.items() if a.predicate in closed and mark is None}
    soft = {atom: mark for atom, mark in marked.items() if isinstance(mark, float)}
    given = (draw(strategies.formulas(mln.vocabulary, depth=1)),) if draw(st.integers(0, 3)) == 0 else ()
    asked = draw(strategies.formulas(mln.vocabulary, depth=2))
    inhabited = dict.fromkeys(atom.predicate for atom in marked)
    opened = [name for name in predicates if name not in closed]
    words = {"query": [*inhabited, asked], "open": opened, "closed": closed, "given": list(given)}
    try:
        db = ml.Database(mln.vocabulary).with_atoms(facts)
    except ml.InputError:  # two facts of one block are refused before anybody asks
        reject()
    return Blocked(mln, db, words, asked, known, soft)
