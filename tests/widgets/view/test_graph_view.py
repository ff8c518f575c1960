"""Graphs as drawings that answer: small ones whole, large ones in groups."""

from __future__ import annotations

import pytest

import mlnlab as ml


def large():
    mln = ml.MLN.from_text("Friends(person, person)\nSmokes(person)\n1 Smokes(x)")
    facts = [f"Friends(P{n}, P{(n * 7 + 3) % 3_000})" for n in range(3_000)]
    return ml.Hypergraph.from_database(ml.Database.from_text("\n".join(facts), mln))


def test_a_large_graph_opens_group_by_group():
    view = ml.live(large())
    closed = [
        i["id"] for layer in view.scene["layers"] for i in layer["children"] if i.get("expands") == "closed"
    ]
    assert closed
    view._receive_message({"type": "expand", "id": closed[0], "open": True}, [])
    assert view.unfolded == {closed[0]}
    assert str(view.scene).count("'id'") > 3
    view._receive_message({"type": "select", "id": closed[0]}, [])
    assert view.details
    view.close()


def test_a_small_graph_is_drawn_as_it_is_and_tells_of_what_is_clicked():
    sample = ml.sample("friends_smokers")
    view = ml.live(ml.ground_network(sample.mln, sample.db, ["Smokes", "Cancer"]))
    picks = [item.id for item in view._drawn.items() if item.pick]
    assert picks
    view.select(picks[0])
    assert "Smokes" in view.details or "Cancer" in view.details
    view.close()


def test_nothing_is_no_drawing():
    empty = ml.Hypergraph.from_database(ml.Database.from_text("", ml.MLN.from_text("Smokes(person)")))
    with pytest.raises(ml.ArgumentError, match="nothing to draw"):
        ml.live(empty)
