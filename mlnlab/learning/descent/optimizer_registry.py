"""Find optimisers by name: ``diagonal-newton`` is the record ``OPTIMIZER`` of ``diagonal_newton.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.learning.descent.optimizer import Optimizer
from mlnlab.logic.record_registry import RecordRegistry

if TYPE_CHECKING:
    import pandas as pd

REGISTRY: RecordRegistry[Optimizer] = RecordRegistry(
    "mlnlab.learning.optimizers", "OPTIMIZER", Optimizer, "optimizer"
)


def find_optimizer(name: str) -> Optimizer:
    """Return the optimiser of this name."""
    return REGISTRY.find_record(name)


def optimizers() -> tuple[Optimizer, ...]:
    """Return all optimisers, by name."""
    return REGISTRY.all()


def listing() -> pd.DataFrame:
    """Return the optimisers as a table: the needs of each, and the source that describes it."""
    import pandas as pd

    rows = [(o.name, o.needs, o.citation) for o in optimizers()]
    return pd.DataFrame(rows, columns=["optimizer", "needs", "described in"])
