"""Hold a question while methods estimate their costs: each fact about it is found out once."""

from __future__ import annotations

from functools import cached_property
from math import inf, prod
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from mlnlab.errors import MlnlabError
from mlnlab.grounding.lazy.lazy_priors import is_small
from mlnlab.grounding.question.question import Opening, Question, list_atoms
from mlnlab.inference.sampling.couplings import small_ground
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.weights import weight_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses

Found = TypeVar("Found")


class Cost(NamedTuple):
    """About how many seconds and bytes an answer takes.

    ``why`` says what makes the method fit, and ``doubt`` why its answer may not be good: ``auto`` then looks
    for another method.
    """

    seconds: float
    memory: float
    why: str = ""
    doubt: str = ""


class Problem:
    """A question of a kind, with options, and facts about it; a mutable local of one call.

    ``best`` is how many seconds the best plan takes so far: a method that certainly takes longer may say
    so (by ``None``) before it estimates more closely. ``automatic``: nobody named the method.
    """

    def __init__(self, asked: Opening, kind: str, options: Mapping[str, object] | None = None) -> None:
        self.asked, self.kind, self.options = asked, kind, dict(options or {})
        self.best, self.automatic = inf, False
        self._known: dict[tuple[object, ...], object] = {}

    def once(self, function: Callable[..., Found], *arguments: object) -> Found:
        """Return a function of the question as asked; it is called once, whoever else wants to know."""
        key = (function, *arguments)
        if key not in self._known:
            try:
                self._known[key] = function(self.asked, *arguments)
            except MlnlabError as refusal:
                self._known[key] = refusal
        known = self._known[key]
        if isinstance(known, MlnlabError):
            raise known
        return known  # type: ignore[return-value]

    @property
    def small(self) -> bool:
        """Whether all atoms can be listed, and all that ties them be ground."""
        return self.once(is_small)

    @property
    def asks_formulas(self) -> bool:
        """Whether formulas are asked for, whose groundings belong to the model."""
        return any(formula is not None and free_variables(formula) for _, formula in self.asked.queries)

    @property
    def question(self) -> Question:
        """The question with its atoms listed."""
        return self.once(list_atoms)

    @property
    def ground(self) -> GroundClauses | None:
        """The ground model without queries, where that takes a moment."""
        return self.once(small_ground)

    @cached_property
    def weight(self) -> float:
        """At most how large all weights are together: floats lose small ones beside large ones."""
        vocabulary = self.asked.mln.vocabulary
        return sum(
            abs(weight_value(one.weight) or 0.0)
            * prod(len(vocabulary.domain(variable.type)) for variable in free_variables(one.formula))
            for one in self.asked.mln.formulas
        )
