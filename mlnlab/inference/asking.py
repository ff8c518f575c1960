"""The questions of the public face: ``infer``, ``log_z``."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from mlnlab.errors import TooLargeError
from mlnlab.grounding.question import listed, opening, refuse_no_model
from mlnlab.inference.choosing import TREE, plan_of, refuse_endless
from mlnlab.inference.enumeration import MOST_WORLDS
from mlnlab.inference.lifted import RECORD as LIFTED_METHOD
from mlnlab.inference.lifted_counts import cheaply_counted
from mlnlab.inference.method import LOG_Z, MARGINALS, Method
from mlnlab.inference.registry import method_named
from mlnlab.inference.sensitivities import Inquiry, sensitivities_of
from mlnlab.inference.shares import explain
from mlnlab.inference.tree_plans import tree_plan
from mlnlab.inference.unknown import unknown_marginals
from mlnlab.lifted.lift import lift
from mlnlab.model.database import Database
from mlnlab.model.learned_sizes import warn_of_other_sizes
from mlnlab.steps.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mlnlab.grounding.question import Opening, Question
    from mlnlab.inference.explanation import Explanation
    from mlnlab.inference.marginals import Marginals
    from mlnlab.lifted.cell_theory import CellTheory
    from mlnlab.lifted.lift import LiftedCircuit
    from mlnlab.logic.formulas import Formula
    from mlnlab.logic.ground_atoms import GroundAtom
    from mlnlab.model.mln import MLN
    from mlnlab.steps.step import Observer, State

LIFTED = LIFTED_METHOD.name
EXACT, SAMPLING = "enumeration", "gibbs"  # what "auto" chooses from
TRACE_BYTES = 16 << 20


class SamplingWarning(UserWarning):
    """Probabilities from samples may be further off than their standard errors say."""


class Interrupted(KeyboardInterrupt):
    """Somebody stopped a method that goes step by step; what it knew by then is not lost."""

    def __init__(self, method: Method, params: object, question: Question, trace: Trace[State]) -> None:
        self._method, self._params, self._question, self._trace = method, params, question, trace
        when = f"at step {trace[-1].index}" if len(trace) else "before its first step"
        known = "so_far() tells what it knew" if self.knows_something else "no sample was drawn by then"
        super().__init__(f"{method.name} was stopped {when}; {known}.")

    @property
    def knows_something(self) -> bool:
        """Whether anything is known besides what evidence decides."""
        if not len(self._trace):
            return False
        return self._method.is_approximation or self._trace[-1].state.metrics().get("samples", 1.0) > 0

    def so_far(self) -> Marginals:
        """Return the probabilities as they were known; before the first sample these are no numbers."""
        if not self.knows_something:
            return unknown_marginals(self._method.name, self._question, self._trace)
        last = self._trace[-1]
        known = self._method.required(self._method.estimate)(self._params, self._question, last.state)
        return replace(
            known, seconds=last.seconds, reason=f"stopped early; {known.reason}", trace=self._trace
        )

    def _render_traceback_(self) -> list[str]:
        """Show the sentence alone in a notebook: IPython's own hook."""
        return [f"KeyboardInterrupt: {self}"]


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
    **options: object,
) -> Marginals:
    r"""Return the probabilities of atoms and formulas.

    ``query`` names predicates (all their atoms), ground atoms or formulas. Atoms of the predicates in the
    queries that the database does not list are unknown, listed ones are evidence; other predicates are
    closed (unlisted atoms are false) unless named in ``open``. Predicates declared ``*P`` or named in
    ``closed`` stay closed even if queried: of these only atoms that the database marks with ``?`` are
    unknown. ``given`` holds formulas that are known to be true. Without a database everything is open.

    ``method="auto"`` sums over all worlds where these are at most ``limit``, passes messages in a junction
    tree where that is small, lifts the model where that takes a moment (both if no option of sampling is
    given), and samples otherwise: by MC-SAT where
    formulas, one alone or many together, make open atoms hold each other, else by Gibbs sampling. A
    model too large to ground, of which priors such as ``-20 Same(x, y)`` keep nearly all atoms false, is
    sampled by ``"lazy-mc-sat"``: of a predicate it lists only what was true in some sample. What would take
    hours is refused with its estimate, unless the method is named. The answer's ``reason`` says which and
    why, and :func:`ml.inference_plan` says so before. Sampling takes ``seed=`` and the options ``samples=``,
    ``burn_in=``, ``chains=`` and ``thin=``; its errors are in ``error(...)`` and its doubts in ``warnings``.
    If it is interrupted, the exception's ``so_far()`` returns what is known by then.

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
    settings: dict[str, object] = {"limit": limit, "seed": seed, **options}
    expected = ""
    if method == LIFTED:
        chosen = LIFTED_METHOD
    elif method == "auto":
        _refuse_unknown(options)
        plan = plan_of(asked, limit, {"seed": seed, **options})
        refuse_endless(plan)
        chosen = LIFTED_METHOD if plan.method == LIFTED else method_named(plan.method, MARGINALS)
        settings = {name: value for name, value in settings.items() if chosen.knows(name)}
        if chosen.name != EXACT:
            expected = f" ({plan.why}; about {plan.cost} was expected)"
    else:
        chosen = method_named(method, MARGINALS)
    if method != "auto":
        settings = {**_usual(chosen, limit, seed), **options}
        if chosen.refuse is not None:
            chosen.refuse(chosen.settings(**settings), asked)
    answer = _warned(_marginals(chosen, chosen.posed(asked), settings, observers))
    explaining = partial(_explained, asked, method_named(EXACT).settings(limit=limit).limit)
    changing = partial(sensitivities_of, Inquiry(asked, chosen, settings))
    return replace(answer, reason=_reason(answer, chosen) + expected, explain=explaining, changing=changing)


def _explained(asked: Opening, limit: int, atom: GroundAtom) -> Explanation:
    """Return why an atom has its probability, by sums over all worlds, whatever the method was."""
    return explain(listed(asked), atom, limit=limit)


def _warned(answer: Marginals) -> Marginals:
    """Return the answer after saying its doubts aloud."""
    for warning in answer.warnings:
        warnings.warn(warning, SamplingWarning, stacklevel=3)
    return answer


def _usual(method: Method, limit: int, seed: int) -> dict[str, object]:
    """Return those arguments of every question that a method knows."""
    usual = {"limit": limit, "seed": seed}
    return {name: value for name, value in usual.items() if method.knows(name)}


def _marginals(
    method: Method, question: Question, options: Mapping[str, object], observers: Iterable[Observer] | None
) -> Marginals:
    function = method.required(method.marginals)
    if method.steps is None:
        return function(method.settings(**options), question, observers or ())
    trace: Trace[State] = Trace(budget=TRACE_BYTES)
    params = method.settings(**options)
    try:
        answer = function(params, question, (trace, *(observers or ())))
    except KeyboardInterrupt:
        raise Interrupted(method, params, question, trace) from None
    return replace(answer, trace=trace, memory=answer.memory + trace.size)


def _refuse_unknown(options: Mapping[str, object]) -> None:
    """Refuse misspelt options also where they are not needed."""
    method_named(SAMPLING).settings(**options)


def _reason(answer: Marginals, method: Method) -> str:
    if answer.reason:
        return answer.reason
    if answer.number_of_worlds == 1:
        return f"{method.name}: there is 1 world, so the answer is exact"
    worlds = f"{answer.number_of_worlds:,} worlds"
    return f"{method.name}: {worlds} are few enough to visit each, so the answer is exact"


@dataclass(frozen=True, slots=True)
class LogZ:
    """The logarithm of the partition function, a bound on its error, the method, and what it cost.

    ``memory`` is how many bytes the method held, as counted from its arrays.
    """

    value: float
    error: float
    method: str
    seconds: float = 0.0
    memory: int = 0

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
) -> LogZ:
    r"""Return log Z; ``domains`` are sizes, or a database for its constants (its facts are no evidence).

    ``method="auto"`` sums over all worlds where these are at most ``limit``, lifts the model where that takes
    no grounding and a moment, and passes messages in a junction tree where that is small. ``"lifted"`` lifts
    it whatever that takes (:func:`ml.lift`).

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> round(ml.log_z(mln, {"person": 3}).value, 4)
    8.0111
    >>> ml.log_z(mln, {"person": 30_000}).method
    'lifted'
    """
    refuse_no_model(mln)
    sized = replace(mln, vocabulary=mln.vocabulary_with(domains))
    if method == LIFTED:
        return _lifted(lift(sized).compile(method="auto"))
    asked = opening(sized, None, None)
    if method != "auto":
        return log_z_by(method, asked, limit)
    try:
        return log_z_by(EXACT, asked, limit)
    except TooLargeError:
        circuit = cheaply_counted(sized)
        return log_z_by(method, asked, limit) if circuit is None else _lifted(circuit)


def _lifted(circuit: LiftedCircuit | CellTheory) -> LogZ:
    began = time.perf_counter()
    found = circuit.log_z()
    return LogZ(found.value, found.error, LIFTED, time.perf_counter() - began)


def log_z_by(method: str, asked: Opening, limit: int) -> LogZ:
    """Return log Z over the open atoms; what evidence decides counts, too."""
    if method != "auto":
        return _log_z(method_named(method, LOG_Z, (LIFTED,)), asked, limit)
    try:
        return _log_z(method_named(EXACT, LOG_Z), asked, limit)
    except TooLargeError:
        if tree_plan(asked) is None:
            raise
        return _log_z(method_named(TREE, LOG_Z), asked, limit)


def _log_z(method: Method, asked: Opening, limit: int) -> LogZ:
    params = method.settings(**({"limit": limit} if method.knows("limit") else {}))
    began = time.perf_counter()
    if method.refuse is not None:
        method.refuse(params, asked)
    value, error, memory = method.required(method.log_z)(params, method.posed(asked))
    return LogZ(value, error, method.name, time.perf_counter() - began, memory)
