"""Which cell made which view: where a cell runs again, what it made before is closed."""

from __future__ import annotations

import sys
import weakref
from typing import Any, Protocol


class Closable(Protocol):
    """What a cell can leave behind."""

    def close(self) -> None:
        """End it."""
        ...


_MADE_IN: dict[str, weakref.WeakSet[Any]] = {}
_WATCHED: weakref.WeakSet[Any] = weakref.WeakSet()  # shells that tell when a cell begins


def note_view(view: Closable) -> None:
    """Remember the cell that is running as the view's own."""
    shell = _shell()
    cell = None if shell is None else _running_cell(shell)
    if shell is None or cell is None:
        return
    if shell not in _WATCHED:
        _WATCHED.add(shell)
        shell.events.register("pre_run_cell", _close_what_it_made)
    _MADE_IN.setdefault(cell, weakref.WeakSet()).add(view)


def _close_what_it_made(info: Any) -> None:  # noqa: ANN401 - IPython's own type
    """Close the views that the cell made when it last ran."""
    for view in tuple(_MADE_IN.pop(getattr(info, "cell_id", None) or "", ())):
        view.close()


def _shell() -> Any:  # noqa: ANN401 - IPython may not even be there
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def _running_cell(shell: Any) -> str | None:  # noqa: ANN401
    """Return the id of the cell that is being run; front ends that send none close nothing."""
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    cell = (parent.get("metadata") or {}).get("cellId")
    return cell if isinstance(cell, str) else None
