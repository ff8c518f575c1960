"""``mlnlab warmup``: compile the kernels now, so that nobody waits for them later."""

from __future__ import annotations

import pkgutil
import sys
import time
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
    """Compile all kernels and say how long it took."""
    began = time.perf_counter()
    try:
        warm_up_all = pkgutil.resolve_name("mlnlab.kernels:warm_up_all")
    except ImportError:
        print(
            "mlnlab warmup: this version has no compiled kernels, so nothing is to be done.", file=sys.stderr
        )
        return 0
    print("compiling the kernels ...", file=sys.stderr)
    warm_up_all()
    print(f"all kernels are ready ({time.perf_counter() - began:.1f} s)")
    return 0
