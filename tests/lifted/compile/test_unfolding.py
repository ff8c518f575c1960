"""What no rule lifts, for sizes: small domains are answered, large ones refused before long, in words."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.lifted.compile import unfolding
from mlnlab.lifted.compile.compiling import Compilation, work_of

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


@pytest.mark.parametrize("size", [9, 50, 1_000])
def test_theories_that_only_grow_are_refused_after_a_few_constants(size, monkeypatch):
    """The more constants there are to take out, the sooner it is clear that it leads nowhere."""
    work = []
    defined = Compilation.define_theory

    def watched(compilation, theory, *rest):
        work.append(work_of(theory))
        return defined(compilation, theory, *rest)

    circuit = ml.lift(SOFT).compile()
    monkeypatch.setattr(Compilation, "define_theory", watched)
    with pytest.raises(ml.TooLargeError, match=r"ever larger theories|theories of over"):
        circuit.log_z({"person": size})
    assert sum(work) <= (2_000 if size >= 50 else unfolding.MOST_CLAUSES)
