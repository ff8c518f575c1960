r"""Score(c, D): how much a clause is worth by itself (Kok and Domingos, ICML 2009, section 3.3).

    Score(c, D) = WPLL of {c and one unit clause per predicate} at optimal weights - π length(c)
    WPLL = sum over predicates r of c_r times the sum over their ground atoms g of log P(x_g | MB(x_g))

with c_r = 1 / (number of r's ground atoms that are summed over). Of several databases it is the sum, as
``ml.pseudo_log_likelihood`` has it, or, pooled, that of all of them as one. A Gaussian prior of deviation 100
keeps the weights of clauses that are never broken finite, as in Alchemy; it is no part of the score.
Predicates that a clause does not mention are predicted by their unit clauses alone, whatever its weight.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.facts.grouping import grouped_keys
from mlnlab.counting.facts.sorted_facts import facts_of
from mlnlab.steps.state_layout import ArrayOf, Part, Whole, holds
from mlnlab.steps.values.encoding import storable
from mlnlab.structure.clauses.clause_making import Signs, make_clauses
from mlnlab.structure.clauses.clause_rows import ScoredRows, clause_signs, few_rows, joined_rows, sampled_rows
from mlnlab.structure.clauses.conjunction_deltas import ConjunctionDeltas, ConjunctionTerms
from mlnlab.structure.clauses.dense_deltas import DenseDeltas, DensePath, names_in
from mlnlab.structure.clauses.listed_atoms import ListedAtoms
from mlnlab.structure.clauses.sampled_atoms import Combinations, atoms_with_keys, drawn_keys, sampled_database
from mlnlab.structure.paths.variabilized import SupportedPath, VariabilizedPath

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.model.database.database import Database
    from mlnlab.structure.clauses.sampled_atoms import SampledAtoms
    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

    Numbers = NDArray[np.float64]

    from numpy.typing import NDArray

    Keys = NDArray[np.int64]

DEVIATION = 100.0  # of the prior over weights
_TOLERANCE = 1e-10  # of what one more Newton step would gain


@dataclass(frozen=True, slots=True)
class ScoreParams:
    """The parameters of scores besides the data, by their names in algorithm 1."""

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
    from mlnlab.kernels.lift.clause_newton import climb_all

    predicates, clauses = len(rows.predicates), rows.values.shape[1]
    precision = deviation**-2

    def climb_weights(values: Numbers, units: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        weights, best, found = (
            np.zeros(len(values)),
            np.zeros((len(values), predicates)),
            np.zeros(len(values)),
        )
        climb_all(values, rows.truths, rows.shares, rows.starts, units, precision, _TOLERANCE,
                  weights, best, found)  # fmt: skip
        return weights, best, found

    _, alone, without = climb_weights(np.zeros((1, len(rows.truths))), np.zeros(predicates))
    if not clauses:
        return BestWeights(np.zeros(0), np.zeros((0, predicates)), np.zeros(0), float(without[0]))
    weights, units, values = climb_weights(np.ascontiguousarray(rows.values.T), alone[0])
    return BestWeights(weights, units, values, float(without[0]))


_OF_CLAUSES = ArrayOf(np.float64, (None,), finite=False, nan=True)


@storable("clause_scores.PathScores")
@dataclass(frozen=True, slots=True, eq=False)
class PathScores:
    """The clauses of one path and their scores; nan where heuristic 2 spared the second one."""

    path: VariabilizedPath = field(metadata=holds(Part(VariabilizedPath)))
    true_atoms: int = field(metadata=holds(Whole()))
    # Each as the bits of its positive literals.
    clauses: NDArray[np.int64] = field(metadata=holds(ArrayOf(np.int64, (None,), least=0)))
    # Score(c, D') - Score(∅, D') on atoms of the path; nan without heuristic 2.
    near: Numbers = field(metadata=holds(_OF_CLAUSES))
    scores: Numbers = field(metadata=holds(_OF_CLAUSES))  # Score(c, D)
    weights: Numbers = field(metadata=holds(_OF_CLAUSES))  # at which c has its score

    def flaw(self) -> str:
        """Return the contradiction within scores from outside; empty if there is none."""
        number = len(self.clauses)
        if any(len(column) != number for column in (self.near, self.scores, self.weights)):
            return "columns differ in length"
        return "clauses have other literals" if (self.clauses >> self.length).any() else ""

    @property
    def length(self) -> int:
        """The number of literals of each clause."""
        return len(self.path.atoms)


class SampledData:
    """Databases whose atoms were sampled once for a run: all that scores of whole models need."""

    def __init__(self, databases: Sequence[Database], params: ScoreParams) -> None:
        """Draw the samples, a fraction of the ground atoms of each predicate."""
        self.params = params
        self.facts = tuple(facts_of(db, db.vocabulary) for db in databases)
        rng = np.random.default_rng(params.seed)
        self.samples = tuple(sampled_database(facts, params.fraction, rng) for facts in self.facts)
        self.atoms = divisors(self.samples, params.pooled)
        vocabulary = databases[0].vocabulary
        terms = ConjunctionTerms(vocabulary)
        self.counters = tuple(ConjunctionDeltas(facts, terms) for facts in self.facts)
        self.predicates = tuple(name for name, p in vocabulary.predicates.items() if not p.closed)


class Scorer(SampledData):
    """Scores the clauses of one path after the other, each by itself beside the unit clauses."""

    def __init__(
        self, databases: Sequence[Database], graphs: Sequence[LiftedHypergraph], params: ScoreParams
    ) -> None:
        """Draw the samples; ``graphs`` are the databases' lifted hypergraphs, for heuristic 2."""
        super().__init__(databases, params)
        self.combinations = tuple(Combinations.of(graph) for graph in graphs)
        self.dense = DenseDeltas(self.facts)
        self.alone = {name: unit_score(self.samples, self.atoms, name, params) for name in self.predicates}

    @cached_property
    def listed(self) -> dict[str, ListedAtoms]:
        """The sampled atoms of all databases, those of a predicate behind each other."""
        return {name: ListedAtoms.of(self.dense.counts, name, self.samples) for name in self.predicates}

    @property
    def without(self) -> float:
        """Score(∅, D): the WPLL of unit clauses alone."""
        return sum(self.alone.values())

    def score_path(self, supported: SupportedPath) -> PathScores:
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
            found = best_weights(rows.select_sample().of_clauses(signs[:, kept]), params.deviation)
            scores[kept] = (
                self.without - found.without + found.values - params.length_penalty * len(path.atoms)
            )
            weights[kept] = found.weights
        every = np.array(clauses, np.int64), near, scores, weights
        for array in every:  # traces copy, and compare number by number, what somebody could still change
            array.setflags(write=False)
        return PathScores(path, supported.true_atoms, *every)

    def rows_of(self, supported: SupportedPath) -> PlannedRows | DenseRows:
        """Return the row maker of a path: full tables where they are small enough, or plans of counts."""
        dense = self.dense.of(supported.path)
        return PlannedRows(self, supported) if dense is None else DenseRows(self, supported, dense)

    def draw_atoms(self, supported: SupportedPath) -> list[dict[str, NDArray[np.int64]]]:
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
        return near_rows(scorer.dense, self.path, scorer.draw_atoms(self.supported), scorer.alone)

    def select_sample(self) -> ScoredRows:
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
        keys = self._scorer.draw_atoms(self._supported)
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

    def select_sample(self) -> ScoredRows:
        """Return those of the sampled atoms of all databases."""
        parts = [
            {name: sampled_rows(found, sample[name]) for name, found in own.items() if name in self._names}
            for own, sample in zip(self._deltas, self._scorer.samples, strict=True)
        ]
        return joined_rows(parts, self._names, self._scorer.atoms, self._columns)


