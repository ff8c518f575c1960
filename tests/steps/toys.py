"""Small algorithms and states for the tests of steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from mlnlab.steps.values.encoding import storable
from mlnlab.steps.values.randomness import generator_from, generator_state


def frozen(values, dtype=np.float64):
    array = np.array(values, dtype)
    array.setflags(write=False)
    return array


@storable("toys.Count")
@dataclass(frozen=True, slots=True)
class Count:
    """A number that goes up."""

    value: int

    def metrics(self):
        return {"value": float(self.value)}


def counting(stop=None, start=0):
    value = start
    while stop is None or value < stop:
        yield Count(value)
        value += 1


@storable("toys.Sample")
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A random walk's state: all that its next step needs."""

    weights: np.ndarray
    randomness: Mapping[str, object]
    xoshiro: np.ndarray
    moves: int

    def metrics(self):
        return {"norm": float(np.abs(self.weights).sum()), "moves": float(self.moves)}


def walk(seed=None, size=6, start=None, kind=np.random.PCG64):
    """Walk at random, with a numpy generator and a hand-made one; yield the start only when it is new."""
    if start is None:
        rng, moves = np.random.Generator(kind(seed)), 0
        weights, xoshiro = np.zeros(size), rng.integers(1, 2**63, 4, dtype=np.uint64)
        yield Sample(frozen(weights), generator_state(rng), frozen(xoshiro, np.uint64), 0)
    else:
        rng, moves = generator_from(start.randomness), start.moves
        weights, xoshiro = start.weights.copy(), start.xoshiro.copy()
    while True:
        place = xoshiro_next(xoshiro) % len(weights)
        weights[place] += rng.normal()
        moves += 1
        yield Sample(frozen(weights), generator_state(rng), frozen(xoshiro, np.uint64), moves)


def xoshiro_next(state):
    """Return the next number of xoshiro256++ and change its state."""
    mask = 2**64 - 1
    a, b, c, d = (int(word) for word in state)
    total = (a + d) & mask
    result = ((((total << 23) | (total >> 41)) & mask) + a) & mask
    shifted = (b << 17) & mask
    c, d = c ^ a, d ^ b
    b, a = b ^ c, a ^ d
    c ^= shifted
    d = ((d << 45) | (d >> 19)) & mask
    state[:] = np.array([a, b, c, d], np.uint64)
    return result


@storable("toys.Colour")
class Colour(Enum):
    RED = 1
    BLUE = 2


@storable("toys.Place")
class Place(NamedTuple):
    row: int
    names: tuple


@storable("toys.Inner")
@dataclass(frozen=True)
class Inner:
    scale: float
    grid: np.ndarray = field(compare=False)


@storable("toys.Mixed")
@dataclass(frozen=True, slots=True, eq=False)
class Mixed:
    """A state of every kind of part."""

    weights: np.ndarray
    flags: np.ndarray
    facts: tuple
    notes: dict
    place: Place
    inner: Inner
    label: str
    score: float
    model: object

    def metrics(self):
        return {"score": self.score, "facts": float(len(self.facts))}


MODEL = frozenset({"a big thing", "that never changes"})

SCALARS = st.one_of(
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.booleans(),
    st.none(),
    st.text(max_size=4),
    st.sampled_from(Colour),
)


def first_state(size=40):
    return Mixed(
        weights=frozen(np.zeros(size)),
        flags=frozen(np.zeros((3, 5)), np.uint8),
        facts=(),
        notes={},
        place=Place(0, ()),
        inner=Inner(1.0, frozen(np.eye(3))),
        label="start",
        score=0.0,
        model=MODEL,
    )


@st.composite
def edits(draw, state):
    """Return a state that differs from another one in something, or in nothing."""
    changes = {name: getattr(state, name) for name in state.__slots__}
    for _ in range(draw(st.integers(0, 3))):
        what = draw(
            st.sampled_from(["entries", "all", "flags", "facts", "notes", "place", "inner", "plain", "copy"])
        )
        changes |= draw(EDITS[what](state))
        state = Mixed(**changes)
    return Mixed(**changes)


@st.composite
def _entries(draw, state):
    weights = state.weights.copy()
    for place in draw(st.lists(st.integers(0, len(weights) - 1), max_size=25)):
        weights[place] = draw(st.sampled_from([0.0, -0.0, 1.5, float("nan"), float("inf"), -2.25]))
    return {"weights": frozen(weights)}


def _all(state):
    sizes = st.sampled_from([len(state.weights), 40, 3])
    return sizes.map(lambda size: {"weights": frozen(np.arange(size) + 0.5)})


@st.composite
def _flags(draw, state):
    flags = state.flags.copy()
    flags[draw(st.integers(0, 2)), draw(st.integers(0, 4))] ^= 1
    order = draw(st.sampled_from("CF"))
    return {"flags": frozen(np.array(flags, order=order), np.uint8)}


@st.composite
def _facts(draw, state):
    facts = list(state.facts)
    what = draw(st.sampled_from(["append", "pop", "set", "many"]))
    if what == "append":
        facts.append(draw(SCALARS))
    elif what == "many":
        facts += range(10)
    elif facts and what == "pop":
        facts.pop(draw(st.integers(0, len(facts) - 1)))
    elif facts:
        facts[draw(st.integers(0, len(facts) - 1))] = draw(SCALARS)
    return {"facts": tuple(facts)}


@st.composite
def _notes(draw, state):
    notes = dict(state.notes)
    key = draw(st.sampled_from(["a", "b", "$", ("c", 1), 7]))
    if draw(st.booleans()):
        notes.pop(key, None)
    if draw(st.booleans()):
        notes[key] = draw(SCALARS)
    return {"notes": notes}


@st.composite
def _place(draw, state):
    return {"place": state.place._replace(row=draw(st.integers(0, 3)), names=draw(st.tuples(SCALARS)))}


@st.composite
def _inner(draw, state):
    grid = state.inner.grid.copy()
    grid[draw(st.integers(0, 2)), 1] = draw(st.floats())
    return {"inner": Inner(draw(st.sampled_from([1.0, 2.0])), frozen(grid))}


def _plain(_):
    return st.fixed_dictionaries({}, optional={"label": st.text(max_size=3), "score": st.floats()})


def _copy(state):
    return st.just({"weights": frozen(state.weights), "notes": dict(state.notes)})


EDITS = {
    "entries": _entries,
    "all": _all,
    "flags": _flags,
    "facts": _facts,
    "notes": _notes,
    "place": _place,
    "inner": _inner,
    "plain": _plain,
    "copy": _copy,
}


@st.composite
def histories(draw, most=25):
    """Return a list of states, each edited from the one before."""
    states = [first_state()]
    for _ in range(draw(st.integers(0, most))):
        states.append(draw(edits(states[-1])))
    return states
