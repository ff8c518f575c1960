"""How a learned structure is tested: each predicate predicted from all others (Kok and Domingos 2009, 4.3).

    for each predicate r of the test database: P(each ground atom of r | the atoms of all other predicates)

Predicates that decide each other, as Actor and Director of one person do, are hidden together. The easier
question, each atom given all other ground atoms (Kok and Domingos, "Learning the structure of Markov logic
networks", ICML 2005), is asked with ``evidence="all-other-atoms"``; its answer is in closed form: the
log-odds of an atom are the sum of w_i Δn_i.

Alchemy, by which the paper's systems were tested, writes a probability p as (10000 p + 1/2) / 10001
(``printProbabilities`` in its infer/mcmc.h): no atom can cost more than ln 20002 = 9.9, however sure of the
contrary a model is. ``smoothing=10_000`` does the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.evaluation.evaluating import PRIOR, Evaluation, evaluate
from mlnlab.evaluation.judged_atoms import AtomProbabilities, JudgedAtoms, join_judgements
from mlnlab.experiments.structures.counted_evidence import count_evidence
from mlnlab.grounding.networks.network_size import size_of
from mlnlab.grounding.question.question import opening
from mlnlab.logic.formulas.formulas import Atom, Cardinality, Formula, Quantified
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.formulas.traversal import subformulas
from mlnlab.logic.formulas.weights import Hard, weight_value
from mlnlab.logic.vocabulary import FrozenMapping, Vocabulary
from mlnlab.model.database.hiding import hiding
from mlnlab.model.mln.mln import MLN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.experiments.structures.structure_systems import Model
    from mlnlab.model.database.database import Database

EvidenceKind = Literal["other-predicates", "all-other-atoms"]
EVIDENCE: tuple[EvidenceKind, ...] = ("other-predicates", "all-other-atoms")
Groups = tuple[tuple[str, ...], ...]
_ROWS_AT_ONCE = 200_000
_MOST_OPEN = 2_000_000  # groundings with open atoms that are ground to see whether a junction tree is small


@dataclass(frozen=True, slots=True)
class StructureTesting:
    """The test of structures: predicates hidden together, the evidence kind, and the inference."""

    groups: Groups
    evidence: EvidenceKind = "other-predicates"
    method: str = "auto"
    prior: float = PRIOR
    options: FrozenMapping[Any] = FrozenMapping()  # noqa: RUF009 - it is frozen
    exact: bool = False  # by a junction tree where one is small enough, whatever the method
    smoothing: float | None = None  # as many samples every probability is taken to come from

    def settings(self) -> str:
        """Return a text that differs where results may differ."""
        options = sorted(self.options.items())
        how = (self.method, self.prior, options, self.exact, self.smoothing)
        return repr((self.groups, self.evidence, *how))

    def evaluation(self, model: Model, databases: Sequence[Database], seed: int) -> Evaluation:
        """Return how good a model's answers about these databases are, smoothed where that is asked for."""
        found = self._evaluation(model, databases, seed)
        if self.smoothing is None:
            return found
        judged = replace(found.judged, samples=np.full(len(found.judged), float(self.smoothing)))
        return replace(found, judged=judged)

    def _evaluation(self, model: Model, databases: Sequence[Database], seed: int) -> Evaluation:
        asked = [(with_atoms(group, db), db) for group in self.groups for db in databases]
        asked = [(group, db) for group, db in asked if group]
        if not asked:
            raise ArgumentError("The databases for testing have no atoms of the predicates to predict.")
        if not isinstance(model, MLN):
            said = [
                model.probabilities(db.without(list(group)), group).judge_atoms(db) for group, db in asked
            ]
            return Evaluation(join_judgements(said), (), self.prior, seed)
        if self.evidence == "all-other-atoms":
            return Evaluation(
                join_judgements(_given_all_others(model, databases, self.groups)), (), self.prior, seed
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the doubts stand in the answers' own warnings
            parts = [self._answer_group(model, db, group, seed) for group, db in asked]
        answers = tuple(answer for part in parts for answer in part.answers)
        return Evaluation(join_judgements([part.judged for part in parts]), answers, self.prior, seed)

    def _answer_group(self, model: MLN, database: Database, group: Sequence[str], seed: int) -> Evaluation:
        """Hide one group: exactly where that is asked for and can be done, or else by the method."""
        if self.exact and _are_independent(model, group):
            said = given_all_others(model, database, group)
            return Evaluation(said.judge_atoms(database), (), self.prior, seed)
        if not _can_be_ground(model, database, group):
            model, database = count_evidence(model, database, group)
        asked = partial(evaluate, model, database, [list(group)], prior=self.prior, seed=seed)
        if self.exact and _can_be_ground(model, database, group):
            try:
                return asked(method="junction-tree")
            except TooLargeError:
                pass
        return asked(method=self.method, **self.options)


def _are_independent(model: MLN, group: Sequence[str]) -> bool:
    """Tell whether no formula holds two atoms of a hidden group: each then depends on evidence alone.

    The answer is that to the easier question, and nothing has to be ground.
    """
    plain = not any(model.vocabulary[name].exclusive for name in group)
    return plain and all(_count_hidden_atoms(one.formula, group) <= 1 for one in model.formulas)


def _count_hidden_atoms(formula: Formula, group: Sequence[str]) -> float:
    """Return how many hidden atoms a grounding may hold; under quantifiers it is any number."""
    parts = list(subformulas(formula))
    many = any(isinstance(part, Quantified | Cardinality) for part in parts)
    return inf if many else sum(isinstance(part, Atom) and part.predicate in group for part in parts)


def _can_be_ground(model: MLN, database: Database, group: Sequence[str]) -> bool:
    asked = opening(model, hiding(database, group), list(group), list(group), (), ())
    return size_of(asked).most_open <= _MOST_OPEN


def groups_of(
    vocabulary: Vocabulary, groups: Sequence[Sequence[str]], predicates: Sequence[str] | None
) -> Groups:
    r"""Return the groups of predicates hidden together; each other predicate is a group of its own.

    With ``predicates=``, only some of them are kept.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Actor(person)\nDirector(person)\nMovie(title, person)")
    >>> groups_of(mln.vocabulary, [("Actor", "Director")], None)
    (('Actor', 'Director'), ('Movie',))
    """
    for word, given in (("groups", groups), ("predicates", predicates)):
        if isinstance(given, str):
            raise ArgumentError(
                f'{word} must be a list, as in {word}=[{"[" if word == "groups" else ""}"{given:.40}", ...].'
            )
    together = [tuple([group] if isinstance(group, str) else group) for group in groups]
    wanted = list(vocabulary.predicates) if predicates is None else list(predicates)
    named = [name for group in together for name in group]
    for name in (*named, *wanted):
        vocabulary[name]  # says what there is instead
    for name in named:
        if named.count(name) > 1:
            raise ArgumentError(f"{name} appears twice in the groups; each predicate is predicted once.")
    of = {name: group for group in together for name in group}
    found = tuple(dict.fromkeys(of.get(name, (name,)) for name in wanted))
    if not found:
        raise ArgumentError("There is no predicate to predict.")
    return found


def with_atoms(names: Sequence[str], database: Database) -> tuple[str, ...]:
    r"""Return those of some predicates that have atoms: in a small fold a type may have no constants.

    >>> import mlnlab as ml
    >>> db = ml.Database.from_text("Student(Ann)", ml.MLN.from_text("Student(person)\nMember(group, person)"))
    >>> with_atoms(["Student", "Member"], db)
    ('Student',)
    """
    types = database.vocabulary.predicates
    return tuple(name for name in names if all(len(database.domain(t)) for t in types[name].types))


def without_predicates(database: Database, omitted: Sequence[str]) -> Database:
    """Return a database that has never heard of some predicates; constants stay."""
    for name in omitted:
        database.vocabulary[name]
    predicates = {name: one for name, one in database.vocabulary.predicates.items() if name not in omitted}
    kept = {name: one for name, one in database.relations.items() if name not in omitted}
    vocabulary = replace(database.vocabulary, predicates=FrozenMapping(predicates))
    return replace(database, vocabulary=vocabulary, relations=FrozenMapping(kept))


# --- each atom given all others ---------------------------------------------------------------------


def _given_all_others(model: MLN, databases: Sequence[Database], groups: Groups) -> list[JudgedAtoms]:
    names = [name for group in groups for name in group]
    return [given_all_others(model, db, names).judge_atoms(db) for db in databases]


def given_all_others(model: MLN, database: Database, predicates: Sequence[str]) -> AtomProbabilities:
    r"""Return the probability of each atom of some predicates, given all other ground atoms.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)", mln)
    >>> said = given_all_others(mln, db, ["Cancer"])
    >>> print(said.atoms[0], said.probabilities.round(3))
    Cancer(Anna) [0.818]
    """
    from scipy.special import expit

    atoms: list[GroundAtom] = []
    parts: list[NDArray[np.float64]] = [np.zeros(0)]
    for name in predicates:
        if database.vocabulary[name].exclusive:
            raise ArgumentError(
                f"Of {name}'s blocks just one atom is true, so that none is uncertain given all others; "
                'evaluate with evidence="other-predicates".'
            )
    changes = _changes(model, database, predicates)
    for name in predicates:
        domains = [database.domain(type_) for type_ in database.vocabulary[name].types]
        rows = _all_rows([len(domain) for domain in domains])
        columns = [np.array(domain, object)[rows[:, place]] for place, domain in enumerate(domains)]
        atoms += (
            [GroundAtom(name, tuple(row)) for row in zip(*columns, strict=True)]
            if columns
            else [GroundAtom(name, ())]
        )
        found = changes.get(name)
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            part = rows[first : first + _ROWS_AT_ONCE]
            odds = np.zeros(len(part)) if found is None else _log_odds(found.at(part), model, database)
            parts.append(np.asarray(expit(odds)))
    return AtomProbabilities(tuple(atoms), np.concatenate(parts))


def _changes(model: MLN, database: Database, predicates: Sequence[str]) -> Mapping[str, Any]:
    from mlnlab.counting.deltas.delta_answers import deltas

    return deltas(model, database, predicates=list(predicates)) if model.formulas else {}


def _log_odds(changes: NDArray[Any], model: MLN, database: Database) -> NDArray[np.float64]:
    """Return the sum of w_i Δn_i; a hard formula decides alone."""
    formulas = model.expand(database).formulas
    hard = np.array([isinstance(one.weight, Hard) for one in formulas])
    weights = np.array([weight_value(one.weight) or 0.0 for one in formulas])
    values = changes.astype(np.float64)
    odds = np.asarray(values[:, ~hard] @ weights[~hard])
    forced = np.sign(values[:, hard].sum(axis=1))
    return np.where(forced == 0.0, odds, np.where(forced > 0.0, np.inf, -np.inf))


def _all_rows(sizes: Sequence[int]) -> NDArray[np.uint32]:
    if not sizes:
        return np.zeros((1, 0), np.uint32)
    return np.indices(tuple(sizes), dtype=np.uint32).reshape(len(sizes), -1).T
