"""Find structure learners by name: ``lhl`` is the record ``LEARNER`` of ``learners/lhl.py``.

The variants of a learner stand in its file: ``lhl-noheu`` is among the ``VARIANTS`` there.
"""

from __future__ import annotations

from mlnlab.errors import ArgumentError
from mlnlab.logic.record_registry import RecordRegistry
from mlnlab.structure.learner_record import Learner

REGISTRY: RecordRegistry[Learner] = RecordRegistry(
    "mlnlab.structure.learners", "LEARNER", Learner, "structure learner", has_variants=True
)


_TO_COME = {"busl": "BUSL (Mihalkova and Mooney 2007)", "msl": "MSL (Kok and Domingos 2005)"}


def find_learner(name: object) -> Learner:
    """Return the structure learner of this name."""
    if isinstance(name, str) and name in _TO_COME and REGISTRY.get(name) is None:
        names = ", ".join(learner.name for learner in learners())
        raise ArgumentError(f"{_TO_COME[name]} is not among the structure learners yet. There are: {names}.")
    return REGISTRY.find_record(name)


def learners() -> tuple[Learner, ...]:
    """Return all structure learners."""
    return REGISTRY.all()
