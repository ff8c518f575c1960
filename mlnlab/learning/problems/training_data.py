"""Databases to learn from, beside the one list of formulas whose weights they all inform.

``+x`` and ``*P`` are written out over the constants of all databases together, so that weight i means the
same formula everywhere; a database that lacks one of these constants knows it, and nothing true about it. All
other constants belong to their own database alone: two folds are two worlds, not one larger one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

from mlnlab.counting.facts.renumbering import renumber_tables
from mlnlab.errors import ArgumentError
from mlnlab.inference.ask.broken_data import name_database, refuse_broken
from mlnlab.logic.formulas.formulas import Atom, Formula, Variable
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import predicates as predicates_of
from mlnlab.logic.formulas.weights import Fixed, Hard, Soft, ToLearn, WeightedFormula
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import FrozenMapping, Predicate, Vocabulary
from mlnlab.model.database.database import Database
from mlnlab.model.database.fingerprints import constants_of, fingerprint
from mlnlab.model.database.hiding import FalseFacts, check_false_facts, hiding
from mlnlab.model.mln.domain_sizes import with_constants_of
from mlnlab.model.mln.learned_sizes import sizes_of, types_that_matter
from mlnlab.model.mln.mln import MLN
from mlnlab.steps.run_identity import digest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """One database, and the formulas over its constants."""

    database: Database
    vocabulary: Vocabulary  # of the database, with the constants that formulas mention

    def number_of_atoms(self, predicate: str) -> int:
        """Return the number of a predicate's ground atoms over these constants."""
        return prod(len(self.vocabulary.domain(type_)) for type_ in self.vocabulary[predicate].types)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingData:
    """A model whose marks are written out, its databases, and which predicates are to be predicted."""

    mln: MLN  # expanded; its own constants are those of the model text and of marks, not of databases
    examples: tuple[Example, ...]
    query: tuple[str, ...]  # empty: all predicates
    false_facts: FalseFacts = "data"

    @property
    def formulas(self) -> tuple[WeightedFormula, ...]:
        """The formulas, in the order of the weights."""
        return self.mln.formulas

    def model(self, example: Example) -> MLN:
        """Return the model over the constants of one database."""
        return replace(self.mln, vocabulary=example.vocabulary)

    @property
    def likelihood(self) -> str:
        """The name of the likelihood: conditional, where something is only evidence."""
        return "conditional-log-likelihood" if self.query else "log-likelihood"

    @property
    def predicted(self) -> tuple[str, ...]:
        """The predicates whose atoms are predicted: those of the query, or all that are not closed."""
        known = self.mln.vocabulary.predicates
        return self.query or tuple(name for name in known if not known[name].closed)

    @property
    def mentioned(self) -> tuple[str, ...]:
        """The predicted predicates that formulas mention; atoms of the others are independent fair coins."""
        names = {name for weighted in self.formulas for name in predicates_of(weighted.formula)}
        return tuple(name for name in self.predicted if name in names)

    def with_weights(self, weights: NDArray[np.float64]) -> MLN:
        """Return the model with other weights for the formulas that are not hard or fixed."""
        formulas = tuple(
            weighted
            if isinstance(weighted.weight, Hard | Fixed)
            else replace(weighted, weight=Soft(float(weight)))
            for weighted, weight in zip(self.formulas, weights, strict=True)
        )
        known = replace(self.mln, formulas=formulas)
        evidence = set(self.mln.vocabulary.predicates).difference(self.predicted)
        matters = types_that_matter(known, evidence)
        sizes = [sizes_of(one.vocabulary) for one in self.examples]
        return replace(known, learned_on=tuple(FrozenMapping({t: one[t] for t in matters}) for one in sizes))

    def hide_predicted_atoms(self, example: Example) -> Database:
        """Return the evidence: the database without its facts about the predicted atoms.

        Predicted atoms that no formula mentions are left in: they bear on no formula, and a block of them
        without its true atom would be impossible.
        """
        return hiding(example.database, self.mentioned, self.false_facts)

    def known_false(self, example: Example, predicate: str) -> NDArray[np.uint32]:
        """Return the atoms of a predicted predicate that are known to be false, as rows of constants."""
        relation = example.database.relation(predicate)
        rows = relation.false if self.false_facts == "evidence" else relation.false[:0]
        return renumber_tables({predicate: rows}, example.database.vocabulary, example.vocabulary)[predicate]


def identity_of(example: Example) -> str:
    """Return a digest that is equal for equal constants and facts."""
    return digest(fingerprint(example.database), *constants_of(example.vocabulary))


def training_data(
    mln: MLN,
    databases: Database | Sequence[Database],
    query: Sequence[str] | str | None = None,
    *,
    units: bool = False,
    false_facts: FalseFacts = "data",
) -> TrainingData:
    """Bring databases together under one list of formulas; refuse those that do not fit.

    ``units`` adds a formula ``P(x, y)`` for each predicted predicate that has none. With
    ``false_facts="evidence"`` atoms that are listed as false are known, and not predicted.
    """
    if not isinstance(mln, MLN):
        raise ArgumentError(f"A model is needed first, made by ml.MLN.from_text or ml.load, not {mln!r:.50}.")
    given = _list_databases(databases)
    for number, database in enumerate(given):
        _check(database, number, len(given))
    names = _query(mln, query)
    expanded = replace(_expand_model(mln, given), learned_on=())
    if units:
        expanded = with_units(expanded, names)
    formulas = [weighted.formula for weighted in expanded.formulas]
    examples = tuple(
        Example(database, with_constants_of(expanded.vocabulary_with(database), formulas))
        for database in given
    )
    data = TrainingData(expanded, examples, names, check_false_facts(false_facts))
    _refuse_empty(data)
    for number, example in enumerate(examples):
        refuse_broken(data.model(example), example.database, name_database(given, number))
    return data


