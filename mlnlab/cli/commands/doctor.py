"""``mlnlab doctor``: what works on this machine, and what to do about the rest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mlnlab.cli.manual import Subparsers, add_command

if TYPE_CHECKING:
    import argparse

    from mlnlab.cli.checks import Check

_MANUAL = """
Looks at this installation and says, line by line, what is in order (ok), what is
missing but can be done without (warn), and what does not work (fail), with what to
do about it. The exit code is 1 if anything failed. Put its output into every
report of a problem."""

_EXAMPLES = """
  mlnlab doctor
  mlnlab doctor --json | python -m json.tool"""


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Declare the command and its arguments."""
    parser = add_command(
        subparsers, "doctor", summary="say what works on this machine", manual=_MANUAL, examples=_EXAMPLES
    )
    parser.add_argument("--json", action="store_true", help="write the findings as JSON")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Make all checks and report them."""
    from mlnlab.cli.checks import Status, all_checks

    found = list(all_checks())
    failed = any(check.status is Status.FAIL for check in found)
    if arguments.json:
        report = {"ok": not failed, "checks": [check.as_record() for check in found]}
        print(json.dumps(report, indent=2))
    else:
        _print_table(found)
    return int(failed)


def _print_table(found: list[Check]) -> None:
    width = max(len(check.name) for check in found)
    for check in found:
        print(f"{check.status:<4}  {check.name:<{width}}  {check.detail}")
        if check.remedy:
            print(f"{'':<{width + 8}}-> {check.remedy}")
