"""Where a click makes a learner's run pause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.steps.breakpoints import decreases, sign_change, when

if TYPE_CHECKING:
    from mlnlab.steps.stopping import Predicate


def pause_condition(name: str, formula: int | None) -> Predicate | None:
    """Return where a run shall pause: ``back``, ``fall``, or ``sign`` of the formula's weight."""
    match name:
        case "back":
            return when("A step was taken back", lambda state: not state.move.accepted)
        case "fall":
            return decreases("objective")
        case "sign" if formula is not None:
            called = f"the weight of formula {formula}"
            return sign_change(lambda state: state.weights[formula], name=called)
    return None
