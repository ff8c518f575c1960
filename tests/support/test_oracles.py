"""The oracle itself, against numbers worked out by hand."""

from math import exp, isclose, log

import pytest

from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.model.database.world import World
from mlnlab.model.mln.mln import MLN
from tests.support import oracles

COIN = "person = {Anna}\nSmokes(person)\n1 Smokes(x)"
CHAIN = "person = {Anna}\nSmokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)"
ANNA_SMOKES = GroundAtom("Smokes", ("Anna",))
ANNA_HAS_CANCER = GroundAtom("Cancer", ("Anna",))


def test_one_atom_is_a_logistic_function():
    found = oracles.oracle(MLN.from_text(COIN))
    assert isclose(found.log_z, log(1 + exp(1)))
    assert isclose(found.marginal(ANNA_SMOKES), exp(1) / (1 + exp(1)))


def test_an_implication_has_three_true_worlds_of_four():
    found = oracles.oracle(MLN.from_text(CHAIN))
    z = 3 * exp(1.5) + 1
    assert isclose(found.log_z, log(z))
    assert isclose(found.marginal(ANNA_SMOKES), (exp(1.5) + 1) / z)
    assert isclose(found.marginal(ANNA_HAS_CANCER), 2 * exp(1.5) / z)
    assert isclose(found.expected_counts()[0], 3 * exp(1.5) / z)
    assert isclose(found.best(), 1.5)


def test_evidence_leaves_a_conditional_distribution():
    found = oracles.oracle(MLN.from_text(CHAIN), {ANNA_SMOKES: True})
    assert isclose(found.marginal(ANNA_HAS_CANCER), exp(1.5) / (exp(1.5) + 1))


def test_soft_evidence_multiplies_the_odds():
    found = oracles.oracle(MLN.from_text(COIN), soft={ANNA_SMOKES: 0.75})
    assert isclose(found.marginal(ANNA_SMOKES), 3 * exp(1) / (3 * exp(1) + 1))


def test_likelihoods_of_two_worlds():
    mln = MLN.from_text(CHAIN)
    sick = World(mln.vocabulary, frozenset({ANNA_SMOKES, ANNA_HAS_CANCER}))
    well = World(mln.vocabulary, frozenset({ANNA_SMOKES}))
    z = 3 * exp(1.5) + 1
    assert isclose(oracles.log_likelihood(mln, sick), 1.5 - log(z))
    assert isclose(oracles.log_likelihood(mln, well), -log(z))
    # P(S | C) = 1/2, since both worlds with cancer are true; P(C | S) = e^1.5 / (e^1.5 + 1).
    assert isclose(oracles.pseudo_log_likelihood(mln, sick), log(0.5) + 1.5 - log(exp(1.5) + 1))


@pytest.mark.parametrize(("mark", "number"), [("!", 3), ("?", 4), ("", 8)])
def test_blocks_leave_exactly_or_at_most_one(mark, number):
    mln = MLN.from_text(f"house = {{A}}\ncolour = {{Red, Green, Blue}}\nPaint(house, colour{mark})")
    assert len(oracles.oracle(mln).worlds) == number


@pytest.mark.parametrize(("mark", "number"), [("!", 0), ("?", 2)])
def test_a_block_without_atoms_has_no_true_one(mark, number):
    mln = MLN.from_text(f"house = {{A}}\ncolour = {{}}\nPaint(house, colour{mark})\nOld(house)")
    assert len(oracles.oracle(mln).worlds) == number
    assert oracles.respects_blocks(World(mln.vocabulary, frozenset())) is (number > 0)
