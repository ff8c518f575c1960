"""Why a count is as large as it is: how each part of a conjunction multiplies it, beside independence.

The groundings of a conjunction are built up part by part, each joined with what is there already. If the
parts were independent, a part would multiply the number of bindings by its density (the share of all
bindings of its own variables for which it holds) times the number of constants that its new variables can
take. What it multiplies in fact, compared with that, tells which join makes a count large or small.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.counts.counts import groundings_of
from mlnlab.counting.groundings.decided import flatten_parts
from mlnlab.errors import count_of
from mlnlab.logic.forms.normal_forms import nnf
from mlnlab.logic.formulas.formulas import And, Formula, Not
from mlnlab.logic.formulas.substitution import free_variables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.counting.facts.sorted_facts import Facts

_LIKE_INDEPENDENT = 1.05  # factors nearer to 1 are not worth a word
_LARGEST = 10**300  # of numbers that become floats


@dataclass(frozen=True, slots=True)
class Join:
    """One part of a conjunction, joined with the parts before it."""

    part: str
    fresh: tuple[str, ...]  # the variables that it brings in
    before: int
    after: int
    density: float
    choices: int  # combinations of constants for the fresh variables

    @property
    def factor(self) -> float:
        """By how much the number of bindings was multiplied."""
        return min(self.after, _LARGEST * self.before) / self.before if self.before else 0.0

    @property
    def expected(self) -> float:
        """By how much it would be, if the part were independent of those before it."""
        return self.density * min(self.choices, _LARGEST)

    @property
    def beyond(self) -> float:
        """How many times as many bindings there are as independence would give."""
        return self.factor / self.expected if self.expected else 1.0


@dataclass(frozen=True, slots=True)
class CountReasons:
    """How the number of violated groundings (or of true ones) comes about, join by join."""

    formula: str
    about: str  # "violated" or "true"
    count: int
    groundings: int
    joins: tuple[Join, ...]

    @property
    def independent(self) -> float:
        """The number that there would be if the parts were independent."""
        return min(self.groundings, _LARGEST) * prod(join.density for join in self.joins)

    @property
    def decisive(self) -> Join | None:
        """The join that departs most from independence; none where all are near to it."""
        far = [join for join in self.joins[1:] if join.before and join.expected]
        worst = max(far, key=_distance, default=None)
        return worst if worst is not None and _distance(worst) > _LIKE_INDEPENDENT else None

    def sentences(self) -> list[str]:
        """Return the reasons in words, a sentence for each part."""
        return [self._total(), *(_sentence(j, first=not k) for k, j in enumerate(self.joins)), self._most()]

    def __str__(self) -> str:
        """Return the reasons in words."""
        return "\n".join(self.sentences())

    def _total(self) -> str:
        of = f"{self.count:,} of {count_of(self.groundings, 'grounding')} of {self.formula}"
        are = f"{'is' if self.count == 1 else 'are'} {self.about}"
        return f"{of} {are}; {_in_words(self.independent)} would be if its parts were independent."

    def _most(self) -> str:
        worst = self.decisive
        if worst is None:
            return "No join departs much from independence."
        way = "more" if worst.beyond > 1 else "fewer"
        return f"Most is due to {worst.part}: it leaves {way} than independence would."


def _distance(join: Join) -> float:
    return max(join.beyond, 1 / join.beyond) if join.beyond else float("inf")


def _sentence(join: Join, *, first: bool) -> str:
    if first:
        bindings = f"bindings of {', '.join(join.fresh)}" if join.fresh else "binding without variables"
        return f"{join.part} holds for {join.after:,} {bindings}, {_percent(join.density)} of all."
    if not join.before:
        return f"{join.part} has nothing left to join."
    more = f", so {_in_words(join.beyond)} times as many" if _distance(join) > _LIKE_INDEPENDENT else ""
    if join.fresh:
        found, expected = _in_words(join.factor), _in_words(join.expected)
        return (
            f"Joining {join.part} multiplies them by {found}, to {join.after:,};"
            f" by {expected} if independent{more}."
        )
    found, expected = _percent(join.factor), _percent(join.expected)
    return f"{join.part} keeps {found} of them, {join.after:,}; {expected} if independent{more}."


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _in_words(number: float) -> str:
    return f"{number:,.0f}" if 1000 <= number < 1e15 else f"{number:.3g}"


def count_reasons(formula: Formula, facts: Facts) -> CountReasons:
    r"""Return the reasons for the number of violated groundings of a formula; of true ones for a conjunction.

    >>> import mlnlab as ml
    >>> from mlnlab.counting.facts.sorted_facts import facts_of
    >>> mln = ml.MLN.from_text("Friends(person, person)")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nFriends(Carl, Bob)\nFriends(Bob, Dora)", mln)
    >>> print(count_reasons(mln.parse("Friends(x, y) ^ Friends(y, z)"), facts_of(db)))
    2 of 64 groundings of Friends(x, y) ^ Friends(y, z) are true; 2.25 would be if its parts were independent.
    Friends(x, y) holds for 3 bindings of x, y, 18.8 % of all.
    Joining Friends(y, z) multiplies them by 0.667, to 2; by 0.75 if independent, so 0.889 times as many.
    Most is due to Friends(y, z): it leaves fewer than independence would.
    """
    about, parts = _parts(formula)
    joins: list[Join] = []
    waiting = list(parts)
    done: list[Formula] = []
    while waiting:
        found = _next(waiting, done, facts)
        waiting.remove(found)
        joins.append(_join(found, done, facts))
        done.append(found)
    return CountReasons(str(formula), about, joins[-1].after, groundings_of(formula, facts), tuple(joins))


def _parts(formula: Formula) -> tuple[str, list[Formula]]:
    """Return the parts that must hold together for a grounding to be violated, or to be true."""
    falsifying = list(flatten_parts(nnf(Not(formula)), And))
    satisfying = list(flatten_parts(nnf(formula), And))
    if len(satisfying) > 1 and len(falsifying) == 1:
        return "true", list(dict.fromkeys(satisfying))
    return "violated", list(dict.fromkeys(falsifying))


def _next(waiting: Sequence[Formula], done: Sequence[Formula], facts: Facts) -> Formula:
    """Return the part to be joined next: one that shares a variable, and leaves the fewest bindings."""
    seen = {variable for part in done for variable in free_variables(part)}
    near = [part for part in waiting if seen.intersection(free_variables(part))] or list(waiting)

    def estimate_rows(part: Formula) -> float:
        fresh = [variable for variable in free_variables(part) if variable not in seen]
        return _density(part, facts) * prod(facts.size(variable.type) for variable in fresh)

    # What is negated holds nearly everywhere: it is a filter, and comes after what it filters.
    return min(near, key=lambda part: (isinstance(part, Not), estimate_rows(part)))


def _density(part: Formula, facts: Facts) -> float:
    groundings = groundings_of(part, facts)
    return Counter(part, facts.vocabulary)(facts) / groundings if groundings else 0.0


def _join(part: Formula, done: Sequence[Formula], facts: Facts) -> Join:
    seen = {variable for other in done for variable in free_variables(other)}
    fresh = tuple(variable for variable in free_variables(part) if variable not in seen)
    before = Counter(And(tuple(done)), facts.vocabulary)(facts) if done else 1
    after = Counter(And((*done, part)), facts.vocabulary)(facts)
    choices = prod(facts.size(variable.type) for variable in fresh)
    return Join(str(part), tuple(v.name for v in fresh), before, after, _density(part, facts), choices)
