"""Planted rules: how many of them each structure learner finds again, and how much else, against noise.

Worlds are made in which three rules hold, and then a share of the atoms that these conclude is exchanged
for false ones. A learned clause counts as found where it says the same as a rule beside unit clauses.
Precision is the share of a model's clauses, unit clauses apart, that are planted; recall is the share of the
rules found. Means of five worlds of four databases:

=====  ==================  ==================  ==================
noise  precision, recall   precision, recall   precision, recall
       of LHL              of BUSL             of MSL
=====  ==================  ==================  ==================
0      1.00, 1.00          0.85, 0.87          0.36, 0.60
0.05   0.94, 1.00          0.54, 0.80          0.29, 0.60
0.1    0.74, 0.93          0.57, 0.93          0.33, 0.60
0.2    0.66, 0.67          0.54, 0.73          0.31, 0.53
=====  ==================  ==================  ==================

MSL's greedy search joins the parts of a rule first, each of which improves the model, and keeps them. A world
took LHL 0.4 seconds of a processor, MSL 0.7, and BUSL 2 to 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.experiments.folds.validated import mean_and_error
from mlnlab.logic.checked_options import is_number, whole_number
from mlnlab.logic.formulas.weights import weight_value
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN
from mlnlab.structure.ask.learn_structure import learn_structure
from mlnlab.structure.clauses.clause_making import ClauseKey, clause_key
from mlnlab.structure.paths.variabilized import PathAtom
from mlnlab.structure.results.by_hand import key_of_clause

if TYPE_CHECKING:
    import pandas as pd

Row = tuple[str, ...]
MODEL = "Friends(person, person)\nLikes(person, thing)\nOwns(person, thing)\nHappy(person)"
# Each rule with its conclusion last: Friends(x, y) => Friends(y, x) and so on.
RULES = (
    (("Friends", (0, 1)), ("Friends", (1, 0))),
    (("Friends", (0, 1)), ("Likes", (0, 2)), ("Owns", (1, 2))),
    (("Friends", (0, 1)), ("Happy", (0,)), ("Happy", (1,))),
)
# Of three literals at most, as the longest of the rules; all else is at its defaults, but that LHL goes
# without its heuristics, which need more data.
LEARNERS: Mapping[str, Mapping[str, Any]] = {
    "lhl": {"method": "lhl-noheu", "longest": 3},
    "busl": {"method": "busl", "longest": 3},
    "msl": {"method": "msl", "longest": 3},
}
NOISE = (0.0, 0.05, 0.1, 0.2)


class Found(NamedTuple):
    """The share of a model that was planted, and the share of the rules that is in the model."""

    precision: float
    recall: float


@dataclass(frozen=True, slots=True)
class PlantedPoint:
    """One learner at one level of noise: means over worlds with standard errors."""

    learner: str
    noise: float
    precision: float
    precision_error: float
    recall: float
    recall_error: float
    seconds: float  # of a world


@dataclass(frozen=True, slots=True, eq=False)
class PlantedRules:
    """Precision and recall of learners against noise."""

    points: tuple[PlantedPoint, ...]

    @property
    def learners(self) -> tuple[str, ...]:
        """The learners, in the order in which they were named."""
        return tuple(dict.fromkeys(point.learner for point in self.points))

    def by(self, learner: str) -> tuple[PlantedPoint, ...]:
        """Return the points of one learner."""
        return tuple(point for point in self.points if point.learner == learner)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each learner and level of noise."""
        import pandas as pd

        return pd.DataFrame([asdict(point) for point in self.points], columns=list(PlantedPoint.__slots__))

    def __repr__(self) -> str:
        levels = len({point.noise for point in self.points})
        return f"<PlantedRules: {len(self.learners)} learners at {levels} levels of noise>"


def find_planted_rules(
    learners: Mapping[str, Mapping[str, Any]] | None = None,
    noise: Sequence[float] = NOISE,
    *,
    worlds: int = 5,
    databases: int = 4,
    seed: int = 0,
    told: Callable[[PlantedPoint], None] = lambda _: None,
) -> PlantedRules:
    """Learn from ``worlds`` of each level of noise, of some ``databases`` each, by each learner.

    Learners are options of :func:`mlnlab.learn_structure` by the name that a picture has for them. All learn
    from the same worlds. ``told`` hears of each point as it is there.
    """
    levels = sorted({_checked_noise(level) for level in noise})
    whole_number(worlds, "worlds", 1)
    whole_number(databases, "databases", 1)
    first = whole_number(seed, "A seed")
    points = []
    for name, options in (LEARNERS if learners is None else learners).items():
        for level in levels:
            made = [
                [make_planted_database(first + databases * world + n, level) for n in range(databases)]
                for world in range(worlds)
            ]
            points.append(_measure_point(name, level, made, options))
            told(points[-1])
    return PlantedRules(tuple(points))


def _checked_noise(level: float) -> float:
    if not is_number(level) or not 0 <= level <= 1:
        raise ArgumentError(f"Noise is a share of the concluded atoms, from 0 to 1, not {level!r:.60}.")
    return float(level)


