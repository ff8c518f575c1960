"""The kernels become ready in the background: in a notebook that holds a model, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest
from IPython.core.events import EventManager, available_events
from jupyter_client.manager import start_new_kernel

import mlnlab as ml
from mlnlab.jupyter import register, warm_up
from mlnlab.jupyter.warm_up import COMPILING, SWITCH, WarmUp, holds_a_model, is_wanted, register_warm_up
from tests.support.patience import PATIENCE, wait_until

MODEL = "import mlnlab as ml\nmln = ml.MLN.from_text('Smokes(person)\\n1 Smokes(x)')"


def shell_with(kernel):
    shell = SimpleNamespace(user_ns={}, kernel=kernel)
    shell.events = EventManager(shell, available_events)
    return shell


@pytest.fixture
def shell(monkeypatch):
    """What the warm-up sees of a notebook's kernel; nothing is loaded and no cell has run."""
    monkeypatch.delenv(SWITCH, raising=False)
    monkeypatch.setattr(warm_up, "_QUIET_SECONDS", 0.01)
    return shell_with(SimpleNamespace(comm_manager=object()))


@pytest.fixture
def watching(shell):
    register_warm_up(shell)
    (call,) = shell.events.callbacks["post_execute"]
    yield call.__self__
    call.__self__._leave()


def run_cell(shell, **variables):
    shell.events.trigger("pre_execute")
    shell.user_ns.update(variables)
    shell.events.trigger("post_execute")


# --- where, and when ---------------------------------------------------------------------------------


def test_only_in_the_kernel_of_a_notebook(shell, monkeypatch):
    assert is_wanted(shell)
    engine = type("Kernel", (), {"__module__": "ipyparallel.engine.kernel", "comm_manager": object()})
    for kernel in (None, SimpleNamespace(), SimpleNamespace(comm_manager=None), engine()):
        other = shell_with(kernel)
        assert not is_wanted(other)
        register_warm_up(other)
        assert not other.events.callbacks["post_execute"]
    for value, wanted in (("0", False), (" 0 ", False), ("1", True), ("", True)):
        monkeypatch.setenv(SWITCH, value)
        assert is_wanted(shell) is wanted


def test_not_in_a_shell_without_a_notebook(notebook):
    shown, text = notebook.run(MODEL)
    assert (shown, text) == ([], "")
    calls = notebook.shell.events.callbacks["post_execute"]
    assert not [call for call in calls if isinstance(getattr(call, "__self__", None), WarmUp)]


def test_registering_twice_changes_nothing(notebook, monkeypatch):
    monkeypatch.delenv(SWITCH, raising=False)
    notebook.shell.kernel = SimpleNamespace(comm_manager=object())
    before = len(notebook.shell.events.callbacks["post_execute"])
    for _ in range(3):
        register(notebook.shell)
    assert len(notebook.shell.events.callbacks["post_execute"]) == before + 1


@pytest.mark.parametrize("make", [
    lambda: ml.MLN.from_text("P(thing)\n1 P(x)"),
    lambda: ml.Database.from_text("P(a)", ml.MLN.from_text("P(thing)")),
    lambda: ml.sample("friends-smokers"),
])  # fmt: skip
def test_a_model_or_a_database_is_noticed(make):
    assert not holds_a_model([1, "mln", None, ml, ml.MLN, [make()]])
    assert holds_a_model([1, make()])


def test_nothing_begins_before_there_is_a_model(shell, watching, monkeypatch):
    loaded = []
    monkeypatch.setattr(warm_up, "load_cached", lambda: iter([("gibbs", True)] if not loaded else []))
    monkeypatch.setattr(warm_up, "_engine", lambda: iter(loaded.append(1) or ()))
    run_cell(shell, number=3)
    assert watching.thread is None
    run_cell(shell, mln=ml.MLN.from_text("P(thing)\n1 P(x)"))
    thread = watching.thread
    assert thread.daemon
    wait_until(lambda: not thread.is_alive())
    run_cell(shell, more=ml.MLN.from_text("P(thing)\n1 P(x)"))
    assert watching.thread is thread
    assert loaded == [1]


def test_no_piece_begins_while_a_cell_runs(shell, watching, monkeypatch):
    pieces, first = [], Event()

    def loading():
        for name in "abc":
            pieces.append(name)
            first.set()
            shell.events.trigger("pre_execute")  # somebody runs a cell meanwhile
            yield name, True

    monkeypatch.setattr(warm_up, "load_cached", loading)
    monkeypatch.setattr(warm_up, "_engine", lambda: iter(()))
    run_cell(shell, mln=ml.MLN.from_text("P(thing)\n1 P(x)"))
    assert first.wait(PATIENCE)
    time.sleep(0.1)
    assert pieces == ["a"]
    for number in (2, 3):
        shell.events.trigger("post_execute")
        wait_until(lambda number=number: len(pieces) == number)
    shell.events.trigger("post_execute")
    wait_until(lambda: not watching.thread.is_alive())


# --- what may go wrong -------------------------------------------------------------------------------


