"""``ml.map_state``: a most probable world, by the method that fits or by the one that is named."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from math import isnan, nan
from typing import TYPE_CHECKING

from mlnlab.algebra.doors import RoundingError
from mlnlab.errors import TooLargeError, UnsatisfiableError, count_of
from mlnlab.grounding.networks.network_size import size_of
from mlnlab.grounding.question.question import Question, list_atoms, opening
from mlnlab.inference.ask.answering_methods import with_ways
from mlnlab.inference.ask.run_costs import begin_line, refuse_costly
from mlnlab.inference.costs.inference_problem import Problem
from mlnlab.inference.method import MOST_PROBABLE, Method
from mlnlab.inference.method_registry import find_method
from mlnlab.inference.search.world_search import Found
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.logic.formulas.weights import WeightedFormula, weight_value
from mlnlab.model.database.world import World
from mlnlab.model.mln.learned_sizes import warn_of_other_sizes
from mlnlab.model.mln.writing import statement_text
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.runs.interrupted import Interrupted, report_early_stop
from mlnlab.steps.runs.run_line import RunLine, show_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN
    from mlnlab.steps.step import Observer, State

SMALL, EXACT, SEARCH = "enumeration", "rc2", "max-walk-sat"  # what "auto" chooses from, in this order
FEW_WORLDS = 1 << 20  # that "auto" compares one by one: some hundredths of a second
MOST_CONFLICTS = 20_000  # of the SAT solver, and
MOST_CORES = 4_000  # that "auto" lets the exact method find before it searches instead: some ten seconds
MOST_CONSTRAINTS = 300_000  # for which "auto" tries the exact method
TRACE_BYTES = 16 << 20
MOST_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class MapState:
    """A most probable world, its log-weight, and the formulas that it violates.

    ``gap`` bounds how much log-weight is missing to the most probable world: 0 where this is one (then it is
    ``proven_optimal``), nan where nothing is known. The exact methods take weights as the binary fractions
    that they are, so nothing is lost by scaling; a log-weight is rounded as sums of floats are.
    """

    world: World
    log_weight: float
    violated: tuple[tuple[str, int], ...]
    proven_optimal: bool
    method: str
    gap: float = nan
    reason: str = ""
    seconds: float = 0.0
    formulas: tuple[WeightedFormula, ...] = field(default=(), repr=False)
    open_atoms: frozenset[tuple[str, tuple[str, ...]]] = field(default=frozenset(), repr=False)
    trace: Trace[State] | None = field(default=None, repr=False, compare=False)
    open_numbers: Mapping[str, int] | None = field(default=None, repr=False)  # None: those of open_atoms
    memory: int = 0  # bytes that the method held, as counted from its arrays; 0: not known

    @property
    def numbers_of_open_atoms(self) -> Mapping[str, int]:
        """How many open atoms each predicate has, those included that lazy grounding never met."""
        if self.open_numbers is not None:
            return self.open_numbers
        return Counter(predicate for predicate, _ in self.open_atoms)

    def examples(self, text: str, most: int = MOST_EXAMPLES) -> tuple[str, ...]:
        """Return bindings under which the world violates a formula, that is given by its text."""
        return tuple(binding for binding, _ in zip(self._violations(text), range(most), strict=False))

    def _violations(self, text: str) -> Iterator[str]:
        for weighted in self.formulas:
            if statement_text(weighted) == text:
                wanted = (weight_value(weighted.weight) or 0) < 0
                for binding in groundings(weighted.formula, self.world):
                    if evaluate(weighted.formula, self.world, binding) == wanted:
                        yield ", ".join(f"{v.name} = {name}" for v, name in binding.items()) or "as it stands"

    def __repr__(self) -> str:
        """Say the log-weight and the first true atoms, not the whole vocabulary."""
        atoms = sorted(map(str, self.world.true_atoms))
        more = f", ... and {len(atoms) - 20} more" if len(atoms) > 20 else ""
        return f"<MapState by {self.method}: log-weight {self.log_weight:.6g}; {', '.join(atoms[:20])}{more}>"

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each true atom."""
        import pandas as pd

        return pd.DataFrame({"atom": sorted(map(str, self.world.true_atoms))})