def _measure_point(
    name: str, level: float, worlds: Sequence[Sequence[Database]], options: Mapping[str, Any]
) -> PlantedPoint:
    learned = [learn_structure(world, progress=False, **options) for world in worlds]
    found = [judge_model(one.mln) for one in learned]
    precision, recall = (mean_and_error(values) for values in zip(*found, strict=True))
    return PlantedPoint(name, level, *precision, *recall, float(np.mean([one.seconds for one in learned])))


# --- worlds -----------------------------------------------------------------------------------------


def make_planted_database(seed: int, noise: float, people: int = 24, things: int = 8) -> Database:
    """Return a world in which the rules hold, but for a share ``noise`` of the atoms that they conclude.

    As many of these are false, and as many others of their predicates true.
    """
    rng = np.random.default_rng(seed)
    persons, objects = [f"P{i}" for i in range(people)], [f"T{i}" for i in range(things)]
    pairs = [(x, y) for x, y in combinations(persons, 2) if rng.random() < 1.2 / people]
    friends: set[Row] = {*pairs, *((y, x) for x, y in pairs)}
    likes: set[Row] = {(x, t) for x, t in product(persons, objects) if rng.random() < 0.6 / things}
    owns: set[Row] = {(y, t) for (x, y), (z, t) in product(friends, likes) if x == z}
    happy = _draw_moods(persons, pairs, rng)
    relations: dict[str, set[Row]] = {
        "Friends": exchange_rows(friends, list(product(persons, repeat=2)), noise, rng), "Likes": likes,
        "Owns": exchange_rows(owns, list(product(persons, objects)), noise, rng),
        "Happy": exchange_rows(happy, [(x,) for x in persons], noise, rng),
    }  # fmt: skip
    facts = [f"{name}({', '.join(row)})" for name, rows in relations.items() for row in sorted(rows)]
    listed = f"person = {{{', '.join(persons)}}}\nthing = {{{', '.join(objects)}}}\n{MODEL}"
    return Database.from_text("\n".join(facts), MLN.from_text(listed))


def _draw_moods(
    persons: Sequence[str], pairs: Sequence[tuple[str, str]], rng: np.random.Generator
) -> set[Row]:
    """Return who is happy: all of those who are friends of friends of each other, or none."""
    leader = {x: x for x in persons}
    for x, y in pairs:
        one, other = leader[x], leader[y]
        leader = {z: one if found == other else found for z, found in leader.items()}
    mood = {x: rng.random() < 0.5 for x in persons}
    return {(x,) for x in persons if mood[leader[x]]}


def exchange_rows(true: set[Row], every: Sequence[Row], noise: float, rng: np.random.Generator) -> set[Row]:
    """Return true rows of which a share is exchanged for as many false ones."""
    rows, others = sorted(true), [row for row in every if row not in true]
    wrong = min(round(noise * len(rows)), len(others))
    dropped = {rows[place] for place in rng.choice(len(rows), wrong, replace=False)} if wrong else set()
    added = {others[place] for place in rng.choice(len(others), wrong, replace=False)} if wrong else set()
    return (true - dropped) | added


# --- what is found ----------------------------------------------------------------------------------


def list_planted_keys() -> list[set[tuple[ClauseKey, bool]]]:
    """Return the clauses that are equivalent to each rule beside unit clauses, with the sign of their weight.

    Friends are so mutually: their arguments may be exchanged in a premise. A clause of negative literals with
    a negative weight is the conjunction of the atoms, which makes a conclusion as probable as the rule does.
    Of two atoms a and b all clauses are 1, a, b and a b with some weights, a b being what couples them.
    """
    keys = []
    for *premises, last in RULES:
        variants = product(*([(n, v), (n, v[::-1])] if n == "Friends" else [(n, v)] for n, v in premises))
        signs = [(1 << len(premises), True), (0, False), *([(3, False)] if len(premises) == 1 else ())]
        keys.append({
            (clause_key([PathAtom(*atom) for atom in (*variant, last)], positive), sign)
            for variant in variants if last not in variant for positive, sign in signs
        })  # fmt: skip
    return keys


def judge_model(model: MLN) -> Found:
    """Return how many of a model's clauses are planted rules, and how many of these it has."""
    rules = list_planted_keys()
    clauses = list(_keys_of(model))
    among = [{number for number, keys in enumerate(rules) if key in keys} for key in clauses]
    right, found = sum(map(bool, among)), set().union(*among)
    return Found(right / len(clauses) if clauses else 1.0, len(found) / len(RULES))


def _keys_of(model: MLN) -> Iterator[tuple[ClauseKey | None, bool]]:
    """Yield the key of each clause but unit clauses, and whether its weight is positive.

    A clause with an equality has no key: no rule is planted that says the same.
    """
    for one in model.formulas:
        positive = (weight_value(one.weight) or 0.0) > 0
        try:
            key = key_of_clause(one.formula)
        except ArgumentError:
            yield None, positive
            continue
        if len(key.path.atoms) > 1:
            yield key, positive
