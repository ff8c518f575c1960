"""Small worlds made from known rules or known clusters, with noise, and how much of these is found again."""

from __future__ import annotations

from itertools import combinations, product
from typing import NamedTuple

import numpy as np

import mlnlab as ml
from mlnlab.structure.clauses.clause_making import ClauseKey, clause_key
from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph
from mlnlab.structure.paths.variabilized import PathAtom
from mlnlab.structure.results.learned_structure import LearnedStructure

MODEL = ml.MLN.from_text("Friends(person, person)\nLikes(person, thing)\nOwns(person, thing)\nHappy(person)")
# Each rule with its conclusion last: Friends(x, y) => Friends(y, x) and so on.
RULES = (
    (("Friends", (0, 1)), ("Friends", (1, 0))),
    (("Friends", (0, 1)), ("Likes", (0, 2)), ("Owns", (1, 2))),
    (("Friends", (0, 1)), ("Happy", (0,)), ("Happy", (1,))),
)


class Found(NamedTuple):
    """How much of what was found was planted, and how much of what was planted was found."""

    precision: float
    recall: float


def planted_database(seed: int, noise: float, people: int = 24, things: int = 8) -> ml.Database:
    """Return a world in which the rules hold, but for a share ``noise`` of what they conclude.

    So many of the concluded atoms are false, and as many others of their predicate true.
    """
    rng = np.random.default_rng(seed)
    persons, objects = [f"P{i}" for i in range(people)], [f"T{i}" for i in range(things)]
    pairs = [(x, y) for x, y in combinations(persons, 2) if rng.random() < 1.2 / people]
    friends = {*pairs, *((y, x) for x, y in pairs)}
    likes = {(x, t) for x, t in product(persons, objects) if rng.random() < 0.6 / things}
    owns = {(y, t) for (x, y), (z, t) in product(friends, likes) if x == z}
    happy = _happy(persons, pairs, rng)
    worlds = {
        "Friends": _noisy(friends, list(product(persons, repeat=2)), noise, rng), "Likes": likes,
        "Owns": _noisy(owns, list(product(persons, objects)), noise, rng),
        "Happy": _noisy(happy, [(x,) for x in persons], noise, rng),
    }  # fmt: skip
    facts = [f"{name}({', '.join(row)})" for name, rows in worlds.items() for row in sorted(rows)]
    listed = f"person = {{{', '.join(persons)}}}\nthing = {{{', '.join(objects)}}}\n{MODEL.to_text()}"
    return ml.Database.from_text("\n".join(facts), ml.MLN.from_text(listed))


def _happy(
    persons: list[str], pairs: list[tuple[str, str]], rng: np.random.Generator
) -> set[tuple[str, ...]]:
    """Return who is happy: all of those who are friends of friends of each other, or none."""
    leader = {x: x for x in persons}
    for x, y in pairs:
        one, other = leader[x], leader[y]
        leader = {z: one if found == other else found for z, found in leader.items()}
    mood = {x: rng.random() < 0.5 for x in persons}
    return {(x,) for x in persons if mood[leader[x]]}


def _noisy(
    true: set[tuple[str, ...]], every: list[tuple[str, ...]], noise: float, rng: np.random.Generator
) -> set[tuple[str, ...]]:
    rows, others = sorted(true), [row for row in every if row not in true]
    wrong = min(round(noise * len(rows)), len(others))
    dropped = {rows[place] for place in rng.choice(len(rows), wrong, replace=False)} if wrong else set()
    added = {others[place] for place in rng.choice(len(others), wrong, replace=False)} if wrong else set()
    return (true - dropped) | added


def planted_keys() -> list[set[tuple[ClauseKey, bool]]]:
    """Return what is equivalent to each rule beside unit clauses, up to renaming: clause and sign of weight.

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


def rules_found(learned: LearnedStructure) -> Found:
    """Return how many of a model's clauses are planted rules, and how many of these it has."""
    rules = planted_keys()
    found: set[int] = set()
    right = clauses = 0
    for clause in learned.clauses:
        if clause.candidate is not None:
            signs = sum(held << place for place, held in enumerate(clause.candidate.signs))
            key = clause_key(clause.candidate.path.atoms, signs), clause.weight > 0
            among = {number for number, keys in enumerate(rules) if key in keys}
            clauses, right, found = clauses + 1, right + bool(among), found | among
    return Found(right / clauses if clauses else 1.0, len(found) / len(RULES))


# --- clusters ---------------------------------------------------------------------------------------


def clustered_database(seed: int, noise: float, clusters: int = 3, members: int = 8) -> ml.Database:
    """Return a world of people who know those of some other groups; a share of the facts is elsewhere."""
    rng = np.random.default_rng(seed)
    names = [f"P{group}_{member}" for group in range(clusters) for member in range(members)]
    every = [(x, y) for x, y in product(names, repeat=2) if x != y]
    true = {(x, y) for x, y in every if (int(y[1]) - int(x[1])) % clusters == 1}
    model = ml.MLN.from_text("Knows(person, person)")
    rows = _noisy(true, every, noise, rng)
    return ml.Database.from_text("\n".join(f"Knows({x}, {y})" for x, y in sorted(rows)), model)


def clusters_found(graph: LiftedHypergraph) -> Found:
    """Return precision and recall of the pairs that are in one cluster."""
    names = [node.constant.split("_")[0] for node in graph.hypergraph.nodes()]
    labels = graph.labels.tolist()
    pairs = list(combinations(range(len(names)), 2))
    together = {pair for pair in pairs if labels[pair[0]] == labels[pair[1]]}
    planted = {pair for pair in pairs if names[pair[0]] == names[pair[1]]}
    right = len(together & planted)
    return Found(right / len(together) if together else 1.0, right / len(planted))
