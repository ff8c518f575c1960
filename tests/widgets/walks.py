"""A small algorithm to look at, and how it is drawn."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from random import Random

from mlnlab.display.runs.runs import Column, RunPicture, Table
from mlnlab.display.scene.items import Layer, Rectangle, Scene, Text


@dataclass(frozen=True, slots=True)
class Walk:
    """Some heights that go up and down."""

    heights: tuple[float, ...]

    def metrics(self):
        return {"mean": sum(self.heights) / len(self.heights)}


class Walking:
    """Yields states, and can go on from any of them."""

    def __init__(self, most=10**9, seconds=0.0, size=5):
        self.most, self.seconds, self.size = most, seconds, size
        self.resumed = 0

    def __iter__(self):
        return self._from(0)

    def resume(self, state):
        self.resumed += 1
        return self._from(round(state.heights[0] * 100) + 1)

    def _from(self, first):
        for number in range(first, self.most):
            yield state_at(number, self.size)
            time.sleep(self.seconds)


def state_at(number, size=5):
    """Return a walk's state behind so many steps."""
    rest = Random(number)
    return Walk((number / 100, *(rest.random() for _ in range(size - 1))))


def draw(step, _trace):
    bars = [
        part
        for number, height in enumerate(step.state.heights)
        for part in (
            Rectangle(
                id=f"bar-{number}", x=60, y=20 * number, width=100 * height, height=15, look="bar blue"
            ),
            Text(id=f"height-{number}", x=50, y=20 * number + 12, text=f"{height:.3f}", anchor="end"),
        )
    ]
    return Scene(300, 20 * len(step.state.heights) + 10, (Layer("bars", tuple(bars)),), "Heights")


def growing(step, _trace):
    """Draw one circle more at each step: no patch can do that."""
    marks = tuple(
        Rectangle(id=f"mark-{n}", x=20 * n, y=5, width=9, height=9) for n in range(step.index % 50 + 1)
    )
    return Scene(300, 20, (Layer("marks", marks),), "Marks")


def heights_table(step):
    rows = tuple((f"bar {number}", height) for number, height in enumerate(step.state.heights))
    return Table("Heights", (Column("bar"), Column("height", number=True)), rows)


PICTURE = RunPicture(
    title="A walk",
    parts={"bars": draw, "marks": growing},
    caption=lambda step: f"at {step.index}",
    remarks=lambda step: ["It is late. <b>"] if step.index >= 20 else [],
    table=heights_table,
)


def apart(coroutine):
    """Run a coroutine in an event loop and a thread of its own: a browser test keeps one here."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, coroutine).result(30)
