"""The state of a random number generator as a value that a state can hold and a file can keep.

    state = State(..., randomness=generator_state(rng))
    rng = generator_from(state.randomness)          # draws what the first one would have drawn

Compiled loops keep theirs in a uint64 array, which needs none of this. What ``Generator.spawn`` would give is
not part of it: spawn before the first step.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.steps.values.parts import seal_value

_GENERATORS = {
    kind.__name__: kind
    for kind in (
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.MT19937,
        np.random.Philox,
        np.random.SFC64,
    )
}


def generator_state(rng: np.random.Generator) -> Mapping[str, object]:
    """Return the state of a generator as a mapping that nobody can change."""
    state = cast("Mapping[str, object]", rng.bit_generator.state)
    if state["bit_generator"] not in _GENERATORS:
        known = ", ".join(_GENERATORS)
        raise ArgumentError(f"The state of a {state['bit_generator']} cannot be kept; those of {known} can.")
    return _seal_state(state)


def _seal_state(state: Mapping[str, object]) -> Mapping[str, object]:
    values: dict[str, object] = {}
    for name, value in state.items():
        values[name] = _seal_state(value) if isinstance(value, Mapping) else seal_value(value)
    return MappingProxyType(values)


def generator_from(state: Mapping[str, object]) -> np.random.Generator:
    """Return a generator that goes on where the one with this state was."""
    kind = _GENERATORS.get(str(state.get("bit_generator")))
    if kind is None:
        raise ArgumentError(f"A generator's state has to name one of {', '.join(_GENERATORS)}.")
    bits = kind(0)
    try:
        bits.state = cast("Any", _plain(state))
    except (TypeError, ValueError, KeyError, OverflowError) as problem:
        raise ArgumentError(f"This is not the state of a {kind.__name__}: {problem}.") from None
    return np.random.Generator(bits)


def _plain(state: Mapping[str, object]) -> dict[str, object]:
    return {name: _plain(value) if isinstance(value, Mapping) else value for name, value in state.items()}
