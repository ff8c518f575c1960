"""What no rule lifts, for sizes: small domains are answered, large ones refused before long, in words."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.lifted import unfolding

DECLARED = "F(person, person)\n"
SOFT = ml.MLN.from_text(DECLARED + "0.7 F(x, y) ^ F(y, z) => F(x, z)")
HARD = ml.MLN.from_text(DECLARED + "F(x, y) ^ F(y, z) => F(x, z).")


@pytest.mark.parametrize("mln", [SOFT, HARD], ids=["soft", "hard"])
def test_transitivity_is_told_or_refused(mln, monkeypatch):
    circuit = ml.lift(mln).compile()
    for size in (2, 3):
        expected = ml.log_z(mln, {"person": size}, method="junction-tree").value
        assert circuit.log_z({"person": size}).value == pytest.approx(expected, rel=1e-12)
    monkeypatch.setattr(unfolding, "MOST_CLAUSES", 1_200)
    for size in (9, 10**9):
        for ask in (circuit.log_z, circuit.world_count):
            with pytest.raises(
                ml.TooLargeError, match=r"No rule lifts .*F\(x, y\) \^ F\(y, z\) => F\(x, z\)"
            ):
                ask({"person": size})


def test_the_likelihood_of_three_people_is_told():
    db = ml.Database.from_text("F(A, B)\nF(B, C)", SOFT)
    found = ml.log_likelihood(SOFT, db, method="lifted")
    assert found == pytest.approx(ml.log_likelihood(SOFT, db, method="enumeration"), rel=1e-10)


def test_refusals_tell_what_grounding_makes_and_what_to_do():
    with pytest.raises(ml.TooLargeError, match=r"(?s)makes .*10,000 theories.*Ways out:.*smaller domains"):
        ml.log_z(HARD, {"person": 10**9}, method="lifted")
