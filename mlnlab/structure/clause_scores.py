r"""Score(c, D): how much a clause is worth by itself (Kok and Domingos, ICML 2009, section 3.3).

    Score(c, D) = WPLL of {c and one unit clause per predicate} at optimal weights - π length(c)
    WPLL = sum over predicates r of c_r times the sum over their ground atoms g of log P(x_g | MB(x_g))

with c_r = 1 / (number of r's ground atoms that are summed over). Of several databases it is the sum, as
``ml.pseudo_log_likelihood`` has it, or, pooled, that of all of them as one. A Gaussian prior of deviation 100
keeps the weights of clauses that are never broken finite, as in Alchemy; it is no part of the score.
Predicates that a clause does not mention are predicted by their unit clauses alone, whatever its weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.facts import facts_of
from mlnlab.steps.encoding import storable
from mlnlab.structure.clause_making import make_clauses
from mlnlab.structure.clause_rows import clause_signs, few_rows, joined_rows, sampled_rows
from mlnlab.structure.conjunction_deltas import ConjunctionDeltas, ConjunctionTerms
from mlnlab.structure.dense_deltas import DenseDeltas
from mlnlab.structure.dense_rows import all_rows, near_rows
from mlnlab.structure.listed_atoms import ListedAtoms
from mlnlab.structure.sampled_atoms import Combinations, atoms_with_keys, drawn_keys, sampled_database

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.model.database import Database
    from mlnlab.structure.clause_making import Signs
    from mlnlab.structure.clause_rows import ScoredRows
    from mlnlab.structure.dense_deltas import DensePath
    from mlnlab.structure.lifted_hypergraph import LiftedHypergraph
    from mlnlab.structure.sampled_atoms import SampledAtoms
    from mlnlab.structure.variabilized import SupportedPath, VariabilizedPath

    Numbers = NDArray[np.float64]

DEVIATION = 100.0  # of the prior over weights
_TOLERANCE = 1e-10  # of what one more Newton step would gain


@dataclass(frozen=True, slots=True)
class ScoreParams:
    """What scores depend on besides the data, by their names in algorithm 1."""

    fraction: float = 0.5  # σ
    sampled: int | None = 500  # ν; None: without heuristic 2
    length_penalty: float = 0.01  # π
    path_length_penalty: float = 0.001  # π'
    signs: Signs = "all"
    pooled: bool = False  # c_r = 1 / |G_r| over all databases together, instead of each by itself
    deviation: float = DEVIATION
    seed: int = 0
    pure_paths: bool = False  # look again at all clauses of paths on whose atoms none can do better


@dataclass(frozen=True, slots=True, eq=False)
class BestWeights:
    """Clauses beside unit clauses at their best weights."""

    weights: Numbers  # of each clause
    units: Numbers  # of each clause, the unit weight of each predicate
    values: Numbers  # the WPLL of the predicates in the rows
    without: float  # the same of unit clauses alone


def best_weights(rows: ScoredRows, deviation: float = DEVIATION) -> BestWeights:
    """Return the best weights of clauses, each by itself beside the unit clauses of the rows' predicates."""
    from mlnlab.kernels.clause_scores import climb_all

    predicates, clauses = len(rows.predicates), rows.values.shape[1]
    precision = deviation**-2

    def climbed(values: Numbers, units: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        weights, best, found = (
            np.zeros(len(values)),
            np.zeros((len(values), predicates)),
            np.zeros(len(values)),
        )
        climb_all(values, rows.truths, rows.shares, rows.starts, units, precision, _TOLERANCE,
                  weights, best, found)  # fmt: skip
        return weights, best, found

    _, alone, without = climbed(np.zeros((1, len(rows.truths))), np.zeros(predicates))
    if not clauses:
        return BestWeights(np.zeros(0), np.zeros((0, predicates)), np.zeros(0), float(without[0]))
    weights, units, values = climbed(np.ascontiguousarray(rows.values.T), alone[0])
    return BestWeights(weights, units, values, float(without[0]))


@storable("clause_scores.PathScores")
@dataclass(frozen=True, slots=True, eq=False)
class PathScores:
    """The clauses of one path and their scores; nan where heuristic 2 spared the second one."""

    path: VariabilizedPath
    true_atoms: int
    clauses: NDArray[np.int64]  # each as the bits of its positive literals
    near: Numbers  # Score(c, D') - Score(∅, D') on atoms of the path; nan without heuristic 2
    scores: Numbers  # Score(c, D)
    weights: Numbers  # at which c has its score

    @property
    def length(self) -> int:
        """The number of literals of each clause."""
        return len(self.path.atoms)


class Scorer:
    """Scores the clauses of one path after the other, on databases whose atoms were sampled once."""

    def __init__(
        self, databases: Sequence[Database], graphs: Sequence[LiftedHypergraph], params: ScoreParams
    ) -> None:
        """Draw the samples; ``graphs`` are the databases' lifted hypergraphs, for heuristic 2."""
        self.params = params
        self.combinations = tuple(Combinations.of(graph) for graph in graphs)
        self.facts = tuple(facts_of(db, db.vocabulary) for db in databases)
        rng = np.random.default_rng(params.seed)
        self.samples = tuple(sampled_database(facts, params.fraction, rng) for facts in self.facts)
        self.atoms = divisors(self.samples, params.pooled)
        vocabulary = databases[0].vocabulary
        terms = ConjunctionTerms(vocabulary)
        self.counters = tuple(ConjunctionDeltas(facts, terms) for facts in self.facts)
        self.dense = DenseDeltas(self.facts)
        self.predicates = tuple(name for name, p in vocabulary.predicates.items() if not p.closed)
        self.alone = {name: unit_score(self.samples, self.atoms, name, params) for name in self.predicates}

    @cached_property
    def listed(self) -> dict[str, ListedAtoms]:
        """The sampled atoms of all databases, those of a predicate behind each other."""
        return {name: ListedAtoms.of(self.dense.counts, name, self.samples) for name in self.predicates}

    @property
    def without(self) -> float:
        """Score(∅, D): the WPLL of unit clauses alone."""
        return sum(self.alone.values())

    def scored(self, supported: SupportedPath) -> PathScores:
        """Return the scores of all clauses of a path."""
        path, params = supported.path, self.params
        clauses = make_clauses(path, params.signs)
        signs = clause_signs(len(path.atoms), clauses)
        rows = self.rows_of(supported)
        near = np.full(len(clauses), np.nan)
        kept = np.ones(len(clauses), bool)
        if params.sampled is not None:
            found = best_weights(rows.near().of_clauses(signs), params.deviation)
            near = found.values - found.without - params.path_length_penalty * supported.length
            kept = near > 0
            # WPLL is at most 0: where unit clauses lose less than the penalty, no clause whatever can pass.
            if params.pure_paths and -found.without <= params.path_length_penalty * supported.length:
                kept = np.ones(len(clauses), bool)
        scores, weights = np.full(len(clauses), np.nan), np.full(len(clauses), np.nan)
        if kept.any():
            found = best_weights(rows.sampled().of_clauses(signs[:, kept]), params.deviation)
            scores[kept] = (
                self.without - found.without + found.values - params.length_penalty * len(path.atoms)
            )
            weights[kept] = found.weights
        every = np.array(clauses, np.int64), near, scores, weights
        for array in every:  # traces copy, and compare number by number, what somebody could still change
            array.setflags(write=False)
        return PathScores(path, supported.true_atoms, *every)

    def rows_of(self, supported: SupportedPath) -> PlannedRows | DenseRows:
        """Return what makes a path's rows: full tables where they are small enough, or plans of counts."""
        dense = self.dense.of(supported.path)
        return PlannedRows(self, supported) if dense is None else DenseRows(self, supported, dense)

    def drawn(self, supported: SupportedPath) -> list[dict[str, NDArray[np.int64]]]:
        """Heuristic 2: draw at most ν ground atoms of the path; the same ones whenever it is asked for."""
        params = self.params
        assert params.sampled is not None  # noqa: S101 - asked for only then
        rng = np.random.default_rng([params.seed, *str(supported.path).encode()])
        return drawn_keys(self.combinations, supported.edges, params.sampled, rng)


@dataclass(frozen=True, slots=True, eq=False)
class DenseRows:
    """The rows of a path's conjunctions, by full tables."""

    scorer: Scorer
    supported: SupportedPath
    path: DensePath

    def near(self) -> ScoredRows:
        """Return those of few ground atoms of the path, D'."""
        scorer = self.scorer
        return near_rows(scorer.dense, self.path, scorer.drawn(self.supported), scorer.alone)

    def sampled(self) -> ScoredRows:
        """Return those of the sampled atoms of all databases."""
        scorer = self.scorer
        return all_rows(scorer.dense, self.path, scorer.listed, scorer.atoms)


class PlannedRows:
    """The same rows, by plans of counts."""

    def __init__(self, scorer: Scorer, supported: SupportedPath) -> None:
        """Count the conjunctions of the path in each database."""
        self._scorer, self._supported = scorer, supported
        self._columns = (1 << supported.length) - 1
        self._deltas = [counter.of_path(supported.path) for counter in scorer.counters]
        self._names = [name for name in self._deltas[0] if name in scorer.alone]

    def near(self) -> ScoredRows:
        """Return those of few ground atoms of the path, D'."""
        keys = self._scorer.drawn(self._supported)
        drawn = [
            {name: atoms_with_keys(facts, name, these) for name, these in own.items()}
            for facts, own in zip(self._scorer.facts, keys, strict=True)
        ]
        parts = [
            {name: few_rows(own[name], sample) for name, sample in some.items() if name in self._names}
            for own, some in zip(self._deltas, drawn, strict=True)
        ]
        names = [name for name in self._names if any(name in part for part in parts)]
        return joined_rows(parts, names, divisors(drawn, pooled=True), self._columns)

    def sampled(self) -> ScoredRows:
        """Return those of the sampled atoms of all databases."""
        parts = [
            {name: sampled_rows(found, sample[name]) for name, found in own.items() if name in self._names}
            for own, sample in zip(self._deltas, self._scorer.samples, strict=True)
        ]
        return joined_rows(parts, self._names, self._scorer.atoms, self._columns)


def divisors(samples: Sequence[Mapping[str, SampledAtoms]], pooled: bool) -> list[dict[str, int]]:
    """Return by what the atoms of each database's predicates are divided: 1 / c_r."""
    own = [{name: len(sample.keys) for name, sample in one.items()} for one in samples]
    if not pooled:
        return own
    together: dict[str, int] = {}
    for one in own:
        for name, number in one.items():
            together[name] = together.get(name, 0) + number
    return [together] * len(own)


def unit_score(
    samples: Sequence[Mapping[str, SampledAtoms]], atoms: Sequence[Mapping[str, int]], name: str,
    params: ScoreParams,
) -> float:  # fmt: skip
    """Return what a predicate adds to the WPLL at its best unit weight, without any clause."""
    from mlnlab.structure.clause_rows import OwnRows

    parts = []
    for sample in samples:
        one = sample[name]
        numbers = np.array([len(one.keys) - one.true, one.true], np.float64)
        parts.append(
            {name: OwnRows(np.zeros((2, 0)), np.array([False, True]), numbers)} if len(one.keys) else {}
        )
    return best_weights(joined_rows(parts, [name], atoms, 0), params.deviation).without