def divisors(samples: Sequence[Mapping[str, SampledAtoms]], pooled: bool) -> list[dict[str, int]]:
    """Return the divisors 1 / c_r for the atoms of each database's predicates."""
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
    """Return the part of a predicate in the WPLL at its best unit weight, without any clause."""
    from mlnlab.structure.clauses.clause_rows import OwnRows

    parts = []
    for sample in samples:
        one = sample[name]
        numbers = np.array([len(one.keys) - one.true, one.true], np.float64)
        parts.append(
            {name: OwnRows(np.zeros((2, 0)), np.array([False, True]), numbers)} if len(one.keys) else {}
        )
    return best_weights(joined_rows(parts, [name], atoms, 0), params.deviation).without


# --- rows of Δn by full tables ------------------------------------------------------------------

# Few ground atoms go one by one, many are grouped first.

# Ground atoms whose look-ups all agree have equal rows. So the sampled atoms are grouped by a hash of 64 bits
# of everything that is looked up for them, which is added up over the tables where these are smaller than the
# atoms are many, and only one atom of each group gets its row.


def near_rows(
    dense: DenseDeltas, path: DensePath, keys: Sequence[Mapping[str, Keys]],
    scored: Mapping[str, float],
) -> ScoredRows:  # fmt: skip
    """Return the rows of few atoms, given by their keys in each database; each predicate's count 1 in all."""
    parts = []
    for name in names_in(path.path):
        if name in scored and any(name in own for own in keys):
            own = [one.get(name, np.zeros(0, np.int64)) for one in keys]
            atoms = ListedAtoms.with_keys(dense.counts, name, own)
            shares = np.full(len(atoms.rows), 1 / max(1, len(atoms.rows)))
            parts.append((name, dense.columns(path, atoms), atoms.truths, shares))
    return _join_rows(parts, path)


