"""Extend notebooks with rich displays of mlnlab's objects, and with ``%%mln`` and ``%%db`` cells.

In a notebook ``import mlnlab`` is enough; ``%load_ext mlnlab`` does the same by hand. Start with
``displays.py``, which registers types by their names; ``magics.py`` has the cells, ``warm_up.py`` compiles
kernels in a thread as soon as a model is there.

It may import ``widgets`` and what lies below.
What always holds: nothing is registered outside of IPython; a cell with errors says where they are and runs
nothing; importing it loads no drawing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.jupyter.displays import register_displays
from mlnlab.jupyter.magics import register_magics
from mlnlab.jupyter.progress_stream import register_progress
from mlnlab.jupyter.warm_up import register_warm_up

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["register"]


def register(shell: InteractiveShell) -> None:
    """Teach a shell our displays and magics, and warm up; doing so twice changes nothing."""
    register_displays(shell)
    register_magics(shell)
    register_progress(shell)
    register_warm_up(shell)
