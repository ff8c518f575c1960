"""xoshiro256++ and splitmix64: published numbers, the authors' algorithm in C, plain Python, threads."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.kernels import random_numbers
from mlnlab.kernels.compiled import plain_twin

# The first numbers from the state 1, 2, 3, 4, and of splitmix64 from 1234567, as other libraries list them.
FROM_1234 = [
    41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205, 9973669472204895162,
    14011001112246962877, 12406186145184390807, 15849039046786891736, 10450023813501588000,
]  # fmt: skip
SPREAD_1234567 = [
    6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431,
]  # fmt: skip

# Blackman and Vigna's algorithm, written down anew.
IN_C = r"""
#include <stdint.h>
static uint64_t turned(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
uint64_t next(uint64_t *s) {
    const uint64_t result = turned(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3]; s[2] ^= t; s[3] = turned(s[3], 45);
    return result;
}
void jump(uint64_t *s) {
    static const uint64_t J[] = {
        0x180ec6d33cfd0aba, 0xd5a61266f0c9392c, 0xa9582618e03fc9aa, 0x39abdc4529b1661c};
    uint64_t m[4] = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++)
        for (int b = 0; b < 64; b++) {
            if (J[i] & (UINT64_C(1) << b)) for (int k = 0; k < 4; k++) m[k] ^= s[k];
            next(s);
        }
    for (int k = 0; k < 4; k++) s[k] = m[k];
}
void spread(uint64_t x, uint64_t *s) {
    for (int k = 0; k < 4; k++) {
        uint64_t z = (x += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        s[k] = z ^ (z >> 31);
    }
}
"""


@pytest.fixture(scope="module")
def in_c(tmp_path_factory):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    folder = tmp_path_factory.mktemp("c")
    (folder / "random.c").write_text(IN_C)
    library = folder / "random.so"
    subprocess.run(
        [compiler, "-O2", "-shared", "-fPIC", str(folder / "random.c"), "-o", str(library)], check=True
    )
    functions = ctypes.CDLL(str(library))
    array = np.ctypeslib.ndpointer(np.uint64)
    functions.next.restype, functions.next.argtypes = ctypes.c_uint64, [array]
    functions.jump.restype, functions.jump.argtypes = None, [array]
    functions.spread.restype, functions.spread.argtypes = None, [ctypes.c_uint64, array]
    return functions


def state_of(seed):
    return random_numbers.streams(seed, 1)[0]


def test_the_published_numbers_come():
    state = np.array([1, 2, 3, 4], np.uint64)
    numbers = [random_numbers.next_number(state) for _ in FROM_1234]
    assert numbers == FROM_1234
    assert all(0 <= number < 1 << 64 for number in numbers)
    assert state_of(1234567).tolist() == SPREAD_1234567


@given(seed=st.integers(0, 2**64 - 1))
def test_the_same_numbers_come_in_c(in_c, seed):
    ours, theirs = random_numbers.streams(seed, 3), np.empty(4, np.uint64)
    in_c.spread(seed, theirs)
    for stream in ours:
        assert stream.tolist() == theirs.tolist()
        copy = theirs.copy()
        assert [random_numbers.next_number(stream) for _ in range(20)] == [in_c.next(copy) for _ in range(20)]
        assert stream.tolist() == copy.tolist()
        in_c.jump(theirs)


@given(seed=st.integers(0, 2**64 - 1))
def test_plain_python_draws_the_same(seed):
    with np.errstate(over="ignore"):  # numpy's single numbers warn where they wrap around, arrays do not
        for name, more in (("next_number", ()), ("next_uniform", ()), ("next_below", (7,))):
            kernel, state, other = getattr(random_numbers, name), state_of(seed), state_of(seed)
            plain = plain_twin(kernel)
            assert [kernel(state, *more) for _ in range(5)] == [plain(other, *more) for _ in range(5)]
            assert state.tolist() == other.tolist()
        spread, jumped = np.empty(4, np.uint64), state_of(seed)
        plain_twin(random_numbers.spread)(np.uint64(seed), spread)
        assert spread.tolist() == state_of(seed).tolist()
        plain_twin(random_numbers.jump)(spread, np.empty(4, np.uint64))
        random_numbers.jump(jumped, np.empty(4, np.uint64))
        assert spread.tolist() == jumped.tolist()


def test_uniform_numbers_fill_the_unit_interval():
    state = state_of(5)
    numbers = np.array([random_numbers.next_uniform(state) for _ in range(20_000)])
    assert numbers.min() >= 0
    assert numbers.max() < 1
    counts = np.bincount((numbers * 20).astype(int), minlength=20)
    assert ((counts - 1000) ** 2 / 1000).sum() < 45  # chi-squared with 19 degrees: 0.07 % lie above
    below = [random_numbers.next_below(state, 3) for _ in range(300)]
    assert set(below) == {0, 1, 2}


def test_a_stream_does_not_depend_on_the_thread():
    def numbers(row):
        return [random_numbers.next_number(row) for _ in range(1000)]

    alone = list(map(numbers, random_numbers.streams(9, 2)))
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(numbers, random_numbers.streams(9, 2))) == alone
    assert not set(alone[0]) & set(alone[1])


def test_a_seed_that_does_not_fit_is_refused():
    for seed in (-1, 1 << 64):
        with pytest.raises(ml.ArgumentError, match="A seed must be"):
            random_numbers.streams(seed, 1)
