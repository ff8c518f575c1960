"""Which run a state belongs to, and the one door through which a state comes back into a run.

A state carries the identity of its run: short texts for the method, data, model, weights, question, settings,
prior and seed, most of them digests. How long a run goes on, who watches it and who does its work are no part
of it, so that a run may be resumed to go further. :func:`resume_run` compares identities before a state is
taken, then the state's parts with what the run's sizes demand (:mod:`mlnlab.steps.state_layout`), so that
nothing from a file reaches a kernel unseen. A state without an identity, from a file of an older version, can
be looked at and not resumed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, field, fields, is_dataclass
from typing import TypeVar

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.steps.state_layout import Sizes, make_damage_error, refuse_misshapen
from mlnlab.steps.values.encoding import storable
from mlnlab.steps.values.parts import with_fields

_LONGEST = 300  # characters of the settings in a sentence


@storable("steps.RunIdentity")
@dataclass(frozen=True, slots=True)
class RunIdentity:
    """The identity of a run: its method, data, model and settings; a missing part is empty."""

    method: str
    data: str = ""  # constants and facts
    model: str = ""  # formulas
    weights: str = ""
    question: str = ""  # what is asked for, given and open
    settings: str = ""
    prior: str = ""
    seed: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class OfRun:
    """A state that knows which run it belongs to."""

    identity: RunIdentity | None = field(default=None, kw_only=True, repr=False, compare=False)


S = TypeVar("S", bound=OfRun)


def digest(*parts: object) -> str:
    """Return a short text that is equal for equal texts, numbers and arrays, whatever process asks.

    >>> digest("Smokes(x)", 1.5) == digest("Smokes(x)", 1.5), digest("ab", "c") == digest("a", "bc")
    (True, False)
    """
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, np.ndarray):
            text = f"{part.dtype.str}{part.shape}".encode()
            content = np.ascontiguousarray(part).tobytes()
        else:
            text, content = b"", str(part).encode("utf-8", "surrogatepass")
        found.update(b"%d %b %d " % (len(text), text, len(content)))
        found.update(content)
    return found.hexdigest()


def settings_text(params: object, without: Iterable[str] = ()) -> str:
    """Return the parameters of a run in words, without its seed and those that say how long it goes on."""
    left_out = {"seed", *without}
    if not is_dataclass(params):
        return str(params)
    names = (f.name for f in fields(params) if f.name not in left_out)
    return ", ".join(f"{name}={getattr(params, name)!r}".removesuffix(".0") for name in names)  # 1 is 1.0


# --- the door -------------------------------------------------------------------------------------


def resume_run(
    identity: RunIdentity, kind: type[S], start: object, states: Callable[[S | None], Iterator[S]],
    sizes: Callable[[], Sizes], flaw: Callable[[S], str] | None = None,
) -> Iterator[S]:  # fmt: skip
    """Return the states of a run, all or those after ``start``, which is checked at once.

    ``sizes`` is asked for what the state's fields are declared by, ``flaw`` for what only the run can know of
    it: in words, or nothing.
    """
    return mark_states(
        states(None if start is None else check_state(identity, kind, start, sizes, flaw)), identity
    )


def check_state(
    identity: RunIdentity, kind: type[S], state: object, sizes: Callable[[], Sizes],
    flaw: Callable[[S], str] | None = None, called: str = "This state",
) -> S:  # fmt: skip
    """Return a state that a run can go on from, or raise a sentence that says why it cannot."""
    known = of_run(identity, kind, state, called)
    refuse_misshapen(known, sizes(), called)
    found = flaw(known) if flaw is not None else ""
    if found:
        raise make_damage_error(called, found)
    return known


def accept_state(identity: RunIdentity, kind: type[S], state: object) -> S:
    """Return a state that is only looked at: one that does not say whose it is will do."""
    if isinstance(state, kind) and state.identity is None:
        return state
    return of_run(identity, kind, state)


def of_run(identity: RunIdentity, kind: type[S], state: object, called: str = "This state") -> S:
    """Return a state if it belongs to this very run, else raise an error that names the differences."""
    if not isinstance(state, kind):
        raise ArgumentError(f"{called} is not a state of {identity.method}: {_explain_kind(state, kind)}.")
    other = state.identity
    if type(other) is not RunIdentity or not all(type(text) is str for text in astuple(other)):
        raise ArgumentError(
            f"{called} does not say which run it belongs to, so nothing can go on from it: it was made by "
            "hand or by an older version. Begin a new run, with another file where one is named."
        )
    differences = list(_differences(other, identity))
    if differences:
        raise ArgumentError(
            f"{called} was made {' and '.join(differences)}. Go on with what it was made with, or begin a "
            "new run, with another file where one is named."
        )
    return state


def _explain_kind(state: object, kind: type[OfRun]) -> str:
    """Say whose state it is instead: of another method where it says so, or of another type."""
    other = state.identity if isinstance(state, OfRun) else None
    if isinstance(other, RunIdentity):
        return (
            f"it was made by {other.method!s:.60}. Go on with that, or begin a new run, with another file "
            "where one is named"
        )
    return f"it is of type {type(state).__name__:.60}, and {kind.__name__} is needed, such as trace[-1].state"


def mark_states(states: Iterable[S], identity: RunIdentity) -> Iterator[S]:
    """Yield the states with the identity of their run."""
    for state in states:
        yield with_fields(state, {"identity": identity})


def _differences(other: RunIdentity, own: RunIdentity) -> Iterator[str]:
    """Yield how the run of a state differs, in words that follow "was made"."""
    if other.method != own.method:
        yield f"by {other.method!s:.60}, not by {own.method}"
        return
    words = {
        "data": "from other data (constants or facts)",
        "model": "with other formulas",
        "weights": "with other weights to begin at, fixed, tied or bounded"
        if own.prior
        else "with other weights",
        "question": "for another question (what is asked for, given or open)",
        "prior": "with another prior",
    }
    for name, text in words.items():
        if getattr(other, name) != getattr(own, name):
            yield text
    if other.settings != own.settings:
        there, here = (
            _differing(str(other.settings), own.settings),
            _differing(own.settings, str(other.settings)),
        )
        yield f"with other settings ({there or 'none'} instead of {here or 'none'})"
    if other.seed != own.seed:
        yield f"with seed {other.seed!s:.40} instead of {own.seed}"


def _differing(settings: str, others: str) -> str:
    """Return the settings that the others do not have."""
    known = set(others.split(", "))
    return ", ".join(one for one in settings.split(", ") if one not in known)[:_LONGEST]
