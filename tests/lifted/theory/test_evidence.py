"""What is known of constants: lifted answers equal those of the ground model, for all atoms."""

from __future__ import annotations

import random
from math import exp

import pytest

import mlnlab as ml
from mlnlab.lifted.compile.compiling import NotLiftableError
from tests.lifted.compile.test_random_theories import random_model
from tests.support.thoroughness import examples

MANY = """Smokes(person)
Cancer(person)
Friends(person, person)
0.7 Friends(x, y) ^ Smokes(x) => Smokes(y)
1.1 Smokes(x) => Cancer(x)
-1 Friends(x, y)"""


def random_facts(draw, mln, sizes):
    """Facts about the constants' own predicates, and sometimes one about a pair."""
    facts = []
    for name, predicate in mln.vocabulary.predicates.items():
        domains = [mln.vocabulary_with(sizes).types[type_] for type_ in predicate.types]
        if len(domains) == 1:
            marks = [(draw.choice(["", "!", None, None]), constant) for constant in domains[0]]
            facts += [f"{mark}{name}({constant})" for mark, constant in marks if mark is not None]
        elif draw.random() < 0.25:
            row = ", ".join(draw.choice(list(domain)) for domain in domains)
            facts.append(f"{draw.choice(['', '!'])}{name}({row})")
    return "\n".join(facts)


@pytest.mark.random
def test_all_probabilities_equal_those_of_the_ground_model():
    compared = [compare(number) for number in range(examples(20))]
    assert sum(compared) >= len(compared) / 2


def compare(number):
    """Compare one random model with random facts; say whether its circuit was small enough."""
    draw = random.Random(7_000 + number)
    text, sizes = random_model(draw, number)
    mln = ml.MLN.from_text(text)
    mln = ml.MLN.from_text(text + "\n" + "\n".join(
        f"{type_} = {{{', '.join(mln.vocabulary_with(sizes).types[type_])}}}" for type_ in "ab"))  # fmt: skip
    db = ml.Database.from_text(random_facts(draw, mln, sizes), mln)
    try:
        known = ml.infer(mln, db, query=["P", "Q", "E", "R", "U"], method="junction-tree")
    except ml.UnsatisfiableError:
        known = None
    try:
        circuit = ml.lift(mln, db, recursions=0, limit=120).compile()
    except (NotLiftableError, ml.TooLargeError):
        return False
    if known is None:
        with pytest.raises(ml.UnsatisfiableError):
            circuit.log_z(db)
        return True
    assert circuit.log_z(db).value == pytest.approx(known.log_z, rel=1e-11, abs=1e-11)
    found = circuit.marginals(list(known), db)
    assert found == pytest.approx(list(known.values()), abs=1e-9), text
    return True


def test_a_large_population_of_which_some_are_known():
    mln = ml.MLN.from_text(MANY)
    smoking = "\n".join(f"Smokes(S{n})" for n in range(300))
    db = ml.Database.from_text(smoking + "\n!Smokes(N)\nCancer(N)", mln)
    circuit = ml.lift(mln, db).compile()
    assert circuit.groups.count(0) == 1
    assert len(circuit.groups) == 3
    sizes = {"person": 30_000}
    assert circuit.marginal("Smokes(S7)", sizes) == 1.0
    assert circuit.marginals(["Cancer(N)", "Smokes(N)"], sizes) == [1.0, 0.0]
    assert circuit.marginal("Friends(S7, S8)", sizes) == pytest.approx(0.2689414213699951)
    with pytest.raises(ml.ArgumentError, match="301 constants"):
        circuit.log_z({"person": 300})
    with pytest.raises(ml.ArgumentError, match="ask Smokes\\(x\\) of one of them"):
        circuit.marginal("Smokes(x)", sizes)


def test_facts_about_many_pairs_are_refused_with_the_reason():
    mln = ml.MLN.from_text(MANY)
    db = ml.Database.from_text("\n".join(f"Friends(A{n}, B{n})" for n in range(9)), mln)
    with pytest.raises(ml.TooLargeError, match=r"#P-hard.*up to 6"):
        ml.lift(mln, db)
    soft = ml.Database.from_text("0.3 Smokes(Anna)", mln)
    with pytest.raises(ml.ArgumentError, match="soft evidence"):
        ml.lift(mln, soft)


def test_closed_predicates_are_known_everywhere():
    mln = ml.MLN.from_text("*Adult(p)\nVotes(p)\n2 Votes(x) => Adult(x)\n0.5 Votes(x)")
    db = ml.Database.from_text("Adult(A)\nAdult(B)\nVotes(C)", mln)
    circuit = ml.lift(mln, db).compile()
    known = ml.infer(mln, db, query=["Votes"])
    for name in "AB":
        assert circuit.marginal(f"Votes({name})", db) == pytest.approx(known[f"Votes({name})"])
    other = circuit.marginal("Votes(Somebody)", {"p": 1_000})
    assert other == pytest.approx(1 / (1 + exp(1.5)))
