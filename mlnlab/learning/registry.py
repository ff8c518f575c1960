"""Finds optimisers by name: ``diagonal-newton`` is the record ``OPTIMIZER`` of ``diagonal_newton.py``."""

from __future__ import annotations

import importlib
import pkgutil
from importlib.util import find_spec
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.learning.optimizer import Optimizer
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

_PACKAGE = __name__.rpartition(".")[0]


def optimizer_named(name: str) -> Optimizer:
    """Return the optimiser of this name."""
    found = _in_file(name.replace("-", "_")) if name.replace("-", "_").isidentifier() else None
    if found is None or found.name != name:
        names = [optimizer.name for optimizer in optimizers()]
        hint = did_you_mean(name, names) or "."
        raise ArgumentError(f"There is no optimizer {name}{hint} There are: {', '.join(names)}.")
    return found


def optimizers() -> tuple[Optimizer, ...]:
    """Return all optimisers, by name."""
    package = importlib.import_module(_PACKAGE)
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__) if not module.ispkg)
    return tuple(found for found in map(_in_file, names) if found is not None)


def listing() -> pd.DataFrame:
    """Return the optimisers as a table: what each needs, and where it is described."""
    import pandas as pd

    rows = [(o.name, o.needs, o.citation) for o in optimizers()]
    return pd.DataFrame(rows, columns=["optimizer", "needs", "described in"])


def _in_file(name: str) -> Optimizer | None:
    if find_spec(f"{_PACKAGE}.{name}") is None:
        return None
    found = getattr(importlib.import_module(f"{_PACKAGE}.{name}"), "OPTIMIZER", None)
    return found if isinstance(found, Optimizer) else None
