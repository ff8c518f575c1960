"""LHL-LiftGraph: the rules of a lifted hypergraph as a model of other databases.

Kok and Domingos, "Learning Markov logic network structure via hypergraph lifting" (ICML 2009), sections 3.1
and 4.2. For each cluster combination with a true atom there is an *atom prediction* rule, and for each
predicate a *default* rule for the atoms in none of them; their weights are log(t / (n - t)) where t of n
atoms are true. So that no weight is infinite, α true and β false atoms are added to each (``smoothing``,
half of either). Constants that were not seen belong to clusters as well as their evidence says
(:mod:`.cluster_membership`), and

    P(r(x1, ..., xn)) = sum over combinations c of P(c holds x1, ..., xn | evidence) P(r | c)

Nothing is ground: the paper's run on Cora crashed because the default rules blow up as clauses. By
``mln()`` the same model is written out in the language, for a look and for small databases; there, too, the
default rule is a formula without antecedent, and combinations say how they differ from it, which means the
same.

``likelihood="conditional"`` is that of the paper's section 3.1, P(D | clusters), in which atoms are
predicted and memberships are what predicts them best. ``"joint"`` takes the rules as clauses of one MLN
over atoms and memberships, as Alchemy does: then a true atom is as good anywhere, and what a false atom
scores is -w.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import exp, log, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.errors import ArgumentError, count_of
from mlnlab.evaluation.judged_atoms import AtomProbabilities
from mlnlab.logic.formulas.ground_atoms import GroundAtom, quote_name
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN
from mlnlab.structure.clusters.cluster_membership import EvidenceAtoms, memberships
from mlnlab.structure.clusters.cluster_scores import (
    SMOOTHING,
    PredicateScores,
    predict_atoms,
    refuse_odd_rules,
)
from mlnlab.structure.lift.lift_graph import lift_graph

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.structure.clusters.cluster_scores import (
        Likelihood,
        MembershipPrior,
        Memberships,
        Places,
    )
    from mlnlab.structure.lift.clustering_posterior import Smoothing
    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph


class AtomRule(NamedTuple):
    """An atom prediction rule, or without clusters a default rule: t of n atoms are true."""

    predicate: str
    clusters: tuple[int, ...]
    true: int
    atoms: int
    weight: float

    @property
    def probability(self) -> float:
        """The probability of an atom that the rule is about."""
        return 1.0 / (1.0 + exp(-self.weight))


@dataclass(frozen=True, eq=False)
class ClusterRules:
    """The atom prediction rules of a lifted hypergraph, and their scores for a database.

    ``databases`` are those that were lifted together: then only atoms within one of them are counted.
    """

    lifted: LiftedHypergraph
    databases: tuple[Database, ...] = ()
    smoothing: Smoothing = SMOOTHING
    likelihood: Likelihood = "conditional"
    membership_prior: MembershipPrior = "uniform"

    def __post_init__(self) -> None:
        """Refuse invalid parameters, such as those that would make weights infinite."""
        refuse_odd_rules(self.smoothing, self.likelihood, self.membership_prior)

    # --- the rules ------------------------------------------------------------------------------

    @cached_property
    def rules(self) -> tuple[AtomRule, ...]:
        """All rules: those of a predicate's combinations, then its default rule."""
        return tuple(self._rules())

    def _rules(self) -> Iterator[AtomRule]:
        edges: dict[str, list[tuple[tuple[int, ...], int]]] = {}
        for edge in self.lifted.edges:
            edges.setdefault(edge.predicate, []).append((edge.clusters, edge.true))
        for name, predicate in self.lifted.hypergraph.vocabulary.predicates.items():
            left = self._atoms(predicate.types, None)
            for clusters, true in edges.get(name, []):
                atoms = self._atoms(predicate.types, clusters)
                left -= atoms
                yield self._rule(name, clusters, true, atoms)
            # Propositions have no constants to cluster, so that their one atom is what the rule is about.
            true = 0 if predicate.types else len(self.lifted.hypergraph.members.get(name, ()))
            yield self._rule(name, (), true, left)

    def _rule(self, predicate: str, clusters: tuple[int, ...], true: int, atoms: int) -> AtomRule:
        weight = log((true + self.smoothing[0]) / (atoms - true + self.smoothing[1]))
        return AtomRule(predicate, clusters, true, atoms, weight)

    def _atoms(self, types: Sequence[str], clusters: tuple[int, ...] | None) -> int:
        """Return how many atoms a combination has, or a predicate in all, within the databases."""
        total = 0
        for sizes in self._sizes:
            if clusters is None:
                total += prod(int(sizes[self._nodes_of(type_)].sum()) for type_ in types)
            else:
                total += prod(int(sizes[cluster]) for cluster in clusters)
        return total

    @cached_property
    def _sizes(self) -> list[NDArray[np.int64]]:
        """How many constants each cluster has, database by database."""
        if not self.databases:
            return [self.lifted.sizes]
        numbers = {
            (node.type, node.constant): place for place, node in enumerate(self.lifted.hypergraph.nodes())
        }
        found = []
        for database in self.databases:
            own = [
                numbers[type_, name]
                for type_ in self.lifted.hypergraph.constants
                for name in database.vocabulary.domain(type_)
                if (type_, name) in numbers
            ]
            found.append(np.bincount(self.lifted.labels[own], minlength=len(self.lifted.labels)))
        return found

    def _nodes_of(self, type_: str) -> slice:
        graph = self.lifted.hypergraph
        first = graph.offsets[type_]
        return slice(first, first + len(graph.constants[type_]))

    @cached_property
    def clusters(self) -> dict[str, tuple[int, ...]]:
        """The clusters of each type."""
        found: dict[str, list[int]] = {type_: [] for type_ in self.lifted.hypergraph.constants}
        for cluster in self.lifted.clusters.tolist():
            found[self.lifted.type_of(cluster)].append(cluster)
        return {type_: tuple(clusters) for type_, clusters in found.items()}

    @cached_property
    def cluster_of(self) -> dict[tuple[str, str], int]:
        """The cluster of each seen constant, by type and name."""
        labels = self.lifted.labels.tolist()
        nodes = self.lifted.hypergraph.nodes()
        return {(node.type, node.constant): label for node, label in zip(nodes, labels, strict=True)}

    @cached_property
    def scores(self) -> dict[str, PredicateScores]:
        """The scores of true and false atoms by the rules of each predicate."""
        own: dict[str, list[AtomRule]] = {}
        for rule in self.rules:
            own.setdefault(rule.predicate, []).append(rule)
        return {name: self._scores(name, rules) for name, rules in own.items()}

    def _scores(self, name: str, rules: Sequence[AtomRule]) -> PredicateScores:
        types = self.lifted.hypergraph.vocabulary.predicates[name].types
        places = [{cluster: n for n, cluster in enumerate(self.clusters[type_])} for type_ in types]
        *predicting, default = rules
        rows = [[of[one] for of, one in zip(places, rule.clusters, strict=True)] for rule in predicting]
        pairs = np.array([self._pair(rule.weight) for rule in predicting]).reshape(-1, 2)
        return PredicateScores(
            name, types, np.array(rows, np.int64).reshape(len(rows), len(types)), pairs[:, 0], pairs[:, 1],
            *self._pair(default.weight),
        )  # fmt: skip

    def _pair(self, weight: float) -> tuple[float, float]:
        """Return the scores of a true and a false atom under a rule of this weight."""
        if self.likelihood == "joint":
            return 0.0, -weight
        return -float(np.logaddexp(0.0, -weight)), -float(np.logaddexp(0.0, weight))

    # --- what they say of a database ------------------------------------------------------------

    def probabilities(self, database: Database, predicates: Sequence[str]) -> AtomProbabilities:
        """Return the probabilities of all atoms of some predicates, given the facts of all others."""
        if not isinstance(database, Database):
            raise ArgumentError(f"Atoms are predicted in a database, by ml.load_db, not in {database!r:.60}.")
        predicates = [predicates] if isinstance(predicates, str) else predicates
        for name in predicates:
            if name not in self.scores:
                self.lifted.hypergraph.vocabulary[name]  # says what there is instead
        assignments = self.memberships(database, predicates)
        atoms: list[GroundAtom] = []
        parts = [np.zeros(0)]
        for name in predicates:
            domains = [database.domain(type_) for type_ in self.scores[name].types]
            atoms += [GroundAtom(name, arguments) for arguments in product(*domains)]
            parts.append(sum(
                (share * predict_atoms(self.scores[name], q) for share, q in assignments),
                np.zeros(prod(map(len, domains))),
            ))  # fmt: skip
        return AtomProbabilities(tuple(atoms), np.clip(np.concatenate(parts), 0.0, 1.0))

    def memberships(
        self, database: Database, predicates: Sequence[str] = ()
    ) -> list[tuple[float, Memberships]]:
        """Return memberships with their probabilities: for each type, a row for each constant.

        The columns are the type's ``clusters``; facts of ``predicates`` are not looked at.
        """
        known: Memberships = {}
        unseen: dict[str, Places] = {}
        prior: Memberships = {}
        for type_, clusters in self.clusters.items():
            places = {cluster: place for place, cluster in enumerate(clusters)}
            domain = database.domain(type_)
            own = [self.cluster_of.get((type_, name)) for name in domain]
            known[type_] = np.zeros((len(domain), len(clusters)))
            for row, cluster in enumerate(own):
                if cluster is not None:
                    known[type_][row, places[cluster]] = 1.0
            unseen[type_] = np.array([row for row, cluster in enumerate(own) if cluster is None], np.int64)
            weights = self.lifted.sizes[list(clusters)] if self.membership_prior == "sizes" else 1.0
            prior[type_] = np.log(weights * np.ones(len(clusters)))
        return memberships(list(self._evidence(database, predicates)), known, unseen, prior)

    def _evidence(self, database: Database, hidden: Sequence[str]) -> Iterator[EvidenceAtoms]:
        for name, scores in self.scores.items():
            if not scores.types:
                continue
            if name not in hidden:
                yield EvidenceAtoms(scores, database.relation(name).true.astype(np.int64))
            elif self.likelihood == "joint":
                # Summed over the truth of a hidden atom, what is left says something of memberships.
                either = np.logaddexp(scores.true, scores.false)
                default = float(np.logaddexp(scores.default_true, scores.default_false))
                summed = PredicateScores(
                    name, scores.types, scores.combinations, either, either, default, default
                )
                yield EvidenceAtoms(summed, np.zeros((0, len(scores.types)), np.int64))

    # --- written out ----------------------------------------------------------------------------

    def mln(self) -> MLN:
        """Return the same model in the language: a predicate of membership for each type, and all rules."""
        return explicit_rules(self.lifted.hypergraph.vocabulary, self.clusters, self.scores)

    def evidence(self, database: Database) -> Database:
        """Return a database with the memberships of seen constants, for questions to ``mln()``."""
        return with_memberships(database, self.mln(), self.lifted.hypergraph.vocabulary, self.cluster_of)

    def __repr__(self) -> str:
        clusters = count_of(len(self.lifted.clusters), "cluster")
        return f"<ClusterRules: {count_of(len(self.rules), 'rule')} over {clusters}>"


