"""How fast mlnlab is on this machine, beside the same loops in C where a C compiler exists: ``mlnlab bench``.

Speeds depend on the machine and on what else it does; so what counts is their ratio, taken by turns in one
run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlnlab.experiments.bench.in_c import FunctionsInC
    from mlnlab.experiments.bench.measurement import Effort, Measurement


PARTS = ("gibbs", "max-walk-sat", "sample-sat", "messages", "enumeration")


def measurements(
    effort: Effort, in_c: FunctionsInC | None = None, only: Collection[str] = PARTS
) -> Iterator[Measurement]:
    """Yield one measurement after the other; without the loops in C, our own speeds only."""
    from mlnlab.experiments.bench import (
        enumeration_speed,
        gibbs_speed,
        message_speed,
        sample_sat_speed,
        walk_sat_speed,
    )

    modules = (gibbs_speed, walk_sat_speed, sample_sat_speed, message_speed, enumeration_speed)
    for part, module in zip(PARTS, modules, strict=True):
        if part in only:
            yield from module.measured(effort, in_c)
