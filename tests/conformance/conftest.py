"""The question of the suite, posed once."""

from __future__ import annotations

import pytest

import mlnlab as ml
from tests.conformance.subjects import FACTS, MODEL, QUERIES, asked


@pytest.fixture(scope="module")
def question():
    """The question."""
    return asked()


@pytest.fixture(scope="module")
def truth():
    """Its answer."""
    mln = ml.MLN.from_text(MODEL)
    return ml.infer(mln, ml.Database.from_text(FACTS, mln), QUERIES, method="enumeration")
