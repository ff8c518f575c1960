"""The page on pictures is followed: a card with picture, table, text, and a note of what was left out."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.doors import bundles, display_registry
from mlnlab.display.doors.bundles import bundle
from mlnlab.display.scene.items import MIME_TYPE
from mlnlab.how_to_add.skeleton_picture import MOST_BARS, Shares, shares_scene

HOME = "mlnlab.how_to_add.skeleton_picture"


@pytest.fixture
def registered(monkeypatch):
    cards = {**display_registry.CARDS, f"{HOME}.Shares": f"{HOME}:shares_card"}
    for module in (display_registry, bundles):
        monkeypatch.setattr(module, "CARDS", cards)


def many(number):
    return Shares(tuple((f"P{n}<b>", n % 7, 10) for n in range(number)))


def test_a_small_result_is_drawn_whole(registered):
    db = ml.sample("friends_smokers").db
    found = bundle(Shares.of(db))
    html = found["text/html"]
    assert "data:image/svg+xml" in html
    assert "<details" in html
    assert "not drawn" not in html
    assert found[MIME_TYPE]["title"] == "True atoms"
    assert "Friends" in found["text/plain"].splitlines()[2]


def test_of_a_large_one_it_says_what_was_left_out(registered):
    html = bundle(many(MOST_BARS + 3))["text/html"]
    assert "3 predicates not drawn; the table has them." in html
    assert f"P{MOST_BARS + 2}" in html
    assert "<b>" not in html
    assert sum(item.pick for item in shares_scene(many(MOST_BARS + 3)).items()) == MOST_BARS


def test_of_nothing_it_says_so(registered):
    assert "There are no predicates." in bundle(Shares(()))["text/html"]