def _make_interrupt(method: Method, params: object, question: Question, trace: Trace[State]) -> Interrupted:
    last = trace[-1]

    def answer_so_far() -> MapState:
        found = method.require_function(method.worlds)(params, question).read_world(last.state)
        reason = f"{method.name}: stopped early, at step {last.index:,}"
        return map_state_of(question, found._replace(reason=reason), method.name, last.seconds, trace)

    return Interrupted(
        f"{method.name} was stopped at step {last.index}; ml.so_far() has the best world.",
        answer_so_far,
        last.state,
    )


def map_state(
    mln: MLN,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str | Formula] | str | Formula | None = None,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the fixed public name
    closed: Sequence[str] | str = (),
    given: Sequence[str | Formula] | str | Formula = (),
    method: str = "auto",
    limit: int | None = None,
    seed: int | None = None,
    observers: Iterable[Observer] | None = (),
    most_hours: float | None = None,
    progress: bool | None = None,
    **options: object,
) -> MapState:
    r"""Return a most probable world given the evidence; the arguments are those of :func:`infer`.

    ``method="auto"`` compares all worlds where these are few, else proves a world optimal with ``rc2`` as far
    as that is affordable, and else searches with ``max-walk-sat``; the answer's ``reason`` says which and
    why, its ``gap`` what the proof is short of. Searches take ``seed=`` and their own options; one that would
    take more than a day is refused, unless ``most_hours=`` allows it. If one is
    interrupted, :func:`ml.so_far` returns the best world by then.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)", mln)
    >>> found = ml.map_state(mln, db, query=["Cancer"])
    >>> sorted(map(str, found.world.true_atoms))
    ['Cancer(Anna)', 'Smokes(Anna)']
    >>> found.proven_optimal, found.reason
    (True, 'enumeration: all of 2 worlds were compared')
    >>> ml.map_state(mln, db, query=["Cancer"], method="max-walk-sat", seed=1).log_weight
    1.5
    """
    asked = opening(mln, db, query, open, given, closed)
    warn_of_other_sizes(mln, db)
    watching = tuple(observers or ())
    problem = Problem(asked, MOST_PROBABLE, {"seed": seed, **options})
    try:
        with show_progress("ml.map_state", progress, watching) as line, report_early_stop("ml.map_state"):
            watching = watching if line is None else (*watching, line)
            return _find_map_state(problem, method, limit, seed, watching, most_hours, options)
    except TooLargeError as refusal:
        raise with_ways(refusal, problem, method) from None


def _find_map_state(
    problem: Problem, method: str, limit: int | None, seed: int | None, observers: tuple[Observer, ...],
    most_hours: float | None, options: Mapping[str, object],
) -> MapState:  # fmt: skip
    """Choose the method, refuse questions that are too large, and search."""
    asked = problem.asked
    if method != "auto":
        chosen = find_method(method, MOST_PROBABLE)
        settings = {"limit": limit, "seed": seed, **options}
        known = {name: value for name, value in settings.items() if name in options or _has(chosen, name)}
        params = chosen.settings(**known)
        if chosen.refuse is not None:
            chosen.refuse(params, asked)
        refuse_costly(chosen, params, asked, most_hours)
        return _run_method(chosen, params, list_atoms(asked), observers)
    find_method(SEARCH, MOST_PROBABLE).settings(
        **options
    )  # misspelt options are refused also where not needed
    small = find_method(SMALL, MOST_PROBABLE)
    few = small.settings(limit=FEW_WORLDS if limit is None else limit)
    try:
        if small.refuse is not None:
            small.refuse(few, asked)  # before a million atoms are listed
        return _run_method(small, few, problem.question, observers)
    except (TooLargeError, RoundingError) as error:
        refusal = getattr(error, "summary", str(error))
    question = problem.question
    search = find_method(SEARCH, MOST_PROBABLE)
    params = search.settings(seed=seed, **options)

    def search_further() -> MapState:
        refuse_costly(search, params, asked, most_hours)
        return _run_method(search, params, question, observers)

    constraints = problem.once(size_of)
    if constraints.exact and constraints.most_open > 2 * MOST_CONSTRAINTS:  # equal ones are merged later
        found = search_further()
        return _with(
            found, f"{found.reason} (not {EXACT}: there are {constraints.most_open:,} ground formulas)"
        )
    return _prove_or_search(question, search_further, observers or (), refusal)


