"""Pieces of numbers over several positions: added up, and made one where a table is all that differs."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from mlnlab.counting.deltas.pieces import Piece, add_pieces, pieces_of, written_out
from mlnlab.counting.facts.tables import Table
from mlnlab.logic.formulas.formulas import Variable

SIZES = {0: 3, 1: 3}
HEAD = Variable("x", "t"), Variable("y", "t")


def listing(position, *constants):
    """A table that lists constants of one position."""
    return Table((position,), np.array(constants, np.uint32)[:, None])


def numbers(piece):
    """Return the numbers of a piece that are not 0, by constants."""
    table = written_out(piece, SIZES, np.int64)
    rows = map(tuple, table.rows.tolist())
    return {row: number for row, number in zip(rows, table.weights.tolist(), strict=True) if number}


def test_weights_under_the_same_conditions_are_added_up():
    weights = [Table((0,), listing(0, 0, 1, 2).rows, np.array(each)) for each in ([1, 0, 3], [2, 5, 6])]
    total = add_pieces([Piece(2, weights=weights[0]), Piece(-1, weights=weights[1])])
    assert numbers(total) == {(1,): -5}


def test_positions_that_are_the_same_and_constants_are_written_out():
    assert numbers(Piece(5, same=((0, -1 - 1),))) == {(1,): 5}
    assert numbers(Piece(5, same=((0, 1), (1, -1 - 2)))) == {(2, 2): 5}
    assert numbers(Piece(5, same=((0, 1),))) == {(x, x): 5 for x in range(3)}


def test_pieces_that_differ_in_one_table_are_one():
    bound = SimpleNamespace(
        conjunction=SimpleNamespace(head=HEAD), number=HEAD.index, sizes=tuple(SIZES.values())
    )
    shared = listing(0, 0, 1)
    groups = [
        SimpleNamespace(coefficient=number, bound=bound, parts=(shared, listing(1, *constants)))
        for number, constants in ((2, (0, 1)), (3, (1, 2)))
    ]
    (piece,) = pieces_of(groups, vocabulary=None)
    assert numbers(piece) == {(x, y): number for x in (0, 1) for y, number in enumerate((2, 5, 3))}
