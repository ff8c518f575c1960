"""The questions of the public face: ``infer``, ``log_z``."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from functools import partial
from math import nan
from typing import TYPE_CHECKING

from mlnlab.algebra.doors import refuse_useless_log
from mlnlab.errors import TooLargeError
from mlnlab.grounding.lazy.lazy_priors import is_small
from mlnlab.grounding.question.question import Opening, Question, list_atoms, opening, refuse_no_model
from mlnlab.inference.answers.marginals import Estimate, Marginals
from mlnlab.inference.ask.answering_methods import with_ways
from mlnlab.inference.ask.choosing import EXACT, SAMPLING, chosen_plan, refuse_endless
from mlnlab.inference.ask.run_costs import begin_line, refuse_costly
from mlnlab.inference.costs.inference_problem import Problem
from mlnlab.inference.effects.sensitivities import Inquiry, sensitivities_of
from mlnlab.inference.effects.shares import explain
from mlnlab.inference.method import LOG_Z, MARGINALS, Method
from mlnlab.inference.method_registry import find_method
from mlnlab.inference.methods.enumeration import MOST_WORLDS
from mlnlab.model.database.database import Database
from mlnlab.model.mln.learned_sizes import warn_of_other_sizes
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.runs.interrupted import Interrupted, report_early_stop
from mlnlab.steps.runs.run_line import RunLine, show_progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mlnlab.inference.answers.explanation import Explanation
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.logic.formulas.ground_atoms import GroundAtom
    from mlnlab.model.mln.mln import MLN
    from mlnlab.steps.step import Observer, State

TRACE_BYTES = 16 << 20


class SamplingWarning(UserWarning):
    """Probabilities from samples may be further off than their standard errors say."""


def _make_interrupt(method: Method, params: object, question: Question, trace: Trace[State]) -> Interrupted:
    """Return the interrupt of a run; before its first sample its results are no numbers."""
    last = trace[-1] if len(trace) else None
    knows = last is not None and (method.is_approximation or last.state.metrics().get("samples", 1.0) > 0)

    def answer_so_far() -> Marginals:
        if last is None or not knows:
            return unknown_marginals(method.name, question, trace)
        found: Marginals = method.require_function(method.estimate)(params, question, last.state)
        return replace(found, seconds=last.seconds, reason=f"stopped early; {found.reason}", trace=trace)

    when = "before its first step" if last is None else f"at step {last.index}"
    words = "ml.so_far() returns its results" if knows else "no sample was drawn by then"
    return Interrupted(
        f"{method.name} was stopped {when}; {words}.", answer_so_far, None if last is None else last.state,
        knows_something=knows,
    )  # fmt: skip


def infer(
    mln: MLN,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str | Formula] | str | Formula | None = None,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the fixed public name
    closed: Sequence[str] | str = (),
    given: Sequence[str | Formula] | str | Formula = (),
    method: str = "auto",
    limit: int = MOST_WORLDS,
    seed: int = 0,
    observers: Iterable[Observer] | None = (),
    most_hours: float | None = None,
    progress: bool | None = None,
    **options: object,
) -> Marginals:
    r"""Return the probabilities of atoms and formulas.

    ``query`` names predicates (all their atoms), ground atoms or formulas. Atoms of the predicates in the
    queries that the database does not list are unknown, listed ones are evidence; other predicates are
    closed (unlisted atoms are false) unless named in ``open``. Predicates declared ``*P`` or named in
    ``closed`` stay closed even if queried: of these only atoms that the database marks with ``?`` are
    unknown. ``given`` holds formulas that are known to be true. Without a database everything is open.

    ``method="auto"`` sums over all worlds where these are at most ``limit``, passes messages in a junction
    tree where that is small, lifts the model where that takes less (both if no option of sampling is
    given), and samples otherwise: by MC-SAT where
    formulas, one alone or many together, make open atoms hold each other, else by Gibbs sampling. A
    model too large to ground, of which priors such as ``-20 Same(x, y)`` keep nearly all atoms false, is
    sampled by ``"lazy-mc-sat"``: of a predicate it lists only what was true in some sample. What would take
    more than 6 hours, or 24 where the method is named, is refused with its estimate and with the methods that
    would answer; ``most_hours=`` allows it. The answer's ``reason`` says which and why, and
    :func:`ml.inference_plan` says so before. Sampling takes ``seed=`` and the options ``samples=``,
    ``burn_in=``, ``chains=`` and ``thin=``; its errors are in ``error(...)`` and its doubts in ``warnings``.
    If it is interrupted, :func:`ml.so_far` returns what is known by then. What takes long says in a terminal
    or a notebook how far it is; ``progress=True`` or ``False`` decides that.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)", mln)
    >>> round(ml.infer(mln, db, query=["Cancer"])["Cancer(Anna)"], 4)
    0.8176
    >>> sampled = ml.infer(mln, db, query=["Cancer"], method="gibbs", samples=1000, seed=1)
    >>> abs(sampled["Cancer(Anna)"] - 0.8176) < 5 * sampled.error("Cancer(Anna)")
    True
    """
    asked = opening(mln, db, query, open, given, closed)
    warn_of_other_sizes(mln, db)
    problem = Problem(asked, MARGINALS, {"limit": limit, "seed": seed, **options})
    observers = tuple(observers or ())
    try:
        with show_progress("ml.infer", progress, observers) as line, report_early_stop("ml.infer"):
            return _infer_marginals(problem, method, observers, most_hours, line, options)
    except TooLargeError as refusal:
        raise with_ways(refusal, problem, method) from None


def _infer_marginals(
    problem: Problem, method: str, observers: tuple[Observer, ...],
    most_hours: float | None, line: RunLine | None, options: Mapping[str, object],
) -> Marginals:  # fmt: skip
    """Choose the method, refuse questions that are too large, and answer."""
    asked, settings = problem.asked, dict(problem.options)
    limit = find_method(EXACT).settings(limit=settings["limit"]).limit  # refuses other than whole numbers
    expected = ""
    if method == "auto":
        _refuse_unknown(options)
        plan = chosen_plan(problem)
        refuse_endless(plan, most_hours)
        chosen = find_method(plan.method, MARGINALS)
        settings = {name: value for name, value in settings.items() if chosen.knows(name)}
        if chosen.name != EXACT:
            expected = f" ({plan.why}; about {plan.cost} was expected)"
    else:
        chosen = find_method(method, MARGINALS)
    if method != "auto":
        usual = {name: settings[name] for name in ("limit", "seed") if chosen.knows(name)}
        settings = {**usual, **options}
        if chosen.refuse is not None:
            chosen.refuse(chosen.settings(**settings), asked)
        refuse_costly(chosen, chosen.settings(**settings), asked, most_hours)
    watching = observers if line is None else (*observers, line)
    if line is not None:
        begin_line(line, chosen, chosen.settings(**settings))
    answer = _warn_of_doubts(_marginals(chosen, chosen.pose(asked), settings, watching))
    explaining = partial(_explain_atom, asked, limit)
    changing = partial(sensitivities_of, Inquiry(asked, chosen, settings))
    return replace(answer, reason=_reason(answer, chosen) + expected, explain=explaining, changing=changing)


def _explain_atom(asked: Opening, limit: int, atom: GroundAtom) -> Explanation:
    """Return why an atom has its probability, by sums over all worlds, whatever the method was."""
    return explain(list_atoms(asked), atom, limit=limit)


def _warn_of_doubts(answer: Marginals) -> Marginals:
    """Return the answer after saying its doubts aloud."""
    for warning in answer.warnings:
        warnings.warn(warning, SamplingWarning, stacklevel=4)
    return answer


def _marginals(
    method: Method, question: Question, options: Mapping[str, object], observers: Iterable[Observer] | None
) -> Marginals:
    function = method.require_function(method.marginals)
    if method.steps is None:
        with report_early_stop(method.name):
            return function(method.settings(**options), question, observers or ())
    trace: Trace[State] = Trace(budget=TRACE_BYTES)
    params = method.settings(**options)
    try:
        answer = function(params, question, (trace, *(observers or ())))
    except KeyboardInterrupt:
        raise _make_interrupt(method, params, question, trace) from None
    return replace(answer, trace=trace, memory=answer.memory + trace.size)


def _refuse_unknown(options: Mapping[str, object]) -> None:
    """Refuse misspelt options also where they are not needed."""
    find_method(SAMPLING).settings(**options)


def _reason(answer: Marginals, method: Method) -> str:
    if answer.reason:
        return answer.reason
    if answer.number_of_worlds == 1:
        return f"{method.name}: there is 1 world, so the answer is exact"
    worlds = f"{answer.number_of_worlds:,} worlds"
    return f"{method.name}: {worlds} are few enough to visit each, so the answer is exact"


@dataclass(frozen=True, slots=True)
class LogZ:
    """The logarithm of the partition function, an error bound, the method, its seconds and bytes.

    ``memory`` is how many bytes the method held, as counted from its arrays.
    """

    value: float
    error: float
    method: str
    seconds: float = 0.0
    memory: int = 0

    def __post_init__(self) -> None:
        """Refuse a value that is not a number, or whose error makes it useless."""
        refuse_useless_log(self.value, self.error, self.method)

    def __repr__(self) -> str:
        """Say as many digits as are certain."""
        return f"<log Z = {self.value:.12g}, error below {self.error:.0e}, by {self.method}>"

    def __float__(self) -> float:
        return self.value


def log_z(
    mln: MLN,
    domains: Database | Mapping[str, int] | None = None,
    *,
    method: str = "auto",
    limit: int = MOST_WORLDS,
    progress: bool | None = None,
) -> LogZ:
    r"""Return log Z; ``domains`` are sizes, or a database for its constants (its facts are no evidence).

    ``method="auto"`` sums over all worlds where these are at most ``limit``, lifts the model where that takes
    no grounding and a moment, and passes messages in a junction tree where that is small. ``"lifted"`` lifts
    it whatever that takes (:func:`ml.lift`). ``progress`` is that of :func:`ml.infer`.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> round(ml.log_z(mln, {"person": 3}).value, 4)
    8.0111
    >>> ml.log_z(mln, {"person": 30_000}).method
    'lifted'
    """
    refuse_no_model(mln)
    with show_progress("ml.log_z", progress), report_early_stop("ml.log_z"):
        return _log_z_of(mln, domains, method, limit)


def _log_z_of(mln: MLN, domains: Database | Mapping[str, int] | None, method: str, limit: int) -> LogZ:
    """Choose the method and answer."""
    # Written out while it is known which types are empty: the sizes are no facts, and opened without them.
    sized = mln.expand(domains)
    return log_z_by(method, replace(opening(sized, None, None), queries=()), limit)


def log_z_by(method: str, asked: Opening, limit: int) -> LogZ:
    """Return log Z over the open atoms, including the weights that evidence decides."""
    problem = Problem(asked, LOG_Z, {"limit": limit})
    try:
        name = chosen_plan(problem).method if method == "auto" else method
        return _log_z(find_method(name, LOG_Z), asked, limit)
    except TooLargeError as refusal:
        raise with_ways(refusal, problem, method) from None


def _log_z(method: Method, asked: Opening, limit: int) -> LogZ:
    params = method.settings(**({"limit": limit} if method.knows("limit") else {}))
    began = time.perf_counter()
    if method.refuse is not None:
        method.refuse(params, asked)
    value, error, memory = method.require_function(method.log_z)(params, method.pose(asked))
    return LogZ(value, error, method.name, time.perf_counter() - began, memory)


# --- marginals before anything is computed ------------------------------------------------------

# Evidence decides some atoms, the others are NaN.

UNKNOWN = Estimate(nan, nan, nan, nan)


def unknown_marginals(method: str, question: Question, trace: Trace[State]) -> Marginals:
    """Return marginals in which every probability that evidence leaves open is not a number, and say so."""
    if not question.choices and question.asked is not None and is_small(question.asked):
        question = list_atoms(question.asked)  # the method goes by what was asked, and did not list it
    unknown = {atom for choice in question.choices for atom in choice.atoms}
    lists_all = bool(question.choices)  # else they are too many, and nobody knows yet which are open
    estimates = {
        str(atom): UNKNOWN
        if atom in unknown or not (lists_all or question.holds(*atom))
        else Estimate(float(question.holds(*atom)), 0.0, nan, nan)
        for atom in question.query_atoms
    }
    estimates |= {text: UNKNOWN for text, _ in question.query_formulas}
    seconds = trace[-1].seconds if len(trace) else 0.0
    return Marginals(
        probabilities={name: estimate.probability for name, estimate in estimates.items()},
        method=method, log_z=nan, number_of_worlds=0, seconds=seconds, rounding=0.0, question=question,
        expected_counts=(), estimates=estimates, trace=trace,
        reason=f"{method} was stopped before its first sample: only what evidence decides is known",
        warnings=("No sample was drawn, so what is open has no probability yet: let it run longer.",),
    )  # fmt: skip
