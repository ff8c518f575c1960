"""How fast mlnlab is on this machine, beside the same loops in C where a C compiler exists: ``mlnlab bench``.

Speeds depend on the machine and on what else it does; so what counts is their ratio, taken by turns in one
run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlnlab.experiments.bench.in_c import FunctionsInC
    from mlnlab.experiments.bench.measurement import Effort, Measurement


def measurements(effort: Effort, in_c: FunctionsInC | None = None) -> Iterator[Measurement]:
    """Yield one measurement after the other; without the loops in C, our own speeds only."""
    from mlnlab.experiments.bench import enumeration_speed, gibbs_speed, sample_sat_speed, walk_sat_speed

    yield from gibbs_speed.measured(effort, in_c)
    yield from walk_sat_speed.measured(effort, in_c)
    yield from sample_sat_speed.measured(effort, in_c)
    yield from enumeration_speed.measured(effort, in_c)
