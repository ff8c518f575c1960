"""Sentences of the engine name the options of the command that was typed."""

from __future__ import annotations

from argparse import Namespace

import pytest

from mlnlab.cli.arguments.manual import say_options

TYPED = Namespace(
    options={"most_hours": "--most-hours", "method": "--method", "query": "--query"}, option=["sweeps = 9"]
)


@pytest.mark.parametrize(
    ("engine", "command"),
    [
        ("allow it: most_hours=3", "allow it: --most-hours 3"),
        ('use the pseudo-likelihood: method="pll".', "use the pseudo-likelihood: --method pll."),
        ('in query=["Smokes"], query=[...] or query=', "in --query Smokes, --query ... or --query"),
        ("most_hours must be a number", "--most-hours must be a number"),
        ("sweeps=5 is usual, not 9; thin=1", "--option sweeps=5 is usual, not 9; thin=1"),
        ("sweeps must be a number", "--option sweeps must be a number"),
        ('ml.count(mln, db, method="duckdb")', 'ml.count(mln, db, method="duckdb")'),
        ("allow it: most_hours=3; then ml.so_far() has it", "allow it: --most-hours 3"),
        ("the method must halt, my_query=1", "the method must halt, my_query=1"),
    ],
)
def test_options_are_called_as_they_are_typed(engine, command):
    assert say_options(engine, TYPED) == command


def test_a_command_without_options_changes_nothing():
    assert say_options("x=1 must be", Namespace(options={})) == "x=1 must be"
