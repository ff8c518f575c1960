"""Finds the commands: each file in ``commands/`` is one, so adding a file adds a command."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Protocol, cast

from mlnlab.cli import commands

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from mlnlab.cli.arguments.manual import Subparsers


class Command(Protocol):
    """The interface of a file in ``commands/``; its imports are light, heavy ones stand inside ``run``."""

    def add_parser(self, subparsers: Subparsers) -> argparse.ArgumentParser:
        """Declare name, manual and arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do the work and return the exit code."""


def command_modules() -> Iterator[Command]:
    """Yield the modules of all commands, by name."""
    for found in sorted(pkgutil.iter_modules(commands.__path__), key=lambda found: found.name):
        yield cast("Command", importlib.import_module(f"{commands.__name__}.{found.name}"))
