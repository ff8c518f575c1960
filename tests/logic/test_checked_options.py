"""Options are refused by one sentence each, and by their values alone."""

from __future__ import annotations

from math import inf, nan
from types import SimpleNamespace

import numpy as np
import pytest

from mlnlab.errors import ArgumentError
from mlnlab.logic.checked_options import above, check_options, one_of, real, whole

HUGE = 10**400  # longer than a float can be
KINDS = [
    (whole(1), "a whole number of at least 1", (1, HUGE, np.int64(3)), (0, 1.0, True, "1", None, nan)),
    (whole(1).or_none(), "a whole number of at least 1, or None", (1, None), (0, "1")),
    (whole(1, 8), "a whole number from 1 to 8", (1, 8), (0, 9)),
    (real(0), "a number of at least 0", (0, 0.5, np.float64(2)), (-1, inf, nan, HUGE, True, "1", None, 1j)),
    (real(0, endless=True), "a number of at least 0", (0, inf, HUGE), (-1, -inf, nan, True)),
    (real(0, 1), "a number from 0 to 1", (0, 1), (-0.1, 1.1)),
    (real(0, 1, below=True), "a number from 0 to below 1", (0, 0.9), (1,)),
    (above(0), "a number above 0", (1e-300,), (0, inf, nan)),
    (above(0, 1), "a number above 0 and up to 1", (1,), (0, 1.1)),
    (one_of(("a", "b")), "one of a, b", ("a", "b"), ("c", None, 1, ["a"])),
]


@pytest.mark.parametrize(("kind", "words", "good", "bad"), KINDS, ids=[words for _, words, *_ in KINDS])
def test_a_kind_takes_its_values_and_refuses_all_others(kind, words, good, bad):
    for value in good:
        check_options(SimpleNamespace(option=value), option=kind)
    for value in bad:
        with pytest.raises(ArgumentError) as refusal:
            check_options(SimpleNamespace(option=value), option=kind)
        assert str(refusal.value) == f"option must be {words}, not {value!r:.60}."


def test_whole_numbers_of_numpy_become_plain_ones():
    params = SimpleNamespace(samples=np.int64(5))
    check_options(params, samples=1)
    assert type(params.samples) is int
