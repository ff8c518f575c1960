"""Writes models in the UAI competition's format, which keeps numbers and no names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.factors.graphs.bayesian_network import BayesianNetwork
from mlnlab.factors.graphs.factor_graph import FactorGraph
from mlnlab.steps.safe_files import write_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.factors.graphs.factor import Factor
    from mlnlab.factors.graphs.random_variables import Assignment


def uai_text(model: FactorGraph | BayesianNetwork) -> str:
    """Return a model in UAI's format: a factor graph as MARKOV, a Bayesian network as BAYES.

    >>> import mlnlab as ml
    >>> coin = ml.RandomVariable("Coin", ("heads", "tails"))
    >>> print(ml.uai_text(ml.FactorGraph([ml.Factor.of((coin,), [1, 2.5])])), end="")
    MARKOV
    1
    2
    1
    1 0
    <BLANKLINE>
    2
    1.0 2.5
    """
    tables: list[tuple[tuple[int, ...], NDArray[np.float64]]]
    match model:
        case FactorGraph():
            kind = "MARKOV"
            tables = [(model.scope(factor), _weights(factor)) for factor in model.factors]
        case BayesianNetwork():
            kind = "BAYES"
            scopes = [(*above, number) for number, above in enumerate(model.parents())]
            tables = [(s, table.probabilities) for s, table in zip(scopes, model.tables, strict=True)]
        case _:
            raise ArgumentError(f"A factor graph or a Bayesian network is written, not {model!r:.60}.")
    sizes = " ".join(str(variable.size) for variable in model.variables)
    head = [kind, str(len(model.variables)), sizes, str(len(tables))]
    scopes_text = [" ".join(map(str, (len(scope), *scope))) for scope, _ in tables]
    return "\n".join([*head, *scopes_text, *(_table_text(table) for _, table in tables)]) + "\n"


def save_uai(model: FactorGraph | BayesianNetwork, path: str | Path) -> None:
    """Write a model to a UAI file.

    >>> import mlnlab as ml
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ml.save_uai(ml.sample_network("greenhouse"), Path(folder) / "greenhouse.uai")
    ...     ml.load_uai(Path(folder) / "greenhouse.uai").topological_order()[:3]
    (0, 1, 2)
    """
    write_text(path, uai_text(model))


def uai_evidence_text(model: FactorGraph | BayesianNetwork, evidence: Assignment) -> str:
    r"""Return evidence in UAI's format.

    >>> import mlnlab as ml
    >>> ml.uai_evidence_text(ml.sample_network("greenhouse"), {"Wilting": "yes"})
    '1 11 1\n'
    """
    numbers: list[int] = []
    variables = model.variables
    for name, value in evidence.items():
        number = model.number(name)
        numbers += [number, variables[number].number(value)]
    return " ".join(map(str, (len(numbers) // 2, *numbers))) + "\n"


def uai_marginals_text(model: FactorGraph | BayesianNetwork, found: Mapping[str, Mapping[str, float]]) -> str:
    r"""Return distributions as a UAI result (.MAR), in the order of the model's variables and values.

    >>> import mlnlab as ml
    >>> coin = ml.RandomVariable("Coin", ("heads", "tails"))
    >>> graph = ml.FactorGraph([ml.Factor.of((coin,), [1, 3])])
    >>> ml.uai_marginals_text(graph, ml.marginals(graph))
    'MAR\n1 2 0.25 0.75\n'
    """
    parts = [str(len(model.variables))]
    for variable in model.variables:
        shares = found[variable.name]
        parts.append(_row([variable.size]) + " " + _row(float(shares[value]) for value in variable.values))
    return "MAR\n" + " ".join(parts) + "\n"


def save_uai_marginals(
    model: FactorGraph | BayesianNetwork, found: Mapping[str, Mapping[str, float]], path: str | Path
) -> None:
    """Write distributions to a UAI result file.

    >>> import mlnlab as ml
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> network = ml.sample_network("greenhouse")
    >>> with TemporaryDirectory() as folder:
    ...     ml.save_uai_marginals(network, ml.marginals(network), Path(folder) / "greenhouse.uai.MAR")
    ...     (Path(folder) / "greenhouse.uai.MAR").read_text().split()[:3]
    ['MAR', '16', '3']
    """
    write_text(path, uai_marginals_text(model, found))


def _weights(factor: Factor) -> NDArray[np.float64]:
    """Return a factor's weights, where floating point numbers can hold them."""
    with np.errstate(over="ignore"):
        weights = factor.weights
    if np.isinf(weights).any() or ((weights == 0) & (factor.logs > -np.inf)).any():
        raise ArgumentError(
            f"{factor!r} has a weight too large or too small for UAI's format: it has no logarithms."
        )
    return weights


def _table_text(table: NDArray[np.float64]) -> str:
    rows = table.reshape(-1, table.shape[-1] if table.ndim else 1).tolist()
    return "\n".join(["", str(table.size), *(_row(row) for row in rows)])


def _row(numbers: Iterable[float]) -> str:
    return " ".join(map(repr, numbers))
