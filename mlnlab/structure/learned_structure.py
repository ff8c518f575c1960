"""What structure learning returns: the model, where each of its clauses came from, and all candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from mlnlab.errors import count_of
from mlnlab.logic.ground_atoms import GroundAtom
from mlnlab.logic.printing import to_text
from mlnlab.logic.weights import weight_value
from mlnlab.structure.clause_making import clause_formula, clause_key, dangling_variables
from mlnlab.structure.create_mln import (
    NO_GAIN_NEAR,
    NOTHING_BESIDE_PARTS,
    RETAINED,
    VERDICTS,
    WORSE_THAN_PART,
    retained_parts,
    retained_scores,
)

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from mlnlab.logic.formulas import Formula
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.mln import MLN
    from mlnlab.steps.trace import Trace
    from mlnlab.structure.clause_making import ClauseKey
    from mlnlab.structure.create_mln import CreateState, JudgedPath
    from mlnlab.structure.lhl import LhlState
    from mlnlab.structure.lifted_hypergraph import LiftedEdge, LiftedHypergraph
    from mlnlab.structure.variabilized import SupportedPath, VariabilizedPath


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A clause that was considered, with its scores and what became of it."""

    clause: Formula
    path: VariabilizedPath
    signs: tuple[bool, ...]  # of the path's atoms: whether the literal is positive
    score: float  # nan where its path's own atoms spoke against it
    score_without: float  # of unit clauses alone
    near: float  # Score(c, D') - Score(∅, D') on the path's atoms; nan without heuristic 2
    weight: float  # at which it has its score
    sub_scores: tuple[tuple[Formula, float], ...]  # of its retained sub-clauses
    verdict: str
    reason: str
    true_atoms: int  # in the hyperedges that support the path

    @property
    def length(self) -> int:
        """The number of literals."""
        return len(self.signs)

    @property
    def definite(self) -> bool:
        """Whether it is a rule: one literal is positive."""
        return sum(self.signs) == 1

    @property
    def dangling(self) -> bool:
        """Whether a variable occurs only once."""
        return bool(dangling_variables(self.path.atoms))

    @property
    def retained(self) -> bool:
        """Whether CreateMLN retained it."""
        return self.verdict == VERDICTS[RETAINED]


class Candidates(Sequence[Candidate]):
    """All candidates, made when they are looked at: in the order in which they were judged."""

    def __init__(self, state: CreateState | None, vocabulary: Vocabulary) -> None:
        """Take what CreateMLN found."""
        self._paths: list[JudgedPath] = [] if state is None else list(state.judged())
        self._without = nan if state is None else state.without
        self._ends = np.cumsum([len(judged.verdicts) for judged in self._paths], dtype=np.int64)
        self._retained: dict[ClauseKey, float] = {} if state is None else retained_scores(state)
        self._vocabulary = vocabulary

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Candidate, ...]: ...
    def __getitem__(self, index: int | slice) -> Candidate | tuple[Candidate, ...]:
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(len(self))))
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(index)
        number = int(np.searchsorted(self._ends, place, side="right"))
        judged = self._paths[number]
        return self.of_path(judged, place - int(self._ends[number]) + len(judged.verdicts))

    def of_path(self, judged: JudgedPath, place: int) -> Candidate:
        """Return one of a path's clauses."""
        scores, verdict = judged.scores, int(judged.verdicts[place])
        positive = int(scores.clauses[place])
        parts = retained_parts(scores, place, self._retained) if verdict != NO_GAIN_NEAR else {}
        sub_scores = tuple(
            (clause_formula(key.path, key.positive, self._vocabulary), score) for key, score in parts.items()
        )
        score, near = float(scores.scores[place]), float(scores.near[place])
        return Candidate(
            clause_formula(scores.path, positive, self._vocabulary), scores.path,
            tuple(bool(positive >> atom & 1) for atom in range(scores.length)), score, self._without, near,
            float(scores.weights[place]), sub_scores, VERDICTS[verdict],
            reason(verdict, score, near, sub_scores), scores.true_atoms,
        )  # fmt: skip

    def of_clause(self, path: int, positive: int) -> Candidate:
        """Return a candidate by the number of its path and its positive literals."""
        judged = self._paths[path]
        return self.of_path(judged, judged.scores.clauses.tolist().index(positive))

    def __iter__(self) -> Iterator[Candidate]:
        for judged in self._paths:
            for place in range(len(judged.verdicts)):
                yield self.of_path(judged, place)

    @property
    def retained(self) -> tuple[Candidate, ...]:
        """Those that CreateMLN retained, best first."""
        found = [
            self.of_path(judged, place)
            for judged in self._paths for place in np.flatnonzero(judged.verdicts == RETAINED).tolist()
        ]  # fmt: skip
        return tuple(sorted(found, key=lambda candidate: -candidate.score))

    def __repr__(self) -> str:
        return f"<Candidates: {count_of(len(self), 'clause')}, {len(self._retained):,} retained>"


