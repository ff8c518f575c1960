"""What mlnlab adds to a notebook: rich displays of its objects, ``%%mln`` and ``%%db`` cells.

In a notebook ``import mlnlab`` is enough; ``%load_ext mlnlab`` does the same by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.jupyter.displays import register_displays
from mlnlab.jupyter.magics import register_magics
from mlnlab.jupyter.warm_up import register_warm_up

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["register"]


def register(shell: InteractiveShell) -> None:
    """Teach a shell our displays and magics, and warm up; doing so twice changes nothing."""
    register_displays(shell)
    register_magics(shell)
    register_warm_up(shell)
