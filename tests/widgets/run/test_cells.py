"""A cell that runs again closes what it made before; a page that goes is waited for a moment."""

from __future__ import annotations

import asyncio
import weakref
from types import SimpleNamespace

import pytest

from mlnlab.widgets.run.run_view import RunView
from mlnlab.widgets.run.session import Session
from mlnlab.widgets.view import view
from tests.support.patience import PATIENCE
from tests.widgets.walks import PICTURE, Walking, apart


class Shell:
    """The parts of a kernel's shell that matter here."""

    def __init__(self):
        self.cell, self.hooks = None, []
        self.events = SimpleNamespace(register=lambda name, hook: self.hooks.append((name, hook)))

    def get_parent(self):
        return {"metadata": {"cellId": self.cell} if self.cell else {}}

    def run(self, cell, code):
        self.cell = cell
        for name, hook in self.hooks:
            assert name == "pre_run_cell"
            hook(SimpleNamespace(cell_id=cell))
        return code()


@pytest.fixture
def shell(monkeypatch):
    made = Shell()
    monkeypatch.setattr(view, "_shell", lambda: made)
    monkeypatch.setattr(view, "_MADE_IN", {})
    monkeypatch.setattr(view, "_WATCHED", weakref.WeakSet())
    return made


def walk():
    made = RunView(Session(Walking(seconds=0.001)), PICTURE)
    made.play()
    return made


def test_running_a_cell_again_closes_what_it_made(shell):
    first = shell.run("one", walk)
    other = shell.run("two", walk)
    second = shell.run("one", walk)
    assert first.live.ended
    assert first.comm is None
    assert other.live.running
    assert second.live.running
    shell.run("one", lambda: None)
    assert second.live.ended
    assert len(shell.hooks) == 1
    other.close()


def test_front_ends_that_name_no_cell_close_nothing(shell):
    first = shell.run(None, walk)
    shell.run(None, lambda: None)
    assert first.live.running
    first.close()


def test_a_cell_that_is_moved_keeps_its_run_and_one_that_is_deleted_does_not(monkeypatch):
    monkeypatch.setattr(view, "_MOVING_SECONDS", 0.05)
    made = walk()

    async def notebook():
        def say(kind):
            made._receive_message({"type": kind, "view": "page"}, [])

        say("opened")
        say("closed")
        say("opened")
        await asyncio.sleep(0.15)
        assert made.live.running
        say("leaving")  # a page that is loaded anew takes its time
        await asyncio.sleep(0.15)
        assert made.live.running
        say("opened")
        say("closed")
        await asyncio.to_thread(made.live.join, PATIENCE)
        assert made.live.ended

    apart(notebook())
    made.close()
