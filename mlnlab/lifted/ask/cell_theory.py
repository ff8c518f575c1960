r"""Two-variable models by cells: the same questions as a compiled circuit, answered by sums over cells.

Beame, Van den Broeck, Gribkoff and Suciu, "Symmetric weighted first-order model counting" (PODS 2015); van
Bremen and Kuželka (UAI 2021). It needs formulas of at most two variables, of any types, with constants and
quantifiers; it does not get slower by more formulas, but by more predicates of one argument that interact.

>>> import mlnlab as ml
>>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\n"
...     "1.5 Friends(x, y) ^ Smokes(x) => Smokes(y)")
>>> theory = ml.lift(mln).compile(method="cells")
>>> theory
<CellTheory of 2 cells, about n^1 terms>
>>> round(theory.marginal("Friends(x, y)", {"person": 10}), 6)
0.495408
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import exp, inf
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mlnlab.algebra.doors import USEFUL, too_large_to_draw
from mlnlab.errors import ArgumentError, UnsatisfiableError, count_of
from mlnlab.lifted.cells.cell_compilation import CompiledCells, compiled_cells
from mlnlab.lifted.cells.cell_evaluation import MOST_TERMS, CellEvaluation, CellValue, log_weights
from mlnlab.lifted.cells.cell_factors import TooManyVariablesError, TwoVariableModel, two_variable_model
from mlnlab.lifted.cells.cell_tables import Weighed
from mlnlab.lifted.circuit.arithmetic import Evaluated, LiftedValue, exact_logs, is_sharp_enough, share_within
from mlnlab.lifted.circuit.covariance_differences import covariances_by_differences
from mlnlab.lifted.circuit.lifted_questions import (
    counts_within,
    groundings_of,
    group_size,
    listed_queries,
    read_direction,
    read_literal,
    read_sizes,
    read_weights,
    symbol_of_atom,
)
from mlnlab.lifted.circuit.size_sweeps import Asked, Sweep, Swept, points
from mlnlab.lifted.sampling.drawn_worlds import SampledWorlds, checked_request, measure_worlds, refuse_large
from mlnlab.lifted.sampling.kept_worlds import make_world_filter, refuse_few, signed_formulas, signed_numbers
from mlnlab.lifted.sampling.row_demands import row_demands, without_demands
from mlnlab.lifted.sampling.row_worlds import RowWorlds, row_worlds
from mlnlab.lifted.sampling.world_distribution import world_distribution
from mlnlab.lifted.theory.evidence import NOTHING
from mlnlab.lifted.theory.shattering import literal_of
from mlnlab.lifted.theory.weighted_theory import WeightedTheory, weighted_theory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.cells.cell_factors import KindName
    from mlnlab.lifted.circuit.most_probable_counts import MostProbableCounts
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN
    from mlnlab.steps.step import Observer

    Sizes = Mapping[str, int]
    Values = NDArray[np.float64]
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from mlnlab.lifted.cells.cell_compilation import CompiledCells
    from mlnlab.lifted.theory.weighted_theory import WeightedTheory
    from mlnlab.logic.vocabulary import Vocabulary


LARGEST_FLOAT = 1e10  # of the weights, beyond which floats round off what expected counts are made of


@dataclass(frozen=True, eq=False)
class CellTheory:
    """A model compiled to cells; ``budget`` is the most terms that an answer may take."""

    model: TwoVariableModel
    compiled: CompiledCells
    budget: float = MOST_TERMS
    _hard: dict[str, CompiledCells] = field(default_factory=dict)

    @property
    def mln(self) -> MLN:
        """The model whose weights are taken where none are given."""
        return self.model.weighted.mln

    @property
    def weighted(self) -> WeightedTheory:
        """The theory with the weights of its atoms."""
        return self.model.weighted

    @property
    def order(self) -> int:
        """The power of n that evaluation costs, at most."""
        return self.compiled.order

    @property
    def is_signed(self) -> bool:
        """Whether signs cancel or numbers of atoms are prescribed, so that floats do not do."""
        weighted = self.model.weighted
        return any(min(pair) <= 0 for pair in weighted.factors) or bool(weighted.tallies)

    def __repr__(self) -> str:
        cost = f"about n^{self.order} terms" if self.order else "no sum over sizes"
        return f"<CellTheory of {count_of(self.compiled.cells, 'cell')}, {cost}>"

    # --- questions

    def terms(self, domains: Sizes | Database | None = None) -> int:
        """Return how many terms the sums have at most, before anything is summed."""
        return self._evaluation(self.compiled, domains).terms()

    def refuse_many_terms(self, domains: Sizes | Database | None = None) -> None:
        """Refuse exact sums of more terms than are allowed."""
        self._evaluation(self.compiled, domains).refuse_many()

    def log_z(
        self, domains: Sizes | Database | None = None, weights: Sequence[float] | None = None,
        observers: Iterable[Observer] = (),
    ) -> LiftedValue:  # fmt: skip
        """Return log Z for domain sizes, and for other weights than the model's."""
        found = self.sum_cells(domains, weights, observers, expectations=False)
        return LiftedValue(found.value, found.error, found.arithmetic)

    def expected_counts(
        self, domains: Sizes | Database | None = None, weights: Sequence[float] | None = None
    ) -> list[float]:
        """Return E[n_i] of all formulas, by one pass back; of a hard one, its groundings."""
        return self.answer(domains, weights)[1]

    def answer(
        self, domains: Sizes | Database | None = None, weights: Sequence[float] | None = None
    ) -> tuple[Evaluated, list[float]]:
        """Return log Z, the expected numbers of atoms of each symbol, and E[n_i], all from one pass back."""
        found, sizes = self.sum_cells(domains, weights, expectations=True), self.domain_sizes(domains)
        atoms = Evaluated(found.value, found.error, *self._atoms(found), found.arithmetic)
        literals = self.model.weighted.true.T @ atoms.true + self.model.weighted.false.T @ atoms.false
        counts = [
            float(literals[number]) if literal_of(one.formula) is not None
            else float(found.truths.get(Weighed("formula", number), (0.0,))[0])
            for number, one in enumerate(self.mln.formulas)
        ]  # fmt: skip
        return atoms, counts_within(self.mln, counts, sizes, atoms.rounding)

    def marginal(
        self, query: str | Formula, domains: Sizes | Database | None = None,
        weights: Sequence[float] | None = None,
    ) -> float:  # fmt: skip
        """Return the probability of an atom; different variables stand for different constants."""
        return self.marginals([query], domains, weights)[0]

    def marginals(
        self, queries: Sequence[str | Formula], domains: Sizes | Database | None = None,
        weights: Sequence[float] | None = None,
    ) -> list[float]:  # fmt: skip
        """Return the probabilities of atoms, all from one pass back."""
        queries = listed_queries(queries)
        literals = [self.symbol_of(query) for query in queries]
        found = self.evaluate(domains, weights, expectations=True)
        true, false = found.true, found.false
        for query, (number, _) in zip(queries, literals, strict=True):
            if not true[number] + false[number]:
                raise ArgumentError(f"{query} has no groundings in these domains.")
        pairs = zip(queries, literals, strict=True)
        shares = [
            (share_within(float(true[n]), float(false[n]), found.rounding, str(query)), positive)
            for query, (n, positive) in pairs
        ]
        return [share if positive else 1.0 - share for share, positive in shares]

    def sweep(self, domains: Swept, weights: Sequence[object] | None = None) -> Sweep:
        """Return log Z, expected counts and marginals at many sizes, or for many rows of weights."""
        return sweep_cells(self, domains, weights)

    def covariances_times(
        self, direction: Sequence[float], domains: Sizes | Database | None = None,
        weights: Sequence[float] | None = None,
    ) -> Values:  # fmt: skip
        """Return Cov(n) · direction, the Hessian of log Z times a direction of weights, by differences."""
        return covariances_by_differences(
            lambda moved: self.expected_counts(domains, moved),
            self.numbers(weights, domains),
            read_direction(self.mln, direction),
        )

    def most_probable_counts(self, *_: object, **__: object) -> MostProbableCounts:
        """Refuse the most probable numbers of constants, which circuits tell."""
        raise ArgumentError(
            "Cells cannot give most probable counts: use ml.lift(...).compile(method='rules')."
        )

    def expected_elements(
        self, domains: Sizes | Database | None = None, weights: Sequence[float] | None = None
    ) -> list[list[Values]] | None:
        """Return of each component how many elements of each kind are in each cell, if no signs cancel."""
        if self.is_signed:
            return None
        numbers = self.numbers(weights, domains)
        true, false = self.model.weighted.true @ numbers, self.model.weighted.false @ numbers
        evaluation = self._evaluation(self.compiled, domains)
        return [one.expected_elements() for one in evaluation.components(log_weights(numbers, true, false))]

    def world_count(self, domains: Sizes | Database | None = None) -> int:
        """Return how many worlds satisfy the hard formulas, exactly; weights do not matter."""
        if "hard" not in self._hard:
            self._hard["hard"] = compiled_cells(self.model, frozenset())
        return self._evaluation(self._hard["hard"], domains).world_count()

    def evaluate(
        self, domains: Sizes | Database | None, weights: Sequence[float] | None = None, *, expectations: bool
    ) -> Evaluated:
        """Return log Z, and the expected numbers of true atoms of each symbol."""
        found = self.sum_cells(domains, weights, expectations=expectations)
        return Evaluated(found.value, found.error, *self._atoms(found), found.arithmetic)

    def sample_worlds(
        self, number: int = 1, domains: Sizes | Database | None = None,
        weights: Sequence[float] | None = None, *, seed: int = 0,
    ) -> SampledWorlds:  # fmt: skip
        """Return independent worlds as databases, drawn exactly from the model's distribution.

        Formulas that are counted with signs keep some of the worlds that are drawn without them.
        """
        checked_request(number, seed)
        numbers = self.numbers(weights, domains)
        self._refuse_rounded_worlds(numbers, domains)
        if self.is_signed:
            by_rows = self._worlds_by_rows(number, domains, numbers, seed)
            return self._kept_worlds(number, domains, numbers, seed) if by_rows is None else by_rows
        expected = self.true_atoms(domains, numbers)
        refuse_large(expected)
        distribution = world_distribution(
            self._evaluation(self.compiled, domains), self.mln.vocabulary_with(domains), numbers,
            self.model.weighted.true @ numbers, self.model.weighted.false @ numbers,
        )  # fmt: skip
        return SampledWorlds(distribution, int(number), int(seed), expected)

    def _refuse_rounded_worlds(self, numbers: Values, domains: Sizes | Database | None) -> None:
        """Refuse to draw, by floats, worlds of weights beside which others are lost."""
        sizes = self.domain_sizes(domains)
        pairs = zip(np.abs(numbers).tolist(), self.mln.formulas, strict=True)
        total = sum(weight * groundings_of(one.formula, sizes) for weight, one in pairs)
        if 16 * float(np.finfo(float).eps) * total > USEFUL:
            raise too_large_to_draw(total)

    def _worlds_by_rows(
        self, number: int, domains: Sizes | Database | None, weights: Values, seed: int
    ) -> SampledWorlds | None:
        found = worlds_by_rows(
            self.weighted, lambda plain: cell_theory(weighted_theory(plain), self.budget),
            self.domain_sizes(domains), self.mln.vocabulary_with(domains), weights,
        )  # fmt: skip
        return None if found is None else measure_worlds(SampledWorlds(found, int(number), int(seed), 0.0))

    def _kept_worlds(
        self, number: int, domains: Sizes | Database | None, weights: Values, seed: int
    ) -> SampledWorlds:
        signed = signed_formulas(self.mln)
        others = [n for n in range(len(self.mln.formulas)) if n not in signed]
        plain = replace(self.mln, formulas=tuple(self.mln.formulas[n] for n in others))
        known = self.model.weighted.evidence
        theory = cell_theory(weighted_theory(plain, None if known is NOTHING else known), self.budget)
        keeping, plain_weights = (
            make_world_filter(self.mln, signed, weights, self.domain_sizes(domains)),
            weights[others].tolist(),
        )
        log_z = theory.log_z(domains, plain_weights).value
        log_share = self.log_z(domains, weights.tolist()).value - log_z - keeping.log_best
        refuse_few(log_share)
        drawn = theory.sample_worlds(number, domains, plain_weights, seed=seed)
        expected = self.true_atoms(domains, weights)
        return replace(drawn, true_atoms=expected, kept=keeping, acceptance=min(1.0, exp(log_share)))

    def true_atoms(self, domains: Sizes | Database | None, weights: Values) -> float:
        """Return how many atoms of a world are true on average."""
        own = np.array(
            [s.predicate in self.mln.vocabulary.predicates for s in self.model.symbols], dtype=bool
        )
        true, _ = self._atoms(self.sum_cells(domains, weights.tolist(), expectations=True))
        return float(true[own].sum())

    # --- parts

    def sum_cells(
        self, domains: Sizes | Database | None, weights: Sequence[float] | None = None,
        observers: Iterable[Observer] = (), *, expectations: bool,
    ) -> CellValue:  # fmt: skip
        """Return log Z, how often formulas and atoms are true, and how many terms were added."""
        numbers, weighted = self.numbers(weights, domains), self.model.weighted
        true, false = weighted.true @ numbers, weighted.false @ numbers
        evaluation = self._evaluation(self.compiled, domains)
        found = None
        if self._fits_floats(numbers):
            found = evaluation.by_floats(numbers, true, false, observers, expectations=expectations)
        if found is None or not is_sharp_enough(found.value, found.error, expectations=expectations):
            exact = [exact_logs(matrix, numbers.tolist()) for matrix in (weighted.true, weighted.false)]
            found = evaluation.by_balls(numbers, exact[0], exact[1], expectations=expectations)
        if found.value == -inf:
            raise UnsatisfiableError("No world satisfies the hard formulas in domains of these sizes.")
        return found

    @property
    def in_floats(self) -> bool:
        """Whether the sums at the model's weights are tried in logarithms, of which terms are dropped."""
        return self._fits_floats(self.numbers(None, None))

    def _fits_floats(self, weights: Values) -> bool:
        return not self.is_signed and float(np.abs(weights).max(initial=0.0)) <= LARGEST_FLOAT

    def work(self, enough: float, work: float) -> float:
        """Estimate how many multiplications an answer in floats takes: at most, if more than ``enough``."""
        numbers, weighted = self.numbers(None, None), self.model.weighted
        true, false = weighted.true @ numbers, weighted.false @ numbers
        return self._evaluation(self.compiled, None).work(numbers, true, false, enough, work)

    def _atoms(self, found: CellValue) -> tuple[Values, Values]:
        none = np.zeros(2)
        pairs = [found.truths.get(Weighed("symbol", n), none) for n in range(len(self.model.symbols))]
        both = np.array(pairs).reshape(-1, 2)
        return both[:, 0], both[:, 1]

    def numbers(self, weights: Sequence[float] | None, domains: Sizes | Database | None) -> Values:
        """Return the weights of all formulas: those given, or the model's."""
        return read_weights(self.mln, weights, self.domain_sizes(domains))

    def _evaluation(self, compiled: CompiledCells, domains: Sizes | Database | None) -> CellEvaluation:
        sizes = self.domain_sizes(domains)
        kinds: dict[KindName, int] = {}
        for type_ in sizes:
            groups = range(len(self.weighted.evidence.groups_of(type_)))
            kinds |= {(type_, number): self.kind_size((type_, number), sizes) for number in groups}
        return CellEvaluation(compiled, kinds, sizes, self.budget)

    def kind_size(self, kind: KindName, sizes: Sizes) -> int:
        """Return the number of constants of a kind: a type's constants with the same evidence."""
        return group_size(self.weighted, *kind, sizes[kind[0]])

    def domain_sizes(self, domains: Sizes | Database | None) -> dict[str, int]:
        """Return how many constants each type has."""
        return read_sizes(self.mln, domains)

    def symbol_of(self, query: str | Formula) -> tuple[int, bool]:
        """Return the number of a literal's symbol, and whether it is positive."""
        atom, positive = read_literal(self.mln, query)
        return symbol_of_atom(self.model.weighted, self.model.symbols, atom), positive


