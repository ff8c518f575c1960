"""Runs that write where they are to a file, and go on from it after a crash, bit for bit."""

from __future__ import annotations

from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlnlab.errors import InputError
from mlnlab.steps.files.checkpoint import Checkpoint, Checkpointer, load_checkpoint, previous_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.widgets.run.session import Resumable

_SECONDS = 10.0  # between two writes


def checkpointing(
    path: str | PathLike[str] | None, kind: type[object], what: str
) -> tuple[Checkpoint | None, tuple[Checkpointer, ...]]:
    """Return the checkpoint in a file, if there is one, and the observers that go on writing to it.

    ``kind`` is the type of the states; ``what`` names their run in words.
    """
    if path is None:
        return None, ()
    if not isinstance(path, str | PathLike):
        raise InputError(f'checkpoint is the name of a file, such as "run.npz", not {path!r:.60}.')
    file = Path(path)
    if not file.absolute().parent.is_dir():
        raise InputError(f"There is no folder {str(file.absolute().parent)!r:.200} to write checkpoints to.")
    found = load_checkpoint(file) if file.exists() or previous_path(file).exists() else None
    if found is not None and not isinstance(found.state, kind):
        raise InputError(f"{found.path.name} holds no state of {what}.")
    return found, (Checkpointer(file, seconds=_SECONDS),)


def states_from(source: Resumable, state: Any) -> Iterator[Any]:  # noqa: ANN401 - the source's own
    """Yield a state, which is looked at first, and those that follow it."""
    return chain([state], source.resume(state))
