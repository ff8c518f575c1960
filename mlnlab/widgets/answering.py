"""The probabilities that follow an edited model: at once where there are few worlds, else in a thread.

One generator makes all answers: an exact one, or estimates that get better. What is quick is asked for in
place; the rest runs as a live run, which a newer question ends.
"""

from __future__ import annotations

import time
import weakref
from dataclasses import dataclass
from functools import partial
from math import prod
from threading import RLock
from typing import TYPE_CHECKING, Any

from mlnlab.errors import MlnlabError, TooLargeError
from mlnlab.grounding.question import pose
from mlnlab.inference import gibbs
from mlnlab.inference.asking import infer
from mlnlab.inference.enumeration import refuse_large
from mlnlab.inference.state_reading import chains_reader
from mlnlab.logic.ground_atoms import NAME
from mlnlab.logic.substitution import free_variables
from mlnlab.logic.traversal import predicates
from mlnlab.steps.live import Live

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mlnlab.grounding.question import Question
    from mlnlab.inference.explanation import Explanation
    from mlnlab.inference.marginals import Marginals
    from mlnlab.inference.state_reading import ChainsReader
    from mlnlab.model.database import Database
    from mlnlab.model.mln import MLN
    from mlnlab.steps.step import Step

QUICK_WORLDS = 1 << 12
QUICK_GROUNDINGS = 4_000
MOST_WORLDS = 1 << 20  # visited each; they take some tenths of a second
_MOST_EXPLAINED = 1 << 16  # worlds; an explanation visits them some dozens of times
_SAMPLES, _BURN_IN = 20_000, 500
_BETWEEN_TELLINGS = 0.1
_JOINING_SECONDS = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """What is asked: a model with facts, the queries, which predicates are open, and the atom to explain."""

    model: MLN
    database: Database
    query: tuple[str, ...]
    open: tuple[str, ...] = ()
    why: str = ""

    def is_like(self, other: Case) -> bool:
        """Say whether the answers are the same because model and facts are the very same values."""
        mine, others = (self.query, self.open, self.why), (other.query, other.open, other.why)
        return self.model is other.model and self.database is other.database and mine == others


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Probabilities and an explanation, as far as they are known; ``problem`` says why there are none."""

    marginals: Marginals | None = None
    explanation: Explanation | None = None
    unexplained: str = ""
    problem: str = ""

    def metrics(self) -> Mapping[str, float]:
        """Return how many probabilities there are."""
        return {"probabilities": float(len(self.marginals or ()))}


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """An answer that is only worked out if somebody looks at it."""

    read: Callable[[], Answer]

    def metrics(self) -> Mapping[str, float]:
        """Return nothing: reading costs more than the samples."""
        return {}


def answers(case: Case) -> Iterator[Answer | Sampled]:
    """Yield the exact answer, where the worlds are few, or estimates from more and more samples."""
    question = pose(case.model, case.database, case.query, case.open)
    try:
        refuse_large(question, MOST_WORLDS)
    except TooLargeError:
        yield from _estimates(question, bool(case.why))
    else:
        yield _exact(case, MOST_WORLDS)


def quick_answer(case: Case) -> Answer | None:
    """Return the answer where it takes some milliseconds, or a sentence where there is none; else nothing."""
    if not case.query:
        return Answer(problem="Nothing is asked for: choose a predicate.")
    try:
        return _exact(case, QUICK_WORLDS) if is_small(case) else None
    except TooLargeError:
        return None
    except MlnlabError as error:
        return Answer(problem=str(error))


def is_small(case: Case) -> bool:
    """Say whether grounding the model takes no time worth mentioning; nothing is grounded for that."""
    vocabulary = case.model.vocabulary_with(case.database)
    groundings = 0
    for weighted in case.model.formulas:
        sizes = [len(vocabulary.domain(v.type)) for v in free_variables(weighted.formula) if v.type]
        groundings += prod(sizes) * 2 ** len(weighted.both_signs)
    names = {*case.open, *(name for text in case.query for name in _asked_predicates(text, case.model))}
    for name in names & set(vocabulary.predicates):
        groundings += prod(len(vocabulary.domain(type_)) for type_ in vocabulary.predicates[name].types)
    return groundings <= QUICK_GROUNDINGS


def _asked_predicates(query: str, model: MLN) -> Iterator[str]:
    if NAME.fullmatch(query):
        yield query
    else:
        yield from predicates(model.parse(query))


def _exact(case: Case, limit: int) -> Answer:
    found = infer(case.model, case.database, case.query, open=case.open, method="enumeration", limit=limit)
    if not case.why:
        return Answer(found)
    if found.number_of_worlds > _MOST_EXPLAINED:
        return Answer(found, unexplained=_too_many_to_explain(f"{found.number_of_worlds:,}"))
    try:
        return Answer(found, found.why(case.why))
    except MlnlabError as error:
        return Answer(found, unexplained=str(error))


def _too_many_to_explain(worlds: str) -> str:
    return (
        f"An explanation sums over all worlds, of which there are {worlds}. Ask for fewer predicates, or say"
        " of some atoms whether they are true."
    )


def _estimates(question: Question, explained: bool) -> Iterator[Sampled]:
    ground = gibbs.ground(question)
    params = gibbs.Params(samples=_SAMPLES, burn_in=_BURN_IN)
    reader = chains_reader("gibbs", ground, params.burn_in, params.burn_in + params.samples)
    unexplained = _too_many_to_explain("too many to visit") if explained else ""
    for state in gibbs.steps_on(params, ground):
        if state.samples:
            yield Sampled(partial(_read, reader, state, unexplained))


def _read(reader: ChainsReader, state: gibbs.GibbsState, unexplained: str) -> Answer:
    return Answer(reader.marginals(state), unexplained=unexplained)


class Answering:
    """Answers the newest question, and tells the answer with the question's number.

    ``told`` is called in place or in a thread; it is never told an answer to a question that is older than
    the one it was told of last. There is one thread at most, and none when everything is answered.
    """

    def __init__(self, told: Callable[[Answer, int, bool], None]) -> None:
        self._told = told
        self._lock = RLock()
        self._live: Live[Answer | Sampled] | None = None
        self._waiting: tuple[Case, int] | None = None
        self._newest = 0

    def ask(self, case: Case, number: int) -> None:
        """Answer this question instead of all earlier ones."""
        self.stop()
        answer = quick_answer(case)
        if answer is not None:
            self._tell(answer, number, True)
            return
        with self._lock:
            self._waiting = case, number
        self._begin()

    def stop(self) -> None:
        """Answer no more; what is computed at the moment is still told if it comes in time."""
        with self._lock:
            self._waiting = None
            live = self._live
        if live is not None:
            live.stop()

    def close(self) -> None:
        """Answer no more, and wait a moment for the thread to be gone."""
        self.stop()
        with self._lock:
            live = self._live
        if live is not None:
            live.join(_JOINING_SECONDS)

    @property
    def busy(self) -> bool:
        """Whether an answer may still change."""
        with self._lock:
            return self._waiting is not None or (self._live is not None and not self._live.ended)

    def _begin(self) -> None:
        """Begin with what waits, unless a thread is still at work; that one calls this when it ends."""
        with self._lock:
            if self._waiting is None or (self._live is not None and not self._live.ended):
                return
            (case, number), self._waiting = self._waiting, None
            ear = _Ear(self, number)
            self._live = live = Live(lambda: answers(case), [ear])
            live.when_at_rest(ear.at_rest)
        live.start()

    def _tell(self, answer: Answer, number: int, last: bool) -> None:
        with self._lock:
            if number < self._newest:
                return
            self._newest = number
        self._told(answer, number, last)

    def _ended(self, number: int) -> None:
        with self._lock:
            live = self._live
        error = None if live is None else live.error
        if error is not None:
            sentence = (
                str(error) if isinstance(error, MlnlabError) else f"This could not be computed: {error}"
            )
            self._tell(Answer(problem=sentence), number, True)
        self._begin()


class _Ear:
    """Hears the answers of a run without holding the one who asked, so that an orphan run can end."""

    def __init__(self, answering: Answering, number: int) -> None:
        self._answering = weakref.ref(answering)
        self._number = number
        self._last = 0.0

    def on_step(self, step: Step[Any]) -> None:
        now = time.perf_counter()
        if isinstance(step.state, Answer) or now - self._last >= _BETWEEN_TELLINGS:
            self._last = now
            self._tell(step.state, last=isinstance(step.state, Answer))

    def on_end(self, last: Step[Any]) -> None:
        # An answer was told at once, as the last word; a sample may have been told, but as one of many.
        if not isinstance(last.state, Answer):
            self._tell(last.state, last=True)

    def at_rest(self) -> None:
        answering = self._answering()
        if answering is not None:
            answering._ended(self._number)  # noqa: SLF001 - two halves of one class

    def _tell(self, found: Answer | Sampled, *, last: bool) -> None:
        answering = self._answering()
        if answering is not None:
            answer = found.read() if isinstance(found, Sampled) else found
            answering._tell(answer, self._number, last)  # noqa: SLF001