def reason(verdict: int, score: float, near: float, sub_scores: Sequence[tuple[Formula, float]]) -> str:
    """Return why a candidate was retained or dropped, in words."""
    if verdict == NO_GAIN_NEAR:
        return f"on the atoms of its path it scores {-near:.4g} less than the unit clauses alone"
    if verdict == WORSE_THAN_PART:
        part, best = max(sub_scores, key=lambda one: one[1])
        return f"its sub-clause {to_text(part)} scores {best:.6g}, it scores {score:.6g}"
    if verdict == NOTHING_BESIDE_PARTS:
        parts = count_of(len(sub_scores), "retained sub-clause")
        return f"beside its {parts} it adds less than its length costs"
    if not sub_scores:
        return f"it scores {score:.6g}, and no sub-clause of it was retained"
    best = max(score for _, score in sub_scores)
    return f"it scores {score:.6g}, its best retained sub-clause {best:.6g}"


@dataclass(frozen=True, slots=True, eq=False)
class LearnedClause:
    """A clause of the learned model, and where it came from."""

    formula: Formula
    weight: float
    candidate: Candidate | None  # None: a unit clause
    support: SupportedPath | None
    gain: float = nan  # of the overall WPLL when it was added

    @property
    def definite(self) -> bool:
        """Whether it is a rule: one literal is positive."""
        return self.candidate is None or self.candidate.definite


@dataclass(frozen=True, eq=False)
class LearnedStructure:
    """A learned model: ``.mln``, ``.clauses`` with their provenance, ``.candidates`` and ``.trace``."""

    method: str
    mln: MLN
    clauses: tuple[LearnedClause, ...]
    candidates: Candidates
    paths: tuple[SupportedPath, ...]
    graphs: tuple[LiftedHypergraph, ...]  # the lifted hypergraph of each database
    trace: Trace[LhlState]
    remarks: tuple[str, ...] = ()
    seconds: float = nan

    @cached_property
    def state(self) -> LhlState:
        """The last state of the run."""
        return self.trace[-1].state

    def hyperedges(self, clause: LearnedClause | int) -> tuple[tuple[LiftedEdge, ...], ...]:
        """Return the hyperedges that support a clause's path, of each database."""
        chosen = self.clauses[clause] if isinstance(clause, int) else clause
        if chosen.support is None:
            return tuple(() for _ in self.graphs)
        return tuple(
            tuple(graph.edges[edge] for edge in edges.tolist())
            for graph, edges in zip(self.graphs, chosen.support.edges, strict=True)
        )

    def supporting_atoms(self, clause: LearnedClause | int) -> tuple[tuple[GroundAtom, ...], ...]:
        """Return the true ground atoms of these hyperedges, of each database."""
        return tuple(
            tuple(_atoms_of(graph, edges))
            for graph, edges in zip(self.graphs, self.hyperedges(clause), strict=True)
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each clause of the model."""
        import pandas as pd

        return pd.DataFrame([_row(clause) for clause in self.clauses], columns=_COLUMNS)

    def candidates_frame(self) -> pd.DataFrame:
        """Return a table with a row for each candidate."""
        import pandas as pd

        rows = [
            {
                "clause": to_text(one.clause), "length": one.length, "score": one.score,
                "gain": one.score - one.score_without, "gain on path": one.near, "weight": one.weight,
                "definite": one.definite, "dangling": one.dangling, "true atoms": one.true_atoms,
                "verdict": one.verdict, "reason": one.reason,
            }
            for one in self.candidates
        ]  # fmt: skip
        return pd.DataFrame(rows)

    def to_networkx(self) -> nx.Graph[Any]:
        """Return the learned model as a graph of its predicates, joined where a clause has both."""
        return self.mln.to_networkx()

    def __repr__(self) -> str:
        formulas = count_of(len(self.clauses), "clause")
        tried = f" of {count_of(len(self.candidates), 'candidate')}" if len(self.candidates) else ""
        seconds = "" if isnan(self.seconds) else f", {self.seconds:.3g} s"
        return f"<LearnedStructure: {formulas}{tried} by {self.method}{seconds}>"


_COLUMNS = ["clause", "weight", "score", "gain", "gain in model", "definite", "true atoms", "path"]


def _row(clause: LearnedClause) -> dict[str, object]:
    one = clause.candidate
    return {
        "clause": to_text(clause.formula), "weight": clause.weight,
        "score": nan if one is None else one.score,
        "gain": nan if one is None else one.score - one.score_without,
        "gain in model": clause.gain, "definite": clause.definite,
        "true atoms": 0 if one is None else one.true_atoms, "path": "" if one is None else str(one.path),
    }  # fmt: skip


def _atoms_of(graph: LiftedHypergraph, edges: Sequence[LiftedEdge]) -> Iterator[GroundAtom]:
    """Yield the true atoms of some hyperedges."""
    hypergraph = graph.hypergraph
    for edge in edges:
        rows = hypergraph.members[edge.predicate]
        inside = (graph.labels[rows] == np.array(edge.clusters)).all(axis=1)
        for row in rows[inside].tolist():
            yield GroundAtom(edge.predicate, tuple(hypergraph.node(node).constant for node in row))


def weights_of(mln: MLN) -> list[float]:
    """Return the weights of a model's formulas."""
    return [float(weight_value(one.weight) or 0.0) for one in mln.formulas]


def key_of(candidate: Candidate) -> ClauseKey:
    """Return what a candidate has in common with all clauses that are the same up to renaming."""
    return clause_key(candidate.path.atoms, sum(held << place for place, held in enumerate(candidate.signs)))