def cell_theory(weighted: WeightedTheory, budget: float = MOST_TERMS) -> CellTheory:
    """Compile a model to cells; refuse formulas that relate more than two elements at once."""
    model = two_variable_model(weighted)
    formulas = frozenset(range(len(model.weighted.mln.formulas)))
    return CellTheory(model, compiled_cells(model, formulas), budget)


def cells_to_sample(weighted: WeightedTheory) -> CellTheory:
    """Compile a model to cells for drawing worlds; where that fails, say how to sample instead."""
    try:
        return cell_theory(weighted)
    except TooManyVariablesError as problem:
        raise ArgumentError(
            f"Worlds are drawn exactly where formulas relate at most two constants at once. {problem} Sample"
            " with ml.infer(..., method='mc-sat')."
        ) from None


# --- sweep domain sizes and weights over cells --------------------------------------------------

# Point by point rather than in one pass as with circuits.


class AskedCells(Asked, Protocol):
    """The interface that sweeps need of cells (:class:`mlnlab.lifted.ask.cell_theory.CellTheory`)."""

    @property
    def model(self) -> TwoVariableModel:
        """The model."""

    def answer(self, domains: Mapping[str, int], weights: Sequence[float]) -> tuple[Evaluated, list[float]]:
        """Return log Z, expected numbers of atoms, and E[n_i]."""


