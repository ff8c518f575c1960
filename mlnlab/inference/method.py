"""Define the record by which an inference method describes itself, at the end of its file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mlnlab.errors import ArgumentError
from mlnlab.grounding.question.question import Opening, Question, drop_listing, list_atoms
from mlnlab.inference.answers.question_identity import run_of, run_of_opening
from mlnlab.logic.checked_options import refuse_unknown_options
from mlnlab.steps.budget import GIBBS, SweepSeconds
from mlnlab.steps.run_identity import OfRun, RunIdentity, accept_state

if TYPE_CHECKING:
    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.inference.costs.inference_problem import Cost, Problem
    from mlnlab.inference.sampling.state_reading import StateReader
    from mlnlab.inference.search.world_search import Found, WorldReader
    from mlnlab.steps.step import Observer, State

Function = TypeVar("Function", bound=Callable[..., Any])

MARGINALS, MOST_PROBABLE, LOG_Z = "marginals", "a most probable world", "log Z"


class RunLength(NamedTuple):
    """How long a run is, by its options: a number of sweeps, flips or tries of each chain, and the chains.

    ``counted`` names the field of a state that counts them; ``at_most``: it may converge and end sooner.
    """

    number: float
    counted: str = "sweeps"
    chains: int = 1
    at_most: bool = False

    def part(self, state: State) -> float:
        """Return the share of a run that is done in a state."""
        return min(1.0, float(getattr(state, self.counted, 0)) / max(1.0, self.number))


@dataclass(frozen=True, slots=True)
class Method:
    """A method: its requirements, and a function for each kind of question that it answers.

    ``marginals(params, question, observers)``, ``most_probable(params, question, observers)`` and
    ``log_z(params, question)`` answer in one go. Where the method iterates, ``steps(params, question,
    start)`` yields its states (those after ``start``, if one is given), ``estimate(params, question,
    state)`` says what is known in a state, and ``reader(params, question)`` returns what says so of many
    states without grounding the model for each; of a search, ``worlds(params, question)`` reads the best
    world so far. ``refuse(params, asked)`` may refuse a question before its atoms are listed.

    ``estimate_cost(params, problem)`` returns about how long an answer takes; nothing, or a refusal, where
    there would be none. By that a refusal names the methods that would answer. ``turn`` says when
    ``method="auto"`` asks: a method of turn 0 that has no doubts is taken at once; of other exact methods the
    cheapest is, if that takes a minute at most; else the first other one in their turns without doubts.
    """

    name: str
    needs: str
    is_exact: bool
    params: Callable[..., Any]
    citation: str
    marginals: Callable[[Any, Question, Iterable[Observer]], Marginals] | None = None
    most_probable: Callable[[Any, Question, Iterable[Observer]], Found] | None = None
    log_z: Callable[[Any, Question], tuple[float, float, int]] | None = None
    steps: Callable[[Any, Question, Any], Iterator[State]] | None = None
    state: type[OfRun] | None = None  # of which type its states are
    goes_on: tuple[str, ...] = ()  # the parameters that only say how long a run goes on
    estimate: Callable[[Any, Question, Any], Marginals] | None = None
    reader: Callable[[Any, Question], StateReader] | None = None
    worlds: Callable[[Any, Question], WorldReader] | None = None
    refuse: Callable[[Any, Opening], None] | None = None
    length: Callable[[Any], RunLength] | None = None  # of a run, by its options
    estimate_cost: Callable[[Any, Problem], Cost | None] | None = None
    sweeps: SweepSeconds = GIBBS  # what looking at all groundings costs it
    turn: int | None = None  # None: ``auto`` leaves it to those who name it
    is_approximation: bool = False  # neither exact nor from samples: no standard error tells how far off
    answers_all: bool = True  # of small models; else it refuses some of which it cannot make anything
    pose: Callable[[Opening], Question] = list_atoms  # how it takes a question: mostly with its atoms listed

    @property
    def answers(self) -> tuple[str, ...]:
        """The kinds of questions that it answers, in words."""
        functions = {MARGINALS: self.marginals, MOST_PROBABLE: self.most_probable, LOG_Z: self.log_z}
        return tuple(name for name, function in functions.items() if function is not None)

    @property
    def lists_atoms(self) -> bool:
        """Whether all open atoms are listed; else the method works from the question alone."""
        return self.pose is not drop_listing

    def identity(self, params: object, question: Question) -> RunIdentity:
        """Return the identity of a run, which tells it from other runs."""
        if not self.lists_atoms and question.asked is not None:
            return run_of_opening(self.name, params, question.asked, self.goes_on)
        return run_of(self.name, params, question, self.goes_on)

    def read(self, params: object, question: Question, state: object) -> Any:  # noqa: ANN401 - its own type
        """Return a state to be looked at: one of another run gets a sentence, one of nobody's is taken."""
        return accept_state(self.identity(params, question), self.require_function(self.state), state)

    def cost(self, problem: Problem) -> Cost | None:
        """Estimate the cost of an answer; ``None`` where there would be none, or where nobody can tell."""
        return None if self.estimate_cost is None else self.estimate_cost(self.options_of(problem), problem)

    def options_of(self, problem: Problem) -> Any:  # noqa: ANN401
        """Return the parameters that a problem's options ask for, those that the method knows."""
        return self.settings(**{name: value for name, value in problem.options.items() if self.knows(name)})

    def require_function(self, function: Function | None) -> Function:
        """Return a function of this method, or say that it has none such."""
        if function is None:
            raise ArgumentError(f"{self.name} cannot do that; it answers {' and '.join(self.answers)}.")
        return function

    def knows(self, option: str) -> bool:
        """Return whether the method has an option of this name."""
        return option in inspect.signature(self.params).parameters

    def settings(self, **options: object) -> Any:  # noqa: ANN401 - each method has Params of its own
        """Return the method's parameters; options that are ``None`` keep their defaults."""
        given = {name: value for name, value in options.items() if value is not None}
        known = tuple(inspect.signature(self.params).parameters)
        if "evidence" in given and "evidence" not in known:
            raise ArgumentError(
                "There is no argument evidence: give facts in the database, or conditions in given=."
            )
        refuse_unknown_options(self.name, given, known)
        return self.params(**given)


def require_unchanged_question(method: str, question: Question) -> Opening:
    """Return the question as asked, for a method that needs it so; refuse a changed question."""
    asked = question.asked
    if asked is None or (question != drop_listing(asked) and question != list_atoms(asked)):
        raise ArgumentError(
            f"{method} answers a question as it was asked, not one that was changed after its atoms were"
            " listed; mc-sat does."
        )
    return asked
