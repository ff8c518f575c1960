"""The counter that ``counter=`` names: who counts true groundings, in the data and in other worlds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mlnlab.counting.counts.counting_methods import DUCKDB, PLANNED


@dataclass(frozen=True, slots=True)
class CounterChoice:
    """The name of a counter, and its options, such as i."""

    name: str = PLANNED
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_exact(self) -> bool:
        """Whether its counts are those of every grounding, in all worlds."""
        return self.name in {PLANNED, DUCKDB}

    def __str__(self) -> str:
        return ", ".join([self.name, *(f"{key}={value}" for key, value in sorted(self.options.items()))])
