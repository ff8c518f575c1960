"""In a pseudo-log-likelihood a block is one variable: its share is one, whatever the number of its atoms."""

from __future__ import annotations

from math import exp, log

import pytest

import mlnlab as ml


def test_the_share_of_a_block_is_that_of_its_true_atom():
    text = "person = {A, B}\nroom = {Hall, Loft, Yard}\nIn(person, room!)\nTired(person)\n"
    mln = ml.MLN.from_text(text + "0.8 Tired(x) => In(x, Loft)\n0.3 In(x, Hall)\n-0.5 Tired(x)")
    db = ml.Database.from_text("In(A, Loft)\nIn(B, Hall)\nTired(A)", mln)

    def among(own, *others):
        return own - log(sum(map(exp, (own, *others))))

    # The rooms of A, who is tired, weigh .8 (loft) and .3 (hall); those of B .8 each, and .3 more (hall).
    rooms = among(0.8, 0.3, 0) + among(1.1, 0.8, 0.8)
    tired = among(0.8 - 0.5, 0.8) + among(0.8, -0.5)
    assert ml.pseudo_log_likelihood(mln, db) == pytest.approx(rooms + tired)
    assert ml.pseudo_log_likelihood(mln, db, weighted=True) == pytest.approx(rooms / 2 + tired / 2)
    assert "A block" in ml.pseudo_log_likelihood.__doc__
