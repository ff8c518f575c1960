"""Lazily found worlds against those of full grounding, and a model that is too large for the latter."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.logic.formulas.weights import Hard, weight_value
from mlnlab.model.mln.writing import statement_text
from tests.grounding.clauses.test_merging import FORMULAS
from tests.support import small_models
from tests.support.thoroughness import examples


class Watching:
    """Keeps the metrics of all steps."""

    def __init__(self):
        self.seen = []

    def on_step(self, step):
        self.seen.append(step.state.metrics())

    def on_end(self, last):
        pass


@settings(max_examples=examples(40))
@given(small_models.models(most_atoms=7, hard=False))
def test_random_models(mln):
    found = ml.lazy_map_state(mln)
    assert found.proven_optimal
    assert found.log_weight == pytest.approx(ml.map_state(mln, method="enumeration").log_weight)


@settings(max_examples=examples(60))
@given(
    st.lists(st.sampled_from(FORMULAS), min_size=1, max_size=5, unique=True),
    st.lists(st.sampled_from(["S(A)", "!S(B)", "C(A)", "0.3 C(B)", "F(A,B)", "L(A,R)"]), unique=True),
)
def test_evidence_blocks_and_hard_formulas(formulas, facts):
    head = "p = {A, B}\nc = {R, G}\nS(p)\nC(p)\nF(p, p)\nL(p, c!)\nM(p, c?)\n"
    mln = ml.MLN.from_text(head + "\n".join(formulas))
    db, query = ml.Database.from_text("\n".join(facts), mln), ["S", "C", "F", "L"]
    try:
        expected = ml.map_state(mln, db, query, method="enumeration").log_weight
    except ml.UnsatisfiableError:
        with pytest.raises(ml.UnsatisfiableError):
            ml.lazy_map_state(mln, db, query)
        return
    assume(expected > float("-inf"))
    found = ml.lazy_map_state(mln, db, query)
    assert found.log_weight == pytest.approx(expected)
    against = dict(found.violated)
    for weighted in found.formulas:
        weight = weight_value(weighted.weight) or 0
        true = found.world.count(weighted.formula)
        total = found.world.number_of_groundings(weighted.formula)
        if not isinstance(weighted.weight, Hard):
            assert against.get(statement_text(weighted), 0) == (true if weight < 0 else total - true)


RULES = """Same(r, r)
Alike(r, r)
-1 Same(x, y)
3 Alike(x, y) => Same(x, y)
2 Same(x, y) => Same(y, x)
4 Same(x, y) ^ Same(y, z) => Same(x, z)
"""
FACTS = "Alike(1, 2)\nAlike(2, 3)\nAlike(4, 5)\nAlike(5, 4)"


def test_a_large_model_has_the_world_of_its_small_core():
    large = ml.MLN.from_text(RULES + "r = {1, ..., 30000}")
    watching = Watching()
    found = ml.lazy_map_state(large, ml.Database.from_text(FACTS, large), "Same", observers=[watching])
    small = ml.MLN.from_text(RULES + "r = {1, ..., 6}")
    expected = ml.map_state(small, ml.Database.from_text(FACTS, small), "Same", method="rc2")
    # In the large model all further groundings hold of the implications, and none of -1 Same(x, y).
    satisfied = {3: (30_000**2, 36), 2: (30_000**2, 36), 4: (30_000**3, 216)}
    more = sum(weight * (much - few) for weight, (much, few) in satisfied.items())
    assert found.log_weight - more == pytest.approx(expected.log_weight, abs=0.1)
    bounds = [metrics["bound"] for metrics in watching.seen]
    assert bounds == sorted(bounds, reverse=True)
    assert "proven optimal after" in found.reason
    assert len(found.open_atoms) < 40


def test_what_cannot_hold_is_said():
    mln = ml.MLN.from_text(
        "Same(r, r)\nr = {1, ..., 30000}\nSame(1, 2).\n!Same(x, y) v Same(y, x).\n!Same(2, 1)."
    )
    with pytest.raises(ml.UnsatisfiableError):
        ml.lazy_map_state(mln)


def test_imdb_needs_a_hundredth_of_its_clauses(reference_folder):
    folder = reference_folder / "alchemy-inputs"
    mln = ml.load(folder / "imdb1-gen-learned.mln", semantics="alchemy")
    db = ml.load_db(folder / "imdb_fold5_noq.db", mln)
    lazy, full = ml.lazy_map_state(mln, db, "workedUnder"), ml.map_state(mln, db, "workedUnder", method="rc2")
    assert lazy.log_weight == pytest.approx(full.log_weight)
    assert lazy.world == full.world
    assert sum(atom.predicate == "workedUnder" for atom in lazy.world.true_atoms) == 45  # Alchemy: 32
    assert "45 known atoms and 480 clauses" in lazy.reason
