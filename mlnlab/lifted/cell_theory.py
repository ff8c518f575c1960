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
from math import exp, inf, prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, UnsatisfiableError, count_of
from mlnlab.lifted.arithmetic import Evaluated, LiftedValue
from mlnlab.lifted.asked_atoms import (
    direction_asked,
    group_size,
    listed_queries,
    literal_asked,
    sizes_asked,
    symbol_of_atom,
    weights_asked,
)
from mlnlab.lifted.cell_compilation import CompiledCells, compiled_cells
from mlnlab.lifted.cell_evaluation import MOST_TERMS, CellEvaluation, CellValue, log_weights
from mlnlab.lifted.cell_factors import TooManyVariablesError, TwoVariableModel, two_variable_model
from mlnlab.lifted.cell_sweeps import sweep_cells
from mlnlab.lifted.cell_tables import Weighed
from mlnlab.lifted.covariance_differences import covariances_by_differences
from mlnlab.lifted.evidence import NOTHING
from mlnlab.lifted.kept_worlds import kept, refuse_few, signed_formulas
from mlnlab.lifted.row_sampling import worlds_by_rows
from mlnlab.lifted.sampled_worlds import SampledWorlds, checked_request, measured, refuse_large
from mlnlab.lifted.shattering import literal_of
from mlnlab.lifted.weighted_theory import weighted_theory
from mlnlab.lifted.world_distribution import world_distribution
from mlnlab.logic.substitution import free_variables
from mlnlab.logic.weights import Hard

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.cell_factors import KindName
    from mlnlab.lifted.most_probable_counts import MostProbableCounts
    from mlnlab.lifted.sweeps import Sweep, Swept
    from mlnlab.lifted.weighted_theory import WeightedTheory
    from mlnlab.logic.formulas import Formula
    from mlnlab.model.database import Database
    from mlnlab.model.mln import MLN
    from mlnlab.steps.step import Observer

    Sizes = Mapping[str, int]
    Values = NDArray[np.float64]


