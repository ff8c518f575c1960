"""Finds the methods of inference: each file that ends in a ``METHOD`` record is one.

A name leads to its file, ``mc-sat`` to ``mc_sat.py``, which is imported when it is asked for; the whole
folder is only walked for listings and tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.inference.method import Method
from mlnlab.logic.record_registry import RecordRegistry
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

REGISTRY: RecordRegistry[Method] = RecordRegistry(
    "mlnlab.inference.methods", "METHOD", Method, "inference method"
)


def find_method(name: str, answering: str = "", also: Sequence[str] = ()) -> Method:
    """Return the method of this name; one that does not answer such questions is refused.

    ``also`` are names that the asker knows beside those of methods that ground.
    """
    if not isinstance(name, str):
        raise ArgumentError(f'A method is named by a text, such as method="gibbs", not {name!r:.50}.')
    found = REGISTRY.get(name)
    if found is None:
        names = ["auto", *(method.name for method in methods(answering)), *also]
        hint = did_you_mean(name, names) or "."
        raise ArgumentError(f"There is no inference method {name}{hint} There are: {', '.join(names)}.")
    if answering and answering not in found.answers:
        others = ", ".join([*(method.name for method in methods(answering)), *also]) or "no method yet"
        raise ArgumentError(
            f"{name} answers {' and '.join(found.answers)}; for {answering} there is: {others}."
        )
    return found


def methods(answering: str = "") -> tuple[Method, ...]:
    """Return all methods (that answer such questions), by name."""
    return tuple(m for m in REGISTRY.all() if not answering or answering in m.answers)


def listing() -> pd.DataFrame:
    """Return the methods as a table: requirements, kinds of questions, and citation."""
    import pandas as pd

    rows = [(m.name, _kind(m), ", ".join(m.answers), m.needs, m.citation) for m in methods()]
    return pd.DataFrame(rows, columns=["method", "answer is", "answers", "needs", "described in"])


def _kind(method: Method) -> str:
    if method.is_exact:
        return "exact"
    return "approximation" if method.is_approximation else "estimate"
