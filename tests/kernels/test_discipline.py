"""What every kernel keeps to: its types, its randomness, its pieces, the interpreter lock."""

from __future__ import annotations

import ast
import re
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import mlnlab as ml
from mlnlab import kernels
from mlnlab.grounding.question.question import pose
from mlnlab.inference.methods import gibbs
from mlnlab.inference.sampling import chains
from mlnlab.kernels.chains.gibbs_sweeps import Groups, sweep
from mlnlab.kernels.chains.world_arrays import Chain, Network
from mlnlab.kernels.random_numbers import streams
from tests.benchmarks.beside_c.gibbs_speed import three_sat
from tests.support.pace import slower

FOLDER = Path(kernels.__file__).parent
FILES = sorted(FOLDER.rglob("*.py"))
MODEL = """
person = {A, B, C}
house = {H, I, J}
S(person)
F(person, person)
Lives(person, house!)
1.2 S(x) ^ F(x,y) => S(y)
0.4 EXIST>=2 x S(x)
0.3 Lives(x,h) ^ Lives(y,h) => F(x,y)
EXIST x S(x).
"""


@pytest.fixture(scope="module")
def hard_to_cache():
    """A network in whose loop every visit is a jump through memory."""
    return three_sat()


def name(path):
    return str(path.relative_to(FOLDER))


# --- types -------------------------------------------------------------------------------------------


def declared(type_):
    """Return the numbers that each array of a named tuple is declared to hold."""
    annotations = type_.__annotations__.items()
    return {field: re.search(r"np\.(\w+)", str(text)).group(1) for field, text in annotations}


def test_arrays_hold_what_they_are_declared_to_hold():
    ground = gibbs.ground(pose(ml.MLN.from_text(MODEL), None, None))
    chain = chains.random_world(ground, streams(1, 1)[0])
    for value, type_ in ((ground.network, Network), (ground.groups, Groups), (chain, Chain)):
        assert type(value) is type_
        for field, number in declared(type_).items():
            array = getattr(value, field)
            assert array.dtype == number, field
            assert array.flags.c_contiguous, field
            # What the chains share nobody may change; a kernel compiled for it could not either.
            assert array.flags.writeable is (type_ is Chain), field


def test_indices_are_unsigned_and_of_32_bits():
    sums = {"held"}  # counts, of which nothing is looked up
    for type_ in (Network, Groups, Chain):
        wide = {field for field, number in declared(type_).items() if number in {"int32", "int64", "intp"}}
        assert wide <= sums
    assert declared(Chain)["random"] == "uint64"
    assert declared(Chain)["values"] == declared(Network)["bits"] == "uint8"
    assert declared(Network)["strengths"] == "float64"


# --- randomness --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=name)
def test_no_kernel_has_randomness_of_its_own(path):
    """A generator that numba or numpy keeps for a thread would make a run depend on who else draws."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    assert not {module for module in modules if module and module.split(".")[0] in {"random", "secrets"}}
    assert "np.random" not in {
        ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)
    }


# --- pieces ------------------------------------------------------------------------------------------


def test_a_trajectory_does_not_depend_on_the_pieces(hard_to_cache):
    """All that a chain knows is in its arrays, so it can be left and taken up between any two sweeps."""
    ends = []
    for pieces in ([30], [1] * 30, [7, 11, 12]):
        chain = chains.random_world(hard_to_cache, streams(5, 1)[0])
        for piece in pieces:
            sweep(hard_to_cache.network, chain, piece)
        ends.append(chain)
    for other in ends[1:]:
        for one, two in zip(ends[0], other, strict=True):
            assert np.array_equal(one, two)


def test_the_states_of_a_run_come_every_few_milliseconds(hard_to_cache):
    """So stopping takes effect soon, and a view has something to show; measured at 5 to 15 ms."""
    taken = []
    run = gibbs.steps_on(gibbs.Params(samples=100_000), hard_to_cache)
    for _ in range(12):
        began = time.thread_time()
        next(run)
        taken.append(time.thread_time() - began)
    assert sorted(taken[1:])[len(taken) // 2] < 0.2 * slower()  # the run as a whole takes minutes


# --- threads -----------------------------------------------------------------------------------------


def test_the_interpreter_runs_on_while_a_kernel_runs(hard_to_cache):
    chain = chains.random_world(hard_to_cache, streams(1, 1)[0])
    sweep(hard_to_cache.network, chain, 1)  # compiled before the clock starts
    # With the lock held, no tick could ever be well between the beginning and the end of a call. On a
    # very quick machine, or one that stops us just then, a longer call has one.
    assert any(ticks_within(hard_to_cache.network, chain, 500 * 4**turn) for turn in range(5))


def ticks_within(network, chain, sweeps):
    """Let a thread make one call of a kernel; the ticks of this one in the second and third quarter of it."""
    lasting, ticks = [], []

    def work():
        began = time.perf_counter()
        sweep(network, chain, sweeps)
        lasting.append((began, time.perf_counter()))

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        ticks.append(time.perf_counter())
        time.sleep(0.001)
    ((began, ended),) = lasting
    quarter = (ended - began) / 4
    return [tick for tick in ticks if began + quarter < tick < ended - quarter]


def test_two_threads_at_once_go_the_ways_that_they_go_alone(hard_to_cache):
    def end_of(seed, start):
        chain = chains.random_world(hard_to_cache, streams(seed, 1)[0])
        start.wait()
        for _ in range(20):
            sweep(hard_to_cache.network, chain, 10)
        return chain

    alone = [end_of(seed, threading.Barrier(1)) for seed in range(3)]
    together, barrier = {}, threading.Barrier(3)
    threads = [
        threading.Thread(target=lambda seed=seed: together.update({seed: end_of(seed, barrier)}))
        for seed in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in range(3):
        for one, two in zip(alone[seed], together[seed], strict=True):
            assert np.array_equal(one, two)