def _has(method: Method, option: str) -> bool:
    return option in getattr(method.params, "__dataclass_fields__", ())


def _prove_or_search(
    question: Question, search: Callable[[], MapState], observers: Iterable[Observer], refusal: str
) -> MapState:
    """Prove a world optimal, or search further where that takes too long; say how far apart both are."""
    exact = find_method(EXACT, MOST_PROBABLE)
    budget = exact.settings(conflicts=MOST_CONFLICTS, cores=MOST_CORES, constraints=MOST_CONSTRAINTS)
    observers = tuple(observers)
    try:
        proven = _run_method(exact, budget, question, observers)
    except TooLargeError as error:
        found = search()
        return _with(found, f"{found.reason} (not {EXACT}: {error.summary})")
    if proven.proven_optimal:
        return _with(proven, f"{proven.reason} (not {SMALL}: {refusal})")
    found = search()
    bound = proven.log_weight + proven.gap
    best = max(found, proven, key=lambda state: state.log_weight)
    gap = max(0.0, bound - best.log_weight)
    return _with(best, f"{best.reason}; {EXACT} had proved only that none is better by {gap:.6g}", gap)


def _with(state: MapState, reason: str, gap: float | None = None) -> MapState:
    from dataclasses import replace

    return replace(state, reason=reason, gap=state.gap if gap is None else gap)


def _run_method(
    method: Method, params: object, question: Question, observers: Iterable[Observer]
) -> MapState:
    """Let a method answer, recording its states where it iterates."""
    function = method.require_function(method.most_probable)
    began = time.perf_counter()
    for line in observers:
        if isinstance(line, RunLine):
            begin_line(line, method, params)
    if method.steps is None:
        with report_early_stop(method.name):
            found = function(params, question, observers)
        return map_state_of(question, found, method.name, _since(began), None)
    trace: Trace[State] = Trace(budget=TRACE_BYTES)
    try:
        found = function(params, question, (trace, *observers))
    except KeyboardInterrupt:
        if not len(trace):
            raise
        raise _make_interrupt(method, params, question, trace) from None
    if found.broken:
        raise UnsatisfiableError(
            f"No world was found in which all hard formulas hold: in the best one "
            f"{count_of(found.broken, 'hard grounding')} did not ({found.reason}). That does not prove that"
            " there is none: ml.conflict looks for a contradiction, more flips or tries search longer."
        )
    return map_state_of(question, found, method.name, _since(began), trace)


def _since(began: float) -> float:
    return time.perf_counter() - began


def map_state_of(
    question: Question,
    found: Found,
    method: str,
    seconds: float = 0.0,
    trace: Trace[State] | None = None,
) -> MapState:
    """Return the search's result as an answer, with its violated formulas."""
    world = World(question.vocabulary, found.true)
    violated = _list_violated_formulas(question.mln, world, found.against)
    return MapState(
        world, found.log_weight, violated, not isnan(found.gap) and found.gap == 0, method, found.gap,
        found.reason, seconds, question.mln.formulas,
        frozenset((atom.predicate, atom.arguments) for choice in question.choices for atom in choice.atoms),
        trace, memory=found.memory + (0 if trace is None else trace.size),
    )  # fmt: skip


def _list_violated_formulas(
    mln: MLN, world: World, known: tuple[int, ...] | None
) -> tuple[tuple[str, int], ...]:
    """Return the formulas with groundings that the world scores against, and how many."""
    numbers = known if known is not None else [_against(weighted, world) for weighted in mln.formulas]
    pairs = zip(mln.formulas, numbers, strict=True)
    return tuple((statement_text(f), n) for f, n in pairs if n and weight_value(f.weight) != 0)


def _against(weighted: WeightedFormula, world: World) -> int:
    true = world.count(weighted.formula)
    if (weight_value(weighted.weight) or 0) < 0:
        return true
    return world.number_of_groundings(weighted.formula) - true