LARGEST_FLOAT = 1e10  # of the weights, beyond which floats round off what expected counts are made of
LARGEST_BALL = 1e18


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
        """The theory, and what its atoms weigh."""
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
        found = self.found(domains, weights, observers, expectations=False)
        return LiftedValue(found.value, found.error, found.arithmetic)

    def expected_counts(
        self, domains: Sizes | Database | None = None, weights: Sequence[float] | None = None
    ) -> list[float]:
        """Return E[n_i] of all formulas, by one pass back; of a hard one, its groundings."""
        return self.answered(domains, weights)[1]

    def answered(
        self, domains: Sizes | Database | None = None, weights: Sequence[float] | None = None
    ) -> tuple[Evaluated, list[float]]:
        """Return log Z, the expected numbers of atoms of each symbol, and E[n_i], all from one pass back."""
        found, sizes = self.found(domains, weights, expectations=True), self.domain_sizes(domains)
        true, false = self._atoms(found)
        literals = self.model.weighted.true.T @ true + self.model.weighted.false.T @ false
        counts = []
        for number, one in enumerate(self.mln.formulas):
            if isinstance(one.weight, Hard):
                counts.append(float(prod(sizes[v.type] for v in free_variables(one.formula))))
            elif literal_of(one.formula) is not None:
                counts.append(float(literals[number]))
            else:
                counts.append(float(found.truths.get(Weighed("formula", number), (0.0,))[0]))
        return Evaluated(found.value, found.error, true, false, found.arithmetic), counts

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
        true, false = self._atoms(self.found(domains, weights, expectations=True))
        for query, (number, _) in zip(queries, literals, strict=True):
            if not true[number] + false[number]:
                raise ArgumentError(f"{query} has no groundings in these domains.")
        shares = [(float(true[n] / (true[n] + false[n])), positive) for n, positive in literals]
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
            direction_asked(self.mln, direction),
        )

    def most_probable_counts(self, *_: object, **__: object) -> MostProbableCounts:
        """Refuse the most probable numbers of constants, which circuits tell."""
        raise ArgumentError("Cells tell no most probable counts: ask ml.lift(...).compile(method='rules').")

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

    def evaluated(
        self, domains: Sizes | Database | None, weights: Sequence[float] | None = None, *, expectations: bool
    ) -> Evaluated:
        """Return log Z, and the expected numbers of true atoms of each symbol."""
        found = self.found(domains, weights, expectations=expectations)
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

    def _worlds_by_rows(
        self, number: int, domains: Sizes | Database | None, weights: Values, seed: int
    ) -> SampledWorlds | None:
        found = worlds_by_rows(
            self.weighted, lambda plain: cell_theory(weighted_theory(plain), self.budget),
            self.domain_sizes(domains), self.mln.vocabulary_with(domains), weights,
        )  # fmt: skip
        return None if found is None else measured(SampledWorlds(found, int(number), int(seed), 0.0))

    def _kept_worlds(
        self, number: int, domains: Sizes | Database | None, weights: Values, seed: int
    ) -> SampledWorlds:
        signed = signed_formulas(self.mln)
        others = [n for n in range(len(self.mln.formulas)) if n not in signed]
        plain = replace(self.mln, formulas=tuple(self.mln.formulas[n] for n in others))
        known = self.model.weighted.evidence
        theory = cell_theory(weighted_theory(plain, None if known is NOTHING else known), self.budget)
        keeping, plain_weights = (
            kept(self.mln, signed, weights, self.domain_sizes(domains)),
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
        true, _ = self._atoms(self.found(domains, weights.tolist(), expectations=True))
        return float(true[own].sum())

    # --- parts

    def found(
        self, domains: Sizes | Database | None, weights: Sequence[float] | None = None,
        observers: Iterable[Observer] = (), *, expectations: bool,
    ) -> CellValue:  # fmt: skip
        """Return log Z, how often formulas and atoms are true, and how many terms were added."""
        numbers = self.numbers(weights, domains)
        true, false = self.model.weighted.true @ numbers, self.model.weighted.false @ numbers
        evaluation = self._evaluation(self.compiled, domains)
        largest = float(np.abs(numbers).max(initial=0.0))
        if expectations and largest > LARGEST_BALL:
            raise ArgumentError(
                f"Expected counts by cells need weights of at most {LARGEST_BALL:g}: make larger ones hard,"
                " or compile with method='rules'."
            )
        if self.is_signed or LARGEST_FLOAT < largest <= LARGEST_BALL:
            found = evaluation.by_balls(numbers, true, false, expectations=expectations)
        else:
            found = evaluation.by_floats(numbers, true, false, observers, expectations=expectations)
        if found.value == -inf:
            raise UnsatisfiableError("No world satisfies the hard formulas in domains of these sizes.")
        return found

    def _atoms(self, found: CellValue) -> tuple[Values, Values]:
        none = np.zeros(2)
        pairs = [found.truths.get(Weighed("symbol", n), none) for n in range(len(self.model.symbols))]
        both = np.array(pairs).reshape(-1, 2)
        return both[:, 0], both[:, 1]

    def numbers(self, weights: Sequence[float] | None, domains: Sizes | Database | None) -> Values:
        """Return the weights of all formulas: those given, or the model's."""
        return weights_asked(self.mln, weights, self.domain_sizes(domains))

    def _evaluation(self, compiled: CompiledCells, domains: Sizes | Database | None) -> CellEvaluation:
        sizes = self.domain_sizes(domains)
        kinds: dict[KindName, int] = {}
        for type_ in sizes:
            groups = range(len(self.weighted.evidence.groups_of(type_)))
            kinds |= {(type_, number): self.kind_size((type_, number), sizes) for number in groups}
        return CellEvaluation(compiled, kinds, sizes, self.budget)

    def kind_size(self, kind: KindName, sizes: Sizes) -> int:
        """Return how many constants a kind has: a group of a type's, by what is known of them."""
        return group_size(self.weighted, *kind, sizes[kind[0]])

    def domain_sizes(self, domains: Sizes | Database | None) -> dict[str, int]:
        """Return how many constants each type has."""
        return sizes_asked(self.mln, domains)

    def symbol_of(self, query: str | Formula) -> tuple[int, bool]:
        """Return the number of a literal's symbol, and whether it is positive."""
        atom, positive = literal_asked(self.mln, query)
        return symbol_of_atom(self.model.weighted, self.model.symbols, atom), positive


def cell_theory(weighted: WeightedTheory, budget: float = MOST_TERMS) -> CellTheory:
    """Compile a model to cells; what relates more than two elements at once is refused."""
    model = two_variable_model(weighted)
    formulas = frozenset(range(len(model.weighted.mln.formulas)))
    return CellTheory(model, compiled_cells(model, formulas), budget)


def cells_to_sample(weighted: WeightedTheory) -> CellTheory:
    """Compile to cells a model of which worlds are drawn; say what to do where that cannot be."""
    try:
        return cell_theory(weighted)
    except TooManyVariablesError as problem:
        raise ArgumentError(
            f"Worlds are drawn exactly where formulas relate at most two constants at once. {problem} Sample"
            " with ml.infer(..., method='mc-sat')."
        ) from None
