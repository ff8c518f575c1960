"""Writes Bayesian networks in the interchange format BIF."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.factors.graphs.bayesian_network import BayesianNetwork
from mlnlab.steps.safe_files import write_text

if TYPE_CHECKING:
    from mlnlab.factors.graphs.conditional_table import ConditionalTable

_PLAIN = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.+<>=-]*", re.ASCII)
_KEYWORDS = frozenset({"network", "variable", "probability", "type", "table", "default", "property"})
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"})


def bif_text(network: BayesianNetwork) -> str:
    """Return a network as BIF: first the variables, then their tables row by row.

    >>> import mlnlab as ml
    >>> coin = ml.RandomVariable("Coin", ("heads", "tails"))
    >>> print(ml.bif_text(ml.BayesianNetwork([ml.ConditionalTable(coin, (), [0.5, 0.5])], "toss")), end="")
    network toss {
    }
    variable Coin {
      type discrete [ 2 ] { heads, tails };
    }
    probability ( Coin ) {
      table 0.5, 0.5;
    }
    """
    if not isinstance(network, BayesianNetwork):
        raise ArgumentError(f"A Bayesian network is written as BIF, not {network!r:.60}.")
    lines = [f"network {_write_name(network.name or 'unnamed')} {{", "}"]
    for variable in network.variables:
        values = ", ".join(map(_write_name, variable.values))
        lines += [
            f"variable {_write_name(variable.name)} {{",
            f"  type discrete [ {variable.size} ] {{ {values} }};",
            "}",
        ]
    for table in network.tables:
        given = ", ".join(_write_name(parent.name) for parent in table.parents)
        child = _write_name(table.variable.name)
        heading = f"{child} | {given}" if given else child
        lines += [f"probability ( {heading} ) {{", *_rows(table), "}"]
    return "\n".join(lines) + "\n"


def save_bif(network: BayesianNetwork, path: str | Path) -> None:
    """Write a network to a BIF file.

    >>> import mlnlab as ml
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ml.save_bif(ml.sample_network("greenhouse"), Path(folder) / "greenhouse.bif")
    ...     ml.load_bif(Path(folder) / "greenhouse.bif").name
    'greenhouse'
    """
    write_text(path, bif_text(network))


def _rows(table: ConditionalTable) -> Iterator[str]:
    if not table.parents:
        yield f"  table {', '.join(map(repr, table.probabilities.tolist()))};"
        return
    for place in product(*(range(parent.size) for parent in table.parents)):
        values = ", ".join(
            _write_name(parent.values[number]) for parent, number in zip(table.parents, place, strict=True)
        )
        yield f"  ({values}) {', '.join(map(repr, table.probabilities[place].tolist()))};"


def _write_name(name: str) -> str:
    """Return a name as it stands in a file: in quotes where another reader could stumble over it."""
    if _PLAIN.fullmatch(name) and name not in _KEYWORDS:
        return name
    return f'"{name.translate(_ESCAPES)}"'