def sweep_cells(cells: AskedCells, domains: Swept, weights: Sequence[object] | None = None) -> Sweep:
    """Evaluate cells at many points; a size or a vector of weights given once holds for all of them."""
    sizes, rows = points(cells, domains, weights)
    answers = [cells.answer(one, row.tolist()) for one, row in zip(sizes, rows, strict=True)]
    found = [one for one, _ in answers]
    return Sweep(
        cells, cells.model.symbols, tuple(sizes), rows, np.array([one.value for one in found]),
        np.array([one.error for one in found]), np.array([e for _, e in answers]).reshape(rows.shape),
        np.array([one.true for one in found]).T, np.array([one.false for one in found]).T,
    )  # fmt: skip


# --- worlds by rows where a model's formulas allow it -------------------------------------------

# Without rejection, where few worlds would be kept.


class PlainCells(Protocol):
    """The interface needed of a model without demands, compiled to cells."""

    @property
    def compiled(self) -> CompiledCells:
        """Its cells."""

    @property
    def budget(self) -> float:
        """The most terms that an answer may take."""

    @property
    def weighted(self) -> WeightedTheory:
        """The theory with the weights of its atoms."""

    @property
    def is_signed(self) -> bool:
        """Whether signs or tallies are left."""

    def true_atoms(self, domains: Mapping[str, int], weights: Values) -> float:
        """Return how many atoms of a world are true on average."""


