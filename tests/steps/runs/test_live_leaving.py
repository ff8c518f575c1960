"""Live runs and what they leave behind: nothing."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import weakref

import pytest

from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.runs.live import Live, stop_all
from tests.steps.toys import counting
from tests.support.live_threads import threads
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.usefixtures("nothing_is_left")


class TestLeaving:
    def test_a_run_that_nobody_holds_ends(self):
        trace = Trace()
        for begin in (Live.start, Live.step):
            live = Live(counting(), [Trace()])
            begin(live)
            if begin is Live.step:
                live.wait(PATIENCE)
            gone = weakref.ref(live)
            del live
            assert gone() is None
        live = Live(lambda: counting(), [trace])  # noqa: PLW0108 - the factory holds nothing either
        live.start()
        del live  # the fixture waits for the thread

    def test_all_runs_can_be_stopped(self):
        lives = [Live(counting()) for _ in range(3)]
        lives[0].start()
        lives[1].step()
        assert stop_all(PATIENCE) == 2
        assert [live.ended for live in lives] == [True, True, False]
        assert stop_all() == 0

    def test_a_thread_that_another_one_is_just_starting_can_be_waited_for(self, monkeypatch):
        live, start = Live(counting(3)), threading.Thread.start
        starting, never = threading.Event(), threading.Event()

        def held(thread):
            if thread.name == "mlnlab-live":
                starting.set()
                never.wait(0.3)  # who joins meanwhile finds a thread that has not begun
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", held)
        other = threading.Thread(target=live.start)
        other.start()
        assert starting.wait(PATIENCE)
        assert live.join(PATIENCE)
        other.join()
        assert live.ended

    def test_threads_are_daemons(self):
        with Live(counting()) as live:
            live.start()
            assert all(thread.daemon for thread in threads())

    def test_a_program_ends_whatever_runs_and_observers_still_write(self, repository, tmp_path):
        code = """
            import sys
            from mlnlab.steps.runs.live import Live
            from mlnlab.steps.files.checkpoint import Checkpointer
            from tests.steps.toys import counting

            running = Live(counting(), [Checkpointer(sys.argv[1], seconds=1000)])
            running.start()
            paused = Live(counting())
            paused.step()
            paused.wait()
            while running.last is None:
                pass
            print("done")
        """
        path = tmp_path / "last.npz"
        program = [sys.executable, "-W", "error", "-c", textwrap.dedent(code), str(path)]
        done = subprocess.run(
            program, cwd=repository, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert (done.stdout, done.stderr, done.returncode) == ("done\n", "", 0)
        assert path.exists()

    def test_an_interrupted_program_can_go_on(self, repository):
        code = """
            import signal, threading
            from mlnlab.steps.runs.live import Live
            from tests.steps.toys import counting

            live = Live(counting())
            live.start()
            main = threading.main_thread().ident
            threading.Timer(0.05, signal.pthread_kill, (main, signal.SIGINT)).start()
            try:
                live.wait()
            except KeyboardInterrupt:
                live.wait()
                assert live.paused, live
                live.step()
                live.wait()
                print("went on")
            live.close()
        """
        program = [sys.executable, "-c", textwrap.dedent(code)]
        done = subprocess.run(
            program, cwd=repository, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert (done.stdout, done.stderr) == ("went on\n", "")
