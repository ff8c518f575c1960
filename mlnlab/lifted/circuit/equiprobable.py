r"""Equiprobable classes: groundings that no model without further evidence can tell apart.

Van den Broeck, Meert and Davis (2013), "Equiprobable random variables": preemptive shattering (Poole, Bacchus
and Kisynski 2011) enumerates all ways in which the variables of a formula can be equal, different, or one of
the constants that the model mentions. Groundings that are alike in this have one probability, so that

    E_w[n] = |E_1| · Pr(F theta_E1) + ... + |E_q| · Pr(F theta_Eq)                                       (4)

asks q questions, however large the domains are. Without constants q is a Bell number (Definition 2), for
several types their product, for several formulas their sum (Proposition 2); it is polynomial in the number of
constants that are mentioned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, perm, prod
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError, TooLargeError, count_of, require
from mlnlab.lifted.theory.shattering import Shattering
from mlnlab.lifted.theory.weighted_theory import mentioned_constants
from mlnlab.logic.checked_options import whole_number
from mlnlab.logic.formulas.formulas import Constant, Formula, Variable
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.formulas.substitution import all_variables, free_variables, substitute
from mlnlab.logic.formulas.weights import Hard
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN

if TYPE_CHECKING:
    import pandas as pd

    from mlnlab.logic.vocabulary import Vocabulary

MOST_CLASSES = 20_000

Named = tuple[tuple[str, tuple[str, ...]], ...]  # the constants that a model mentions, of each type


@cache
def bell(number: int) -> int:
    """Return B_n, the number of ways to say which of n variables are equal (Definition 2).

    >>> [bell(n) for n in range(6)]
    [1, 1, 2, 5, 15, 52]
    """
    return 1 if number == 0 else sum(comb(number - 1, k) * bell(k) for k in range(number))


def number_of_classes(variables: Sequence[Variable], mentioned: Mapping[str, Sequence[str]]) -> int:
    """Return |P|: for each type, some variables are constants and the others fall into a Bell number of ways.

    >>> number_of_classes([Variable("x", "person"), Variable("y", "person"), Variable("h", "house")], {})
    2
    >>> number_of_classes([Variable("x", "person"), Variable("y", "person")], {"person": ["Anna"]})
    5
    """
    of_type = Counter(variable.type for variable in variables)
    return prod(
        sum(comb(n, k) * len(mentioned.get(type_, ())) ** k * bell(n - k) for k in range(n + 1))
        for type_, n in of_type.items()
    )


def class_size(types: Sequence[str], sizes: Mapping[str, int], named: Mapping[str, Sequence[str]]) -> int:
    """Return in how many ways different constants can be chosen, none of them among those that are named."""
    chosen = Counter(types)
    return prod(perm(max(sizes[t] - len(named.get(t, ())), 0), k) for t, k in chosen.items())


@dataclass(frozen=True, slots=True)
class EquiprobableClass:
    """Groundings of one probability: which variables are constants, and which of the others are equal."""

    number: int  # of the formula in the model
    formula: Formula
    decided: tuple[tuple[Variable, int | str], ...]  # a constant, or the number of a set of equal variables
    named: Named

    @property
    def types(self) -> tuple[str, ...]:
        """The type of each set of equal variables."""
        first = {place: variable.type for variable, place in self.decided if isinstance(place, int)}
        return tuple(first.values())

    def size(self, sizes: Mapping[str, int]) -> int:
        """Return |E|, the number of groundings, for sizes of domains."""
        return class_size(self.types, sizes, dict(self.named))

    def representative(self, names: Mapping[str, Sequence[str]]) -> Formula | None:
        """Return F theta_E over constants of these names that the model does not mention, if there are."""
        known = dict(self.named)
        left = {t: iter([n for n in given if n not in known.get(t, ())]) for t, given in names.items()}
        chosen: dict[int, str] = {}
        binding: dict[Variable, Constant] = {}
        for variable, place in self.decided:
            if isinstance(place, int) and place not in chosen:
                name = next(left.get(variable.type, iter(())), None)
                if name is None:
                    return None
                chosen[place] = name
            text = chosen[place] if isinstance(place, int) else place
            binding[variable] = Constant(text, variable.type)
        return substitute(self.formula, binding)

    def __str__(self) -> str:
        """Return the formula with one variable for equal ones, and which of these are different."""
        first: dict[int, Variable] = {}
        binding: dict[Variable, Variable | Constant] = {}
        for variable, place in self.decided:
            if isinstance(place, int):
                binding[variable] = first.setdefault(place, variable)
            else:
                binding[variable] = Constant(place, variable.type)
        return ", ".join([to_text(substitute(self.formula, binding)), *self._differences(first)])

    def _differences(self, first: Mapping[int, Variable]) -> Iterator[str]:
        """Yield the inequalities: of variables of one type, and of the constants that the model mentions."""
        known = dict(self.named)
        for type_ in dict.fromkeys(v.type for v in first.values()):
            own = [v.name for v in first.values() if v.type == type_]
            apart = [*own, *known.get(type_, ())]
            if len(apart) > 1:
                yield " ≠ ".join(apart) if len(apart) == 2 else f"{', '.join(apart)} all different"


@dataclass(frozen=True, slots=True, eq=False)
class EquiprobableClasses:
    """The partition P of a model's groundings, and of its atoms."""

    mln: MLN
    classes: tuple[EquiprobableClass, ...]  # of weighted formulas
    atoms: tuple[EquiprobableClass, ...]  # of predicates, numbered in their order
    vocabulary: Vocabulary
    unknown: tuple[str, ...] = ()  # types whose sizes nobody has given

    def __len__(self) -> int:
        return len(self.classes)

    def __iter__(self) -> Iterator[EquiprobableClass]:
        return iter(self.classes)

    @property
    def sizes(self) -> dict[str, int]:
        """The number of constants of each type."""
        return {type_: len(domain) for type_, domain in self.vocabulary.types.items()}

    def of(self, formula: int) -> tuple[EquiprobableClass, ...]:
        """Return P_F of a formula, by its number."""
        number = whole_number(formula, "The number of a formula")
        if number >= len(self.mln.formulas):
            formulas = count_of(len(self.mln.formulas), "formula")
            raise ArgumentError(f"The model has {formulas}, numbered from 0; there is no formula {number}.")
        return tuple(one for one in self.classes if one.number == number)

    def queries(self, iterations: int = 100, databases: int = 1) -> dict[str, int]:
        """Return the cost of learning: t·b·D^n queries, t·b·|P| (Theorem 1), 1 + |P| compilations.

        The queries for each grounding are left out where sizes of domains are not known.
        """
        ground = sum(one.size(self.sizes) for one in self.classes)
        evaluations = whole_number(iterations, "iterations") * whole_number(databases, "databases")
        return {
            **({} if self.unknown else {"queries, one for each grounding": evaluations * ground}),
            "queries, one for each class": evaluations * len(self.classes),
            "compilations, Algorithm 1": 1 + len(self.classes),
            "compilations, one pass down": 1,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each class: formula, equalities, number of groundings, and an example."""
        import pandas as pd

        names = {type_: _first_names(domain, self.classes) for type_, domain in self.vocabulary.types.items()}
        rows = []
        for one in self.classes:
            found = one.representative(names)
            rows.append({
                "formula": one.number, "class": str(one), "groundings": self.groundings(one),
                "for instance": "" if found is None else to_text(found),
            })  # fmt: skip
        columns = ["formula", "class", "groundings", "for instance"]
        return pd.DataFrame(rows, columns=columns)

    def groundings(self, one: EquiprobableClass) -> int | None:
        """Return how many there are; nothing where a size is not known."""
        return None if set(one.types) & set(self.unknown) else one.size(self.sizes)

    def __repr__(self) -> str:
        ground = sum(one.size(self.sizes) for one in self.classes)
        unknown = " and ".join(self.unknown)
        classes = f"{len(self):,} equiprobable class{'' if len(self) == 1 else 'es'}"
        if unknown:
            return f"<{classes}; of how many groundings is unknown without the size of {unknown}>"
        return f"<{classes} of {count_of(ground, 'grounding')}>"


def equiprobable_classes(
    mln: MLN, domains: Mapping[str, int] | Database | None = None
) -> EquiprobableClasses:
    r"""Return which groundings of a model's weighted formulas have one probability (preemptive shattering).

    Their number does not depend on the sizes of domains: without constants it is the sum of the formulas'
    Bell numbers (Van den Broeck, Meert and Davis 2013, Proposition 2). ``domains`` says how many groundings
    each class has, and names one of them.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\n"
    ...     "1.5 Smokes(x) ^ Friends(x, y) => Smokes(y)")
    >>> classes = ml.equiprobable_classes(mln, {"person": 1000})
    >>> for one in classes:
    ...     print(one.size(classes.sizes), one)
    1000 Smokes(x) ^ Friends(x, x) => Smokes(x)
    999000 Smokes(x) ^ Friends(x, y) => Smokes(y), x ≠ y
    """
    if not isinstance(mln, MLN):
        raise ArgumentError(f"A model is needed, made by ml.MLN.from_text or ml.load, not {mln!r:.50}.")
    require(domains, (Mapping, Database, type(None)), "Sizes or a database say how many constants there are")
    model = mln.expand(domains)
    mentioned = mentioned_constants(model)
    shattering = Shattering({}, mentioned)
    weighted = [(n, one.formula) for n, one in enumerate(model.formulas) if not isinstance(one.weight, Hard)]
    predicates = [
        (n, predicate(*(Variable(f"x{place + 1}", t) for place, t in enumerate(predicate.types))))
        for n, predicate in enumerate(model.vocabulary.predicates.values())
    ]
    of_all = [
        tuple(one for n, formula in given for one in _classes(n, formula, shattering, mentioned))
        for given in (weighted, predicates)
    ]
    unknown = () if isinstance(domains, Database) else unknown_types(model, domains or {})
    return EquiprobableClasses(model, of_all[0], of_all[1], model.vocabulary, unknown)


def unknown_types(model: MLN, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """Return the types of variables whose sizes are not given, of which only named constants are known."""
    mentioned = mentioned_constants(model)
    used = {variable.type for one in model.formulas for variable in all_variables(one.formula)}
    return tuple(
        type_
        for type_, domain in model.vocabulary.types.items()
        if type_ in used and type_ not in sizes and len(domain) <= len(mentioned.get(type_, ()))
    )


def _classes(
    number: int, formula: Formula, shattering: Shattering, mentioned: Mapping[str, Sequence[str]]
) -> Iterator[EquiprobableClass]:
    variables = free_variables(formula)
    many = number_of_classes(variables, mentioned)
    if many > MOST_CLASSES:
        raise TooLargeError(
            f"The groundings of {to_text(formula):.100} fall into {many:,} classes; up to {MOST_CLASSES:,}"
            " are listed.", float(many), ["use fewer variables", "mention fewer constants in formulas"],
        )  # fmt: skip
    named = tuple((type_, tuple(names)) for type_, names in mentioned.items())
    for decided in shattering.cases(variables):
        yield EquiprobableClass(number, formula, tuple((v, decided[v]) for v in variables), named)


def _first_names(domain: Sequence[str], classes: Sequence[EquiprobableClass]) -> list[str]:
    """Return the first constants, enough for every class beside those that the model mentions."""
    needed = max((len(one.decided) + sum(len(n) for _, n in one.named) for one in classes), default=0)
    return [name for name, _ in zip(domain, range(needed), strict=False)]
