"""Update counts as a world changes flip by flip, in time proportional to the changes.

A flip changes a count by Δn of that one atom. It is found by fixing the atom's constants in each derivative
of the normal form (:mod:`mlnlab.counting.formulas.conjunction_derivatives`) and looking up the rest from
there, always where the fewest rows are; an atom whose other variables occur nowhere else only adds its number
of rows. Quantifiers and cardinalities are views (:mod:`mlnlab.counting.incremental.views`): a flip changes
the counts behind few bindings, and those that cross the bound are flips of the view, with consequences of
their own.
"""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.deltas.quantified import without_cardinalities
from mlnlab.counting.facts.sorted_facts import Facts, facts_of
from mlnlab.counting.formulas.indicators import normal_form
from mlnlab.counting.incremental.flip_arrays import (
    copy_store,
    new_store,
    programs_of,
    with_buffer,
    with_log,
    with_queue,
    with_rows,
    with_table,
)
from mlnlab.counting.incremental.flip_programs import ChangingRelation, Compiler
from mlnlab.counting.incremental.views import View, Views
from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.formulas import Formula
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.model.database.world import World, check_ground_atom
from mlnlab.model.mln.mln import MLN

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from mlnlab.kernels.counting.changing_relations import Store
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.database.database import Database

MOST_UNDONE = 1000  # calls that can be taken back
_SAFE = 1 << 62
# Lookups between two moments at which an interrupt is heard: some ten milliseconds, compiled and not.
_STRETCH, _PLAIN_STRETCH = 1 << 17, 1 << 10


class IncrementalCounts:
    r"""n_i of several formulas in a world, or several chains of worlds, that change atom by atom.

    Single atoms are flipped as :class:`~mlnlab.logic.formulas.ground_atoms.GroundAtom`; samplers pass rows of
    constant numbers, many at once. Each method says by how much the counts change, and ``undo`` takes it
    back; also where a call was interrupted: no flip is left half made, and those that were made are taken
    back by it.

    >>> import mlnlab as ml
    >>> from mlnlab.logic.formulas.ground_atoms import GroundAtom
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
        self._store = self._fill_store(views, numbers, kind)
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
        from mlnlab.kernels.compiled import plain_twin
        from mlnlab.kernels.counting.changing_relations import place_of

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
        """Return the changes that each atom's flip alone would make."""
        found: list[list[int]] = self._run(self._atoms.of_atoms(atoms, chain), changing=False).tolist()
        return found

    def flip(self, atom: GroundAtom, chain: int = 0) -> list[int]:
        """Flip an atom; return by how much each count has changed."""
        return self.flip_all([atom], chain)

    def flip_all(self, atoms: Iterable[GroundAtom], chain: int = 0) -> list[int]:
        """Flip several atoms, one after the other; return by how much each count has changed in all."""
        flips = self._atoms.of_atoms(atoms, chain)
        return _total(self._apply_flips(flips))

    # --- many at once

    def changes_of(self, predicate: str, rows: ArrayLike, chains: ArrayLike = 0) -> NDArray[Any]:
        """Return the changes that each atom's flip alone would make: rows are atoms, columns are formulas.

        ``rows`` hold constant numbers; ``chains`` is one chain for all, or one for each row.
        """
        return self._run(self._atoms.of_rows(predicate, rows, chains), changing=False)

    def flip_rows(self, predicate: str, rows: ArrayLike, chains: ArrayLike = 0) -> NDArray[Any]:
        """Flip atoms one after the other, each in its chain; return the changes by each flip.

        A block of which exactly one is true moves by two rows; its change is the sum over these rows.
        """
        return self._apply_flips(self._atoms.of_rows(predicate, rows, chains))

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
        """Return an independent copy of the counts; the preparation is shared."""
        other = object.__new__(IncrementalCounts)
        other.__dict__.update(self.__dict__)
        other._store = copy_store(self._store)
        other._done = deque(self._done, MOST_UNDONE)
        return other

    # --- running the kernel

    def _apply_flips(self, flips: Flips) -> NDArray[Any]:
        def keep(done: int) -> None:
            self._done.append(first_of(flips, done))

        return self._run(flips, changing=True, record=keep)

    def _run(
        self, flips: Flips, *, changing: bool, record: Callable[[int], None] | None = None
    ) -> NDArray[Any]:
        """Return the changes by flips; each is made or not, never in part, and their number is recorded."""
        from mlnlab.kernels.counting.changing_relations import ENTRIES, ITEM, LEFT, STARTED, taken_back
        from mlnlab.kernels.counting.counting_flips import flip_atoms
        from mlnlab.kernels.counting.flip_lookups import DONE

        changes = np.zeros((len(flips[2]), len(self.formulas)), self._store.totals.dtype)
        kernel, stretch = self._kernel(flip_atoms), _STRETCH if self._kernel is _as_it_is else _PLAIN_STRETCH
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
        from mlnlab.kernels.counting.changing_relations import move_entries
        from mlnlab.kernels.counting.flip_lookups import (
            BUFFER_FULL,
            LOG_FULL,
            QUEUE_FULL,
            ROWS_FULL,
            TABLE_FULL,
        )

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
            self._kernel(move_entries)(self._store, larger)
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

    def _fill_store(self, views: Views, numbers: Sequence[int], kind: type) -> Store:
        from mlnlab.kernels.counting.changing_relations import put_rows

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
        fill = self._kernel(put_rows)
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
        from mlnlab.kernels.counting.changing_relations import note_counts

        for number, view in enumerate(views):
            keys = keys_of(view.counts.rows, self._compiler.by_name[view.predicate.name].sizes)
            owner = int(self._programs.views[number, 1]) + chain * len(self._programs.strides)
            weights = np.asarray(view.counts.weights).astype(store.number.dtype)
            self._kernel(note_counts)(store, owner, keys, weights)


