"""Where hard formulas contradict each other, every method and every question says so, with the conflict."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.inference.method import LOG_Z, MARGINALS, MOST_PROBABLE
from mlnlab.inference.method_registry import methods
from mlnlab.widgets.explore.exploring_answers import Asked, answers

PIGEONS = """p = {A, B, C}
h = {H1, H2}
In(p, h)
EXIST h In(p, h).
!In(A, h) v !In(B, h).
!In(A, h) v !In(C, h).
!In(B, h) v !In(C, h).
0.5 In(p, h)
"""
NAMES = {kind: [method.name for method in methods(kind)] for kind in (MARGINALS, MOST_PROBABLE, LOG_Z)}


def conflict_of(ask):
    with pytest.raises(ml.UnsatisfiableError, match="No world satisfies") as caught:
        ask()
    found = caught.value.conflict
    assert found.minimal
    assert len(found.of("formula")) == 9
    assert all(part.place.words.startswith("<text>:") for part in found.parts)
    assert str(found) in str(caught.value)
    return found


@pytest.fixture(scope="module")
def pigeons():
    return ml.MLN.from_text(PIGEONS)


@pytest.mark.parametrize("name", [*NAMES[MARGINALS], "auto"])
def test_no_method_gives_probabilities(pigeons, name):
    conflict_of(lambda: ml.infer(pigeons, method=name))


@pytest.mark.parametrize("name", [*NAMES[MOST_PROBABLE], "auto"])
def test_no_method_gives_a_most_probable_world(pigeons, name):
    conflict_of(lambda: ml.map_state(pigeons, method=name))


@pytest.mark.parametrize("name", [*NAMES[LOG_Z], "auto"])
def test_no_method_gives_a_partition_function(pigeons, name):
    conflict_of(lambda: ml.log_z(pigeons, method=name))


def test_other_questions_say_so_too(pigeons):
    db = ml.Database.from_text("In(A, H1)\nIn(B, H2)", pigeons)
    conflict_of(lambda: ml.log_likelihood(pigeons, db))
    conflict_of(lambda: ml.lazy_map_state(pigeons))
    found = []
    for ask in (
        lambda: ml.evaluate(pigeons, db, query=["In"]),
        lambda: ml.sensitivities(pigeons, None, "In(A, H1)"),
        lambda: list(ml.sampler("mc-sat", pigeons)),
        lambda: list(ml.sampler("gibbs", pigeons)),
        lambda: list(ml.solver("max-walk-sat", pigeons)),
        lambda: list(ml.solver("rc2", pigeons)),
    ):
        with pytest.raises(ml.UnsatisfiableError) as caught:
            ask()
        found.append(caught.value.conflict)
    assert all(found)


def test_a_world_that_only_its_own_facts_make_impossible_has_likelihood_zero():
    mln = ml.MLN.from_text("S(e)\nC(e)\nS(x) => C(x).\n1 C(x)")
    broken, sound = (ml.Database.from_text(text, mln) for text in ("S(Anna)", "C(Anna)"))
    said = (
        r"Database 2 of 2 breaks the hard formula S\(x\) => C\(x\)\. in a grounding.* It is: S\(Anna\) => C"
    )
    with pytest.warns(UserWarning, match=said):
        assert ml.log_likelihood(mln, [sound, broken]) == float("-inf")


@pytest.mark.parametrize("method", ["auto", *NAMES[MARGINALS]])
def test_exploring_says_the_conflict_at_once_and_after_a_change(method):
    """The engine of ``ml.explore``: whatever the method, the sentence names the formula and the facts."""
    mln = ml.MLN.from_text("P(t)\nQ(t)\nP(x) => Q(x).\n1 Q(x)")
    db = ml.Database.from_text("P(A)\n!Q(A)\nP(B)", mln)
    (found,) = list(answers(Asked(mln, db, ("Q",), (), (), (), method=method)))
    assert found.done
    assert found.first is None
    said = found.problems["first"]
    assert "No world satisfies the hard formulas" in said
    for part in ("P(x) => Q(x).", "P(A)", "!Q(A)"):
        assert part in said


EMPTY_BLOCK = "p = {A}\nc = {}\nL(p, c!)\nS(p)\n1 S(x)"
EMPTY_FUNCTION = "p = {A}\nc = {}\nc L(p)\nS(p)\n1 S(x)"


@pytest.mark.parametrize("words", [EMPTY_BLOCK, EMPTY_FUNCTION])
def test_a_block_without_atoms_leaves_no_world(words):
    mln = ml.MLN.from_text(words)
    asking = [
        *(lambda name=name: ml.infer(mln, None, ["S"], method=name) for name in [*NAMES[MARGINALS], "auto"]),
        *(lambda name=name: ml.map_state(mln, None, ["S"], method=name) for name in NAMES[MOST_PROBABLE]),
        *(lambda name=name: ml.log_z(mln, method=name) for name in [*NAMES[LOG_Z], "auto"]),
        lambda: ml.lazy_map_state(mln, None, ["S"]),
        lambda: ml.map_state(mln, None, ["S"]),
    ]
    for ask in asking:
        with pytest.raises(ml.UnsatisfiableError, match=r"One of L\(A, c\) must be true"):
            ask()
    (part,) = ml.conflict(mln).parts
    assert "no constant of type c is known" in str(part)


def test_without_keys_or_where_none_may_be_true_an_empty_type_leaves_worlds():
    no_keys = EMPTY_BLOCK.replace("{A}", "{A}\nq = {}").replace("L(p", "L(q")
    for words in (EMPTY_BLOCK.replace("c!", "c?"), no_keys):
        assert ml.infer(ml.MLN.from_text(words), None, ["S"])["S(A)"] == pytest.approx(0.7310585786)
    closed = ml.MLN.from_text(EMPTY_FUNCTION)
    db = ml.Database.from_text("", closed)
    assert ml.infer(closed, db, "S")["S(A)"] == pytest.approx(0.7310585786)
