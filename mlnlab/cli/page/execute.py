"""Executes a notebook with this very Python, whatever kernels the machine has registered."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from traitlets import default

from mlnlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from nbformat import NotebookNode

_SHOWN_WIDTH = 60


class _ThisInterpreter(KernelSpecManager):
    """Answers every kernel name with this interpreter: a registered ``python3`` may be another one."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """Return the kernel of this interpreter."""
        # Its warnings are about servers that strangers can reach; this one lives for one run.
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=ERROR"]
        return KernelSpec(argv=command, name=kernel_name, display_name="Python 3", language="python")


class _KernelManager(AsyncKernelManager):
    """Starts the kernel of this interpreter."""

    @default("kernel_spec_manager")
    def _default_kernel_spec_manager(self) -> KernelSpecManager:
        return _ThisInterpreter(parent=self)


@dataclass
class _Progress:
    """Tells a person which cell runs; keeps the number of the current one for the report of an error."""

    total: int
    say: Callable[[str], None]
    current: int = 0
    interrupted: bool = False
    began: float = field(default_factory=time.perf_counter)

    def on_start(self, cell: NotebookNode, **_: Any) -> None:  # noqa: ANN401 - more may be passed
        if _is_code(cell):
            self.current += 1
            self.began = time.perf_counter()
            self._listen_for_interrupts()

    def on_executed(self, cell: NotebookNode, **_: Any) -> None:  # noqa: ANN401 - more may be passed
        seconds = time.perf_counter() - self.began
        self.say(f"[{self.current}/{self.total}] {_summary(cell.source)}  {seconds:.1f} s")

    def _listen_for_interrupts(self) -> None:
        """Let Ctrl-C cancel the run: nbclient's own answer kills the kernel, which looks like a crash."""
        task = asyncio.current_task()

        def stop() -> None:
            self.interrupted = True
            if task is not None:
                task.cancel()

        # Windows has no such handlers, and neither have threads; there asyncio itself cancels the task.
        with contextlib.suppress(NotImplementedError, RuntimeError):
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop)


def execute(
    notebook: NotebookNode, folder: Path, *, timeout: int | None, say: Callable[[str], None]
) -> str | None:
    """Run all cells in place, in ``folder``; return ``None``, or one sentence on the cell that stopped it."""
    progress = _Progress(total=sum(map(_is_code, notebook.cells)), say=say)
    client = NotebookClient(
        notebook,
        kernel_manager_class=_KernelManager,
        timeout=timeout,
        # Saved widgets could only be drawn by scripts from a network.
        store_widget_state=False,
        on_cell_start=progress.on_start,
        on_cell_executed=progress.on_executed,
        resources={"metadata": {"path": str(folder)}},
    )
    environment = {"PLOTLY_RENDERER": "plotly_mimetype", **os.environ}
    try:
        # What cells print travels as messages; the kernel's own stderr holds only its troubles at the end.
        _run_to_end(client.async_execute(env=environment, stderr=subprocess.DEVNULL))
    except CellExecutionError as error:
        return f"code cell {progress.current} failed with {_in_words(error)}."
    except CellTimeoutError:
        return f"code cell {progress.current} took longer than {timeout} s (--timeout allows more)."
    except DeadKernelError:
        # nbclient takes every cancelled wait for a dead kernel.
        if progress.interrupted:
            raise KeyboardInterrupt from None
        return f"the kernel died in code cell {progress.current}."
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    return None


def _run_to_end(work: Coroutine[Any, Any, object]) -> None:
    """Run a coroutine, in a thread of its own where this thread runs an event loop already (a notebook's)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result()


def _is_code(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(cell.source.strip())


def _summary(source: str) -> str:
    """Return the first telling line of a cell, shortened."""
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    telling = next((line for line in lines if not line.startswith(("#", "import ", "from "))), lines[0])
    return telling if len(telling) <= _SHOWN_WIDTH else telling[: _SHOWN_WIDTH - 1] + "…"


def _in_words(error: CellExecutionError) -> str:
    message = str(error.evalue).strip().partition("\n")[0].rstrip(".")
    return f"{error.ename}: {message}" if message else str(error.ename)


# --- read a notebook file -----------------------------------------------------------------------


def read_notebook(path: Path) -> NotebookNode:
    """Return the notebook of a file in today's format; older formats are converted."""
    import nbformat

    text = _read_text(path)
    if '"nbformat"' not in text:
        raise InputError(f"{path}: is not a notebook ({_what_it_is(text)}).")
    try:
        # Only older formats lack cell ids; giving them some is what is wanted here.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            notebook: NotebookNode = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
            nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        raise InputError(f"{path}: is not a valid notebook: {_first_line(error.message)}.") from None
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise InputError(f"{path}: is not a notebook ({_what_it_is(text)}).") from None
    language = notebook.metadata.get("language_info", {}).get("name", "python")
    language = notebook.metadata.get("kernelspec", {}).get("language", language)
    if str(language).lower() not in {"python", "ipython"}:
        raise InputError(f"{path}: is a notebook in {language}; mlnlab runs notebooks in Python.")
    return notebook


def _read_text(path: Path) -> str:
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a notebook in it.")
    if not path.exists():
        raise InputError(f"{path}: there is no such file.")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not a notebook (byte {error.start} is not UTF-8 text).") from None


def _what_it_is(text: str) -> str:
    """Describe a text that is not a notebook."""
    if not text.strip():
        return "the file is empty"
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"not JSON: line {error.lineno}, column {error.colno}"
    except RecursionError:
        return "nested too deeply"
    return "JSON, but without a notebook's cells"


def _first_line(message: object) -> str:
    line = str(message).partition("\n")[0]
    return line if len(line) <= 200 else line[:200] + " ..."
