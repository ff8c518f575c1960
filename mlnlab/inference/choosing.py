"""Which method answers a question, why, and what it will cost: what ``method="auto"`` goes by.

Few worlds are summed over one by one. Where there are too many, a junction tree of the ground model gives the
same exact answers, if its tables are small. Else, or where options of sampling are given, worlds are sampled:
by MC-SAT where open atoms hold each other, because Gibbs sampling, which changes one atom at a time, can
hardly leave a part of the space that these cut off; else by Gibbs sampling. A hard formula holds atoms, and
so does a strong one; of all others it counts what they do together, atom by atom in the ground model.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING

from mlnlab.errors import MlnlabError, TooLargeError, count_of
from mlnlab.grounding.features import number_of_groundings
from mlnlab.grounding.lazy_priors import is_small, lazy_model
from mlnlab.grounding.network_size import size_of
from mlnlab.grounding.question import listed, opening, refuse_unlistable
from mlnlab.inference.couplings import core_of, small_ground
from mlnlab.inference.enumeration import MOST_WORLDS, refuse_large, refuse_visits
from mlnlab.inference.lazy_answers import formulas_of
from mlnlab.inference.lazy_chains import EVENTS, slices_of
from mlnlab.inference.lifted import RECORD, cheap_definitions
from mlnlab.inference.method import MARGINALS
from mlnlab.inference.registry import method_named
from mlnlab.inference.tree_plans import MOST_GROUND, tree_plan
from mlnlab.inference.world_counts import marked_atoms, refuse_before_listing
from mlnlab.logic.formulas import Atom, Cardinality, Quantified
from mlnlab.logic.traversal import subformulas
from mlnlab.logic.weights import Hard, weight_value
from mlnlab.model.writing import statement_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from mlnlab.grounding.clauses import GroundClauses
    from mlnlab.grounding.lazy_priors import LazyModel
    from mlnlab.grounding.question import Opening, Question
    from mlnlab.logic.formulas import Formula
    from mlnlab.logic.weights import WeightedFormula
    from mlnlab.model.database import Database
    from mlnlab.model.mln import MLN

EXACT, TREE, SINGLE_CHANGES, SLICES, LAZY = "enumeration", "junction-tree", "gibbs", "mc-sat", "lazy-mc-sat"
LIFTED = RECORD.name
HEAVY = 1e9  # weights added up over all groundings: sums over worlds keep some six digits beside them
STRONG = 4.0  # a weight from which on it takes some e^4 = 50 sweeps to leave a world that satisfies a formula
# Log-odds from which on atoms that push each other both ways are a core. It was measured: in pairs, circles,
# grids and complete graphs, chains of Gibbs sampling begin to disagree between 2.2 and 4, the larger first.
HOLDING = 2.2
# Measured on twenty models: seconds to begin with, and for each world, cell, or grounding in a sweep ...
_SECONDS = {EXACT: 2.5e-8, TREE: 1e-6, SINGLE_CHANGES: 3e-8, SLICES: 6e-8}
_BEGINNING = {EXACT: 4e-3, TREE: 4e-3, SINGLE_CHANGES: 2e-2, SLICES: 2e-2}
_CLIQUE = 3e-4  # for each clique
# In a sweep over what is ground, for each choice, literal, choice of a table, and choice that gates count.
_SECONDS_OF_PARTS = {SINGLE_CHANGES: (2.2e-8, 1e-9, 3e-7, 1.5e-6), SLICES: (5e-8, 1.2e-9, 1e-8, 1e-8)}
_BATCH, _PER_ATOM = 4e-3, 4e-5  # for grounding anew what some slices of lazy sampling can break
# ... and bytes for each world of a stretch, of a stretch at most, for each cell, and for what is ground.
_WORLD, _MOST_OF_WORLDS, _CELL, _GROUND, _OPEN, _LITERAL = 60, 27e6, 8, 1_600, 1_000, 20
_LEAST, _ANSWER = 200_000, 400
_LONGEST = 120  # letters of a formula in a sentence
MOST_SECONDS = 6 * 3600.0  # nobody waits longer without having said so


@dataclass(frozen=True, slots=True)
class InferencePlan:
    """A method, why it is taken, and about how many seconds and bytes of memory it will take."""

    method: str
    why: str
    seconds: float
    memory: float

    @property
    def cost(self) -> str:
        """What it will cost, in words."""
        return f"{seconds_in_words(self.seconds)} of computing and {bytes_in_words(self.memory)} of memory"

    def __repr__(self) -> str:
        return f"<InferencePlan: {self.method}, because {self.why}; about {self.cost}>"


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
    'lifted'
    >>> ml.inference_plan(mln, {"side": 30}, samples=1_000).method
    'mc-sat'
    >>> ml.inference_plan(ml.MLN.from_text("Left(side)\nUp(side)\n1 Left(x) => Up(x)"), {"side": 30}).method
    'junction-tree'
    """
    return plan_of(opening(mln, db, query, open, given, closed), limit, options)


