"""An estimated count gone through message by message, and a changing world gone through flip by flip.

Sarkhel, Venugopal, Pham, Singla and Gogate (AAAI 2016): IJGP(i) estimates the number of true groundings from
messages in a join graph; the message that would change most is sent next, and where the world changes by one
atom, most messages stay as they are. Both runs go the same way each time, so they go on from a state by going
there again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.counts.counting_plan import planned_seconds
from mlnlab.counting.elimination.cluster_counter import ClusterCounter
from mlnlab.counting.elimination.counted_world import CountedWorld, place_row, reads
from mlnlab.counting.elimination.network_counter import DenseRun
from mlnlab.counting.elimination.network_explaining import variable_names
from mlnlab.errors import TooLargeError, count_of
from mlnlab.logic.formulas.formulas import Atom
from mlnlab.model.database.fingerprints import constants_of
from mlnlab.steps.run_identity import OfRun, RunIdentity, digest, resume_run, settings_text
from mlnlab.steps.state_layout import FLAG, REPORTED, TEXT, ArrayOf, Whole, holds
from mlnlab.steps.step import Step, number_states
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.counting.facts.sorted_facts import Facts
    from mlnlab.factors.join_graphs.propagation import Propagation
    from mlnlab.logic.formulas.ground_atoms import GroundAtom

SOON = 1.0  # seconds of an exact count that is made beside an estimate


@storable("counting.MessageState")
@dataclass(frozen=True, slots=True, eq=False)
class MessageState(OfRun):
    """The estimate after some messages; arrays are read-only.

    Message 2 l goes forward over link l of the join graph, message 2 l + 1 back.
    """

    number: int = field(metadata=holds(Whole()))  # of messages that were sent
    message: int = field(metadata=holds(Whole(-1)))  # that was sent last, -1 before the first
    # By how much each message would change if it were sent now; sent in turn, by how much it last did.
    changes: NDArray[np.float64] = field(metadata=holds(ArrayOf(np.float64, ("messages",), least=0.0)))
    estimate: float = field(metadata=holds(REPORTED))  # of the number of true groundings
    exact: float = field(metadata=holds(REPORTED))  # NaN where it would take long to know
    settled: bool = field(metadata=holds(FLAG))

    def metrics(self) -> Mapping[str, float]:
        """Return the estimate, the exact number where it is known, and how much messages still change."""
        change = {"largest_change": float(self.changes.max())} if len(self.changes) else {}
        return {**_list_numbers(self.estimate, self.exact), **change}


@storable("counting.FlipState")
@dataclass(frozen=True, slots=True, eq=False)
class FlipState(OfRun):
    """The estimate after some flips, and which messages the last one had computed again."""

    number: int = field(metadata=holds(Whole()))  # of flips
    atom: str = field(metadata=holds(TEXT))  # that was flipped last, empty before the first
    true: bool = field(metadata=holds(FLAG))  # its value now
    changed: NDArray[np.bool_] = field(metadata=holds(ArrayOf(np.bool_, ("clusters",))))  # tables
    recomputed: NDArray[np.bool_] = field(metadata=holds(ArrayOf(np.bool_, ("messages",))))
    sweeps: float = field(metadata=holds(REPORTED))  # messages that were sent, for each that there is
    estimate: float = field(metadata=holds(REPORTED))
    exact: float = field(metadata=holds(REPORTED))
    settled: bool = field(metadata=holds(FLAG))

    def metrics(self) -> Mapping[str, float]:
        """Return the estimate, the exact number where it is known, and how many messages were recomputed."""
        return {**_list_numbers(self.estimate, self.exact), "recomputed": float(self.recomputed.sum())}


def _list_numbers(estimate: float, exact: float) -> dict[str, float]:
    return {"estimate": estimate, **({"exact": exact} if isfinite(exact) else {})}


def _seal_array(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


S = TypeVar("S", MessageState, FlipState)


class ClusterRun(ABC, Generic[S]):
    """A formula in a world with its join graph, as something that goes step by step."""

    kind: type[S]
    called: str
    flips: tuple[GroundAtom, ...] = ()

    def __init__(self, counter: ClusterCounter, facts: Facts) -> None:
        """Take the formula, prepared for messages, and the world; nothing is computed yet."""
        self.counter, self.facts = counter, facts
        self.graph, self.params, self.formula = counter.graph, counter.params, str(counter.formula)
        self.names = variable_names(counter.network)

    def __iter__(self) -> Iterator[S]:
        return self.resume(None)

    def steps(self) -> Iterator[Step[S]]:
        """Yield the states with their numbers and times."""
        return number_states(self)

    def resume(self, state: S | None) -> Iterator[S]:
        """Yield the states that follow one; those before it are computed again."""
        return resume_run(self.identity, self.kind, state, self._go_on, self._sizes)

    def _go_on(self, state: S | None) -> Iterator[S]:
        return islice(self._states(), 0 if state is None else state.number + 1, None)

    @abstractmethod
    def _states(self) -> Iterator[S]: ...

    def _sizes(self) -> dict[str, int]:
        return {"messages": 2 * len(self.graph.links), "clusters": len(self.graph.clusters)}

    @cached_property
    def identity(self) -> RunIdentity:
        """The identity of a run of this formula in this world."""
        facts = self.facts
        rows = (part for name in sorted(facts.vocabulary.predicates) for part in (name, facts.rows(name)))
        return RunIdentity(
            self.called, data=digest(*constants_of(facts.vocabulary), *rows),
            model=repr(self.counter.formula), settings=settings_text(self.params),
        )  # fmt: skip

    def holds(self, atom: GroundAtom, state: S) -> bool:
        """Tell whether an atom is true in the world of a state."""
        begun = bool((self.facts.rows(atom.predicate) == self._row(atom)).all(axis=1).any())
        return begun != bool(self.flips[: state.number].count(atom) % 2)

    def with_flip(self, atom: GroundAtom, state: S) -> FlipSteps:
        """Return the run of the flips up to a state, and of one more."""
        return FlipSteps(self.counter, self.facts, (*self.flips[: state.number], atom))

    def _row(self, atom: GroundAtom) -> tuple[int, ...]:
        words = self.facts.vocabulary
        domains = map(words.domain, words[atom.predicate].types)
        return tuple(domain.number(name) for domain, name in zip(domains, atom.arguments, strict=True))

    @cached_property
    def _exactly(self) -> Counter:
        return Counter(self.counter.formula, self.facts.vocabulary)

    def _count_exactly(self, facts: Facts) -> float:
        """Return the exact number of true groundings, NaN where that is estimated to take long."""
        if planned_seconds(self.counter.formula, facts) > SOON:
            return nan
        with suppress(TooLargeError, OverflowError):
            return float(self._exactly(facts))
        return nan

    def __repr__(self) -> str:
        shape = repr(self.graph).partition(" of ")[2].rstrip(">")
        return f"<{type(self).__name__} of {self.formula[:200]}: {shape}>"


class ClusterSteps(ClusterRun[MessageState]):
    """An estimated count as an iterable of states, from no message to settled ones: a message each."""

    kind, called = MessageState, "a count by messages"

    def _states(self) -> Iterator[MessageState]:
        exact = self._count_exactly(self.facts)
        if not all(self.counter.network.sizes):  # some variable has no values
            none = np.zeros(self._sizes()["messages"])
            yield MessageState(0, -1, _seal_array(none), 0.0, exact, settled=True)
            return
        run = DenseRun(self.facts)
        passing, bindings = self.counter.propagation(run), self.counter.count_bindings(run)
        passing.prepare()
        state = self._state(passing, bindings, -1, exact)
        yield state
        for _ in range(self.params.sweeps):
            if state.settled:
                return
            for message in passing.send_each():
                state = self._state(passing, bindings, message, exact)
                yield state

    def _state(self, passing: Propagation, bindings: int, message: int, exact: float) -> MessageState:
        settled = float(passing.changes.max(initial=0.0)) <= passing.least_change
        found = self.counter.count_from(passing.estimate_log_z(), bindings, settled=settled)
        changes = _seal_array(passing.changes.copy())
        return MessageState(passing.sent, message, changes, float(found.number), exact, settled)


class FlipSteps(ClusterRun[FlipState]):
    """A world whose atoms flip one after the other, as an iterable of states: a flip each."""

    kind, called = FlipState, "counts of flips"

    def __init__(self, counter: ClusterCounter, facts: Facts, flips: Sequence[GroundAtom]) -> None:
        """Take the atoms that flip, too."""
        super().__init__(counter, facts)
        self.flips = tuple(flips)

    @cached_property
    def identity(self) -> RunIdentity:
        """The identity of a run with these flips."""
        return replace(super().identity, question=digest(*map(str, self.flips)))

    def _states(self) -> Iterator[FlipState]:
        world = CountedWorld(self.counter, self.facts)
        none = np.zeros(len(self.graph.clusters), bool)
        yield self._state(world, 0, "", none, true=False)
        for number, atom in enumerate(self.flips, 1):
            predicate, row = atom.predicate, self._row(atom)
            world.flip(predicate, row)
            changed = self._mark_changed(predicate, row)
            yield self._state(world, number, str(atom), changed, true=world.holds(predicate, row))

    def _mark_changed(self, predicate: str, row: tuple[int, ...]) -> NDArray[np.bool_]:
        """Return in which clusters the tables at home have a cell for an atom."""
        found = np.zeros(len(self.graph.clusters), bool)
        for home, one in zip(self.graph.homes, self.counter.network.constraints, strict=True):
            source = one.constraint.source
            is_literal = isinstance(source, Atom)
            if reads(source, predicate) and (not is_literal or place_row(one, row) is not None):
                found[home] = True
        return found

    def _state(
        self, world: CountedWorld, number: int, atom: str, changed: NDArray[np.bool_], *, true: bool
    ) -> FlipState:
        recomputed = np.zeros(self._sizes()["messages"], bool)
        recomputed[list(world.recomputed)] = True
        return FlipState(
            number, atom, true, _seal_array(changed), _seal_array(recomputed), world.sweeps,
            float(world.number), self._count_exactly(world.facts), world.estimate.settled,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"{super().__repr__().rstrip('>')}; {count_of(len(self.flips), 'flip')}>"
