"""Live runs that a notebook awaits while its event loop stays free."""

from __future__ import annotations

import asyncio

import pytest

from mlnlab.steps.runs.breakpoints import crosses
from mlnlab.steps.runs.live import Live
from tests.steps.runs.live_runs import in_a_loop_of_its_own
from tests.steps.toys import Count, counting
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.usefixtures("nothing_is_left")


class TestAwaiting:
    def test_the_event_loop_stays_free(self):
        async def main():
            with Live(counting(), breaks=[crosses("value", 50)]) as live:
                waiting = asyncio.create_task(live.run())
                ticks = 0
                while not waiting.done():
                    await asyncio.sleep(0)
                    ticks += 1
                assert live.paused
                live.breaks = [crosses("value", 90)]
                return (await waiting).index, (await live.run()).index, ticks

        first, second, ticks = in_a_loop_of_its_own(main)
        assert (first, second) == (50, 90)
        assert ticks > 0

    def test_errors_and_ends(self):
        def failing():
            yield Count(0)
            raise ZeroDivisionError

        async def main():
            with Live(failing) as live:
                for _ in range(2):
                    with pytest.raises(ZeroDivisionError):
                        await live.run()
            with Live(lambda: counting(4)) as live:
                assert (await live.run()).index == 3
                assert (await live.run()).index == 3

        in_a_loop_of_its_own(main)

    def test_cancelling_leaves_the_run_paused(self):
        async def main():
            loop, begun = asyncio.get_running_loop(), asyncio.Event()

            def states():
                yield Count(0)
                loop.call_soon_threadsafe(begun.set)
                yield from counting()

            live = Live(states)
            task = asyncio.create_task(live.run())
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return live

        with in_a_loop_of_its_own(main) as live:
            live.wait(PATIENCE)
            assert live.paused
            live.step()
            live.wait(PATIENCE)
