"""Views and pictures of circuits with names that are markup, endless or invisible."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.doors.run_pictures import picture_of
from tests.display.things import HOSTILE, circuit_things


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_views_and_pictures_stand_names_of_any_kind(name):
    _, network, _, circuit_learner, learned, network_learner, _ = circuit_things(name)
    variable = network.variables[1]
    for view in (ml.network_view(network), ml.circuit_view(learned)):
        view.set(variable.name, variable.values[0])
        view.select(variable.name if view.evidence and hasattr(view, "network") else 0)
        assert len(str(view.scene)) < 60_000
        assert "<script" not in view._repr_mimebundle_()[0]["text/html"]
        view.close()
    for learner in (circuit_learner, network_learner):
        trace, picture = ml.Trace.of(learner), picture_of(learner)
        for draw in picture.parts.values():
            assert len(str(draw(trace[-1], trace).to_json())) < 60_000
        assert len(picture.caption(trace[-1])) < 400
        assert len(str(picture.table(trace[-1]).to_json())) < 10_000
