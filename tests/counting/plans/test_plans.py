"""Plans of every shape against dense sums of products, numbers beyond 64 bits, and what is refused."""

from __future__ import annotations

import gc
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.facts import sorted_facts as facts_module
from mlnlab.counting.facts.sorted_facts import facts_from_tables
from mlnlab.counting.plans.nodes import Cycle, SumOut, Triangle
from mlnlab.kernels.counting import counting_cycles, true_tuples
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.vocabulary import FrozenMapping, Predicate, SizedDomain, Vocabulary
from tests.support.thoroughness import examples

SHAPES = {
    "path": ("A(x,y) ^ B(y,z)", "xy,yz->"),
    "chain": ("A(x,y) ^ B(y,z) ^ C(z,w)", "xy,yz,zw->"),
    "star": ("A(x,y) ^ B(x,z) ^ C(x,w) ^ U(x)", "xy,xz,xw,x->"),
    "apart": ("A(x,y) ^ B(z,w) ^ U(z)", "xy,zw,z->"),
    "triangle": ("A(x,y) ^ B(y,z) ^ C(x,z)", "xy,yz,xz->"),
    "marked triangle": ("A(x,y) ^ B(y,z) ^ C(z,x) ^ U(x) ^ V(y) ^ U(z)", "xy,yz,zx,x,y,z->"),
    "one-relation triangle": ("A(x,y) ^ A(y,z) ^ A(z,x)", "xy,yz,zx->"),
    "triangle with a tail": ("A(x,y) ^ B(y,z) ^ C(z,x) ^ A(z,w)", "xy,yz,zx,zw->"),
    "four-cycle": ("A(x,y) ^ B(y,z) ^ C(z,w) ^ A(w,x)", "xy,yz,zw,wx->"),
    "crossed four-cycle": ("A(x,y) ^ B(y,z) ^ C(w,z) ^ A(x,w) ^ V(z)", "xy,yz,wz,xw,z->"),
    "four-cycle with a chord": ("A(x,y) ^ B(y,z) ^ C(z,w) ^ A(w,x) ^ B(x,z)", "xy,yz,zw,wx,xz->"),
    "five-cycle": ("A(x,y) ^ B(y,z) ^ C(z,w) ^ A(w,v) ^ B(v,x)", "xy,yz,zw,wv,vx->"),
    "theta": ("A(x,y) ^ B(y,z) ^ A(x,w) ^ C(w,z) ^ B(x,v) ^ C(v,z)", "xy,yz,xw,wz,xv,vz->"),
    "wide theta": (
        "A(x,y) ^ B(y,z) ^ A(x,w) ^ C(w,z) ^ B(x,v) ^ C(v,z) ^ C(x,u) ^ A(u,z)",
        "xy,yz,xw,wz,xv,vz,xu,uz->",
    ),
    "complete": ("A(x,y) ^ B(y,z) ^ C(z,w) ^ A(w,x) ^ B(x,z) ^ C(y,w)", "xy,yz,zw,wx,xz,yw->"),
    "two triangles": ("A(x,y) ^ B(y,z) ^ C(z,x) ^ A(x,v) ^ B(v,w) ^ C(w,x)", "xy,yz,zx,xv,vw,wx->"),
    "parallel": ("A(x,y) ^ B(x,y) ^ C(y,x) ^ A(y,z)", "xy,xy,yx,yz->"),
    "ternary": ("T(x,y,z) ^ A(x,y) ^ B(z,w)", "xyz,xy,zw->"),
    "two ternaries": ("T(x,y,z) ^ T(y,z,w) ^ A(x,w)", "xyz,yzw,xw->"),
    "ternary ring": ("T(x,y,z) ^ T(z,w,v) ^ A(v,x)", "xyz,zwv,vx->"),
}


def vocabulary(size):
    binary, unary = ("t", "t"), ("t",)
    signatures = {"A": binary, "B": binary, "C": binary, "U": unary, "V": unary, "T": ("t", "t", "t")}
    predicates = {name: Predicate(name, types) for name, types in signatures.items()}
    return Vocabulary(FrozenMapping({"t": SizedDomain("T", size)}), FrozenMapping(predicates))


