"""The sampling kernels: compiled and plain flip for flip, and their counts against counting from scratch."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.errors import MlnlabError
from mlnlab.grounding.question.question import pose
from mlnlab.inference.methods import gibbs
from mlnlab.inference.sampling import chains
from mlnlab.kernels.chains.gibbs_sweeps import count, sample, sweep
from mlnlab.kernels.chains.hard_worlds import violations
from mlnlab.kernels.chains.world_arrays import new_chain, scatter, settle
from mlnlab.kernels.compiled import plain_twin
from mlnlab.kernels.random_numbers import streams
from tests.support import small_models
from tests.support.thoroughness import examples

MIXED = """
person = {A, B, C}
house = {H, I, J}
S(person)
F(person, person)
Lives(person, house!)
Owns(person, house?)
1.2 S(x) ^ F(x,y) => S(y)
-0.7 EXIST y F(x,y)
0.4 EXIST>=2 x S(x)
0.3 Lives(x,h) ^ Lives(y,h) => F(x,y)
0.9 Owns(x,h) => Lives(x,h)
0.6 Lives(x, H) <=> S(x)
EXIST x S(x).
!Lives(x, I) v S(x).
!Owns(x, J) v S(x).
"""


def same_chain(left, right):
    return all(np.array_equal(one, other) for one, other in zip(left[:5], right[:5], strict=True))


def twin_runs(question, seed, sweeps):
    ground = gibbs.ground(question)
    random = streams(seed, 1)[0]
    begin = chains.random_world(ground, random)
    fast, plain = (new_chain(ground.network, begin.chosen, begin.random) for _ in range(2))
    with np.errstate(over="ignore"):
        for _ in range(sweeps):
            sweep(ground.network, fast, 1)
            plain_twin(sweep)(ground.network, plain, 1)
            assert same_chain(fast, plain)
            assert violations(ground.network, fast) == 0
    return ground, fast


@settings(max_examples=examples(40))
@given(small_models.questions(), st.integers(0, 2**64 - 1))
def test_compiled_and_plain_agree_flip_for_flip(asked, seed):
    ground, chain = twin_runs(asked.question, seed, 3)
    again = new_chain(ground.network, chain.chosen, chain.random)
    assert same_chain(chain, again)  # what was updated by each flip equals what is computed from scratch


def test_blocks_tables_and_hard_formulas_agree_flip_for_flip():
    question = pose(ml.MLN.from_text(MIXED), None, None)
    for seed in range(5):
        ground, chain = twin_runs(question, seed, 30)
        assert same_chain(chain, new_chain(ground.network, chain.chosen, chain.random))
        options = zip(question.choices, chain.chosen, strict=True)
        chosen = {str(atom) for choice, option in options for atom in choice.atoms[option : option + 1]}
        values = np.flatnonzero(chain.values)
        atoms = [str(atom) for choice in question.choices for atom in choice.atoms]
        assert {atoms[place] for place in values} == chosen


def test_counting_and_starting_agree_in_plain_python():
    ground = gibbs.ground(pose(ml.MLN.from_text(MIXED), None, None))
    columns = len(ground.clauses.sources)
    random = streams(3, 1)[0]
    fast, plain = (new_chain(ground.network, np.zeros_like(ground.network.options), random) for _ in range(2))
    with np.errstate(over="ignore"):
        for kernel in (scatter, settle):
            kernel(ground.network, fast)
            plain_twin(kernel)(ground.network, plain)
        assert violations(ground.network, fast) == plain_twin(violations)(ground.network, plain)
        assert same_chain(fast, plain)
        sums, other = (np.zeros(ground.clauses.number_of_atoms + columns, np.int64) for _ in range(2))
        counts, more = (np.zeros(columns, np.int64) for _ in range(2))
        sample(ground.network, ground.groups, fast, 4, 2, sums, counts)
        plain_twin(sample)(ground.network, ground.groups, plain, 4, 2, other, more)
        plain_twin(count)(ground.network, ground.groups, plain, more)
    assert np.array_equal(sums, other)
    assert np.array_equal(counts, more)


def test_a_trajectory_does_not_depend_on_the_thread():
    ground = gibbs.ground(pose(ml.MLN.from_text(MIXED), None, None))

    def trajectory(seed):
        chain = chains.random_world(ground, streams(seed, 1)[0])
        sweep(ground.network, chain, 500)
        return chain.chosen.tolist(), chain.random.tolist()

    alone = [trajectory(seed) for seed in range(4)]
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(trajectory, range(4))) == alone


def test_extreme_weights_neither_overflow_nor_stop():
    mln = ml.MLN.from_text("e = {A, B}\nS(e)\nC(e)\n1000 S(x)\n-1000 C(x)")
    ground = gibbs.ground(pose(mln, None, None))
    chain = chains.random_world(ground, streams(0, 1)[0])
    sweep(ground.network, chain, 2)
    assert chain.chosen.tolist() == [0, 0, 1, 1]
    with np.errstate(over="ignore"):
        plain_twin(sweep)(ground.network, chain, 2)
    assert chain.chosen.tolist() == [0, 0, 1, 1]


def test_one_signature_is_compiled_for_all_uses():
    for kernel in (sweep, sample, count, settle, scatter, violations):
        assert len(kernel.signatures) <= 1


def test_impossible_questions_are_refused_before_a_kernel_runs():
    mln = ml.MLN.from_text("e = {A}\nS(e)\nC(e)\nS(x) => C(x).")
    with pytest.raises(MlnlabError, match=r"contradicts S\(x\) => C\(x\)\."):
        gibbs.ground(pose(mln, ml.Database.from_text("S(A)\n!C(A)", mln), ["S", "C"]))
