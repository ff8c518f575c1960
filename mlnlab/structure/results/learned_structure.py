"""Hold the result of structure learning: the model, the origins of its clauses, and all candidates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError, count_of
from mlnlab.logic.checked_options import is_whole
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.structure.paths.dropped_paths import DroppedPaths, dropped_paths
from mlnlab.structure.results.by_hand import place_of, refuse_what_has_no_clauses
from mlnlab.structure.results.candidates import Candidate as Candidate  # noqa: PLC0414 - part of what is returned
from mlnlab.structure.results.candidates import Candidates as Candidates  # noqa: PLC0414
from mlnlab.structure.results.candidates import LearnedClause as LearnedClause  # noqa: PLC0414
from mlnlab.structure.results.clause_frames import candidates_frame, clauses_frame
from mlnlab.structure.results.model_weights import apply_edits

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.structure.clauses.assembly import Weighing
    from mlnlab.structure.lift.lifted_hypergraph import LiftedEdge, LiftedHypergraph
    from mlnlab.structure.paths.variabilized import SupportedPath
    from mlnlab.structure.results.by_hand import HandEdit, Named


@dataclass(frozen=True, eq=False)
class LearnedStructure:
    """A learned model: ``.mln``, ``.clauses`` with their provenance, ``.candidates`` and ``.trace``."""

    method: str
    mln: MLN
    clauses: tuple[LearnedClause, ...]
    candidates: Candidates
    # Of learners that lift hypergraphs and go through paths; others have none.
    paths: tuple[SupportedPath, ...]
    graphs: tuple[LiftedHypergraph, ...]  # the lifted hypergraph of each database
    trace: Trace[Any]
    remarks: tuple[str, ...] = ()
    seconds: float = nan
    databases: tuple[Database, ...] = field(default=(), kw_only=True)  # from which it was learned
    params: Any = field(default=None, kw_only=True)  # the learner's own
    # How the weights of its clauses are learned; nothing where it is not made of clauses.
    weighing: Weighing | None = field(default=None, kw_only=True)
    edits: tuple[HandEdit, ...] = field(default=(), kw_only=True)  # what was done by hand, in order

    @cached_property
    def state(self) -> Any:  # noqa: ANN401 - each learner has states of its own
        """The last state of the run."""
        return self.trace[-1].state

    # --- by hand ------------------------------------------------------------------------------

    @property
    def kept(self) -> tuple[Candidate, ...]:
        """The candidates that are in the model, in its order."""
        return tuple(clause.candidate for clause in self.clauses if clause.candidate is not None)

    def with_clauses(self, *clauses: Named) -> LearnedStructure:
        """Return the structure with candidates kept by hand, also dropped ones; all weights learned again.

        A candidate is named by itself, by its place in ``candidates``, or by its text or formula.
        """
        return self.edited(dict.fromkeys((True, self.place_of(one)) for one in clauses))

    def without(self, *clauses: Named) -> LearnedStructure:
        """Return the structure with clauses thrown out by hand, and all weights learned again."""
        return self.edited(dict.fromkeys((False, self.place_of(one)) for one in clauses))

    def edited(self, edits: Iterable[tuple[bool, int]]) -> LearnedStructure:
        """Return the structure after edits in order, each whether to keep a clause, and its place.

        However many they are, weights are learned once.
        """
        refuse_what_has_no_clauses(self.method, self.weighing)
        assert self.weighing is not None  # noqa: S101 - what has none was refused
        mln, clauses, notes = apply_edits(
            self.clauses, self.candidates, self.paths, edits, self.databases, self.weighing
        )
        return replace(self, mln=mln, clauses=clauses, edits=(*self.edits, *notes))

    def place_of(self, clause: Named) -> int:
        """Return the place of a clause among the candidates."""
        refuse_what_has_no_clauses(self.method, self.weighing)
        return place_of(self.candidates, self.mln, clause)

    @cached_property
    def wpll(self) -> float:
        """The weighted pseudo-log-likelihood of the model on all atoms from which it was learned."""
        refuse_what_has_no_clauses(self.method, self.weighing)
        from mlnlab.learning.ask.pseudo_likelihoods import pseudo_log_likelihood

        return pseudo_log_likelihood(self.mln, list(self.databases), weighted=True)

    def dropped_paths(self, most: int = 1_000) -> DroppedPaths:
        """Return how many paths heuristic 1 (μ) dropped, and those of them that came closest."""
        refuse_what_has_no_clauses(self.method, self.weighing)
        if not self.graphs:
            raise ArgumentError(
                f"{self.method} goes through no paths of lifted hypergraphs, so none are dropped."
            )
        return dropped_paths(self.graphs, self.params, len(self.paths), most)

    # --- where clauses came from --------------------------------------------------------------

    def hyperedges(self, clause: LearnedClause | int) -> tuple[tuple[LiftedEdge, ...], ...]:
        """Return the hyperedges that support a clause's path, of each database."""
        chosen = self._clause(clause)
        if chosen.support is None:
            return tuple(() for _ in self.graphs)
        return hyperedges_of(self.graphs, chosen.support)

    def _clause(self, clause: object) -> LearnedClause:
        if isinstance(clause, LearnedClause):
            return clause
        number = len(self.clauses)
        if not is_whole(clause) or not -number <= int(clause) < number:  # type: ignore[call-overload]
            raise ArgumentError(
                f"Clauses of the model are numbered 0 to {number - 1}; there is no number {clause!r:.60}."
            )
        return self.clauses[int(clause)]  # type: ignore[call-overload]

    def supporting_atoms(self, clause: LearnedClause | int) -> tuple[tuple[GroundAtom, ...], ...]:
        """Return the true ground atoms of these hyperedges, of each database."""
        return tuple(
            tuple(atoms_of(graph, edges))
            for graph, edges in zip(self.graphs, self.hyperedges(clause), strict=True)
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each clause of the model."""
        return clauses_frame(self.clauses)

    def candidates_frame(self) -> pd.DataFrame:
        """Return a table with a row for each candidate."""
        return candidates_frame(self.candidates)

    def to_networkx(self) -> nx.Graph[Any]:
        """Return the learned model as a graph of its predicates, joined where a clause has both."""
        return self.mln.to_networkx()

    def __repr__(self) -> str:
        formulas = count_of(len(self.clauses), "clause")
        tried = f" of {count_of(len(self.candidates), 'candidate')}" if len(self.candidates) else ""
        seconds = "" if isnan(self.seconds) else f", {self.seconds:.3g} s"
        return f"<LearnedStructure: {formulas}{tried} by {self.method}{seconds}>"


def hyperedges_of(
    graphs: Sequence[LiftedHypergraph], support: SupportedPath
) -> tuple[tuple[LiftedEdge, ...], ...]:
    """Return the hyperedges that support a path, of each database."""
    return tuple(
        tuple(graph.edges[edge] for edge in edges.tolist())
        for graph, edges in zip(graphs, support.edges, strict=True)
    )


def atoms_of(graph: LiftedHypergraph, edges: Sequence[LiftedEdge]) -> Iterator[GroundAtom]:
    """Yield the true atoms of some hyperedges."""
    hypergraph = graph.hypergraph
    for edge in edges:
        rows = hypergraph.members[edge.predicate]
        inside = (graph.labels[rows] == np.array(edge.clusters)).all(axis=1)
        for row in rows[inside].tolist():
            yield GroundAtom(edge.predicate, tuple(hypergraph.node(node).constant for node in row))
