"""Find structure learners by name: ``lhl`` is the record ``LEARNER`` of ``learners/lhl.py``.

The variants of a learner stand in its file: ``lhl-noheu`` is among the ``VARIANTS`` there.
"""

from __future__ import annotations

from mlnlab.logic.record_registry import RecordRegistry
from mlnlab.structure.learner_record import Learner

REGISTRY: RecordRegistry[Learner] = RecordRegistry(
    "mlnlab.structure.learners", "LEARNER", Learner, "structure learner", has_variants=True
)


def find_learner(name: object) -> Learner:
    """Return the structure learner of this name."""
    return REGISTRY.find_record(name)


def learners() -> tuple[Learner, ...]:
    """Return all structure learners."""
    return REGISTRY.all()
