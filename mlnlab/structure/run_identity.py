"""Which run a state belongs to: its data and its settings are part of each state, so none is mistaken."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.model.fingerprints import fingerprint
from mlnlab.structure.lhl import LIFTING, LhlState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.model.database import Database
    from mlnlab.structure.lhl_params import LhlParams


def first_state(databases: Sequence[Database], method: str, params: LhlParams) -> LhlState:
    """Return the state with which a run begins."""
    return LhlState(LIFTING, data=_digest(databases), settings=f"{method}: {params.text()}")


def _digest(databases: Sequence[Database]) -> str:
    """Return what is equal for equal predicates, constants and facts in the same order."""
    found = hashlib.sha256()
    for database in databases:
        declared = [(name, one.types) for name, one in database.vocabulary.predicates.items()]
        found.update(f"{declared} {fingerprint(database)} ".encode())
    return found.hexdigest()[:32]


def refuse_other_state(first: LhlState, state: object, called: str = "This state") -> None:
    """Refuse what is no state of the run that begins with ``first``, before anything is computed from it."""
    if not isinstance(state, LhlState):
        raise ArgumentError(
            f"start takes a state of a structure learner, such as trace[-1].state, not {state!r:.60}."
        )
    if not state.data or not state.settings:
        raise ArgumentError(
            f"{called} does not say of which data and settings it is, so that nobody can go on from it. "
            "Begin anew, with another file where one is named."
        )
    if state.data != first.data:
        raise ArgumentError(
            f"{called} belongs to other databases: their predicates, constants or facts are not the same. Go "
            "on with those with which the run began, or begin anew, with another file where one is named."
        )
    if state.settings != first.settings:
        raise ArgumentError(
            f"{called} is of a run with other settings, {_differing(state.settings, first.settings)}. Go on "
            "with these, or begin anew, with another file where one is named."
        )


def _differing(settings: str, others: str) -> str:
    """Return what is different in the settings of a run, its method or parameters."""
    known = set(others.replace(": ", ", ").split(", "))
    return ", ".join(one for one in settings.replace(": ", ", ").split(", ") if one not in known)[:400]