def plan_of(asked: Opening, limit: int, options: Mapping[str, object]) -> InferencePlan:
    """Return the plan for a question whose atoms need not be listed yet."""
    limit = method_named(EXACT, MARGINALS).settings(limit=limit).limit  # refuses what is no number of worlds
    model = sampled_lazily(asked)
    if model is not None:
        return _lazy_plan(asked, model, options)
    refuse_unlistable(asked)
    try:
        refuse_before_listing(asked, limit)
        question = listed(asked)
        worlds = refuse_large(question, limit)
        refuse_visits(question)
    except TooLargeError as refusal:
        if size_of(asked).open_atoms <= MOST_GROUND:
            listed(asked)  # facts that leave a block nothing are refused here as they are in answers
        return larger_plan(asked, refusal, options)
    heavy = _too_heavy(question)
    tree = _tree_plan(asked, heavy) if heavy else None
    if tree is not None:
        return tree
    why = f"about 2^{log2(max(1, worlds)):.0f} worlds are few enough to visit each"
    memory = _LEAST + min(_MOST_OF_WORLDS, worlds * _WORLD)
    return InferencePlan(EXACT, why, _BEGINNING[EXACT] + worlds * _SECONDS[EXACT], memory)


def refuse_endless(plan: InferencePlan) -> None:
    """Refuse what would take hours, where nobody named the method that takes them."""
    if plan.seconds <= MOST_SECONDS:
        return
    ways = [
        f'method="{plan.method}" begins all the same; when it is stopped, so_far() tells what it knows',
        "use fewer constants, list more facts, or close predicates",
        "ask for fewer samples, samples=",
    ]
    raise TooLargeError(
        f"By {plan.method} this would take about {plan.cost}: {plan.why}.", plan.seconds, ways
    )


def _lazy_plan(asked: Opening, model: LazyModel, options: Mapping[str, object]) -> InferencePlan:
    """Return the plan of sampling without listing: what it costs is mostly grounding for some slices anew."""
    size = size_of(asked)
    formulas_of(model)  # refuses what the answer would refuse
    params = method_named(LAZY, MARGINALS).settings(**options)
    slices = slices_of(model, params.samples, params.chains)
    batches = params.chains * (params.burn_in / slices + params.samples / slices)
    atoms = EVENTS + model.ground.clauses.number_of_atoms
    names = ", ".join(sorted(model.strengths))
    why = (
        f"{count_of(size.open_atoms, 'open atom')} and up to {count_of(size.most_open, 'open grounding')}"
        f" are too many to list, and priors keep nearly all atoms of {names} false"
    )
    seconds = _BEGINNING[SLICES] + batches * (_BATCH + atoms * _PER_ATOM)
    return InferencePlan(LAZY, why, seconds, _LEAST + params.chains * atoms * _OPEN * 4)


def _too_heavy(question: Question) -> str:
    """Say where sums over whole worlds would round away what small weights say beside large ones."""
    pairs = ((weight_value(w.weight) or 0.0, w.formula) for w in question.mln.formulas)
    size = sum(abs(weight) * number_of_groundings(formula, question) for weight, formula in pairs)
    return f"weights of {size:.1g} together drown small ones in sums over worlds" if size > HEAVY else ""


def sampled_lazily(asked: Opening) -> LazyModel | None:
    """Return the model of a question too large to list or to ground, if few of its atoms are ever loose."""
    if is_small(asked):
        return None
    try:
        return lazy_model(asked)
    except MlnlabError:
        return None


def larger_plan(asked: Opening, refusal: TooLargeError, options: Mapping[str, object]) -> InferencePlan:
    """Return what answers where there are too many worlds; options of sampling ask for samples."""
    why = refusal.summary.rstrip(".")
    exact = (_tree_plan(asked, why) or _lifted_plan(asked, why)) if set(options) <= {"seed"} else None
    return sampling_plan(asked, refusal, options) if exact is None else exact


def _lifted_plan(asked: Opening, why: str) -> InferencePlan | None:
    """Return the plan of lifted inference, where few definitions stand for all constants."""
    definitions = cheap_definitions(asked)
    if not definitions:
        return None
    why += (
        f"; {count_of(definitions, 'definition')} stand for all constants and give exact answers all the same"
    )
    memory = _LEAST + size_of(asked).open_atoms * _ANSWER
    return InferencePlan(LIFTED, why, 1e-2 * definitions, memory)


