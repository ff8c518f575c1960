"""Which counter is cheaper, told before anything is counted, and counting by rejection."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.counts.counting_plan import cluster_seconds, planned_seconds
from mlnlab.counting.counts.rejection_counter import RejectionParams, estimate_by_trying
from mlnlab.counting.facts.sorted_facts import facts_from_tables, facts_of
from mlnlab.counting.plans.nodes import Cycle
from mlnlab.errors import TooLargeError
from mlnlab.factors.join_graphs.propagation import ClusterParams

TEXT = "t = {A, B, C, D}\nu = {B, E}\nR(t, t)\nQ(t)\nW(u)\n"
FORMULAS = (
    "R(x, y) ^ R(y, z) => R(x, z)",
    "Q(x) <=> R(x, B)",
    "!R(x, x) v Q(y) v x = y",
    "!W(E) v Q(x) v x = B",
    "Q(A) ^ !Q(B)",
)


@pytest.fixture(scope="module")
def known():
    mln = ml.MLN.from_text(TEXT + "\n".join(FORMULAS))
    return mln, ml.Database.from_text("R(A, B)\nR(B, C)\nR(C, C)\nR(D, B)\nQ(A)\nQ(C)\nW(B)", mln)


def test_rejection_estimates_the_counts_within_its_error(known):
    mln, db = known
    exact = ml.count(mln, db)
    found = ml.count(mln, db, method="rejection", bindings=40_000, seed=4)
    for estimate, number, groundings in zip(found, exact, exact.groundings, strict=True):
        share = number / groundings
        error = groundings * sqrt(share * (1 - share) / 40_000)
        assert abs(estimate - number) <= 5 * error
    assert found.method == "rejection"
    assert found.exact == (False,) * len(FORMULAS)


def test_rejection_draws_the_same_bindings_in_each_world(known):
    mln, db = known
    other = db.with_atoms({"R(D, D)": True})
    formula = mln.formulas[2].formula
    params = RejectionParams(500, 1)
    one, two = (estimate_by_trying(formula, facts_of(world), params) for world in (db, other))
    assert one == estimate_by_trying(formula, facts_of(db), params)
    assert one - two == pytest.approx(16 * round((one - two) * 500 / 16) / 500)
    assert 0 <= one - two <= 4


@pytest.mark.parametrize(
    ("formula", "options", "sentence"),
    [
        ("EXIST y R(x, y)", {}, "not made of them"),
        ("Q(x)", {"bindings": 0}, "bindings must be a whole number of at least 1"),
        ("Q(x)", {"i": 2}, "rejection has no option i"),
    ],
)
def test_rejection_refuses_with_a_way_out(known, formula, options, sentence):
    mln = ml.MLN.from_text(f"{TEXT}{formula}")
    with pytest.raises(ml.ArgumentError, match=sentence):
        ml.count(mln, known[1], method="rejection", **options)


def test_bindings_that_need_more_memory_than_is_free_are_refused(known):
    with pytest.raises(TooLargeError, match=r"bindings that are tried together.*memory"):
        ml.count(*known, method="rejection", bindings=10**14)


def test_an_empty_type_has_no_groundings():
    mln = ml.MLN.from_text("Q(t)\nQ(x)")
    assert ml.count(mln, ml.Database.from_text("", mln), method="rejection")[0] == 0


def test_the_plan_takes_plans_for_sparse_data_and_clusters_for_wide_formulas():
    variables = "abcdefgh"
    pairs = [(one, other) for n, one in enumerate(variables) for other in variables[n + 1 :]]
    wide = " v ".join(f"R{n}({one}, {other})" for n, (one, other) in enumerate(pairs))
    declared = "\n".join(f"R{n}(t, t)" for n in range(len(pairs)))
    names = ", ".join(f"C{n}" for n in range(40))
    mln = ml.MLN.from_text(f"t = {{{names}}}\n{declared}\n{wide}\nR0(x, y) ^ R1(y, z) => R2(x, z)")
    db = ml.Database.from_text("R0(C1, C2)\nR1(C2, C3)", mln)
    first, second = ml.counting_plan(mln, db, i=2).formulas
    assert (first.planned, first.cheaper) == (inf, "ijgp")
    assert second.planned < second.clusters < inf
    assert second.cheaper == "planned"
    assert "planned cannot" in str(first)
    assert list(ml.counting_plan(mln, db, i=2).to_frame().cheaper) == ["ijgp", "planned"]
    assert ml.counting_plan(mln, db, i=3).formulas[1].clusters_are_exact
    np.testing.assert_array_less(second.clusters, ml.counting_plan(mln, db, i=3).formulas[1].clusters)


def test_wrong_options_of_a_plan_are_refused(known):
    mln, db = known
    with pytest.raises(ml.ArgumentError, match="i must be a whole number of at least 1"):
        ml.counting_plan(mln, db, i=0)
    with pytest.raises(ml.ArgumentError, match="A model is needed first"):
        ml.counting_plan("Q(x)", db)


def test_messages_in_cycles_are_sent_again_and_cost_as_much(known):
    mln, db = known
    facts, (chain, _, loop, *_) = facts_of(db), [mln.formulas[n].formula for n in (2, 3, 0)]

    def seconds(formula, **options):
        return cluster_seconds(formula, facts, ClusterParams(**options))[0]

    assert seconds(loop, i=2, sweeps=20) > seconds(loop, i=2, sweeps=1)
    assert seconds(loop, i=3, sweeps=20) == seconds(loop, i=3, sweeps=1)
    assert seconds(chain, i=2, sweeps=20) == seconds(chain, i=2, sweeps=1)


def test_a_neighbour_in_a_long_list_is_cheaper_than_one_in_a_short_list():
    """Of a cycle of four predicates each list has 20 or 360 of 400 neighbours."""
    mln = ml.MLN.from_text("t = {1, ..., 400}\nR(t, t)\nS(t, t)\nT(t, t)\nU(t, t)\n")
    formula = mln.parse("R(x, y) ^ S(y, z) ^ T(z, w) => U(x, w)")

    def each(degree):
        steps = (np.arange(400)[:, None] + np.arange(degree)) % 400
        rows = np.stack([np.repeat(np.arange(400), degree), np.sort(steps, axis=1).reshape(-1)], axis=1)
        facts = facts_from_tables(mln.vocabulary, dict.fromkeys("RSTU", rows.astype(np.uint32)))
        (cycle,) = [
            node for term in Counter(formula, mln.vocabulary).terms.terms
            for case in term.plan_cases(facts) for node in case.plan.parts if isinstance(node, Cycle)
        ]  # fmt: skip
        return planned_seconds(formula, facts) / cycle.estimate

    assert each(20) > 3 * each(360)
