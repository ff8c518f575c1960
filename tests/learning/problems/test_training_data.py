"""Several databases, marks, blocks, hard formulas and false facts: objectives against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.model.database.world import World
from tests.support import oracles
from tests.support.thoroughness import examples

# Of marks (+ and *), a block with one true atom, one with at most one, a hard formula, a closed predicate.
MODEL = ml.MLN.from_text(
    """Smokes(person)
    In(person, room!)
    Owns(person, pet?)
    *Old(person)
    Smokes(x) ^ In(x, +r)
    Smokes(x) v Old(x)
    In(x, r) ^ In(y, r) ^ Owns(x, p) => Smokes(y)
    *Owns(x, p)
    Old(x) => Smokes(x).
    """
)
ROOMS, PETS = ("R1", "R2"), ("Cat", "Dog")


@st.composite
def databases(draw: st.DrawFn, letter: str) -> ml.Database:
    """One or two people, whose names are those of no other database; pets may be unknown."""
    people = [f"{letter}{number}" for number in range(draw(st.integers(1, 2)))]
    facts = [f"person = {{{', '.join(people)}}}", f"room = {{{', '.join(ROOMS)}}}"]
    pets = PETS if draw(st.booleans()) else ()
    facts += [f"pet = {{{', '.join(PETS)}}}"] if pets else []
    for person in people:
        facts.append(f"In({person}, {draw(st.sampled_from(ROOMS))})")
        old = draw(st.booleans())
        facts += [f"Old({person})"] if old else []
        smokes = old or draw(st.booleans())
        facts.append(f"{'' if smokes else '!'}Smokes({person})")
        owned = draw(st.sampled_from([None, *pets]))
        facts += [f"Owns({person}, {owned})"] if owned else []
    return ml.Database.from_text("\n".join(facts), MODEL)


def options(
    vocabulary: ml.Vocabulary, world: World, *, known_false: bool
) -> list[tuple[str, list[frozenset]]]:
    """Return what may be otherwise: of each atom or block its predicate and the worlds with each option."""
    found = []
    people = vocabulary.domain("person")
    for person in people:
        smokes = ("Smokes", (person,))
        if not (known_false and smokes not in world.true_atoms):
            found.append(("Smokes", [world.true_atoms | {smokes}, world.true_atoms - {smokes}]))
        for name, values, empty in (("In", ROOMS, False), ("Owns", vocabulary.domain("pet"), True)):
            atoms = [(name, (person, value)) for value in values]
            rest = world.true_atoms - set(atoms)
            found.append((name, [rest | {atom} for atom in atoms] + [rest] * empty))
    return found


@settings(max_examples=examples(10))
@given(
    databases("A"),
    databases("B"),
    st.lists(st.floats(-2, 2), min_size=6, max_size=6),
    st.booleans(),
    st.booleans(),
)
def test_pseudo_likelihoods_of_two_databases(
    one: ml.Database, two: ml.Database, numbers: list[float], weighted: bool, known: bool
) -> None:
    false_facts = "evidence" if known else "data"
    learner = ml.weight_learner("wpll" if weighted else "pll", MODEL, [one, two], false_facts=false_facts)
    formulas, weights = learner.data.formulas, np.array([*numbers, 0.0])
    assert len(formulas) == 7
    total = 0.0
    for db, example in zip((one, two), learner.data.examples, strict=True):
        vocabulary = example.vocabulary
        world = World(vocabulary, db.world().true_atoms)
        mln = learner.data.model(example)

        def score(true: frozenset) -> float:
            counts = oracles.counts(mln, World(vocabulary, true))  # noqa: B023 - used at once
            possible = counts[-1] == len(vocabulary.domain("person"))  # noqa: B023
            return float(weights @ counts) if possible else -np.inf

        everything = options(vocabulary, world, known_false=known)
        for name, worlds in everything:
            shares = sum(other == name for other, _ in everything) if weighted else 1
            total += (score(world.true_atoms) - np.logaddexp.reduce([score(w) for w in worlds])) / shares
    objective = learner.problem.objective
    moments, _ = objective.moments(weights)
    assert moments.value == pytest.approx(total, abs=1e-9)
    direction = np.arange(1.0, 8.0) / 8
    up, down = (objective.moments(weights + sign * 1e-5 * direction)[0] for sign in (1, -1))
    assert moments.gradient @ direction == pytest.approx((up.value - down.value) / 2e-5, abs=1e-5)
    slope = -(up.gradient - down.gradient) / 2e-5
    assert moments.curvature.times(direction) == pytest.approx(slope, abs=1e-5)
    assert moments.curvature.quadratic(direction) == pytest.approx(direction @ slope, abs=1e-5)
    # Both together are the sum of each alone.
    alone = [objective.part([number]).moments(weights)[0] for number in (0, 1)]
    assert moments.value == pytest.approx(sum(part.value for part in alone))


@settings(max_examples=examples(10))
@given(databases("A"), databases("B"), st.lists(st.floats(-2, 2), min_size=6, max_size=6), st.booleans())
def test_likelihoods_of_two_databases(
    one: ml.Database, two: ml.Database, numbers: list[float], known: bool
) -> None:
    false_facts = "evidence" if known else "data"
    learner = ml.weight_learner("ll", MODEL, [one, two], false_facts=false_facts)
    weights, total = np.array([*numbers, 0.0]), 0.0
    for db, example in zip((one, two), learner.data.examples, strict=True):
        vocabulary, mln = example.vocabulary, learner.data.model(example)
        true = db.world().true_atoms
        old = {atom for atom in true if atom[0] == "Old"}
        known_false = {
            (atom.predicate, atom.arguments)
            for atom in db.atoms("false")
            if known and atom.predicate != "Old"
        }
        logs = {}
        for world in oracles.all_worlds(vocabulary):
            counts = oracles.counts(mln, world)
            held = {atom for atom in world.true_atoms if atom[0] == "Old"}
            possible = counts[-1] == len(vocabulary.domain("person")) and held == old
            if possible and not known_false & world.true_atoms:
                logs[world.true_atoms] = float(weights @ counts)
        total += logs[true] - np.logaddexp.reduce(list(logs.values()))
    assert learner.problem.objective.moments(weights)[0].value == pytest.approx(total, abs=1e-9)


def test_false_facts_as_evidence_are_known_to_all_learners_and_to_evaluation() -> None:
    mln = ml.MLN.from_text("Same(thing, thing)\nLike(thing, thing)\nSame(x, y)\nLike(x, y) => Same(x, y)")
    text = (
        "Same(A, B)\nLike(A, B)\nLike(B, A)\n!Same(B, A)\n!Same(A, A)\n!Same(B, B)\n!Same(C, C)\nthing = {D}"
    )
    db = ml.Database.from_text(text, mln)
    for method in ("pll", "ll", "cd"):
        every = ml.weight_learner(method, mln, db, ["Same"]).problem.objective
        some = ml.weight_learner(method, mln, db, ["Same"], false_facts="evidence").problem.objective
        zero = np.zeros(2)
        assert every.moments(zero)[0].expected[0] > some.moments(zero)[0].expected[0]
        if every.has_value:
            assert every.moments(zero)[0].value == pytest.approx(-16 * np.log(2))
            assert some.moments(zero)[0].value == pytest.approx(-12 * np.log(2))
    weighted = mln.with_weights([0.5, 1.0])
    assert len(ml.evaluate(weighted, db, ["Same"]).judged) == 16
    assert len(ml.evaluate(weighted, db, ["Same"], false_facts="evidence").judged) == 12
    with pytest.raises(ArgumentError, match='false_facts is "data"'):
        ml.learn_weights(mln, db, false_facts="open")


def test_constants_that_only_one_fold_knows() -> None:
    """+x is written out over the constants of all databases; no other constant crosses over."""
    mln = ml.MLN.from_text("Has(page, word)\nGood(page)\nHas(p, +w) ^ Good(p)")
    one = ml.Database.from_text("Has(P1, Red)\nGood(P1)\npage = {P2}", mln)
    two = ml.Database.from_text("Has(Q1, Blue)\nHas(Q2, Red)\nGood(Q2)", mln)
    found = ml.learn_weights(mln, [one, two], "pll", ["Good"])
    assert [str(f.formula) for f in found.mln.formulas] == [
        str(f.formula) for f in ml.learn_weights(mln, [one, two], "ll", ["Good"]).mln.formulas
    ]
    assert len(found.weights) == 2
    assert found.weights[0] > 0 > found.weights[1]
    assert [len(e.vocabulary.domain("page")) for e in found.data.examples] == [2, 2]
    assert found.objective == pytest.approx(ml.learn_weights(mln, [two, one], "pll", ["Good"]).objective)


def test_alchemys_semantics_counts_the_clauses_of_a_formula_apart() -> None:
    mln = ml.MLN.from_text("A(thing)\nB(thing)\nA(x) ^ B(x)", semantics="alchemy")
    one = ml.Database.from_text("A(T1)\nB(T2)\nA(T3)\nB(T3)", mln)
    two = ml.Database.from_text("A(S1)\nthing = {S2}", mln)
    learner = ml.weight_learner("pll", mln, [one, two])
    assert len(learner.data.formulas) == 2
    value = learner.problem.objective.moments(np.array([0.3, -0.2]))[0].value
    # A and B are independent: of five things three are A and two are B.
    chances = {True: lambda w: -np.log1p(np.exp(-w)), False: lambda w: -np.log1p(np.exp(w))}
    expected = 3 * chances[True](0.3) + 2 * chances[False](0.3) + 2 * chances[True](-0.2)
    expected += 3 * chances[False](-0.2)
    assert value == pytest.approx(expected)


def test_blocks_that_are_alike_are_one() -> None:
    mln = ml.MLN.from_text("In(person, room!)\nTall(person)\nIn(x, +r)\nIn(x, r) ^ Tall(x)")
    facts = "\n".join(f"In(P{i}, R{i % 3})\n{'!' * (i % 2)}Tall(P{i})" for i in range(600))
    db = ml.Database.from_text(facts, mln)
    (moves,) = ml.weight_learner("pll", mln, db, ["In"]).problem.objective.blocks[0]
    assert moves.blocks == 600
    assert len(moves.starts) == 3
    assert moves.multiplicities.sum() == 600
    found = ml.learn_weights(mln, db, "pll", ["In"], prior=ml.Gaussian(0, 5))
    assert found.objective == pytest.approx(-600 * np.log(3), abs=1e-6)
