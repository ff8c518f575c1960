"""How many random examples a test draws: few each day, many times as many in ``make proof``."""

import os

import pytest

EXAMPLES = 60  # of a test that names no number
IN_PROOF = "MLNLAB_PROOF_TIMES" in os.environ
_TIMES = float(os.environ.get("MLNLAB_PROOF_TIMES", "0.5"))


def examples(number):
    """Scale a number of random examples: a half in ``make test``, many times as many in ``make proof``."""
    return max(1, round(number * _TIMES))


def sample(cases, every):
    """Mark for ``make proof`` all cases but each so many-th, beginning with the first."""
    return [
        case if number % every == 0 else pytest.param(case, marks=pytest.mark.proof)
        for number, case in enumerate(cases)
    ]
