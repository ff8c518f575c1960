"""``mlnlab warmup``: compile the kernels now, so that nobody waits for them later."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mlnlab.cli.manual import Subparsers, add_command

if TYPE_CHECKING:
    import argparse

_MANUAL = """
Compiles the numerical kernels and keeps the result in a cache, so that the first
sampler or learner of the next session starts at once. Worth doing once after an
installation or before a class; a second run finds the cache and ends quickly."""

_EXAMPLES = """
  mlnlab warmup           before a lesson
  mlnlab doctor           says whether the cache can be written"""


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Declare the command."""
    return add_command(
        subparsers,
        "warmup",
        summary="compile the numerical kernels ahead of time",
        manual=_MANUAL,
        examples=_EXAMPLES,
    )


def run(_arguments: argparse.Namespace) -> int:
    """Compile all kernels, one line each."""
    from mlnlab.kernels import warm_up_all

    print("compiling the kernels ...", file=sys.stderr)
    total = 0.0
    for name, seconds in warm_up_all():
        total += seconds
        print(f"{seconds:6.1f} s  {name}", flush=True)
    print(f"{total:6.1f} s  in all; they are ready")
    return 0