def all_rows(
    dense: DenseDeltas, path: DensePath, atoms: Mapping[str, ListedAtoms],
    numbers: Sequence[Mapping[str, int]],
) -> ScoredRows:  # fmt: skip
    """Return the different rows of all sampled atoms; those of a database count 1 / ``numbers``."""
    parts = []
    for name in names_in(path.path):
        if name not in atoms:
            continue
        every = atoms[name]
        groups, firsts = grouped_keys(hashes(dense, path, every))
        chosen = every.choose_atoms(firsts)
        share = np.array([1 / max(1, own.get(name, 1)) for own in numbers])
        shares = np.bincount(groups, minlength=len(firsts)) * share[chosen.owners]
        parts.append((name, dense.columns(path, chosen), chosen.truths, shares))
    return _join_rows(parts, path)


def hashes(dense: DenseDeltas, path: DensePath, atoms: ListedAtoms) -> Keys:
    """Return numbers that are equal where rows, truth and database are, and hardly ever else."""
    from mlnlab.kernels.lift.clause_newton import add_mixed

    found = np.zeros(len(atoms.rows), np.uint64)
    kinds = 2 * atoms.owners + atoms.truths
    add_mixed(found, kinds.astype(np.float64), np.uint64(0))
    by_arguments: dict[tuple[int, ...], list[tuple[int, Numbers]]] = {}
    for number, (counted, arguments) in enumerate(path.factors(atoms.predicate), 1):
        by_arguments.setdefault(arguments, []).append((number, dense.counts.of(counted)))
    for arguments, tables in by_arguments.items():
        places = atoms.places(arguments)
        together = np.zeros(len(tables[0][1]), np.uint64)
        for number, table in tables:
            add_mixed(together, table, np.uint64(number))
        found += together[places]
    for number, (one, other) in enumerate(path.equalities(atoms.predicate), 1 << 20):
        same = (atoms.rows[:, one] == atoms.rows[:, other]).astype(np.float64)
        add_mixed(found, same, np.uint64(number))
    return found.view(np.int64)


def _join_rows(
    parts: Sequence[tuple[str, Numbers, NDArray[np.bool_], Numbers]], path: DensePath
) -> ScoredRows:
    columns = len(path.pieces)
    starts = np.cumsum([0, *(len(truths) for _, _, truths, _ in parts)])
    return ScoredRows(
        tuple(name for name, _, _, _ in parts), starts,
        np.concatenate([np.zeros((0, columns)), *(values for _, values, _, _ in parts)]),
        np.concatenate([np.zeros(0, bool), *(truths for _, _, truths, _ in parts)]),
        np.concatenate([np.zeros(0), *(shares for _, _, _, shares in parts)]),
    )  # fmt: skip