def test_what_is_not_cached_is_compiled_by_a_process(shell, watching, monkeypatch, tmp_path):
    mark = tmp_path / "compiled"
    monkeypatch.setattr(warm_up, "load_cached", lambda: iter([("gibbs", mark.exists())]))
    monkeypatch.setattr(warm_up, "COMPILING", f"open({str(mark)!r}, 'w').close(); print('said')")
    run_cell(shell, mln=ml.MLN.from_text("P(thing)\n1 P(x)"))
    wait_until(lambda: not watching.thread.is_alive())
    assert mark.exists()


def test_one_process_compiles_at_a_time_and_says_nothing(tmp_path):
    fcntl = pytest.importorskip("fcntl", reason="no locks of files here")
    root = str(Path(ml.__file__).parents[1])
    with (Path(tempfile.gettempdir()) / f"mlnlab-warm-up-{os.getuid()}").open("a") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        waiting = subprocess.Popen(
            [sys.executable, "-W", "error", "-P", "-c", COMPILING, root],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(2)
        fcntl.flock(turn, fcntl.LOCK_UN)
        assert (*waiting.communicate(timeout=900), waiting.returncode) == ("", "", 0)


def test_a_failure_is_not_said(shell, watching, monkeypatch, capfd):
    def broken():
        yield "random_numbers", True
        raise OSError("no such library")

    monkeypatch.setattr(warm_up, "load_cached", broken)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_cell(shell, mln=ml.MLN.from_text("P(thing)\n1 P(x)"))
        wait_until(lambda: not watching.thread.is_alive())
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_nothing_is_being_loaded_while_the_process_forks(shell, watching, monkeypatch):
    loading, finished = Event(), []

    def slow():
        loading.set()
        time.sleep(0.3)
        finished.append(time.monotonic())
        yield "gibbs", True

    monkeypatch.setattr(warm_up, "load_cached", slow)
    monkeypatch.setattr(warm_up, "_engine", lambda: iter(()))
    run_cell(shell, mln=ml.MLN.from_text("P(thing)\n1 P(x)"))
    assert loading.wait(PATIENCE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads, which is what we test
        child = os.fork()
    if child == 0:
        os._exit(0 if finished and watching._loading.acquire(timeout=1) else 1)
    assert os.waitpid(child, 0)[1] == 0
    wait_until(lambda: not watching.thread.is_alive())


LEAVING = """
import subprocess, sys, time
from types import SimpleNamespace
from IPython.core.events import EventManager, available_events
import mlnlab as ml
from mlnlab.jupyter import warm_up
variables = {{"mln": ml.MLN.from_text("P(thing)")}}
shell = SimpleNamespace(user_ns=variables, kernel=SimpleNamespace(comm_manager=1))
shell.events = EventManager(shell, available_events)
warm_up._QUIET_SECONDS = 0.0
warm_up.load_cached = lambda: iter([("gibbs", {ready})])
{more}
warm_up.register_warm_up(shell)
shell.events.trigger("post_execute")
(call,) = shell.events.callbacks["post_execute"]
end = time.monotonic() + 100
while not ({begun}) and time.monotonic() < end:
    time.sleep(0.01)
print(getattr(call.__self__._compiling, "pid", 0))
"""


def leave_python(**parts):
    environment = {name: value for name, value in os.environ.items() if name != SWITCH}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", LEAVING.format(**parts)],
        check=False, env=environment, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return int(done.stdout)


def test_the_end_of_python_ends_the_compiling_process():
    sleeping = "warm_up.COMPILING = 'import time; time.sleep(3600)'"
    number = leave_python(ready=False, more=sleeping, begun="call.__self__._compiling")
    assert number
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_the_end_of_python_does_not_wait_for_a_slow_piece():
    slow = """
def slow():
    shell.slow = True
    time.sleep(3600)
    yield "gibbs", True
warm_up.load_cached = slow
"""
    assert leave_python(ready=True, more=slow, begun="hasattr(shell, 'slow')") == 0


# --- in earnest --------------------------------------------------------------------------------------

READY = """
import sys, threading
def ready():
    gibbs = sys.modules.get("mlnlab.kernels.chains.gibbs_sweeps")
    working = [thread for thread in threading.enumerate() if thread.name == "mlnlab-warm-up"]
    return len(gibbs.sample.signatures) if gibbs and not working else 0
print(ready())
"""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("switch", ["1", "0"])
def test_in_a_real_kernel_the_kernels_are_ready_soon(switch, monkeypatch):
    subprocess.run([sys.executable, "-m", "mlnlab", "warmup"], check=True, capture_output=True)
    monkeypatch.setenv(SWITCH, switch)
    manager, client = start_new_kernel(kernel_name="python3")
    said = []

    def run(code):
        said.clear()
        client.execute_interactive(
            code,
            timeout=PATIENCE,
            output_hook=lambda message: said.append(message["content"].get("text", "")),
        )
        return "".join(said).strip()

    try:
        assert run(MODEL) == ""
        if switch == "0":
            time.sleep(1.5)
            assert run(READY) == "0"
            assert run("print('numba' in sys.modules)") == "False"
        else:
            assert run(READY) in {"0", "1"}
            wait_until(lambda: time.sleep(0.3) or run("print(ready())") == "1")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
