"""``ml.count``: the number of true groundings of each formula of a model in a database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Protocol, overload

from mlnlab.counting.counts.counter import Counter, TermSum
from mlnlab.counting.counts.counting_methods import (
    DUCKDB,
    PLANNED,
    check_executor,
    check_memory,
    count_all_in_duckdb,
    counted_in_files,
    counting_params,
    estimate_count,
    method_for,
)
from mlnlab.counting.duckdb.duckdb_files import FactFiles
from mlnlab.counting.facts.sorted_facts import Facts, facts_of
from mlnlab.counting.formulas.indicators import number_of_groundings
from mlnlab.errors import ArgumentError, TooLargeError, count_of
from mlnlab.logic.evaluation import typed_arithmetic
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.weights import WeightedFormula, weight_value
from mlnlab.model.mln.mln import MLN
from mlnlab.steps.runs.interrupted import Interrupted, report_early_stop
from mlnlab.steps.runs.run_line import show_progress
from mlnlab.steps.runs.working import one_by_one

if TYPE_CHECKING:
    import pandas as pd

    from mlnlab.counting.counts.counting_methods import EstimateParams
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.model.database.database import Database
    from mlnlab.model.database.world import World

_MOST_BATCHES = 16  # each carries the facts to its worker once


class Result(Protocol):
    """The promise of an executor: a value that comes later."""

    def result(self) -> list[int]:
        """Wait for the value."""
        ...


class Executor(Protocol):
    """Anything that runs functions elsewhere, as ``concurrent.futures`` does."""

    def submit(self, function: Callable[..., list[int]], /, *arguments: object) -> Result:
        """Run a function."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Counts(Sequence[float]):
    """n_i for each formula of the expanded model: whole numbers of any size, or estimates of them."""

    formulas: tuple[WeightedFormula, ...]
    numbers: tuple[float, ...]
    groundings: tuple[int, ...]
    method: str = PLANNED
    reason: str = ""  # why this method counted

    @overload
    def __getitem__(self, index: int) -> float: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[float, ...]: ...
    def __getitem__(self, index: int | slice) -> float | tuple[float, ...]:
        return self.numbers[index]

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[float]:
        return iter(self.numbers)

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Sequence) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.numbers)

    @property
    def false(self) -> tuple[float, ...]:
        """The number of groundings of each formula that are false."""
        return tuple(all_ - true for all_, true in zip(self.groundings, self.numbers, strict=True))

    @property
    def exact(self) -> tuple[bool, ...]:
        """Which numbers are exact; an estimate is a floating point number."""
        return tuple(isinstance(number, int) for number in self.numbers)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with each formula's weight, number of true groundings, and of all groundings."""
        import pandas as pd

        columns = {
            "formula": [str(formula.formula) for formula in self.formulas],
            "weight": [weight_value(formula.weight) for formula in self.formulas],
            "true": pd.Series(self.numbers, dtype=object),  # these may be too large for int64
            "groundings": pd.Series(self.groundings, dtype=object),
        }
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        return f"Counts({', '.join(_show_number(number).replace(',', '_') for number in self.numbers)})"

    def __str__(self) -> str:
        """Return a line for each formula."""
        lines = [
            f"{_show_number(number)} of {all_:,}  {formula.formula}"
            for number, all_, formula in zip(self.numbers, self.groundings, self.formulas, strict=True)
        ]
        return "\n".join(lines)


