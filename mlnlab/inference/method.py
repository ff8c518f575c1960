"""What a method of inference says about itself: one record at the end of its file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from mlnlab.errors import ArgumentError
from mlnlab.grounding.question import listed, unlisted
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    from mlnlab.grounding.question import Opening, Question
    from mlnlab.inference.marginals import Marginals
    from mlnlab.inference.state_reading import StateReader
    from mlnlab.inference.world_search import Found, WorldReader
    from mlnlab.steps.step import Observer, State

Function = TypeVar("Function", bound=Callable[..., Any])

MARGINALS, MOST_PROBABLE, LOG_Z = "marginals", "a most probable world", "log Z"


@dataclass(frozen=True, slots=True)
class Method:
    """A method: what it needs, and for each question that it answers, the function that does.

    ``marginals(params, question, observers)``, ``most_probable(params, question, observers)`` and
    ``log_z(params, question)`` answer in one go. Where the method iterates, ``steps(params, question,
    start)`` yields its states (those after ``start``, if one is given), ``estimate(params, question,
    state)`` says what is known in a state, and ``reader(params, question)`` returns what says so of many
    states without grounding the model for each; of a search, ``worlds(params, question)`` reads the best
    world so far. ``refuse(params, asked)`` may refuse a question before its atoms are listed.
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
    estimate: Callable[[Any, Question, Any], Marginals] | None = None
    reader: Callable[[Any, Question], StateReader] | None = None
    worlds: Callable[[Any, Question], WorldReader] | None = None
    refuse: Callable[[Any, Opening], None] | None = None
    is_approximation: bool = False  # neither exact nor from samples: no standard error tells how far off
    lists_atoms: bool = True  # else it goes by what was asked, and open atoms may be too many to be listed

    @property
    def answers(self) -> tuple[str, ...]:
        """What it answers, in words."""
        functions = {MARGINALS: self.marginals, MOST_PROBABLE: self.most_probable, LOG_Z: self.log_z}
        return tuple(name for name, function in functions.items() if function is not None)

    def posed(self, asked: Opening) -> Question:
        """Return a question as the method takes it: with its open atoms listed, where it goes by these."""
        return listed(asked) if self.lists_atoms else unlisted(asked)

    def required(self, function: Function | None) -> Function:
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
        for name in given:
            if name not in known:
                hint = did_you_mean(name, known) or "."
                raise ArgumentError(f"{self.name} has no option {name}{hint} It has: {', '.join(known)}.")
        return self.params(**given)


def posed_as_asked(method: str, question: Question) -> Opening:
    """Return what was asked, for a method that goes by that alone; a question that was changed is refused."""
    asked = question.asked
    if asked is None or (question != unlisted(asked) and question != listed(asked)):
        raise ArgumentError(
            f"{method} answers a question as it was asked, not one that was changed after its atoms were"
            " listed; mc-sat does."
        )
    return asked
