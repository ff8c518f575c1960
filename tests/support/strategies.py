"""Hypothesis strategies: small vocabularies, worlds over them, well-typed formulas, weighted formulas.

Formulas use few variable names, so that quantifiers often rebind a name that is in use: capture, shadowing
and the like come by themselves. A variable's type follows from its name, as it does in a text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice, product

from hypothesis import strategies as st

from mlnlab.logic.evaluation import groundings
from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    Atom,
    Cardinality,
    Comparison,
    Constant,
    CountingExists,
    Equality,
    Exists,
    ForAll,
    Iff,
    Implies,
    Not,
    Or,
    Truth,
    Variable,
)
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import atoms
from mlnlab.logic.formulas.weights import Fixed, Hard, Soft, ToLearn, WeightedFormula
from mlnlab.logic.vocabulary import (
    Domain,
    FrozenMapping,
    NamedDomain,
    Predicate,
    RangeDomain,
    SizedDomain,
    Vocabulary,
)

VARIABLES = {
    "person": (Variable("x", "person"), Variable("x1", "person")),
    "movie": (Variable("m", "movie"),),
    "time": (Variable("t", "time"), Variable("s", "time")),
}
RELATIONS = ("=", "!=", "<", "<=", ">", ">=")
PEOPLE = ("Anna", "Bob", "Carl")


@dataclass(frozen=True)
class SmallWorld:
    """A structure with its true ground atoms in a set."""

    vocabulary: Vocabulary
    true_atoms: frozenset[tuple[str, tuple[str, ...]]]

    def domain(self, type_: str, /) -> Domain:
        return self.vocabulary.domain(type_)

    def holds(self, predicate: str, arguments: tuple[str, ...], /) -> bool:
        return (predicate, arguments) in self.true_atoms


def ground_atoms(vocabulary):
    """Every ground atom of a vocabulary, as pairs of predicate and constants."""
    return [
        (predicate.name, arguments)
        for predicate in vocabulary.predicates.values()
        for arguments in product(*map(vocabulary.domain, predicate.types))
    ]


@st.composite
def vocabularies(draw, *, empty_types=True, blocks=False):
    """Types person (named), movie (sized) and time (a range), each small; two to four predicates.

    With ``blocks``, every second predicate has arguments marked ``!`` or ``?``, or is a function.
    """
    # At most one type is empty, because a formula with a free variable of it has no grounding at all.
    empty = draw(st.sampled_from([None] * 7 + ["person", "movie", "time"])) if empty_types else None
    sizes = {type_: 0 if type_ == empty else draw(st.integers(1, 3)) for type_ in VARIABLES}
    low = draw(st.integers(-1, 2))
    types = {
        "person": NamedDomain(PEOPLE[: sizes["person"]], is_listed=empty == "person"),
        "movie": SizedDomain("Movie", min(sizes["movie"], 2)),
        "time": RangeDomain(low, low + sizes["time"] - 1),
    }
    # With one type only, quantifiers, atoms and arithmetic are likely to have to do with each other.
    argument_types = st.sampled_from(
        draw(st.sampled_from([["time"], ["person"], ["person", "time", "movie"]]))
    )
    signature = st.sampled_from([0, 1, 1, 1, 2, 2, 3]).flatmap(
        lambda arity: st.tuples(*[argument_types] * arity)
    )
    signatures = draw(st.lists(signature, min_size=2, max_size=4))
    predicates = {name: Predicate(name, types_) for name, types_ in zip("PQRS", signatures, strict=False)}
    if blocks:
        predicates = {name: draw(_marked(predicate)) for name, predicate in predicates.items()}
    return Vocabulary(FrozenMapping(types), FrozenMapping(predicates))


@st.composite
def _marked(draw, predicate):
    """The predicate, or the same with blocks of exclusive atoms."""
    if not predicate.arity or draw(st.booleans()):
        return predicate
    kind = draw(st.sampled_from(["!", "!", "?", "function"]))
    places = st.lists(st.integers(0, predicate.arity - 1), min_size=1, max_size=2, unique=True)
    exclusive = (predicate.arity - 1,) if kind == "function" else tuple(sorted(draw(places)))
    return replace(predicate, exclusive=exclusive, at_most_one=kind == "?", function=kind == "function")


def worlds(vocabulary):
    """Any set of true ground atoms; each atom is true half of the time."""
    possible = ground_atoms(vocabulary)
    choices = st.integers(0, 2 ** len(possible) - 1) | st.just(2 ** len(possible) // 3)
    return choices.map(
        lambda bits: SmallWorld(
            vocabulary, frozenset(atom for place, atom in enumerate(possible) if bits >> place & 1)
        )
    )


def _simple_terms(vocabulary, type_):
    names = islice(vocabulary.domain(type_), 4)
    constants = [Constant(name, type_) for name in names]
    return st.sampled_from([*VARIABLES[type_], *constants])


def _calculations(vocabulary, operators):
    simple = _simple_terms(vocabulary, "time")
    # The 1 of t + 1 belongs to no type.
    numbers = st.integers(-1, 2).map(lambda number: Constant(str(number)))
    return st.builds(Arithmetic, st.sampled_from(operators), simple, simple | numbers)


def terms(vocabulary, type_, *, arithmetic=True):
    """A variable, a constant or, of the type time, a calculation."""
    simple = _simple_terms(vocabulary, type_)
    if type_ != "time" or not arithmetic:
        return simple
    nested = st.builds(Arithmetic, st.just("+"), _calculations(vocabulary, "+-*/%"), simple)
    return st.one_of(
        simple, simple, _calculations(vocabulary, "+-"), _calculations(vocabulary, "*/%"), nested
    )


@st.composite
def atoms_of(draw, vocabulary, *, arithmetic=True):
    """An atom over the vocabulary."""
    predicate = draw(st.sampled_from(list(vocabulary.predicates.values())))
    arguments = [draw(terms(vocabulary, type_, arithmetic=arithmetic)) for type_ in predicate.types]
    return Atom(predicate.name, tuple(arguments))


@st.composite
def atomic_formulas(draw, vocabulary, *, arithmetic=True, counting=True):
    """An atom (mostly), an equality, a comparison, a cardinality or a truth value."""
    kind = draw(st.sampled_from(["atom"] * 6 + ["equality", "comparison", "cardinality", "truth"]))
    if kind == "equality":
        sides = terms(vocabulary, draw(st.sampled_from(sorted(VARIABLES))), arithmetic=arithmetic)
        return Equality(draw(sides), draw(sides))
    if kind == "comparison" and arithmetic:
        sides = _simple_terms(vocabulary, "time") | _calculations(vocabulary, "+-*")
        return Comparison(draw(st.sampled_from(RELATIONS[2:])), draw(sides), draw(sides))
    if kind == "cardinality" and counting:
        predicate = draw(st.sampled_from(list(vocabulary.predicates.values())))
        relation, bound = draw(st.sampled_from(RELATIONS)), draw(st.integers(-1, 4))
        return Cardinality(predicate.name, predicate.types, relation, bound)
    if kind == "truth":
        return Truth(draw(st.booleans()))
    return draw(atoms_of(vocabulary, arithmetic=arithmetic))


@st.composite
def formulas(draw, vocabulary, *, depth=3, arithmetic=True, counting=True):
    """A well-typed formula of any kind, nested at most so deep."""
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return draw(atomic_formulas(vocabulary, arithmetic=arithmetic, counting=counting))
    inner = formulas(vocabulary, depth=depth - 1, arithmetic=arithmetic, counting=counting)
    kind = draw(st.sampled_from([Not, And, And, Or, Or, Implies, Iff, ForAll, Exists, CountingExists]))
    if kind is CountingExists and not counting:
        kind = Exists
    if kind is Not:
        return Not(draw(inner))
    if kind in {And, Or}:
        return kind(tuple(draw(st.lists(inner, min_size=0 if depth == 1 else 1, max_size=3))))
    if kind in {Implies, Iff}:
        return kind(draw(inner), draw(inner))
    variables = draw(_quantified_variables())
    if kind is CountingExists:
        relation, bound = draw(st.sampled_from(RELATIONS)), draw(st.integers(-1, 4))
        return CountingExists(relation, bound, variables, draw(inner))
    return kind(variables, draw(inner))


def _quantified_variables():
    # Moments more often than others: they are what arithmetic restricts.
    every = [*VARIABLES["person"], *VARIABLES["time"], *VARIABLES["movie"]]
    times = st.permutations(VARIABLES["time"]).flatmap(lambda both: st.sampled_from([both[:1], both]))
    return (times | st.lists(st.sampled_from(every), min_size=1, max_size=2, unique=True)).map(tuple)


@st.composite
def literals(draw, vocabulary):
    """An atom or, half of the time, its negation."""
    atom = draw(atoms_of(vocabulary, arithmetic=False))
    return Not(atom) if draw(st.booleans()) else atom


def weights():
    """A weight of any kind."""
    numbers = st.floats(-20, 20).map(lambda value: round(value, 3))
    return st.one_of(st.builds(Soft, numbers), st.builds(Fixed, numbers), st.just(Hard()), st.just(ToLearn()))


@st.composite
def weighted_formulas(draw, vocabulary, **options):
    """A formula with a weight; sometimes with a +variable or a *atom."""
    formula = draw(formulas(vocabulary, **options))
    free = sorted({variable.name for variable in free_variables(formula)})
    per_constant = draw(st.lists(st.sampled_from(free), unique=True, max_size=1)) if free else []
    signs = draw(st.lists(st.sampled_from(atoms(formula)), unique=True, max_size=1)) if atoms(formula) else []
    return WeightedFormula(formula, draw(weights()), tuple(per_constant), tuple(signs))


@dataclass(frozen=True)
class Case:
    """A formula and a world to evaluate it in."""

    vocabulary: Vocabulary
    formula: object
    world: SmallWorld

    def bindings(self, most=24):
        """The first groundings of the formula."""
        return list(islice(groundings(self.formula, self.world), most))


@st.composite
def cases(draw, *, empty_types=True, **options):
    """A random vocabulary, a formula over it and a world of it."""
    vocabulary = draw(vocabularies(empty_types=empty_types))
    return Case(vocabulary, draw(formulas(vocabulary, **options)), draw(worlds(vocabulary)))