def random_facts(size, density, seed):
    words, rng = vocabulary(size), np.random.default_rng(seed)
    dense = {
        name: rng.random((size,) * predicate.arity) < density / (size if predicate.arity == 3 else 1) ** 0.5
        for name, predicate in words.predicates.items()
    }
    tables = {name: np.argwhere(array).astype(np.uint32) for name, array in dense.items()}
    return facts_from_tables(words, tables), dense


def formula(words, text):
    return ml.MLN(words).parse(text)


@pytest.mark.parametrize("shape", SHAPES)
@settings(deadline=None, max_examples=examples(12))
@given(size=st.integers(1, 14), density=st.sampled_from([0.05, 0.2, 0.6, 1.0]), seed=st.integers(0, 9))
def test_every_shape_equals_the_dense_sum_of_products(shape, size, density, seed):
    text, subscripts = SHAPES[shape]
    facts, dense = random_facts(size, density, seed)
    arrays = [dense[part.strip()[0]].astype(np.int64) for part in text.split("^")]
    expected = int(np.einsum(subscripts, *arrays, optimize=True))
    assert Counter(formula(facts.vocabulary, text), facts.vocabulary)(facts) == expected


def plans_of(counter):
    return [case.plan for term in counter.terms.terms for cases in term.cases.values() for case in cases]


def kinds(node):
    yield type(node)
    for inner in node.inputs:
        yield from kinds(inner)


@pytest.mark.parametrize(
    ("shape", "size", "density", "kind"),
    [
        ("path", 50, 0.1, SumOut),
        ("triangle", 100, 0.3, Triangle),
        ("triangle", 3000, 0.0005, Cycle),
        ("four-cycle", 100, 0.05, Cycle),
    ],
)
def test_the_planner_chooses_by_what_the_data_are_like(shape, size, density, kind):
    words, rng = vocabulary(size), np.random.default_rng(1)
    number = int(size * size * density)
    tables = {name: rng.integers(0, size, (number, 2)).astype(np.uint32) for name in "ABC"}
    facts = facts_from_tables(words, tables)
    counter = Counter(formula(words, SHAPES[shape][0]), words)
    by_plan = counter(facts)
    assert kind in {k for plan in plans_of(counter) for part in plan.parts for k in kinds(part)}
    from scipy.sparse import csr_array

    first, second, third = (
        csr_array((np.ones(len(rows), np.int64), rows.T.astype(np.int64)), (size, size))
        for rows in (facts.rows(name) for name in "ABC")
    )
    two_steps = first @ second
    expected = {
        "path": two_steps.sum(),
        "triangle": two_steps.multiply(third).sum(),
        "four-cycle": (two_steps.multiply((third @ first).T)).sum(),
    }
    assert by_plan == expected[shape]


def test_counts_pass_64_bits():
    words = vocabulary(3_000_000)
    rows = np.stack([np.zeros(2000), np.arange(2000)], 1).astype(np.uint32)
    facts = facts_from_tables(words, {"A": rows, "U": np.arange(7, dtype=np.uint32)[:, None]})
    clause = formula(words, "A(x,y) ^ A(z,w) => U(v)")
    everything = 3_000_000**5
    assert Counter(clause, words)(facts) == everything - 2000**2 * (3_000_000 - 7)
    star = " ^ ".join(f"A(x,y{i})" for i in range(8))
    assert Counter(formula(words, star), words)(facts) == 2000**8  # about 2^88: no int64 in between
    assert Counter(formula(words, f"!({star})"), words)(facts) == 3_000_000**9 - 2000**8


def test_cyclic_counts_pass_64_bits():
    size = 40
    words = vocabulary(size)
    complete = np.argwhere(np.ones((size, size), bool)).astype(np.uint32)
    facts = facts_from_tables(words, {"A": complete})
    tails = " ^ ".join(f"A({end},{end}{i})" for end in "xyz" for i in range(4))
    ring = formula(words, f"A(x,y) ^ A(y,z) ^ A(z,x) ^ {tails}")
    assert Counter(ring, words)(facts) == size**15  # about 2^80


def test_blocks_of_equal_literals_stay_short():
    words = vocabulary(6)
    facts = facts_from_tables(words, {"U": np.array([[0], [2]], np.uint32)})
    several = formula(words, " v ".join(f"U(x{i})" for i in range(8)))
    assert Counter(several, words)(facts) == 6**8 - 4**8
    counter = Counter(several, words)
    assert len(counter.terms.terms) == 8  # not 256: equal up to renaming, and one cancels
    found = sorted(abs(term.coefficient) for term in counter.terms.terms)
    assert found == sorted(comb(8, k) for k in range(1, 9))