def cluster_rules(
    databases: Database | Iterable[Database],
    *,
    penalty: float = 1.0,
    smoothing: Smoothing = SMOOTHING,
    likelihood: Likelihood = "conditional",
    membership_prior: MembershipPrior = "uniform",
) -> ClusterRules:
    r"""Lift databases together, and return the rules of the result: LHL-LiftGraph's model.

    >>> import mlnlab as ml
    >>> from mlnlab.structure.clusters.cluster_rules import cluster_rules
    >>> department = ml.sample("department").databases["department"]
    >>> cluster_rules(department)
    <ClusterRules: 15 rules over 12 clusters>
    """
    listed = (databases,) if isinstance(databases, Database) else tuple(databases)
    if not listed:
        raise ArgumentError("Name at least one database to learn from.")
    whole = listed[0]
    for other in listed[1:]:
        whole = whole.with_facts(other.to_text())
    lifted = lift_graph(whole, penalty=penalty).run()
    return ClusterRules(lifted, listed if len(listed) > 1 else (), smoothing, likelihood, membership_prior)


# --- write the rules of a small lifted hypergraph out as an MLN ---------------------------------

# Each type t has a predicate of membership, In_t(t, cluster_of_t!), of which exactly one atom holds for each
# constant; underscores follow where the database has such a name itself. Of each predicate r the default rule
# is written without antecedent, as r(x, y), and what a combination says is written as its difference from
# that, In(x, C) ^ In(y, D) ^ r(x, y): the same model in as many formulas as there are combinations, where "in
# none of the combinations" would be as many literals in one formula.


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
    yield from _write_weighted_formula(one.default_true, atom)
    yield from _write_weighted_formula(one.default_false, f"!{atom}")
    for number, row in enumerate(one.combinations.tolist()):
        inside = [
            f"{membership[type_]}({variable}, {_name(clusters[type_][place])})"
            for type_, variable, place in zip(one.types, variables, row, strict=True)
        ]
        yield from _write_weighted_formula(
            float(one.true[number]) - one.default_true, " ^ ".join([*inside, atom])
        )
        yield from _write_weighted_formula(
            float(one.false[number]) - one.default_false, " ^ ".join([*inside, f"!{atom}"])
        )


def _write_weighted_formula(weight: float, formula: str) -> Iterator[str]:
    if weight:
        yield f"{weight!r} {formula}"


def _name(cluster: int) -> str:
    return f"C{cluster}"


def with_memberships(
    database: Database, model: MLN, vocabulary: Vocabulary, cluster_of: Mapping[tuple[str, str], int]
) -> Database:
    """Return the database with facts of the known memberships; the vocabulary is the lifted one."""
    known = {
        f"{membership_of(type_, vocabulary)}({quote_name(name)}, {_name(cluster)})": True
        for (type_, name), cluster in cluster_of.items()
        if name in database.vocabulary.domain(type_)
    }
    return replace(database, vocabulary=model.vocabulary_with(database)).with_atoms(known)
