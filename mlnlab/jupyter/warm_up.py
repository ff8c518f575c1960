"""Makes the kernels ready while a notebook's reader reads, so that the first sampler starts at once.

Loading them takes half a second, and compiling them, where no cache exists yet, a minute. A thread loads,
piece by piece and only while no cell runs; it says nothing whatever happens, and ends with Python. What has
to be compiled is compiled by a process of low priority: numba's compiler swaps Python's list of warnings,
which in a thread could swallow a warning of the user's own.

Only in the kernel of a notebook that holds a model: not in a terminal, a script, a command or a worker.
``MLNLAB_WARM_UP=0`` switches it off.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, TypeVar

from mlnlab.kernels import load_cached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from IPython.core.interactiveshell import InteractiveShell

Result = TypeVar("Result")

SWITCH = "MLNLAB_WARM_UP"
# Variables of these types say that somebody is going to compute something.
TELLING_TYPES = {
    "mlnlab.model.mln.mln": "MLN",
    "mlnlab.model.database.database": "Database",
    "mlnlab.experiments.samples": "Sample",
}
# Of several notebooks one compiles at a time: the others wait, and find what it has left in the cache.
COMPILING = """
import os, sys, tempfile
if hasattr(os, "nice"):
    os.nice(10)
    parent = os.getppid()
    try:
        import fcntl
        place = os.path.join(tempfile.gettempdir(), f"mlnlab-warm-up-{os.getuid()}")
        turn = os.open(place, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        fcntl.flock(turn, fcntl.LOCK_EX)
    except OSError:
        pass
    if os.getppid() != parent:
        sys.exit()
sys.path.append(sys.argv[1])
from mlnlab.kernels import warm_up_all
for _ in warm_up_all():
    pass
"""

_QUIET_SECONDS = 0.2  # after a cell: in "Run all" the next one follows sooner
_SECONDS_BEFORE_FORK = 2.0
_SECONDS_BEFORE_LEAVING = 1.0


def register_warm_up(shell: InteractiveShell) -> None:
    """Watch the cells of a notebook's shell; doing so twice changes nothing."""
    if not is_wanted(shell):
        return
    callbacks = shell.events.callbacks
    if any(isinstance(getattr(call, "__self__", None), WarmUp) for call in callbacks["post_execute"]):
        return
    warm_up = WarmUp(shell)
    shell.events.register("pre_execute", warm_up.cell_begins)
    shell.events.register("post_execute", warm_up.look_for_model)


def is_wanted(shell: InteractiveShell) -> bool:
    """Return whether this is the kernel of a notebook, and nobody has switched the warm-up off."""
    kernel = getattr(shell, "kernel", None)  # a terminal has none
    if getattr(kernel, "comm_manager", None) is None or os.environ.get(SWITCH, "").strip() == "0":
        return False
    return not type(kernel).__module__.startswith("ipyparallel")  # kernels too, but workers


def holds_a_model(variables: Iterable[object]) -> bool:
    """Return whether a model or a database is among some values; nothing is imported to find out."""
    modules = ((sys.modules.get(module), name) for module, name in TELLING_TYPES.items())
    types = tuple(getattr(module, name) for module, name in modules if hasattr(module, name))
    return bool(types) and any(issubclass(type(value), types) for value in variables)


def _engine() -> Iterator[tuple[str, bool]]:
    """Import the modules that the first call of ``ml.infer`` needs: another tenth of a second."""
    from mlnlab.inference.ask import asking
    from mlnlab.inference.methods import gibbs

    yield from ((module.__name__, True) for module in (asking, gibbs))


class WarmUp:
    """Watches the cells of a shell; when one leaves a model, the work begins, once."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.thread: Thread | None = None
        self._shell = shell
        self._resting, self._leaving = Event(), Event()
        self._loading = Lock()
        self._forking_safely = False
        self._compiling: subprocess.Popen[bytes] | None = None

    def cell_begins(self) -> None:
        """Begin nothing new while a cell runs."""
        self._resting.clear()

    def look_for_model(self) -> None:
        """Look whether there is a model now; go on."""
        if self.thread is None and holds_a_model(tuple(self._shell.user_ns.values())):
            self._begin()
        self._resting.set()

    def _begin(self) -> None:
        self.thread = Thread(target=self._work, name="mlnlab-warm-up", daemon=True)
        atexit.register(self._leave)
        if hasattr(os, "register_at_fork"):  # not on Windows
            os.register_at_fork(
                before=self._before_fork, after_in_parent=self._after_fork, after_in_child=self._after_fork
            )
        with suppress(RuntimeError):  # no more threads are allowed here: then all is loaded when it is used
            self.thread.start()

    def _work(self) -> None:
        # Whatever is wrong with a kernel is said where somebody uses it.
        with suppress(Exception):
            ready = self._load(load_cached())
            self._load(_engine())
            if not ready and not self._leaving.is_set():
                self._compile()
                self._load(load_cached())

    def _load(self, pieces: Iterator[tuple[str, bool]]) -> bool:
        """Load one piece after the other; return whether all of them were there."""
        ready = True
        while (piece := self._in_rest(lambda: next(pieces, None))) is not None:
            ready = ready and piece[1]
        return ready

    def _in_rest(self, work: Callable[[], Result]) -> Result | None:
        """Do a short piece of work while no cell runs; nothing when Python ends."""
        while not self._leaving.is_set():
            self._resting.wait()
            if not self._leaving.wait(_QUIET_SECONDS) and self._resting.is_set():
                with self._loading:
                    return work()
        return None

    def _compile(self) -> None:
        """Let a process fill the cache; nothing is compiled where the cache cannot be written."""
        package = str(Path(__file__).resolve().parents[2])
        nowhere = subprocess.DEVNULL
        self._compiling = subprocess.Popen(  # noqa: S603 - this very Python, with a program of ours
            [sys.executable, "-P", "-c", COMPILING, package],
            stdin=nowhere, stdout=nowhere, stderr=nowhere,
            start_new_session=True,  # stopping a cell must not stop it
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )  # fmt: skip
        self._compiling.wait()

    def _leave(self) -> None:
        """Start no more work, and wait a little for running work."""
        self._leaving.set()
        self._resting.set()
        if self._compiling is not None:
            self._compiling.terminate()
        if self.thread is not None and self.thread.is_alive():
            self.thread.join(_SECONDS_BEFORE_LEAVING)

    # A process that forks while a kernel is loaded would leave its child with numba's lock taken for ever.

    def _before_fork(self) -> None:
        self._forking_safely = self._loading.acquire(timeout=_SECONDS_BEFORE_FORK)

    def _after_fork(self) -> None:
        if self._forking_safely:
            self._loading.release()
