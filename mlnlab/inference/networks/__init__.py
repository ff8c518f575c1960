"""Answer questions to factor graphs and Bayesian networks over variables of any number of values.

Start with ``factor_asking.py``, the door of ``ml.marginals``; ``factor_methods.py`` lists the methods.
``ml.networks`` is this package: its public names are those of ``ml`` that are about networks and their files.

>>> import mlnlab as ml
>>> round(ml.networks.marginals(ml.sample_network("greenhouse"), {"Wilting": "yes"})["Soil"]["dry"], 4)
0.6378
"""

from __future__ import annotations

from typing import Any

_NAMES = (
    "BayesianNetwork", "ConditionalTable", "Factor", "FactorGraph", "JunctionTree", "RandomVariable",
    "bif_text", "elimination_order", "factor_graph", "junction_tree", "load_bif", "load_uai",
    "load_uai_evidence", "load_uai_marginals", "load_xmod", "marginal_steps", "marginals", "most_probable",
    "sample_network", "save_bif", "save_uai", "save_uai_marginals", "save_xmod", "treewidth",
)  # fmt: skip


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module attribute can be anything
    """Return a public name of ``ml`` that is about networks."""
    if name in _NAMES:
        import mlnlab

        return getattr(mlnlab, name)
    from mlnlab.logic.suggestions import did_you_mean

    raise AttributeError(f"ml.networks has no {name}{did_you_mean(name, _NAMES)}")


def __dir__() -> list[str]:
    """List the public names."""
    return list(_NAMES)
