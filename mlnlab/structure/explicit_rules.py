"""The rules of a lifted hypergraph written out as an MLN over atoms and memberships, for small ones.

Each type t has a predicate of membership, In_t(t, cluster_of_t!), of which exactly one atom holds for each
constant. Of each predicate r the default rule is written without antecedent, as r(x, y), and what a
combination says is written as its difference from that, In(x, C) ^ In(y, D) ^ r(x, y): the same model in as
many formulas as there are combinations, where "in none of the combinations" would be as many literals in
one formula.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mlnlab.model.mln import MLN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.database import Database
    from mlnlab.structure.cluster_scores import PredicateScores


def membership_of(type_: str) -> str:
    """Return the name of a type's predicate of membership."""
    return f"In_{type_}"


def explicit_rules(
    vocabulary: Vocabulary, clusters: Mapping[str, tuple[int, ...]], scores: Mapping[str, PredicateScores]
) -> MLN:
    """Return the MLN of scores of true and false atoms, by predicate and combination."""
    lines = [
        f"cluster_of_{type_} = {{{', '.join(map(_name, own))}}}" for type_, own in clusters.items() if own
    ]
    lines += [str(predicate) for predicate in vocabulary.predicates.values()]
    lines += [
        f"{membership_of(type_)}({type_}, cluster_of_{type_}!)" for type_, own in clusters.items() if own
    ]
    for one in scores.values():
        lines += _formulas(one, clusters)
    return MLN.from_text("\n".join(lines))


def _formulas(one: PredicateScores, clusters: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    variables = [f"x{place + 1}" for place in range(len(one.types))]
    atom = f"{one.predicate}({', '.join(variables)})" if variables else one.predicate
    yield from _weighted(one.default_true, atom)
    yield from _weighted(one.default_false, f"!{atom}")
    for number, row in enumerate(one.combinations.tolist()):
        inside = [
            f"{membership_of(type_)}({variable}, {_name(clusters[type_][place])})"
            for type_, variable, place in zip(one.types, variables, row, strict=True)
        ]
        yield from _weighted(float(one.true[number]) - one.default_true, " ^ ".join([*inside, atom]))
        yield from _weighted(float(one.false[number]) - one.default_false, " ^ ".join([*inside, f"!{atom}"]))


def _weighted(weight: float, formula: str) -> Iterator[str]:
    if weight:
        yield f"{weight!r} {formula}"


def _name(cluster: int) -> str:
    return f"C{cluster}"


def with_memberships(database: Database, model: MLN, cluster_of: Mapping[tuple[str, str], int]) -> Database:
    """Return the database with facts of the memberships that are known."""
    known = {
        f'{membership_of(type_)}("{name}", {_name(cluster)})': True
        for (type_, name), cluster in cluster_of.items()
        if name in database.vocabulary.domain(type_)
    }
    return replace(database, vocabulary=model.vocabulary_with(database)).with_atoms(known)
