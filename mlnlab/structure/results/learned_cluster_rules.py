"""LHL-LiftGraph's answer: the atom prediction rules of the lifted hypergraph, as a learned structure."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, Any, Protocol, Self

from mlnlab.errors import count_of
from mlnlab.logic.formulas.weights import Soft, WeightedFormula
from mlnlab.structure.clusters.cluster_rules import ClusterRules
from mlnlab.structure.results.learned_structure import Candidates, LearnedClause, LearnedStructure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.evaluation.judged_atoms import AtomProbabilities
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.structure.clusters.cluster_scores import Likelihood, MembershipPrior
    from mlnlab.structure.lift.clustering_posterior import Smoothing
    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph


class RuleParams(Protocol):
    """The parameters of the rules."""

    @property
    def smoothing(self) -> Smoothing:
        """How the rules' counts are smoothed."""
        ...

    @property
    def likelihood(self) -> Likelihood:
        """Which likelihood the rules maximise."""
        ...

    @property
    def membership_prior(self) -> MembershipPrior:
        """How probable clusters are before anything is known of a constant."""
        ...


@dataclass(frozen=True, eq=False)
class LearnedClusterRules(LearnedStructure):
    """A model that knows clusters: ``.rules`` says how probable atoms of other databases are.

    That needs no formula. ``mln`` and ``clauses`` write the rules out in the language when they are first
    asked for, because on a database like Cora this takes longer than learning.
    """

    mln: MLN = field(init=False)
    clauses: tuple[LearnedClause, ...] = field(init=False)
    rules: ClusterRules = field(kw_only=True)

    @classmethod
    def of(
        cls, method: str, graphs: Sequence[LiftedHypergraph], databases: Sequence[Database],
        trace: Trace[Any], params: RuleParams, seconds: float = nan,
    ) -> Self:  # fmt: skip
        """Return the rules of databases that were lifted together."""
        rules = ClusterRules(
            graphs[0], tuple(databases) if len(databases) > 1 else (),
            params.smoothing, params.likelihood, params.membership_prior,
        )  # fmt: skip
        candidates = Candidates((), databases[0].vocabulary)
        return cls(method, candidates, (), tuple(graphs), trace, (), seconds, rules=rules)

    def __getattr__(self, name: str) -> object:
        """Write the rules out; the result becomes an attribute, so this runs only once."""
        if name == "mln":
            written: object = self.rules.mln()
        elif name == "clauses":
            written = tuple(map(_clause, self.mln.formulas))
        else:
            raise AttributeError(f"{type(self).__name__} has no {name}.", name=name, obj=self)
        object.__setattr__(self, name, written)
        return written

    def probabilities(self, database: Database, predicates: Sequence[str]) -> AtomProbabilities:
        """Return the probabilities of all atoms of some predicates, given the facts of the others."""
        return self.rules.probabilities(database, predicates)

    def __repr__(self) -> str:
        return f"<LearnedClusterRules: {count_of(len(self.rules.rules), 'rule')} by {self.method}>"


def _clause(one: WeightedFormula) -> LearnedClause:
    weight = one.weight.value if isinstance(one.weight, Soft) else nan
    return LearnedClause(one.formula, weight, None, None)
