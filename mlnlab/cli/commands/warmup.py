"""``mlnlab warmup``: compile the kernels now, so that nobody waits for them later."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mlnlab.cli.arguments.manual import Subparsers, add_command

if TYPE_CHECKING:
    import argparse

_MANUAL = """
Compiles the numerical kernels and keeps the result in a cache, so that the first
sampler or learner of the next session starts at once. Run it once after installing
mlnlab or before a class; a second run finds the cache and ends quickly.

The cache is a folder of yours, outside the package; `mlnlab doctor` names it. Compiled
kernels of old versions are removed gradually; --remove removes all of them, as before
uninstalling mlnlab."""

_EXAMPLES = """
  mlnlab warmup           before a lesson
  mlnlab warmup --remove  before uninstalling
  mlnlab doctor           says whether the cache can be written"""


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Declare the command."""
    parser = add_command(
        subparsers,
        "warmup",
        summary="compile the numerical kernels ahead of time",
        manual=_MANUAL,
        examples=_EXAMPLES,
    )
    parser.add_argument("--remove", action="store_true", help="remove the compiled kernels of all versions")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Compile all kernels, one line each; or remove them."""
    from mlnlab.kernels import warm_up_all
    from mlnlab.kernels.cache_folder import remove_all

    if arguments.remove:
        removed = remove_all()
        print(f"Removed {removed}." if removed else "There are no compiled kernels.")
        return 0
    print("compiling the kernels ...", file=sys.stderr)
    total = 0.0
    for name, seconds in warm_up_all():
        total += seconds
        print(f"{seconds:6.1f} s  {name}", flush=True)
    print(f"{total:6.1f} s  in all; they are ready")
    return 0
