"""Counts that follow a world from flip to flip, in time proportional to what changes.

A flip changes a count by Δn of that one atom. It is found by fixing the atom's constants in each derivative
of the normal form (:mod:`mlnlab.counting.derivatives`) and looking up what is left from there, always where
the fewest rows are; one whose other variables occur nowhere else only adds its number of rows. Quantifiers
and cardinalities are views (:mod:`mlnlab.counting.views`): a flip changes the counts behind few bindings, and
those that cross the bound are flips of the view, with consequences of their own.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.counter import Counter
from mlnlab.counting.flip_arrays import (
    copied,
    new_store,
    programs_of,
    with_buffer,
    with_log,
    with_queue,
    with_rows,
    with_table,
)
from mlnlab.counting.flip_keys import FlipKeys, first_of, keys_of
from mlnlab.counting.flip_programs import Compiler
from mlnlab.counting.followed_formulas import followed_formulas, number_of_chains
from mlnlab.counting.held_back import InterruptsHeldBack
from mlnlab.counting.indicators import normal_form
from mlnlab.counting.quantified import without_cardinalities
from mlnlab.counting.views import Views
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from mlnlab.counting.facts import Facts
    from mlnlab.counting.flip_keys import Flips
    from mlnlab.counting.views import View
    from mlnlab.kernels.changing_relations import Store
    from mlnlab.logic.formulas import Formula
    from mlnlab.logic.ground_atoms import GroundAtom
    from mlnlab.model.database import Database
    from mlnlab.model.mln import MLN
    from mlnlab.model.world import World

MOST_UNDONE = 1000  # calls that can be taken back
_SAFE = 1 << 62
# Lookups between two moments at which an interrupt is heard: some ten milliseconds, compiled and not.
_STRETCH, _PLAIN_STRETCH = 1 << 17, 1 << 10


class IncrementalCounts:
    r"""n_i of several formulas in a world, or several chains of worlds, that change atom by atom.

    Single atoms are flipped as :class:`~mlnlab.logic.ground_atoms.GroundAtom`; samplers pass rows of constant
    numbers, many at once. Each method says by how much the counts change, and ``undo`` takes it back; also
    where a call was interrupted: no flip is left half made, and those that were made are taken back by it.

    >>> import mlnlab as ml
    >>> from mlnlab.logic.ground_atoms import GroundAtom
    >>> mln = ml.MLN.from_text("person = {Anna, Bob}\nSmokes(person)")
    >>> world = ml.World.of(mln.vocabulary, [("Smokes", ("Anna",))])
    >>> counts = ml.IncrementalCounts([mln.parse("Smokes(x) v Smokes(y)")], world)
    >>> counts.numbers
    [3]
    >>> counts.flip(GroundAtom("Smokes", ("Bob",)))
    [1]
    >>> counts.numbers
    [4]
    >>> counts.changes_of("Smokes", [[0], [1]]).tolist()
    [[-1], [-1]]
    """

    def __init__(
        self, formulas: MLN | Formula | Iterable[Formula], world: Database | World | Facts, *, chains: int = 1
    ) -> None:
        """Count the formulas, or those of ``mln.expand(db)``, once, by planning; all chains start there."""
        self.chains = chains = number_of_chains(chains)
        self.formulas, facts = followed_formulas(formulas, world)
        self.vocabulary = facts.vocabulary
        numbers = [Counter(formula, self.vocabulary)(facts) for formula in self.formulas]
        views = Views(facts)
        terms = [views.plain(without_cardinalities(normal_form(formula))) for formula in self.formulas]
        self._compiler = Compiler(views.vocabulary)
        for number, own in enumerate(terms):
            self._compiler.add(number, own)
        for number, view in enumerate(views.all):
            self._compiler.add(-1 - number, view.terms, view)
        kind = self._kind(numbers, views.all)
        self._programs = programs_of(self._compiler, views.all, kind)
        self._atoms = FlipKeys(self._compiler.by_name, self.vocabulary, chains)
        self._kernel = _compiled_or_plain(kind)
        self._store = self._filled(views, numbers, kind)
        self._done: deque[Flips] = deque(maxlen=MOST_UNDONE)

    # --- one atom at a time

    @property
    def numbers(self) -> list[int]:
        """The counts now, of the first chain where there are several."""
        numbers: list[int] = self._store.totals[0].tolist()
        return numbers

    @property
    def numbers_by_chain(self) -> NDArray[Any]:
        """The counts now, a row for each chain."""
        return self._store.totals.copy()

    def holds(self, atom: GroundAtom, chain: int = 0) -> bool:
        """Return whether an atom is true now."""
        from mlnlab.kernels.changing_relations import place_of
        from mlnlab.kernels.compiled import plain_twin

        _, (relation,), (key,) = self._atoms.of_atoms([atom], chain)
        owner = int(self._programs.indexes[relation]) + self._shift(int(relation), chain)
        with np.errstate(over="ignore"):  # hashes are meant to
            place = plain_twin(place_of)(self._store.owner, self._store.key, owner, int(key))
        return bool(self._store.owner[place] >= 0 and self._store.number[place] != 0)

    def change(self, atom: GroundAtom, chain: int = 0) -> list[int]:
        """Return by how much each count would change if the atom were flipped; nothing is changed."""
        found: list[int] = self._run(self._atoms.of_atoms([atom], chain), changing=False)[0].tolist()
        return found

    def changes(self, atoms: Sequence[GroundAtom], chain: int = 0) -> list[list[int]]:
        """Return what each atom's flip alone would change."""
        found: list[list[int]] = self._run(self._atoms.of_atoms(atoms, chain), changing=False).tolist()
        return found

    def flip(self, atom: GroundAtom, chain: int = 0) -> list[int]:
        """Flip an atom; return by how much each count has changed."""
        return self.flip_all([atom], chain)

    def flip_all(self, atoms: Iterable[GroundAtom], chain: int = 0) -> list[int]:
        """Flip several atoms, one after the other; return by how much each count has changed in all."""
        flips = self._atoms.of_atoms(atoms, chain)
        return _total(self._flipped(flips))

    # --- many at once

    def changes_of(self, predicate: str, rows: ArrayLike, chains: ArrayLike = 0) -> NDArray[Any]:
        """Return what each atom's flip alone would change: a row for each atom, a column for each formula.

        ``rows`` hold constant numbers; ``chains`` is one chain for all, or one for each row.
        """
        return self._run(self._atoms.of_rows(predicate, rows, chains), changing=False)

    def flip_rows(self, predicate: str, rows: ArrayLike, chains: ArrayLike = 0) -> NDArray[Any]:
        """Flip atoms one after the other, each in its chain; return what each flip has changed.

        A block of which exactly one is true moves by two rows; the sum over the rows is what it changes.
        """
        return self._flipped(self._atoms.of_rows(predicate, rows, chains))

    def undo(self) -> list[int]:
        """Take the last flips back, all that one call has made; return by how much each count has changed.

        Where it is interrupted, it is called again for those that are left.
        """
        if not self._done:
            raise ArgumentError("Nothing was flipped that could be taken back.")
        flips = self._done[-1]
        number = len(flips[2])

        def keep_those_left(done: int) -> None:
            self._done.pop()
            if done < number:
                self._done.append(first_of(flips, number - done))

        back = flips[0][::-1].copy(), flips[1][::-1].copy(), flips[2][::-1].copy()
        return _total(self._run(back, changing=True, record=keep_those_left))

    def copy(self) -> IncrementalCounts:
        """Return counts that are now the same and go their own way; what is prepared is shared."""
        other = object.__new__(IncrementalCounts)
        other.__dict__.update(self.__dict__)
        other._store = copied(self._store)
        other._done = deque(self._done, MOST_UNDONE)
        return other

    # --- running the kernel

    def _flipped(self, flips: Flips) -> NDArray[Any]:
        def keep(done: int) -> None:
            self._done.append(first_of(flips, done))

        return self._run(flips, changing=True, record=keep)

    def _run(
        self, flips: Flips, *, changing: bool, record: Callable[[int], None] | None = None
    ) -> NDArray[Any]:
        """Return what flips change; whatever happens, each is made or not, and how many is recorded."""
        from mlnlab.kernels.changing_relations import ENTRIES, ITEM, LEFT, STARTED, taken_back
        from mlnlab.kernels.counting_flips import flipped
        from mlnlab.kernels.flip_lookups import DONE

        changes = np.zeros((len(flips[2]), len(self.formulas)), self._store.totals.dtype)
        kernel, stretch = self._kernel(flipped), _STRETCH if self._kernel is _as_it_is else _PLAIN_STRETCH
        with InterruptsHeldBack() as interrupts, np.errstate(over="ignore"):  # hashes are meant to
            self._store.cursor[:ENTRIES] = 0
            try:
                self._store.cursor[LEFT] = stretch
                while (status := kernel(self._programs, self._store, *flips, changing, changes)) != DONE:
                    self._make_room(status)
                    interrupts.listen()
                    self._store.cursor[LEFT] = stretch
            finally:
                done = int(self._store.cursor[ITEM])
                if self._store.cursor[STARTED]:
                    self._kernel(taken_back)(self._programs, self._store, int(flips[0][done]))
                if record is not None:
                    record(done)
        return changes

    def _make_room(self, status: int) -> None:
        """Let the store grow where the kernel stopped for want of room; it is the old one until then."""
        from mlnlab.kernels.changing_relations import moved
        from mlnlab.kernels.flip_lookups import BUFFER_FULL, LOG_FULL, QUEUE_FULL, ROWS_FULL, TABLE_FULL

        if status == BUFFER_FULL:
            self._store = with_buffer(self._store)
        elif status == QUEUE_FULL:
            self._store = with_queue(self._store)
        elif status == LOG_FULL:
            self._store = with_log(self._store)
        elif status == ROWS_FULL:
            self._store = with_rows(self._store)
        elif status == TABLE_FULL:
            larger = with_table(self._store)
            self._kernel(moved)(self._store, larger)
            self._store = larger

    def _shift(self, relation: int, chain: int) -> int:
        first = int(self._programs.indexes[relation])
        return 0 if self._programs.static[first] else chain * len(self._programs.strides)

    def _kind(self, numbers: Sequence[int], views: Sequence[View]) -> type:
        """Return the kind of number that holds every count, whatever is flipped."""
        reach = sum(map(abs, numbers)) + sum(abs(view.usual) for view in views)
        for found in self._compiler.programs:
            reach += sum(program.reach for program in found)
        return np.int64 if reach < _SAFE else object

    def _filled(self, views: Views, numbers: Sequence[int], kind: type) -> Store:
        from mlnlab.kernels.changing_relations import filled

        changing = {
            relation.number: keys_of(views.facts.rows(str(name)), relation.sizes)
            for name, relation in self._compiler.by_name.items() if relation.listed is None
        }  # fmt: skip
        static = {
            relation.number: keys_of(relation.listed, relation.sizes)
            for relation in self._compiler.relations if relation.listed is not None
        }  # fmt: skip
        rows = self.chains * sum(map(len, changing.values())) + sum(map(len, static.values()))
        counted = self.chains * sum(view.counts.length for view in views.all)
        store = new_store(self._programs, self.chains, len(self.formulas), rows, counted, kind)
        fill = self._kernel(filled)
        with np.errstate(over="ignore"):
            for relation, keys in static.items():
                fill(self._programs, store, relation, keys, 0)
            for chain in range(self.chains):
                for relation, keys in changing.items():
                    fill(self._programs, store, relation, keys, chain)
                self._list_counts(store, views.all, chain)
        store.totals[:] = np.array(numbers, kind)
        return store

    def _list_counts(self, store: Store, views: Sequence[View], chain: int) -> None:
        from mlnlab.kernels.changing_relations import counted

        for number, view in enumerate(views):
            keys = keys_of(view.counts.rows, self._compiler.by_name[view.predicate.name].sizes)
            owner = int(self._programs.views[number, 1]) + chain * len(self._programs.strides)
            weights = np.asarray(view.counts.weights).astype(store.number.dtype)
            self._kernel(counted)(store, owner, keys, weights)


def _total(changes: NDArray[Any]) -> list[int]:
    return [sum(column) for column in changes.T.tolist()]


def _compiled_or_plain(kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return what makes a kernel fit for a kind of number; beyond 64 bits plain Python does the counting."""
    from mlnlab.kernels.compiled import plain_twin

    return plain_twin if kind is object else _as_it_is


def _as_it_is(kernel: Callable[..., Any]) -> Callable[..., Any]:
    return kernel
