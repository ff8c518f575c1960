"""Decide which literals may stand together in a clause: a bias that the paper's LHL does without.

A clause's weight is learned by pseudo-likelihood, which sees all other atoms. Where a predicate is asked for,
all its atoms are unknown at once. So a clause that holds two of them, above all an atom and its mirror image
as ``SameVenue(v1, v2) v SameVenue(v2, v1)``, takes credit for what nobody will know, and a weight that was
right beside the data may make worlds likely that are nothing like it. Two options keep such literals apart:

apart       groups of predicates of which a clause holds at most one literal: ``["SameBib", "SameVenue"]``,
            ``[("student", "professor")]``, the same as one text, ``"SameBib, student + professor"``, or
            ``"all"``, each predicate by itself
mirrored    whether a clause may hold an atom beside its mirror image: the same predicate and variables in
            another order

Signs do not matter for either, so that paths are left out before clauses are made of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.structure.paths.variabilized import PathAtom

ALL = "all"
Groups = tuple[tuple[str, ...], ...]


def groups_apart(given: object) -> Groups | str:
    """Return the groups of predicates that are kept apart, or "all".

    >>> groups_apart("SameBib, student + professor")
    (('SameBib',), ('student', 'professor'))
    """
    if given == ALL:
        return ALL
    if isinstance(given, str):
        given = [group.split("+") for group in given.split(",")]
    listed: Sequence[Any] = given if isinstance(given, Sequence) else [None]
    groups = [(one,) if isinstance(one, str) else one for one in listed]
    if not all(isinstance(group, Sequence) and _are_names(group) for group in groups):
        raise ArgumentError(
            "apart names predicates, or groups of them, of which a clause holds at most one literal: "
            f'["SameBib", ("student", "professor")], or "all", not {given!r:.60}.'
        )
    return tuple(tuple(name.strip() for name in group) for group in groups)


def _are_names(group: Sequence[object]) -> bool:
    return bool(group) and all(isinstance(name, str) and name.strip() for name in group)


def refuse_unknown_predicates(apart: Groups | str, vocabulary: Vocabulary) -> None:
    """Raise a sentence for a name that is not a predicate of the data."""
    for group in () if isinstance(apart, str) else apart:
        for name in group:
            vocabulary[name]


def may_stand_together(atoms: Sequence[PathAtom], apart: Groups | str, *, mirrored: bool = True) -> bool:
    """Tell whether a clause may hold these atoms.

    >>> from mlnlab.structure.paths.variabilized import PathAtom
    >>> atoms = [PathAtom("Same", (0, 1)), PathAtom("Same", (1, 0))]
    >>> may_stand_together(atoms, ()), may_stand_together(atoms, (), mirrored=False)
    (True, False)
    """
    names = [atom.predicate for atom in atoms]
    groups = [(name,) for name in set(names)] if isinstance(apart, str) else apart
    if any(sum(name in group for name in names) > 1 for group in groups):
        return False
    return mirrored or len({(atom.predicate, tuple(sorted(atom.variables))) for atom in atoms}) == len(atoms)