def _list_databases(databases: object) -> list[Database]:
    if isinstance(databases, Database):
        return [databases]
    given = list(databases) if isinstance(databases, Iterable) and not isinstance(databases, str) else []
    if not given:
        raise ArgumentError(
            "Weights are learned from data: give a database, made by ml.Database.from_text or ml.load_db, or "
            f"a list of them, not {databases!r:.60}."
        )
    return given


def _check(database: object, number: int, of: int) -> None:
    which = f"database {number + 1} of {of}" if of > 1 else "the database"
    if not isinstance(database, Database):
        raise ArgumentError(
            f"Weights are learned from databases, from ml.Database.from_text or ml.load_db; {which} is "
            f"{database!r:.60}."
        )
    for name, relation in database.relations.items():
        undecided = relation.listed - len(relation.true) - len(relation.false)
        if undecided:
            named = f" ({database.name})" if database.name else ""
            raise ArgumentError(
                f"{which[0].upper()}{which[1:]}{named} marks {undecided:,} atoms of {name} as unknown or "
                "soft; learning needs complete data. Remove the marks: what is not listed is false."
            )


def _query(mln: MLN, query: object) -> tuple[str, ...]:
    if query is None:
        return ()
    names: list[Any] = [query]
    if isinstance(query, Iterable) and not isinstance(query, str):
        names = list(query)
    for name in names:
        if name not in mln.vocabulary.predicates:
            hint = did_you_mean(str(name), mln.vocabulary.predicates) or "."
            raise ArgumentError(f"There is no predicate {name!s:.60} to learn to predict{hint}")
        if mln.vocabulary[name].closed:
            raise ArgumentError(f"{name} is declared closed (*{name}): it is evidence and is not predicted.")
    if not names:
        raise ArgumentError('Name the predicates to predict, query=["Cancer"], or leave query= out for all.')
    return tuple(dict.fromkeys(names))


def _expand_model(mln: MLN, databases: Sequence[Database]) -> MLN:
    """Return the model with its marks written out over the constants of all databases."""
    marked = {
        variable.type
        for weighted in mln.formulas
        for variable in free_variables(weighted.formula)
        if variable.name in weighted.per_constant
    }
    if mln.semantics == "alchemy" or marked:
        union = mln.vocabulary
        for database in databases:
            union = _join_vocabularies(union, mln.vocabulary_with(database), None)
        complete = replace(mln, vocabulary=union).expand(databases[0] if len(databases) == 1 else None)
        complete = (
            replace(mln, vocabulary=union).expand(_Constants(union)) if len(databases) > 1 else complete
        )
        kept = _join_vocabularies(mln.vocabulary, union, marked)
        return replace(complete, vocabulary=with_constants_of(kept, [w.formula for w in complete.formulas]))
    expanded = mln.expand()
    return replace(
        expanded, vocabulary=with_constants_of(mln.vocabulary, [w.formula for w in expanded.formulas])
    )


@dataclass(frozen=True, slots=True)
class _Constants:
    """A vocabulary in the place of a database."""

    vocabulary: Vocabulary


def _join_vocabularies(own: Vocabulary, other: Vocabulary, types: set[str] | None) -> Vocabulary:
    """Return a vocabulary with the constants that another one has in addition, of some types or of all."""
    for type_, domain in other.types.items():
        if types is not None and type_ not in types:
            continue
        known = own.types.get(type_)
        extended = getattr(known, "add_names", None)
        if known is None or not len(known):
            own = own.with_domain(type_, domain)
        elif extended is not None and known != domain:
            own = own.with_domain(type_, extended([name for name in domain if name not in known]))
    return own


def with_units(mln: MLN, query: Sequence[str]) -> MLN:
    """Return the model with a unit formula for each predicate (of the query, or all) that has none."""
    have = {f.formula.predicate for f in mln.formulas if isinstance(f.formula, Atom)}
    for name in query or tuple(predicate for predicate in mln.vocabulary.predicates):
        if name not in have:
            mln = mln.add(_unit(mln.vocabulary[name]))
    return mln


def _unit(predicate: Predicate) -> Formula:
    return predicate(*(Variable(f"x{place + 1}") for place in range(predicate.arity)))


def _refuse_empty(data: TrainingData) -> None:
    """Say that nothing is predicted, or which predicate has no atom at all in any database."""
    if not data.predicted:
        raise ArgumentError(
            "Every predicate is declared closed, so that all atoms are evidence and nothing is left to "
            "predict. Declare one without *."
        )
    for name in data.query:
        types = data.mln.vocabulary[name].types
        empty = [t for t in types if not any(len(e.vocabulary.domain(t)) for e in data.examples)]
        if empty:
            raise ArgumentError(
                f"{data.mln.vocabulary[name]} has no ground atoms: no database knows a constant of type "
                f"{empty[0]}."
            )


def to_learn(mln: MLN) -> list[int]:
    """Return the formulas that have no weight yet."""
    return [number for number, weighted in enumerate(mln.formulas) if isinstance(weighted.weight, ToLearn)]
