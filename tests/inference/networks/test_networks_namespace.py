"""``ml.networks`` has the names of ``ml`` that are about networks."""

from __future__ import annotations

import pytest

import mlnlab as ml


def test_names_of_networks_are_those_of_the_library():
    for name in dir(ml.networks):
        assert getattr(ml.networks, name) is getattr(ml, name)
    graph = ml.sample_network("greenhouse")
    exact = ml.networks.marginals(graph)
    approximate = ml.networks.marginals(graph, method="ijgp", i=5)
    assert approximate["Soil"]["dry"] == pytest.approx(exact["Soil"]["dry"])
    with pytest.raises(AttributeError, match="did you mean marginals"):
        ml.networks.marginal  # noqa: B018 - looking is enough
