"""LHL-LiftGraph's answer: the atom prediction rules of the lifted hypergraph, as a learned structure."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, Self

from mlnlab.errors import count_of
from mlnlab.logic.weights import Soft
from mlnlab.structure.cluster_rules import ClusterRules
from mlnlab.structure.learned_structure import Candidates, LearnedClause, LearnedStructure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.evaluation.judged_atoms import AtomProbabilities
    from mlnlab.logic.weights import WeightedFormula
    from mlnlab.model.database import Database
    from mlnlab.model.mln import MLN
    from mlnlab.steps.trace import Trace
    from mlnlab.structure.lhl import LhlParams, LhlState
    from mlnlab.structure.lifted_hypergraph import LiftedHypergraph


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
        trace: Trace[LhlState], params: LhlParams, seconds: float = nan,
    ) -> Self:  # fmt: skip
        """Return the rules of databases that were lifted together."""
        rules = ClusterRules(
            graphs[0], tuple(databases) if len(databases) > 1 else (),
            params.smoothing, params.likelihood, params.membership_prior,
        )  # fmt: skip
        candidates = Candidates(None, databases[0].vocabulary)
        return cls(method, candidates, (), tuple(graphs), trace, (), seconds, rules=rules)

    def __getattr__(self, name: str) -> object:
        """Write the rules out; what was written is an attribute, so this is asked once only."""
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
