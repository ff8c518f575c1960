"""Most probable worlds as they are shown, also those of models that are too large to look at."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.inference.map_state_cards import map_state_card

RECORDS = """
record = {1, ..., 20000}
Alike(record, record)
Same(record, record)
-1 Same(x, y)
6 Alike(x, y) => Same(x, y)
5 Same(x, y) => Same(y, x)
"""


def test_worlds_of_many_atoms_are_shown_without_looking_at_groundings(monkeypatch):
    mln = ml.MLN.from_text(RECORDS)
    found = ml.lazy_map_state(mln, ml.Database.from_text("Alike(7, 8)", mln), "Same")

    def refused(*_arguments):
        pytest.fail("400 million groundings would be looked at.")

    monkeypatch.setattr("mlnlab.model.database.world.groundings", refused)
    monkeypatch.setattr("mlnlab.inference.ask.map_states.groundings", refused)
    shown = str(map_state_card(found).markup())
    assert "Same(7, 8), Same(8, 7)" in shown
    assert "400,000,000" in shown.split("open predicate")[1].split("</table>", maxsplit=1)[0]
    assert found.numbers_of_open_atoms == {"Same": 400_000_000}


def test_small_worlds_say_where_they_violate_a_formula():
    mln = ml.MLN.from_text("side = {A, B}\nOn(side)\n2 On(x)\n1 !On(x)")
    assert "x = A; x = B" in str(map_state_card(ml.map_state(mln, {}, query=["On"])).markup())
