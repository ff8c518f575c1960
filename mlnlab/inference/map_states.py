"""``ml.map_state``: a most probable world, by the method that fits or by the one that is named."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from math import isnan, nan
from typing import TYPE_CHECKING

from mlnlab.errors import TooLargeError, UnsatisfiableError, count_of
from mlnlab.grounding.question import listed, opening
from mlnlab.inference.method import MOST_PROBABLE, Method
from mlnlab.inference.registry import method_named
from mlnlab.inference.world_search import Found
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.logic.weights import weight_value
from mlnlab.model.learned_sizes import warn_of_other_sizes
from mlnlab.model.world import World
from mlnlab.model.writing import statement_text
from mlnlab.steps.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from mlnlab.grounding.question import Question
    from mlnlab.logic.formulas import Formula
    from mlnlab.logic.weights import WeightedFormula
    from mlnlab.model.database import Database
    from mlnlab.model.mln import MLN
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


class SearchInterrupted(KeyboardInterrupt):
    """Somebody stopped a search; the best world that it had found is not lost."""

    def __init__(self, method: Method, params: object, question: Question, trace: Trace[State]) -> None:
        self._method, self._params, self._question, self._trace = method, params, question, trace
        super().__init__(f"{method.name} was stopped at step {trace[-1].index}; so_far() has the best world.")

    def so_far(self) -> MapState:
        """Return the best world that was known."""
        last = self._trace[-1]
        found = self._method.required(self._method.worlds)(self._params, self._question).found(last.state)
        reason = f"{self._method.name}: stopped early, at step {last.index:,}"
        return map_state_of(
            self._question, found._replace(reason=reason), self._method.name, last.seconds, self._trace
        )

    def _render_traceback_(self) -> list[str]:
        """Show the sentence alone in a notebook: IPython's own hook."""
        return [f"KeyboardInterrupt: {self}"]


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
    **options: object,
) -> MapState:
    r"""Return a most probable world given the evidence; the arguments are those of :func:`infer`.

    ``method="auto"`` compares all worlds where these are few, else proves a world optimal with ``rc2`` as far
    as that is affordable, and else searches with ``max-walk-sat``; the answer's ``reason`` says which and
    why, its ``gap`` what the proof is short of. Searches take ``seed=`` and their own options. If one is
    interrupted, the exception's ``so_far()`` returns the best world by then.

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
    if method != "auto":
        chosen = method_named(method, MOST_PROBABLE)
        settings = {"limit": limit, "seed": seed, **options}
        known = {name: value for name, value in settings.items() if name in options or _has(chosen, name)}
        params = chosen.settings(**known)
        if chosen.refuse is not None:
            chosen.refuse(params, asked)
        return _answered(chosen, params, listed(asked), observers or ())
    method_named(SEARCH, MOST_PROBABLE).settings(
        **options
    )  # misspelt options are refused also where not needed
    question = listed(asked)
    small = method_named(SMALL, MOST_PROBABLE)
    few = small.settings(limit=FEW_WORLDS if limit is None else limit)
    try:
        return _answered(small, few, question, observers or ())
    except TooLargeError as error:
        refusal = error.summary
    return _exact_or_searched(question, {"seed": seed, **options}, observers or (), refusal)


def _has(method: Method, option: str) -> bool:
    return option in getattr(method.params, "__dataclass_fields__", ())


def _exact_or_searched(
    question: Question, options: Mapping[str, object], observers: Iterable[Observer], refusal: str
) -> MapState:
    """Prove a world optimal, or search further where that takes too long; say how far apart both are."""
    exact, search = method_named(EXACT, MOST_PROBABLE), method_named(SEARCH, MOST_PROBABLE)
    budget = exact.settings(conflicts=MOST_CONFLICTS, cores=MOST_CORES, constraints=MOST_CONSTRAINTS)
    observers = tuple(observers)
    try:
        proven = _answered(exact, budget, question, observers)
    except TooLargeError as error:
        found = _answered(search, search.settings(**options), question, observers)
        return _with(found, f"{found.reason} (not {EXACT}: {error.summary})")
    if proven.proven_optimal:
        return _with(proven, f"{proven.reason} (not {SMALL}: {refusal})")
    found = _answered(search, search.settings(**options), question, observers)
    bound = proven.log_weight + proven.gap
    best = max(found, proven, key=lambda state: state.log_weight)
    gap = max(0.0, bound - best.log_weight)
    return _with(best, f"{best.reason}; {EXACT} had proved only that none is better by {gap:.6g}", gap)


def _with(state: MapState, reason: str, gap: float | None = None) -> MapState:
    from dataclasses import replace

    return replace(state, reason=reason, gap=state.gap if gap is None else gap)


def _answered(method: Method, params: object, question: Question, observers: Iterable[Observer]) -> MapState:
    """Let a method answer; what it does is recorded where it goes step by step."""
    function = method.required(method.most_probable)
    began = time.perf_counter()
    if method.steps is None:
        return map_state_of(question, function(params, question, observers), method.name, _since(began), None)
    trace: Trace[State] = Trace(budget=TRACE_BYTES)
    try:
        found = function(params, question, (trace, *observers))
    except KeyboardInterrupt:
        if not len(trace):
            raise
        raise SearchInterrupted(method, params, question, trace) from None
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
    """Return what was found with all that it says about the question."""
    world = World(question.vocabulary, found.true)
    violated = _violated(question.mln, world, found.against)
    return MapState(
        world, found.log_weight, violated, not isnan(found.gap) and found.gap == 0, method, found.gap,
        found.reason, seconds, question.mln.formulas,
        frozenset((atom.predicate, atom.arguments) for choice in question.choices for atom in choice.atoms),
        trace, memory=found.memory + (0 if trace is None else trace.size),
    )  # fmt: skip


def _violated(mln: MLN, world: World, known: tuple[int, ...] | None) -> tuple[tuple[str, int], ...]:
    """Return the formulas with groundings that the world scores against, and how many."""
    numbers = known if known is not None else [_against(weighted, world) for weighted in mln.formulas]
    pairs = zip(mln.formulas, numbers, strict=True)
    return tuple((statement_text(f), n) for f, n in pairs if n and weight_value(f.weight) != 0)


def _against(weighted: WeightedFormula, world: World) -> int:
    true = world.count(weighted.formula)
    if (weight_value(weighted.weight) or 0) < 0:
        return true
    return world.number_of_groundings(weighted.formula) - true
