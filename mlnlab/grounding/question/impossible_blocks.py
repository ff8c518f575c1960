"""Blocks of exclusive atoms (declared with ``!``) for which evidence leaves no possibility."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.errors import UnsatisfiableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.logic.formulas.ground_atoms import GroundAtom
    from mlnlab.logic.vocabulary import Predicate, Vocabulary


class ImpossibleBlockError(UnsatisfiableError):
    """The facts about one block contradict its declaration."""

    def __init__(self, sentence: str, members: Sequence[GroundAtom], true: Sequence[GroundAtom]) -> None:
        """Keep the block's atoms, and those that facts make true: two, or none where all are false."""
        super().__init__(sentence)
        self.members, self.true = tuple(members), tuple(true)


def excluding(
    predicate: Predicate, members: Sequence[GroundAtom], true: Sequence[GroundAtom]
) -> UnsatisfiableError:
    """Return the error for two true atoms of one block."""
    said = f"{true[0]} and {true[1]} exclude each other ({predicate})."
    return ImpossibleBlockError(said, members, true[:2])


def make_empty_block_error(
    predicate: Predicate, members: Sequence[GroundAtom], *, is_open: bool
) -> UnsatisfiableError:
    """Return the error for a block of which one atom must be true and none can be."""
    shown = f"{', '.join(map(str, members[:4]))}{', ...' if len(members) > 4 else ''}"
    ways = (
        f"or name {predicate.name} in the query or in open="
        if not is_open
        else "or leave one of them unknown"
    )
    return ImpossibleBlockError(
        f"One of {shown} must be true ({predicate}), but the evidence makes all of them false. Add the true"
        f" one to the facts, {ways}.", members, (),
    )  # fmt: skip


def refuse_without_atoms(predicate: Predicate, vocabulary: Vocabulary) -> None:
    """Raise where there are blocks of which one atom must be true, but no constants to make atoms of."""
    empty = [place for place in predicate.exclusive if not len(vocabulary.domain(predicate.types[place]))]
    keys = [vocabulary.domain(predicate.types[place]) for place in predicate.block_keys]
    if predicate.at_most_one or not empty or not all(map(len, keys)):
        return
    first = dict(zip(predicate.block_keys, (key[0] for key in keys), strict=True))
    shown = ", ".join(first.get(place, type_) for place, type_ in enumerate(predicate.types))
    type_ = predicate.types[empty[0]]
    raise ImpossibleBlockError(
        f"One of {predicate.name}({shown}) must be true ({predicate}), but no constant of type {type_} is"
        " known. List some, give facts that mention them, or sizes.", (), (),
    )  # fmt: skip
