"""The rules of a lifted hypergraph written out as an MLN over atoms and memberships, for small ones.

Each type t has a predicate of membership, In_t(t, cluster_of_t!), of which exactly one atom holds for each
constant; underscores follow where the database has such a name itself. Of each predicate r the default rule
is written without antecedent, as r(x, y), and what a combination says is written as its difference from
that, In(x, C) ^ In(y, D) ^ r(x, y): the same model in as many formulas as there are combinations, where "in
none of the combinations" would be as many literals in one formula.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mlnlab.logic.ground_atoms import quoted
from mlnlab.model.mln import MLN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.database import Database
    from mlnlab.structure.cluster_scores import PredicateScores


def membership_of(type_: str, vocabulary: Vocabulary) -> str:
    """Return the name of a type's predicate of membership, one that no predicate of the database has."""
    return _free(f"In_{type_}", vocabulary.predicates)


def _clusters_of(type_: str, vocabulary: Vocabulary) -> str:
    return _free(f"cluster_of_{type_}", vocabulary.types)


def _free(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name += "_"
    return name


def explicit_rules(
    vocabulary: Vocabulary, clusters: Mapping[str, tuple[int, ...]], scores: Mapping[str, PredicateScores]
) -> MLN:
    """Return the MLN of scores of true and false atoms, by predicate and combination."""
    inside = {type_: membership_of(type_, vocabulary) for type_, own in clusters.items() if own}
    sorts = {type_: _clusters_of(type_, vocabulary) for type_ in inside}
    lines = [f"{sorts[type_]} = {{{', '.join(map(_name, clusters[type_]))}}}" for type_ in inside]
    lines += [str(predicate) for predicate in vocabulary.predicates.values()]
    lines += [f"{name}({type_}, {sorts[type_]}!)" for type_, name in inside.items()]
    for one in scores.values():
        lines += _formulas(one, clusters, inside)
    return MLN.from_text("\n".join(lines))


def _formulas(
    one: PredicateScores, clusters: Mapping[str, tuple[int, ...]], membership: Mapping[str, str]
) -> Iterator[str]:
    variables = [f"x{place + 1}" for place in range(len(one.types))]
    atom = f"{one.predicate}({', '.join(variables)})"
    yield from _weighted(one.default_true, atom)
    yield from _weighted(one.default_false, f"!{atom}")
    for number, row in enumerate(one.combinations.tolist()):
        inside = [
            f"{membership[type_]}({variable}, {_name(clusters[type_][place])})"
            for type_, variable, place in zip(one.types, variables, row, strict=True)
        ]
        yield from _weighted(float(one.true[number]) - one.default_true, " ^ ".join([*inside, atom]))
        yield from _weighted(float(one.false[number]) - one.default_false, " ^ ".join([*inside, f"!{atom}"]))


def _weighted(weight: float, formula: str) -> Iterator[str]:
    if weight:
        yield f"{weight!r} {formula}"


def _name(cluster: int) -> str:
    return f"C{cluster}"


def with_memberships(
    database: Database, model: MLN, vocabulary: Vocabulary, cluster_of: Mapping[tuple[str, str], int]
) -> Database:
    """Return the database with facts of the memberships that are known; the vocabulary is what was lifted."""
    known = {
        f"{membership_of(type_, vocabulary)}({quoted(name)}, {_name(cluster)})": True
        for (type_, name), cluster in cluster_of.items()
        if name in database.vocabulary.domain(type_)
    }
    return replace(database, vocabulary=model.vocabulary_with(database)).with_atoms(known)
