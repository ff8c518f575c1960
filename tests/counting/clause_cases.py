"""Random typed clauses and conjunctions with random small databases: what counting is tried on."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from mlnlab.logic.formulas.formulas import And, Atom, Constant, Equality, Exists, ForAll, Not, Or, Variable
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.vocabulary import FrozenMapping, NamedDomain, Predicate, Vocabulary
from mlnlab.model.database.world import World
from tests.support.strategies import ground_atoms

NAMES = {"person": "ABC", "house": "HI"}


@dataclass(frozen=True)
class ClauseCase:
    """A formula and a world."""

    formula: object
    world: World


def _vocabulary(draw):
    sizes = {"person": draw(st.integers(1, 3)), "house": draw(st.integers(1, 2))}
    types = {name: NamedDomain(tuple(NAMES[name][:size])) for name, size in sizes.items()}
    signature = st.lists(st.sampled_from(["person", "person", "house"]), min_size=1, max_size=3).map(tuple)
    signatures = draw(st.lists(signature | st.just(("person", "person")), min_size=1, max_size=3))
    predicates = {name: Predicate(name, found) for name, found in zip("PQR", signatures, strict=False)}
    return Vocabulary(FrozenMapping(types), FrozenMapping(predicates))


@st.composite
def clause_cases(draw, *, quantifiers=True, equality=True, most_literals=5):
    """Up to five literals over five variables: repeated predicates, constants, equality, quantifiers."""
    vocabulary = _vocabulary(draw)
    names = {"person": ("x", "y", "z"), "house": ("h", "k")}

    def term(type_):
        constant = st.sampled_from(tuple(vocabulary.domain(type_))).map(lambda name: Constant(name, type_))
        variable = st.sampled_from(names[type_]).map(lambda name: Variable(name, type_))
        return draw(st.one_of(variable, variable, variable, variable, constant))

    def literal():
        if equality and draw(st.integers(0, 7)) == 0:
            type_ = draw(st.sampled_from(["person", "house"]))
            atom = Equality(term(type_), term(type_))
        else:
            predicate = draw(st.sampled_from(list(vocabulary.predicates.values())))
            atom = Atom(predicate.name, tuple(term(type_) for type_ in predicate.types))
        return atom if draw(st.booleans()) else Not(atom)

    literals = tuple(literal() for _ in range(draw(st.integers(1, most_literals))))
    formula = draw(st.sampled_from([Or, Or, And]))(literals)
    if quantifiers and draw(st.integers(0, 3)) == 0:
        bound = draw(st.sampled_from([Variable("x", "person"), Variable("h", "house")]))
        formula = draw(st.sampled_from([Exists, ForAll]))((bound,), formula)
    possible = ground_atoms(vocabulary)
    share = draw(st.sampled_from([1, 2, 4]))
    bits = draw(st.lists(st.integers(0, share), min_size=len(possible), max_size=len(possible)))
    true = frozenset(GroundAtom(*atom) for atom, bit in zip(possible, bits, strict=True) if bit == 0)
    return ClauseCase(formula, World(vocabulary, true))
