"""The probabilities that follow an edited model: at once where there are few worlds, else in a thread.

One generator makes all answers: an exact one, or estimates that get better. What is quick is asked for in
place; the rest runs as a live run, which a newer question ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TYPE_CHECKING

from mlnlab.errors import MlnlabError, TooLargeError
from mlnlab.grounding.question.question import Question, pose
from mlnlab.inference.ask.asking import infer
from mlnlab.inference.methods import gibbs
from mlnlab.inference.methods.enumeration import refuse_large
from mlnlab.inference.sampling.state_reading import ChainsReader, chains_reader
from mlnlab.logic.formulas.ground_atoms import NAME
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import predicates
from mlnlab.widgets.view.newest import Newest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mlnlab.inference.answers.explanation import Explanation
    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

QUICK_WORLDS = 1 << 12
QUICK_GROUNDINGS = 4_000
MOST_WORLDS = 1 << 20  # visited each; they take some tenths of a second
_MOST_EXPLAINED = 1 << 16  # worlds; an explanation visits them some dozens of times
_SAMPLES, _BURN_IN = 20_000, 500
_JOINING_SECONDS = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A case to answer: model and facts, queries, open predicates, and the atom to explain."""

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
        self._newest = Newest(self._tell, self._fail)

    def ask(self, case: Case, number: int) -> None:
        """Answer this question instead of all earlier ones."""
        self._newest.stop(number)
        answer = quick_answer(case)
        if answer is not None:
            self._told(answer, number, True)
        else:
            self._newest.ask(lambda: answers(case), number)

    def close(self) -> None:
        """Tell the answer so far, and wait a moment for the thread to be gone."""
        self._newest.stop()
        self._newest.wait(_JOINING_SECONDS)

    @property
    def busy(self) -> bool:
        """Whether an answer may still change."""
        return self._newest.busy

    def _tell(self, found: Answer | Sampled, number: int, last: bool) -> None:
        self._told(found.read() if isinstance(found, Sampled) else found, number, last)

    def _fail(self, sentence: str, number: int) -> None:
        self._told(Answer(problem=sentence), number, True)
