"""What would resolve a conflict: each remedy is a change of the question, tried before it is told.

Without any one part of a minimal conflict the others agree; whether then a world is possible at all, or
another conflict is left, a SAT solver says, over the changed question ground anew.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from mlnlab.errors import MlnlabError
from mlnlab.grounding.clause_making import ground_clauses
from mlnlab.grounding.question import Opening, listed
from mlnlab.inference.conflict_parts import Remedy
from mlnlab.inference.refutation import is_impossible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mlnlab.inference.conflict_parts import Part

SECONDS = 1.0  # for trying remedies; those that were not tried are told as such
MOST_REMEDIES = 12
MOST_CLAUSES = 100_000  # of a question that is ground anew for each remedy


def remedies(asked: Opening | None, parts: Sequence[Part], clauses: int) -> tuple[Remedy, ...]:
    """Return what would resolve a conflict of these parts, tried as far as that is quick."""
    if asked is None:
        return ()
    until = time.monotonic() + SECONDS
    found = list(dict.fromkeys(_remedies(asked, parts)))
    return tuple(
        replace(one, suffices=_suffices(asked, one, until))
        if clauses <= MOST_CLAUSES and number < MOST_REMEDIES
        else one
        for number, one in enumerate(found)
    )


def _remedies(asked: Opening, parts: Sequence[Part]) -> Iterator[Remedy]:
    opened: set[str] = set()
    dropped: set[int] = set()
    for part in parts:
        where = f" ({part.place.everywhere})" if part.place is not None else ""
        copies = copies_of(asked, part)
        if part.kind == "formula" and dropped.isdisjoint(copies):
            dropped.update(copies)
            if len(copies) == 1:
                yield Remedy("drop", f"drop the formula, or give it a weight: {part.text}", part)
            else:
                number = "both" if len(copies) == 2 else f"all {len(copies)}"
                what = f"drop {number} copies of the formula{where}, or give them a weight"
                yield Remedy("drop", f"{what}: {part.text}", part)
        elif part.kind == "condition":
            times = f", which is given {len(copies)} times" if len(copies) > 1 else ""
            yield Remedy("condition", f"leave out the condition {part.text}{times}", part)
        elif part.kind == "fact" and part.atom is not None:
            if part.text.startswith("!") and part.atom.predicate not in asked.opened:
                yield Remedy("unknown", f"write ?{part.atom} in the place of !{part.atom}{where}", part)
            else:
                yield Remedy("delete", f"delete the fact {part.text}{where}", part)
        elif part.kind == "closed" and part.atom is not None and part.atom.predicate not in opened:
            opened.add(part.atom.predicate)
            name = part.atom.predicate
            yield Remedy("open", f'open {name}: name it in the query or by open=["{name}"]', part)


def copies_of(asked: Opening, part: Part) -> list[int]:
    """Return the numbers of a formula, or of a condition, and of all that are equal to it."""
    if part.source is None or part.kind not in {"formula", "condition"}:
        return []
    all_of_them = asked.mln.formulas if part.kind == "formula" else asked.given
    one = all_of_them[part.source]
    return [number for number, other in enumerate(all_of_them) if other == one]


def changed(asked: Opening, remedy: Remedy) -> Opening:
    """Return the question after a remedy."""
    part = remedy.part
    copies = copies_of(asked, part)
    if remedy.kind == "drop":
        kept = tuple(f for number, f in enumerate(asked.mln.formulas) if number not in copies)
        return replace(asked, mln=replace(asked.mln, formulas=kept, places=()))
    if remedy.kind == "condition":
        kept_conditions = tuple(f for number, f in enumerate(asked.given) if number not in copies)
        return replace(asked, given=kept_conditions)
    atom = part.atom
    if atom is None or (remedy.kind != "open" and asked.data is None):
        return asked
    if remedy.kind == "open":
        return replace(asked, opened=asked.opened | {atom.predicate})
    data = asked.data
    if data is None:
        return asked
    if remedy.kind == "unknown" or atom.predicate in asked.opened:
        return replace(asked, data=data.with_atoms({str(atom): None}))
    return replace(asked, data=data.with_atoms({str(atom): False}))


def _suffices(asked: Opening, remedy: Remedy, until: float) -> bool | None:
    """Return whether a world is possible after a remedy; ``None`` where that takes too long to find out."""
    if time.monotonic() > until:
        return None
    try:
        impossible = is_impossible(ground_clauses(listed(changed(asked, remedy))), until)
    except MlnlabError:  # opened, it may be too large to ground, or leave a block without an atom
        return None
    return None if impossible is None else not impossible
