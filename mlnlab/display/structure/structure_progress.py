"""How far a structure learner is: phases, candidates done, their rate, the time left, the best so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.chart.bars import WIDTH
from mlnlab.display.scene.items import Item, Rectangle, Text
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.structure.clauses.assembly import ASSEMBLING
from mlnlab.structure.clauses.create_mln import CREATING
from mlnlab.structure.lift.lift_states import LIFTING
from mlnlab.structure.paths.path_support import FINDING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step
    from mlnlab.structure.learners.lhl import LhlState

HEIGHT = 58.0
_MINUTE, _HOUR = 60.0, 3600.0


def progress_items(phases: Sequence[str], phase: str, share: float, words: str) -> Iterator[Item]:
    """Yield the phases with the present one marked, a progress bar, and a line of words."""
    x = 8.0
    for place, name in enumerate(phases):
        here = name == phase
        shown, look = f"{'▶ ' if here else ''}{name}", "words strong" if here else "quiet"
        yield Text(id=f"phase-{place}", x=x, y=14, text=shown, look=look)
        x += text_width(shown, look) + 24
    yield Rectangle(x=8, y=23, width=WIDTH - 16, height=9, look="panel")
    yield Rectangle(id="bar", x=8, y=23, width=(WIDTH - 16) * share, height=9, look="bar blue")
    yield Text(id="progress", x=8, y=49, text=fit_text(words, WIDTH - 16), look="words")


def done_share(state: LhlState, databases: int) -> float:
    """Return which share of the present phase is done; of finding paths nobody knows."""
    if state.ended:
        return 1.0
    if state.phase == CREATING and state.create is not None:
        return state.create.done / max(1, state.create.paths)
    if state.phase == ASSEMBLING and state.assembly is not None:
        return state.assembly.tried / max(1, state.assembly.clauses)
    return len(state.labels) / max(1, databases) if state.phase == LIFTING else 0.0


def progress_words(step: Step[Any], trace: Trace[Any], databases: int) -> str:
    """Say how far a run is; rates are those since clauses began to be judged in this recording."""
    state: LhlState = step.state
    if state.phase == CREATING and state.create is not None:
        create = state.create
        parts = [f"{create.done:,} of {create.paths:,} paths", f"{create.candidates:,} candidates"]
        rate, left = _rate(step, trace)
        if rate > 0:
            parts += [f"{rate:,.0f} a second", f"{time_words(left)} left"]
        parts += [f"{create.retained:,} retained", f"best score {create.metrics()['best score']:.5g}"]
    elif state.phase == ASSEMBLING and state.assembly is not None:
        assembly = state.assembly
        parts = [f"{assembly.tried:,} of {assembly.clauses:,} clauses tried", f"{len(assembly.kept):,} kept",
                 f"WPLL {assembly.value:.6g}"]  # fmt: skip
    elif state.phase == FINDING:
        parts = [f"{state.paths:,} paths with enough true atoms"]
    else:
        parts = [f"{len(state.labels):,} of {databases:,} databases lifted"]
        if state.lift is not None:
            parts.append(f"{state.lift.clusters:,} clusters, round {state.lift.round:,}")
    return " · ".join([*parts, f"{time_words(step.seconds)} so far"]).replace("-", "−")


def _rate(step: Step[Any], trace: Trace[Any]) -> tuple[float, float]:
    """Return the candidates a second and the seconds left, 0 where nothing is known yet."""
    found = trace.metrics()
    if "candidates" not in found.columns:
        return 0.0, 0.0
    known = np.flatnonzero(np.isfinite(found.columns["candidates"]) & (found.indices <= step.index))
    if not len(known):
        return 0.0, 0.0
    first = int(known[0])
    seconds = step.seconds - float(found.seconds[first])
    create = step.state.create
    paths = create.done - float(found.columns["paths done"][first])
    if seconds <= 0 or paths <= 0:
        return 0.0, 0.0
    rate = (create.candidates - float(found.columns["candidates"][first])) / seconds
    return rate, seconds * (create.paths - create.done) / paths


def time_words(seconds: float) -> str:
    """Return a time as people say it."""
    if seconds < _MINUTE:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / _MINUTE:.1f} min" if seconds < _HOUR else f"{seconds / _HOUR:.1f} h"