def test_long_disjunctions_of_ground_atoms_are_counted():
    words = vocabulary(40)
    facts = facts_from_tables(words, {"U": np.array([[39]], np.uint32)})
    long = " v ".join(f"U(T{i})" for i in range(1, 40))
    assert Counter(formula(words, long), words)(facts) == 0
    assert Counter(formula(words, f"{long} v U(T40)"), words)(facts) == 1


def test_a_plan_beyond_the_budget_is_refused_with_a_way_out():
    words = vocabulary(200_000)
    rng = np.random.default_rng(0)
    tables = {"T": rng.integers(0, 300, (200_000, 3)).astype(np.uint32)}
    dense = {"A": np.stack(np.divmod(np.arange(90_000), 300), 1).astype(np.uint32)}
    facts = facts_from_tables(words, {**tables, **dense})
    hard = formula(words, "T(x,y,z) ^ T(z,w,v) ^ T(v,s,x) ^ T(y,w,s) ^ T(x,w,r) ^ T(r,y,v)")
    with pytest.raises(ml.TooLargeError, match="Ways out"):
        Counter(hard, words)(facts)


def test_a_counter_plans_anew_when_the_data_are_of_another_size():
    small, large = (random_facts(60, density, 3)[0] for density in (0.01, 0.9))
    counter = Counter(formula(small.vocabulary, SHAPES["triangle"][0]), small.vocabulary)
    fresh = Counter(formula(small.vocabulary, SHAPES["triangle"][0]), small.vocabulary)
    assert counter(small) < counter(large) == fresh(large)
    last, only = plans_of(counter)[-1], plans_of(fresh)[0]
    assert len(plans_of(counter)) == 2
    assert [part.estimate for part in last.parts] == [part.estimate for part in only.parts]


def test_an_interrupt_leaves_nothing_half_built(monkeypatch):
    facts, _ = random_facts(30, 0.2, 2)
    counters = [Counter(formula(facts.vocabulary, SHAPES[shape][0]), facts.vocabulary) for shape in SHAPES]
    expected = [counter(random_facts(30, 0.2, 2)[0]) for counter in counters]

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        for module, name in (
            (true_tuples, "transpose_rows"),
            (true_tuples, "set_bits"),
            (counting_cycles, "count_bindings"),
        ):
            patch.setattr(module, name, interrupted)
        stopped = 0
        for counter in counters:
            try:
                counter(facts)
            except KeyboardInterrupt:
                stopped += 1
        assert stopped > 5
    assert [counter(facts) for counter in counters] == expected


def test_indexes_go_when_their_facts_go():
    gc.collect()
    before = len(facts_module._INDEXES)
    facts, _ = random_facts(10, 0.3, 1)
    Counter(formula(facts.vocabulary, SHAPES["four-cycle"][0]), facts.vocabulary)(facts)
    assert len(facts_module._INDEXES) > before
    del facts
    gc.collect()
    assert len(facts_module._INDEXES) == before


@pytest.mark.parametrize("shape", ["R(x, y) ^ R(y, z) ^ R(z, x)", "R(x, y) ^ R(y, z) ^ R(z, u) ^ R(u, x)",
                                   "R(x, y) ^ R(y, z)", "R(x, y) ^ R(y, z) => R(x, z)"])  # fmt: skip
def test_types_of_billions_of_numbers_cost_what_their_facts_cost(shape):
    random = np.random.default_rng(5)
    near = random.integers(0, 25, (150, 2)).tolist()
    counts = []
    for first, last in ((1, 25), (1_999_999_976, 2_000_000_000)):
        declared = f"d = {{1, ..., {last}}}\nR(d, d)" if first > 1 else "d = {1, ..., 25}\nR(d, d)"
        mln = ml.MLN.from_text(declared)
        db = ml.Database.from_text("\n".join(f"R({first + x}, {first + y})" for x, y in near), mln)
        formula = mln.parse(shape)
        bindings = len(db.vocabulary.domain("d")) ** len(free_variables(formula))
        false = bindings - Counter(formula, db.vocabulary)(db)
        counts.append(false if "=>" in shape else bindings - false)
    assert counts[0] == counts[1]