def worlds_by_rows(
    weighted: WeightedTheory, compiled: Callable[[MLN], PlainCells], sizes: Mapping[str, int],
    vocabulary: Vocabulary, weights: Values,
) -> RowWorlds | None:  # fmt: skip
    """Return the distribution to draw worlds from, or ``None`` where the model is not of this kind.

    ``compiled`` compiles a model to cells.
    """
    mln = weighted.mln
    signed = signed_numbers(mln)
    demands = row_demands(mln, signed)
    named = weighted.evidence is not NOTHING or any(weighted.constants.values())
    if not demands or named:
        return None
    plain = compiled(without_demands(mln, signed, demands))
    if plain.is_signed:
        return None
    left = [n for n in range(len(weights)) if n not in signed]
    numbers = np.zeros(len(plain.weighted.mln.formulas))
    numbers[: len(left)] = weights[left]
    true, false = plain.weighted.true @ numbers, plain.weighted.false @ numbers
    kinds = {(type_, 0): size for type_, size in sizes.items()}
    evaluation = CellEvaluation(plain.compiled, kinds, sizes, plain.budget)
    alone = world_distribution(evaluation, vocabulary, numbers, true, false, counted=False)
    own = [[kinds[kind.name] for kind in one.cells.kinds] for one in alone.atoms]
    refuse_large(plain.true_atoms(sizes, numbers))
    return row_worlds(alone, demands, own, log_weights(numbers, true, false))
