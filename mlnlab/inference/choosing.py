"""Which method answers a question, why, and what it will cost: what ``method="auto"`` goes by.

Few worlds are summed over one by one. Where there are too many, a junction tree of the ground model gives the
same exact answers, if its tables are small. Else, or where options of sampling are given, worlds are sampled:
by MC-SAT where formulas that are hard or strong tie open atoms together, because Gibbs sampling, which
changes one atom at a time, can hardly leave a part of the space that these cut off; else by Gibbs sampling.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING

from mlnlab.errors import TooLargeError, count_of
from mlnlab.grounding.network_size import size_of
from mlnlab.grounding.question import opening
from mlnlab.inference.enumeration import MOST_WORLDS
from mlnlab.inference.method import MARGINALS
from mlnlab.inference.registry import method_named
from mlnlab.inference.tree_plans import tree_plan
from mlnlab.inference.world_counts import least_bits, refuse_before_listing
from mlnlab.logic.formulas import Atom, Cardinality, Quantified
from mlnlab.logic.traversal import subformulas
from mlnlab.logic.weights import Hard, weight_value
from mlnlab.model.writing import statement_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mlnlab.grounding.question import Opening
    from mlnlab.logic.formulas import Formula
    from mlnlab.model.database import Database
    from mlnlab.model.mln import MLN

EXACT, TREE, SINGLE_CHANGES, SLICES = "enumeration", "junction-tree", "gibbs", "mc-sat"
STRONG = 4.0  # a weight from which on it takes some e^4 = 50 sweeps to leave a world that satisfies a formula
# Measured on two models with 10^4 clauses, in seconds for a world, or for a grounding and a sweep of a chain.
_SECONDS = {EXACT: 5e-8, TREE: 1e-6, SINGLE_CHANGES: 3e-8, SLICES: 6e-8}
_LONGEST = 120  # letters of a formula in a sentence


@dataclass(frozen=True, slots=True)
class InferencePlan:
    """A method, why it is taken, and about how many seconds it will take."""

    method: str
    why: str
    seconds: float

    def __repr__(self) -> str:
        return f"<InferencePlan: {self.method}, because {self.why}; about {seconds_in_words(self.seconds)}>"


def inference_plan(
    mln: MLN,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str | Formula] | str | Formula | None = None,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the public name of infer's argument
    closed: Sequence[str] | str = (),
    given: Sequence[str | Formula] | str | Formula = (),
    limit: int = MOST_WORLDS,
    **options: object,
) -> InferencePlan:
    r"""Return which method :func:`ml.infer` would take, why, and what it would cost; nothing is computed.

    The arguments are those of ``infer``, options of sampling included.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Left(side)\nNear(side, side)\nNear(x, y) ^ Left(x) => Left(y).")
    >>> ml.inference_plan(mln, {"side": 3}).method
    'enumeration'
    >>> ml.inference_plan(mln, {"side": 30}).method
    'mc-sat'
    >>> ml.inference_plan(ml.MLN.from_text("Left(side)\nUp(side)\n1 Left(x) => Up(x)"), {"side": 30}).method
    'junction-tree'
    """
    return plan_of(opening(mln, db, query, open, given, closed), limit, options)


def plan_of(asked: Opening, limit: int, options: Mapping[str, object]) -> InferencePlan:
    """Return the plan for a question whose atoms need not be listed yet."""
    try:
        refuse_before_listing(asked, limit)
    except TooLargeError as refusal:
        return larger_plan(asked, refusal, options)
    bits = sum(least_bits(asked, asked.mln.vocabulary[name]) for name in asked.opened)
    if bits > log2(limit):
        return larger_plan(asked, None, options)
    why = f"about 2^{bits:.0f} worlds are few enough to visit each"
    return InferencePlan(EXACT, why, 2.0**bits * _SECONDS[EXACT])


def larger_plan(
    asked: Opening, refusal: TooLargeError | None, options: Mapping[str, object]
) -> InferencePlan:
    """Return what answers where there are too many worlds; options of sampling ask for samples."""
    tree = tree_plan(asked) if set(options) <= {"seed"} else None
    if tree is None:
        return sampling_plan(asked, refusal, options)
    why = refusal.summary.rstrip(".") if refusal is not None else "there are too many worlds to visit each"
    why += f"; cliques of at most {count_of(tree.variables, 'variable')} give exact answers all the same"
    return InferencePlan(TREE, why, tree.cells * _SECONDS[TREE])


def sampling_plan(
    asked: Opening, refusal: TooLargeError | None, options: Mapping[str, object]
) -> InferencePlan:
    """Return which sampler fits, after enumeration was refused."""
    tie = strong_tie(asked)
    why = refusal.summary.rstrip(".") if refusal is not None else "there are too many worlds to visit each"
    name = SLICES if tie else SINGLE_CHANGES
    if tie:
        why += f"; {tie}, so chains that change one atom at a time could get stuck"
    return InferencePlan(name, why, _sampling_seconds(asked, name, options))


def strong_tie(asked: Opening) -> str:
    """Name a hard or strong formula that ties open atoms to each other; nothing where there is none."""
    for condition in asked.given:
        if _ties(asked, condition):
            return f"the condition {condition!s:.{_LONGEST}} has to hold"
    for weighted in asked.mln.formulas:
        hard = isinstance(weighted.weight, Hard)
        strong = hard or abs(weight_value(weighted.weight) or 0.0) >= STRONG
        if strong and _ties(asked, weighted.formula):
            kind = "has to hold" if hard else "is strong"
            return f"{statement_text(weighted)[:_LONGEST]} {kind} and ties open atoms"
    return ""


def _ties(asked: Opening, formula: Formula) -> bool:
    """Return whether a grounding can hold more than one open atom."""
    parts = tuple(subformulas(formula))
    atoms = sum(isinstance(part, Atom | Cardinality) and part.predicate in asked.opened for part in parts)
    quantified = any(isinstance(part, Quantified | Cardinality) for part in parts)
    return atoms > 1 or (atoms == 1 and quantified)


def _sampling_seconds(asked: Opening, name: str, options: Mapping[str, object]) -> float:
    """Return about how long a sampler takes: sweeps of all chains by what each looks at."""
    params = method_named(name, MARGINALS).settings(**options)
    size = size_of(asked)
    sweeps = params.chains * (params.burn_in + params.samples * params.thin)
    return float(sweeps * (size.most_open + size.open_atoms) * _SECONDS[name])


def seconds_in_words(seconds: float) -> str:
    """Return a rough duration in words."""
    if seconds < 1:
        return "a second at most"
    if seconds < 100:
        return count_of(round(seconds), "second")
    if seconds < 6_000:
        return count_of(round(seconds / 60), "minute")
    return count_of(round(seconds / 3_600), "hour")