def _total(changes: NDArray[Any]) -> list[int]:
    return [sum(column) for column in changes.T.tolist()]


def _compiled_or_plain(kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a wrapper that fits a kernel to a kind of number; beyond 64 bits, plain Python counts."""
    from mlnlab.kernels.compiled import plain_twin

    return plain_twin if kind is object else _as_it_is


def _as_it_is(kernel: Callable[..., Any]) -> Callable[..., Any]:
    return kernel


# --- which formulas are followed in which facts: those of a model, or some that were parsed -----


def followed_formulas(asked: object, world: Database | World | Facts) -> tuple[tuple[Formula, ...], Facts]:
    """Return the formulas, of a model those of ``mln.expand(db)``, and the facts to count them in."""
    if isinstance(asked, MLN):
        facts_of(world)  # says what is wrong with it
        expanded = asked.expand(world)
        return tuple(one.formula for one in expanded.formulas), facts_of(world, expanded.vocabulary)
    if not isinstance(asked, Formula | Iterable) or isinstance(asked, str):
        raise ArgumentError(f"A model is needed, or formulas as mln.parse returns them, not {asked!r:.60}.")
    formulas = (asked,) if isinstance(asked, Formula) else tuple(asked)
    for formula in formulas:
        if not isinstance(formula, Formula):
            raise ArgumentError(f"Formulas are needed, as mln.parse returns them, not {formula!r:.60}.")
    return formulas, facts_of(world)


def number_of_chains(chains: object) -> int:
    """Return how many chains there are to be, after checking that it is a number of things."""
    if not isinstance(chains, int) or isinstance(chains, bool):
        raise ArgumentError(f"The number of chains must be a whole number, not {chains!r:.60}.")
    if chains < 1:
        raise ArgumentError(f"At least one chain is needed, not {chains}.")
    return chains


# --- ground atoms as the kernel that follows flips knows them: by chain, relation and key -------

Flips = tuple["NDArray[np.int64]", "NDArray[np.int64]", "NDArray[np.int64]"]  # chains, relations, keys


class FlipKeys:
    """Finds the numbers of atoms, and explains the errors in invalid atoms."""

    def __init__(
        self, relations: Mapping[object, ChangingRelation], vocabulary: Vocabulary, chains: int
    ) -> None:
        """Take the relations by name, and the number of chains."""
        self._relations, self._vocabulary, self._number_of_chains = relations, vocabulary, chains

    def of_atoms(self, atoms: object, chain: ArrayLike) -> Flips:
        """Return the numbers of ground atoms in one chain."""
        if not isinstance(atoms, Iterable):
            raise ArgumentError(f"A list of ground atoms is needed, not {atoms!r:.60}.")
        found = [self._number(atom) for atom in atoms]
        numbers = np.array(found, np.int64).reshape(len(found), 2)
        return self._chains(chain, len(found)), numbers[:, 0].copy(), numbers[:, 1].copy()

    def _number(self, atom: object) -> tuple[int, int]:
        if not isinstance(atom, GroundAtom):
            raise ArgumentError(f'A ground atom is needed, as GroundAtom("Smokes", ("Anna",)), not {atom!r}.')
        check_ground_atom(atom, self._vocabulary)
        relation = self._relations[atom.predicate]
        key = 0
        for type_, name in zip(self._vocabulary[atom.predicate].types, atom.arguments, strict=True):
            domain = self._vocabulary.domain(type_)
            key = key * len(domain) + domain.number(name)
        return relation.number, key

    def of_rows(self, predicate: object, rows: ArrayLike, chains: ArrayLike) -> Flips:
        """Return the numbers of atoms given by rows of constant numbers."""
        if not isinstance(predicate, str) or predicate not in self._vocabulary.predicates:
            raise ArgumentError(f"There is no predicate {predicate}.")
        relation = self._relations[predicate]
        numbers = _whole_numbers(rows)
        if numbers is not None and numbers.shape == (0,):
            numbers = numbers.reshape(0, len(relation.sizes))
        if numbers is None or numbers.ndim != 2 or numbers.shape[1] != len(relation.sizes):
            raise ArgumentError(
                f"Atoms of {self._vocabulary[predicate]} are rows of {len(relation.sizes)} constant numbers."
            )
        if ((numbers < 0) | (numbers >= np.array(relation.sizes, np.int64))).any():
            raise ArgumentError(
                f"A row has a number that is not a constant of {self._vocabulary[predicate]}."
            )
        keys = keys_of(numbers.astype(np.int64), relation.sizes)
        return self._chains(chains, len(keys)), np.full(len(keys), relation.number, np.int64), keys

    def _chains(self, chains: ArrayLike, number: int) -> NDArray[np.int64]:
        found = _whole_numbers(chains)
        if found is None:
            raise ArgumentError(f"A chain is given by its number, from 0, not by {chains!r:.60}.")
        if ((found < 0) | (found >= self._number_of_chains)).any():
            several = f"are {self._number_of_chains} chains, numbered from 0"
            raise ArgumentError(f"There {'is one chain, 0' if self._number_of_chains == 1 else several}.")
        if found.shape not in {(), (number,)}:
            raise ArgumentError(f"One chain is needed for all {number} atoms, or one for each.")
        return np.broadcast_to(found.astype(np.int64), (number,)).copy()


def _whole_numbers(given: ArrayLike) -> NDArray[Any] | None:
    """Return an array of whole numbers; ``None`` for anything else, also for floats."""
    try:
        found = np.asarray(given)
    except (ValueError, TypeError, OverflowError):  # rows of different lengths, or what numpy has no word for
        return None
    if found.dtype.kind in "iu":
        return found
    return found.astype(np.int64) if not found.size and found.dtype.kind == "f" else None  # an empty list


def first_of(flips: Flips, number: int) -> Flips:
    """Return the first of some flips."""
    chains, relations, keys = flips
    return chains[:number], relations[:number], keys[:number]


def keys_of(rows: NDArray[Any], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return rows of constant numbers as one number each, ordered as the rows are."""
    keys = np.zeros(len(rows), np.int64)
    for column, size in enumerate(sizes):
        keys = keys * size + rows[:, column]
    return keys


# --- hold Ctrl-C back between two writes --------------------------------------------------------


class InterruptsHeldBack:
    """While it is entered, an interrupt is heard only where ``listen`` is called, and at the end.

    >>> with InterruptsHeldBack() as interrupts:
    ...     interrupts.listen()  # nobody has pressed Ctrl-C
    """

    def __init__(self) -> None:
        """Nothing is held back yet."""
        self._before: Any = None
        self._waiting: list[tuple[int, FrameType | None]] = []

    def __enter__(self) -> Self:
        """Hold interrupts back; they reach the main thread only, and only there can that be asked for."""
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if callable(before):
                self._before = before
                signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._waiting.append((number, frame))

    def listen(self) -> None:
        """Let an interrupt through that came meanwhile: as a rule it raises."""
        if self._waiting:
            heard = self._waiting.pop()
            self._waiting.clear()
            self._before(*heard)

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let interrupts come when they come again."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        if problem is None:
            self.listen()