def _show_number(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"about {number:,.6g}"


def count(
    mln: MLN,
    db: Database | World | FactFiles,
    *,
    method: str = "auto",
    memory: str = "",
    executor: Executor | None = None,
    progress: bool | None = None,
    **options: object,
) -> Counts:
    r"""Return n_i, the number of true groundings, for each formula of ``mln.expand(db)``.

    Counting is planned, so that groundings are not enumerated; what the database does not list is false.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Friends(person, person)\n0.5 Friends(x, y) ^ Friends(y, z) => Friends(x, z)")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nFriends(Bob, Carl)", mln)
    >>> n = ml.count(mln, db)
    >>> n[0]
    26
    >>> print(n)
    26 of 27  Friends(x, y) ^ Friends(y, z) => Friends(x, z)

    With an ``executor`` (any with ``submit``, as those of ``concurrent.futures``) formulas are counted in
    parallel, in batches; the result does not depend on it.

    There are two implementations that have only the meaning of formulas in common. ``method="planned"`` is
    the fast one, for facts in memory; ``"duckdb"`` counts facts that stand in files, as
    :class:`mlnlab.FactFiles` holds them, and is a check of the other; ``"auto"`` takes DuckDB for files and
    plans for everything else, and says so in ``.method`` and ``.reason``. ``memory`` bounds what DuckDB keeps
    in memory, as in ``"1GB"``. DuckDB uses all cores, so that no ``executor`` is needed for files.
    What takes long says how far it is, as :func:`ml.infer` does; after Ctrl-C, :func:`ml.so_far` returns the
    counts of those formulas that were done.

    >>> ml.count(mln, db, method="duckdb") == n
    True

    ``method="ijgp"`` estimates the counts by messages between clusters of at most ``i`` logical variables
    (3), for formulas so wide that exact counts take too long; with ``i`` above the treewidth of a formula its
    count is exact, and ``.exact`` says of which, below 10^12, that is so. ``sweeps`` (10), ``tolerance``,
    ``damping`` and ``turns`` are as for :func:`ml.marginals`. For facts in files DuckDB sums out variables of
    one literal alone, so that only tables over the others come into memory.

    >>> ml.count(mln, db, method="ijgp", i=2).exact, ml.count(mln, db, method="ijgp", i=3) == n
    ((False,), True)

    ``method="rejection"`` estimates them from ``bindings`` (10,000) groundings drawn at random by a ``seed``,
    for comparison: rare ones are hardly ever among them.
    """
    if not isinstance(mln, MLN):
        raise ArgumentError(f"A model is needed first, made by ml.MLN.from_text or ml.load, not {mln!r:.50}.")
    chosen, reason = method_for(method, db)
    params = counting_params(chosen, options)
    check_memory(memory, chosen, db)
    check_executor(executor)
    expanded = mln.expand(db)
    formulas = [weighted.formula for weighted in expanded.formulas]
    numbers: list[Any]  # whole numbers, or estimates
    if isinstance(db, FactFiles):
        with show_progress("ml.count", progress), report_early_stop("ml.count"):
            numbers, groundings = counted_in_files(formulas, db, expanded.vocabulary, params)
    else:
        facts = facts_of(db, expanded.vocabulary)
        groundings = [groundings_of(formula, facts) for formula in formulas]
        numbers = []
        try:
            with show_progress("ml.count", progress):
                if executor is not None or chosen == DUCKDB:
                    numbers += counts_of(
                        formulas, facts, executor, method=chosen, memory=memory, params=params
                    )
                else:
                    numbers.extend(_count_formulas(formulas, facts, params))
        except KeyboardInterrupt:
            known = Counts(
                expanded.formulas[: len(numbers)], tuple(numbers), tuple(groundings[: len(numbers)])
            )
            raise _make_interruption(known, len(formulas)) from None
    return Counts(expanded.formulas, tuple(numbers), tuple(groundings), chosen, reason)


def counts_of(
    formulas: Sequence[Formula], facts: Facts, executor: Executor | None = None, *, method: str = PLANNED,
    memory: str = "", params: EstimateParams | None = None,
) -> list[Any]:  # fmt: skip
    """Return the number of true groundings of each formula; with ``params``, an estimate."""
    count_all: Callable[..., list[Any]] = partial(_count_all, params=params)
    if method == DUCKDB:
        count_all = partial(count_all_in_duckdb, memory=memory)
    if executor is None or len(formulas) < 2:
        return count_all(formulas, facts)
    size = -(-len(formulas) // _MOST_BATCHES)
    batches = [tuple(formulas[first : first + size]) for first in range(0, len(formulas), size)]
    results = [executor.submit(count_all, batch, facts) for batch in batches]
    return [number for result in results for number in result.result()]


def _count_all(formulas: Sequence[Formula], facts: Facts, params: EstimateParams | None = None) -> list[Any]:
    """Count formulas one after the other; a function of the module, so that other processes find it."""
    return list(_count_formulas(formulas, facts, params))


def _count_formulas(
    formulas: Sequence[Formula], facts: Facts, params: EstimateParams | None = None
) -> Iterator[float]:
    for formula in one_by_one(formulas, "counting"):
        yield _count_one(formula, facts) if params is None else estimate_count(formula, facts, params)


def _make_interruption(known: Counts, formulas: int) -> Interrupted:
    if not len(known):
        return Interrupted("ml.count was stopped before a formula was counted.")
    return Interrupted(
        f"ml.count was stopped after {len(known):,} of {count_of(formulas, 'formula')}; ml.so_far() returns "
        "the counts of these.",
        lambda: known,
    )


def _count_one(formula: Formula, facts: Facts) -> int:
    try:
        return Counter(formula, facts.vocabulary)(facts)
    except TooLargeError as refusal:
        message = f"{formula} is too large to count. {refusal.summary}"
        raise TooLargeError(message, refusal.estimate, refusal.remedies) from refusal


def groundings_of(formula: Formula, facts: Facts) -> int:
    """Return the number of all groundings of a formula, true or not."""
    if typed_arithmetic(formula):  # it keeps bindings out that lead a calculation out of its type
        return TermSum(number_of_groundings(formula), facts.vocabulary).count(facts)
    return prod(facts.size(variable.type) for variable in free_variables(formula))