def _tree_plan(asked: Opening, why: str) -> InferencePlan | None:
    """Return the plan of a junction tree, where it is small."""
    tree = tree_plan(asked)
    if tree is None:
        return None
    why += f"; cliques of at most {count_of(tree.variables, 'variable')} give exact answers all the same"
    seconds = _BEGINNING[TREE] + tree.cliques * _CLIQUE + tree.cells * _SECONDS[TREE]
    size = size_of(asked)
    memory = _LEAST + (size.most_open + size.open_atoms) * _GROUND + tree.cells * _CELL
    return InferencePlan(TREE, why, seconds, memory)


def sampling_plan(asked: Opening, refusal: TooLargeError, options: Mapping[str, object]) -> InferencePlan:
    """Return which sampler fits, after enumeration was refused."""
    tie = held_together(asked)
    why = refusal.summary.rstrip(".")
    name = SLICES if tie else SINGLE_CHANGES
    if tie:
        why += f"; {tie}, so chains that change one atom at a time could get stuck"
    return InferencePlan(name, why, *_sampling_cost(asked, name, options))


def held_together(asked: Opening) -> str:
    """Say what holds open atoms together: what must hold, a core in the ground model, or a strong formula."""
    opened = asked.opened | marked_atoms(asked).keys()
    for condition in asked.given:
        if _ties(opened, condition):
            return f"the condition {condition!s:.{_LONGEST}} has to hold"
    tying = [weighted for weighted in asked.mln.formulas if _ties(opened, weighted.formula)]
    for weighted in tying:
        if isinstance(weighted.weight, Hard):
            return f"{statement_text(weighted)[:_LONGEST]} has to hold and ties open atoms"
    ground = small_ground(asked) if tying else None
    core = core_of(ground, HOLDING) if ground is not None else None
    if core is not None:
        return str(core)
    return _strong_formula(tying)


def _strong_formula(tying: Sequence[WeightedFormula]) -> str:
    """Name a formula that is strong alone, or with what is added to it elsewhere in the model."""
    together: dict[Formula, list[WeightedFormula]] = {}
    for weighted in tying:
        together.setdefault(weighted.formula, []).append(weighted)
    for equal in together.values():
        weight = abs(sum(weight_value(one.weight) or 0.0 for one in equal))
        if weight >= STRONG:
            said = statement_text(equal[0])[:_LONGEST]
            if len(equal) == 1:
                return f"{said} is strong and ties open atoms"
            return f"{said} stands there {len(equal)} times, {weight:.3g} together, and ties open atoms"
    return ""


def _ties(opened: Collection[str], formula: Formula) -> bool:
    """Return whether a grounding can hold more than one open atom, of these predicates."""
    parts = tuple(subformulas(formula))
    atoms = sum(isinstance(part, Atom | Cardinality) and part.predicate in opened for part in parts)
    quantified = any(isinstance(part, Quantified | Cardinality) for part in parts)
    return atoms > 1 or (atoms == 1 and quantified)


def _sampling_cost(asked: Opening, name: str, options: Mapping[str, object]) -> tuple[float, float]:
    """Return about how many seconds a sampler takes, by sweeps and what each looks at; and how many bytes."""
    params = method_named(name, MARGINALS).settings(**options)
    size = size_of(asked)
    sweeps = params.chains * (params.burn_in + params.samples * params.thin)
    ground = size.most_open + size.open_atoms
    looking, held = ground * _SECONDS[name], 0
    counting = any(
        isinstance(p, Quantified | Cardinality) for w in asked.mln.formulas for p in subformulas(w.formula)
    )
    clauses = small_ground(asked) if counting else None
    if clauses is not None:  # one grounding may be thousands of clauses, or a tree of counts
        looking, held = _sweep_seconds(clauses, name), _LITERAL * len(clauses.literals)
    seconds = _BEGINNING[name] + sweeps * looking
    return float(seconds), float(_LEAST + ground * _GROUND + size.open_atoms * _OPEN + held)


def _sweep_seconds(clauses: GroundClauses, name: str) -> float:
    """Return what a sweep takes over what is ground: its choices, literals, cells of tables and gates."""
    numbers = (len(clauses.options), len(clauses.literals), len(clauses.scope), len(set(clauses.gates.scope)))
    return sum(number * seconds for number, seconds in zip(numbers, _SECONDS_OF_PARTS[name], strict=True))


def seconds_in_words(seconds: float) -> str:
    """Return a rough duration in words."""
    if seconds < 1:
        return "a second at most"
    if seconds < 100:
        return count_of(round(seconds), "second")
    if seconds < 6_000:
        return count_of(round(seconds / 60), "minute")
    return count_of(round(seconds / 3_600), "hour")


def bytes_in_words(number: float) -> str:
    """Return a rough amount of memory in words."""
    if number < 1e9:
        return f"{max(1, round(number / 1e6)):,} MB"
    return f"{number / 1e9:,.3g} GB"
