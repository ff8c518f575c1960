"""Friends and smokers, for any number of people: smoking spreads among friends and causes cancer.

How the data come about: a person smokes with probability 0.4. Each person makes three friendships (both
ways), with probability 0.75 among those who smoke or do not smoke as they do, else with anybody. A smoker
gets cancer with probability 0.5, another with probability 0.1. Of half of the people it is known whether
they smoke.

The model is small enough for a formula: with k smokers among n people all else is independent, so that
log Z is a sum over k (:func:`log_z`), for any n.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from random import Random

from mlnlab.errors import ArgumentError
from mlnlab.logic.vocabulary import FrozenMapping

from ..names import happens, pick, shuffled
from ..plain_answers import by_elimination, ground
from ..rules import Atom, Facts, Rule, domains_of
from ..texts import SampleTexts, counts_of, facts_text, model_text, question, rounded

SCHEMA = {"Friends": ("person", "person"), "Smokes": ("person",), "Cancer": ("person",)}
RULES = (
    Rule(0.4, (("Smokes", ("x",)),), ()),
    Rule(1.2, (("Cancer", ("x",)),), ()),
    Rule(1.5, (("Smokes", ("x",)),), (("Cancer", ("x",)),)),
    Rule(0.8, (("Friends", ("x", "y")), ("Smokes", ("x",))), (("Smokes", ("y",)),)),
)
_NAMES = (
    "Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gina", "Hugo", "Ines", "Jan", "Kira", "Leo", "Mia", "Nils",
    "Olga", "Paul", "Rosa", "Sam", "Tess", "Udo", "Vera", "Will",
)  # fmt: skip
_FRIENDSHIPS = 3
_WITH_QUESTIONS = 12  # people; beyond, exact answers take long and the generator leaves them out
_SIZES = (1, 2, 3, 8, 100, 1000)


def friends_smokers(people: int = 8, seed: int = 40) -> SampleTexts:
    """Return the model, partial evidence about the people, and all facts about them (to learn from)."""
    if not isinstance(people, int):
        raise ArgumentError(f"people must be a whole number of at least 2, not {people!r:.50}.")
    if people < 2:
        raise ArgumentError(f"Friends are at least 2 people, not {people}.")
    rng = Random(seed)
    names = [*_NAMES[:people], *(f"Person{number}" for number in range(len(_NAMES) + 1, people + 1))]
    facts = _simulated(names, rng)
    known = set(shuffled(names, rng)[: people // 2])
    smokers = [row for row in facts["Smokes"] if row[0] in known]
    false = [("Smokes", (name,)) for name in names if name in known and (name,) not in set(smokers)]
    evidence = {"Friends": facts["Friends"], "Smokes": smokers}
    comment = f"friends_smokers: {people} people, seed {seed}; "
    databases = {
        "friends_smokers": facts_text(comment + "half of the habits are known", evidence, false),
        "complete": facts_text(comment + "all that is true", facts),
    }
    model = model_text(_COMMENT, SCHEMA, RULES)
    return SampleTexts("friends_smokers", model, FrozenMapping(databases), _answers(facts, evidence, false))


_COMMENT = """Friends and smokers. Smoking spreads among friends and causes cancer.
Known: who is friends with whom, and of some whether they smoke."""


def _simulated(names: list[str], rng: Random) -> Facts:
    smokes = {name: happens(0.4, rng) for name in names}
    alike = {habit: [name for name in names if smokes[name] is habit] for habit in (False, True)}
    friends: set[tuple[str, str]] = set()
    for name in names:
        for _ in range(_FRIENDSHIPS):
            circle = alike[smokes[name]] if happens(0.75, rng) else names
            friend = _other(name, circle if len(circle) > 1 else names, rng)
            friends |= {(name, friend), (friend, name)}
    place = {name: number for number, name in enumerate(names)}
    cancer = [name for name in names if happens(0.5 if smokes[name] else 0.1, rng)]
    return {
        "Friends": sorted(friends, key=lambda row: (place[row[0]], place[row[1]])),
        "Smokes": [(name,) for name in names if smokes[name]],
        "Cancer": [(name,) for name in cancer],
    }


def _other(name: str, circle: list[str], rng: Random) -> str:
    while (friend := pick(circle, rng)) == name:
        pass
    return friend


def _answers(facts: Facts, evidence: Facts, false: Iterable[Atom]) -> dict[str, object]:
    """Return counts, marginals and MAP given the evidence, and log Z of the model without evidence."""
    domains = domains_of(evidence, SCHEMA)
    listed = {("Smokes", row) for row in evidence["Smokes"]} | set(false)
    unlisted = [(p, (name,)) for p in ("Smokes", "Cancer") for name in domains["person"]]
    unknown = [atom for atom in unlisted if atom not in listed]
    true = [(predicate, row) for predicate, rows in evidence.items() for row in rows]
    answers: dict[str, object] = {
        "counts": {"complete": counts_of(RULES, SCHEMA, facts)},
        "log_z_without_evidence": {str(people): rounded(log_z(people)) for people in _SIZES},
    }
    if len(domains["person"]) <= _WITH_QUESTIONS:
        exact = by_elimination(ground(RULES, SCHEMA, domains, true, unknown))
        answers["questions"] = [question("friends_smokers", ["Smokes", "Cancer"], exact)]
    return answers


def log_z(people: int) -> float:
    """Return log Z over all worlds of a number of people, as a sum over the number k of smokers."""
    w_smokes, w_cancer, w_causes, w_friends = (rule.weight or 0.0 for rule in RULES)
    smoker = math.log(math.exp(w_cancer) + math.exp(w_causes))  # !Cancer true, or Smokes => Cancer true
    other = w_smokes + w_causes + math.log(1 + math.exp(w_cancer))
    apart = math.log(1 + math.exp(w_friends))  # x smokes and y does not: true unless they are friends
    alike = math.log(2) + w_friends
    terms = [
        math.log(math.comb(people, k))
        + k * smoker
        + (people - k) * other
        + k * (people - k) * apart
        + (people**2 - k * (people - k)) * alike
        for k in range(people + 1)
    ]
    largest = max(terms)
    return largest + math.log(math.fsum(math.exp(term - largest) for term in terms))
