"""What is too large is refused at once, before a million atoms are listed."""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.grounding.question.question import list_atoms, opening
from mlnlab.inference.exact.world_counts import least_bits, refuse_before_listing
from tests.support.effort import calls_of

SMOKING = """
Smokes(person)
Cancer(person)
Friends(person, person)
1.5 Smokes(x) => Cancer(x)
1.1 Friends(x, y) ^ Smokes(x) => Smokes(y)
"""
BLOCKS = """
person = {A, B, C}
house = {H, I, J}
S(person)
Lives(person, house!)
Owns(person, house?)
Rules(person!)
1 Lives(x, y) => Owns(x, y)
"""


@pytest.mark.parametrize("people", [1_000, 30_000, 10**9])
def test_what_is_too_large_is_refused_at_once(people):
    mln, sizes = ml.MLN.from_text(SMOKING), {"person": people}
    questions = [
        lambda: ml.log_z(mln, sizes, method="enumeration"),
        lambda: ml.map_state(mln, sizes, method="enumeration"),
        lambda: ml.infer(mln, sizes, method="enumeration"),
    ]
    for question in questions:

        def asked(question=question):
            with pytest.raises(ml.TooLargeError, match=f"^{people**2 + 2 * people:,} ground atoms are open"):
                question()

        asked()
        assert calls_of(asked) < 100_000  # the methods that would answer are looked for, too


def test_the_likelihood_of_a_large_database_is_refused_before_it_is_counted(monkeypatch):
    mln = ml.MLN.from_text(SMOKING)
    db = ml.Database.from_text("\n".join(f"Friends(P{i}, P{i + 1})" for i in range(1_000)), mln)
    monkeypatch.setattr(ml.World, "count", lambda *_: pytest.fail("it was counted"))
    with pytest.raises(ml.TooLargeError, match="1,004,003 ground atoms are open"):
        ml.log_likelihood(mln, db, method="enumeration")


def test_impossible_databases_have_no_likelihood_however_large():
    mln = ml.MLN.from_text(SMOKING + "!Smokes(x).\n")
    db = ml.Database.from_text("Smokes(A)\n" + "\n".join(f"Cancer(P{i})" for i in range(50)), mln)
    with pytest.warns(UserWarning, match=r"breaks the hard formula !Smokes\(x\)\. in a grounding"):
        assert ml.log_likelihood(mln, db) == float("-inf")


@given(st.data())
def test_the_bound_is_never_above_the_truth(data):
    mln = ml.MLN.from_text(BLOCKS)
    atoms = [
        "S(A)",
        "S(B)",
        "Lives(A, H)",
        "Lives(A, I)",
        "Lives(B, J)",
        "Owns(A, H)",
        "Owns(C, I)",
        "Rules(B)",
    ]
    marks = data.draw(st.dictionaries(st.sampled_from(atoms), st.sampled_from(["", "!", "?", "0.3 "])))
    facts = "\n".join(mark + atom for atom, mark in marks.items())
    try:
        asked = opening(mln, ml.Database.from_text(facts, mln), ["S", "Lives"], ["Owns", "Rules"])
        question = list_atoms(asked)
    except (ml.UnsatisfiableError, ml.InputError):
        return
    true_bits = sum(log2(choice.options) for choice in question.choices)
    bound = sum(least_bits(asked, mln.vocabulary[name]) for name in asked.opened)
    assert bound <= true_bits + 1e-9
    if not any(mark in {"", "!"} for mark in marks.values()):
        assert bound == pytest.approx(true_bits)
    refuse_before_listing(asked, 2 ** int(true_bits + 1))


def test_blocks_are_bounded_too():
    mln = ml.MLN.from_text("Lives(person, house!)\n1 Lives(x, y)")
    with pytest.raises(ml.TooLargeError, match=r"100,000,000 ground atoms .* about 2\^132877 worlds"):
        ml.log_z(mln, {"person": 10_000, "house": 10_000}, method="enumeration")
    with pytest.raises(ml.TooLargeError, match="enumeration visits each"):
        ml.map_state(mln, {"person": 100, "house": 4}, method="enumeration")
    assert ml.log_z(mln, {"person": 3, "house": 4}).value == pytest.approx(
        3 * (1 + log2(4) / log2(2.718281828459045))
    )


@pytest.mark.filterwarnings("ignore:The log-likelihood is -inf")
def test_a_likelihood_does_not_wait_for_a_proof_that_no_world_is_possible(monkeypatch):
    """Pigeons in fewer holes: a SAT solver needs longer than anybody waits to see that it cannot be."""
    from mlnlab.inference.ask import likelihoods

    monkeypatch.setattr(likelihoods, "SECONDS", 0.5)
    text = "In(pigeon, hole)\nEXIST h In(p, h).\n!(p = q) ^ In(p, h) => !In(q, h)."
    mln = ml.MLN.from_text(text + "\npigeon = {1, ..., 14}\nhole = {1, ..., 13}")
    db = ml.Database.from_text("In(1, 1)", mln)
    with pytest.warns(UserWarning, match=r"not decided within .* seconds; ml.conflict looks"):
        assert ml.log_likelihood(mln, db) == float("-inf")
    monkeypatch.setattr(likelihoods, "SECONDS", 600.0)
    few = ml.MLN.from_text(text + "\npigeon = {1, 2}\nhole = {1}")
    with pytest.raises(ml.UnsatisfiableError):  # what is found out in time is told
        ml.log_likelihood(few, ml.Database.from_text("In(1, 1)", few))
