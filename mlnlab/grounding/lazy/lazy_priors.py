"""Find the open atoms that a formula of their own keeps false, for lazy sampling.

A formula ``-12 Same(x, y)``, with a variable of its own for each argument, says of every atom alike that it
is false. Such a *prior* is no clause to ground: it is a strength for each atom of the predicate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp

from mlnlab.errors import TooLargeError
from mlnlab.grounding.lazy.lazy_grounding import LazyGround, ground_lazily
from mlnlab.grounding.lazy.lazy_making import eager_predicates
from mlnlab.grounding.networks.ground_model import MOST_GROUNDINGS
from mlnlab.grounding.networks.network_size import open_atoms_of, size_of
from mlnlab.grounding.question.question import MOST_OPEN_ATOMS, Opening, list_atoms
from mlnlab.logic.formulas.formulas import Atom, Formula, Not, Variable
from mlnlab.logic.formulas.weights import Soft, WeightedFormula, weight_value

MOST_LOOSE = 2_000.0  # atoms that a slice leaves loose, on average
MANY_LOOSE = (
    50.0  # so that grounding for each few slices takes longer than drawing them from all that is open
)


@dataclass(frozen=True, slots=True, eq=False)
class LazyModel:
    """A question whose open atoms priors mostly keep false, and the clauses broken where all are false.

    The atoms of the start, which other formulas want to be true, are active in ``ground``.
    """

    ground: LazyGround
    strengths: Mapping[str, float]  # of each lazy predicate
    open_atoms: Mapping[str, int]
    asked: Opening  # with its priors

    @property
    def loose(self) -> float:
        """How many of the atoms that are false a slice leaves loose, on average: sum N e^-s."""
        return sum(self.open_atoms.get(name, 0) * exp(-strength) for name, strength in self.strengths.items())


def prior_of(weighted: WeightedFormula) -> tuple[str, float] | None:
    """Return the predicate of a formula that is a prior, and how strongly it keeps atoms false."""
    if not isinstance(weighted.weight, Soft):
        return None
    inner, sign = weighted.formula, -1.0
    if isinstance(inner, Not):
        inner, sign = inner.operand, 1.0
    if not isinstance(inner, Atom) or not _all_apart(inner):
        return None
    return inner.predicate, sign * (weight_value(weighted.weight) or 0.0)


def _all_apart(formula: Formula) -> bool:
    arguments = formula.arguments if isinstance(formula, Atom) else ()
    variables = [term for term in arguments if isinstance(term, Variable)]
    return len(set(variables)) == len(arguments)


def lazy_model(asked: Opening) -> LazyModel:
    """Return a question with its priors apart, or refuse it where too many atoms would be loose.

    A small question is all listed where it has no priors, or these leave many atoms loose.
    """
    lazy, numbers = kept_false(asked), open_atoms_of(asked)
    loose = sum(numbers.get(name, 0) * exp(-strength) for name, strength in lazy.items())
    if (not lazy or loose > MANY_LOOSE) and is_small(asked):
        lazy, loose = {}, 0.0  # to ground all once is less work
    elif loose > MOST_LOOSE or not lazy:
        raise _too_dense(loose, numbers, lazy)
    eager = asked.opened - lazy.keys()
    rest = _without(asked, frozenset(lazy))
    question = list_atoms(replace(rest, opened=eager, queries=()))
    ground = ground_lazily(rest, question, frozenset(lazy))
    return LazyModel(
        ground.activated([atom for atom in ground.atoms if atom.predicate in lazy]), lazy, numbers, asked
    )


def kept_false(asked: Opening) -> dict[str, float]:
    """Return the open predicates that need not be listed, and how strongly priors keep their atoms false."""
    strengths: dict[str, float] = {}
    for weighted in asked.mln.formulas:
        found = prior_of(weighted)
        if found is not None:
            strengths[found[0]] = strengths.get(found[0], 0.0) + found[1]
    eager = eager_predicates(_without(asked, frozenset(strengths)))
    return {name: s for name, s in strengths.items() if s > 0 and name in asked.opened - eager}


def is_small(asked: Opening) -> bool:
    """Return whether all open atoms of a question can be listed, and all that ties them be ground."""
    if sum(open_atoms_of(asked).values()) > MOST_OPEN_ATOMS:
        return False  # before groundings are counted, which takes longer
    return size_of(asked).most_open <= MOST_GROUNDINGS


def _without(asked: Opening, names: frozenset[str]) -> Opening:
    """Return the question without the priors of some predicates."""
    kept = tuple(w for w in asked.mln.formulas if (prior_of(w) or ("", 0.0))[0] not in names)
    return replace(asked, mln=replace(asked.mln, formulas=kept))


def _too_dense(loose: float, numbers: Mapping[str, int], lazy: Mapping[str, float]) -> TooLargeError:
    needed = "lazy sampling needs a prior that keeps atoms false, of about the logarithm of their number"
    ways = [
        f"{needed}, such as -20 Same(x, y)",
        "use fewer constants",
        "list more facts, or close predicates",
        "ml.lazy_map_state grounds only what it takes to prove a world best",
    ]
    worst = max((name for name in numbers if name not in lazy), key=lambda name: numbers[name], default="")
    if not lazy:
        about = f"no prior keeps the {numbers.get(worst, 0):,} open atoms of {worst} false"
        return TooLargeError(f"Nothing can be sampled lazily: {about}.", numbers.get(worst, 0), ways)
    return TooLargeError(
        f"A slice would leave about {loose:,.0f} atoms loose; the limit is {MOST_LOOSE:,.0f}.", loose, ways
    )
