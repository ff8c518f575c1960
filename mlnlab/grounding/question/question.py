"""Pose a question to a model: ground atoms that are evidence, open atoms, and queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import log
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.grounding.question.impossible_blocks import (
    excluding,
    make_empty_block_error,
    refuse_without_atoms,
)
from mlnlab.logic.formulas.formulas import And, Atom, Formula
from mlnlab.logic.formulas.ground_atoms import NAME, GroundAtom, ground_atom
from mlnlab.logic.formulas.traversal import constants, predicates
from mlnlab.logic.formulas.weights import Soft, ToLearn, WeightedFormula
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.model.database.database import Database
from mlnlab.model.mln.domain_sizes import refuse_unknown_sizes
from mlnlab.model.mln.mln import MLN
from mlnlab.model.mln.typing_of_formulas import complete_types
from mlnlab.model.mln.writing import statement_text
from mlnlab.steps.free_memory import refuse_beyond_memory

if TYPE_CHECKING:
    from mlnlab.logic.vocabulary import Predicate, Vocabulary

MOST_OPEN_ATOMS = 1_000_000
_ATOM_BYTES = 700  # of one that is listed, as measured

_Parsed = tuple[str, "Formula | None"]  # a predicate's name has no formula


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that worlds differ in: an atom that is false or true, or a block of which one atom is true.

    Option k makes ``atoms[k]`` true, the others false; where ``may_be_none``, a last option makes none true.
    So a single open atom has two options: 0, it is true, and 1, it is false.
    """

    atoms: tuple[GroundAtom, ...]
    may_be_none: bool

    @property
    def options(self) -> int:
        """The number of options."""
        return len(self.atoms) + self.may_be_none


@dataclass(frozen=True, slots=True)
class Question:
    """An expanded model, the atoms that are true by evidence, the choices that are open, and the queries."""

    mln: MLN
    true: frozenset[GroundAtom]
    choices: tuple[Choice, ...]
    soft: tuple[tuple[GroundAtom, float], ...]
    query_atoms: tuple[GroundAtom, ...]
    query_formulas: tuple[tuple[str, Formula], ...]
    given: tuple[Formula, ...]
    asked: Opening | None = field(default=None, compare=False, repr=False)  # what its atoms were listed for
    wholly_open: frozenset[str] = frozenset()  # predicates whose open atoms are not among the choices

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary with all constants."""
        return self.mln.vocabulary

    def holds(self, predicate: str, arguments: tuple[str, ...]) -> bool:
        """Return whether an atom that is not part of a choice is true."""
        return (predicate, arguments) in self.true


@dataclass(frozen=True, slots=True)
class Opening:
    """A question before its atoms are listed: the facts, the queries, and the open predicates."""

    mln: MLN  # expanded
    data: Database | None
    queries: tuple[_Parsed, ...]
    opened: frozenset[str]  # predicates whose unlisted atoms are unknown
    given: tuple[Formula, ...]


def opening(
    mln: MLN,
    db: Database | Mapping[str, int] | None,
    query: Sequence[str | Formula] | str | Formula | None,
    open_predicates: Sequence[str] | str = (),
    given: Sequence[str | Formula] | str | Formula = (),
    closed: Sequence[str] | str = (),
) -> Opening:
    """Check the arguments of a question, and find the predicates it leaves open: see :func:`pose`."""
    refuse_no_model(mln)
    expanded = mln.expand(db)
    refuse_unknown_sizes(expanded.vocabulary)
    refuse_unlearned(expanded)
    data = db if isinstance(db, Database) else None
    queries = tuple(_queries(expanded, query, data))
    opened, shut = names_in(open_predicates, "open"), names_in(closed, "closed")
    names = _open_names(expanded, data, queries, opened, shut)
    conditions = tuple(_formula(expanded, item) for item in formulas_in(given, "given"))
    return Opening(expanded, data, queries, frozenset(names), conditions)


def refuse_no_model(mln: object) -> None:
    """Refuse an argument that is not a model; point to the model of a learning result."""
    if isinstance(mln, MLN):
        return
    inner = " Give its model: found.mln." if isinstance(getattr(mln, "mln", None), MLN) else ""
    raise ArgumentError(
        f"A model is needed first, made by ml.MLN.from_text or ml.load, not {mln!r:.50}.{inner}"
    )


def pose(
    mln: MLN,
    db: Database | Mapping[str, int] | None,
    query: Sequence[str | Formula] | str | Formula | None,
    open_predicates: Sequence[str] | str = (),
    given: Sequence[str | Formula] | str | Formula = (),
    closed: Sequence[str] | str = (),
) -> Question:
    """Sort the ground atoms into evidence and choices.

    The unlisted atoms of the queries' predicates are open, listed ones are evidence; other predicates are
    closed unless named open. Without a database everything is open. What is declared closed (``*P``) or named
    closed stays so, unless it is named open.
    """
    return list_atoms(opening(mln, db, query, open_predicates, given, closed))


def list_atoms(asked: Opening, wholly_open: frozenset[str] = frozenset()) -> Question:
    """List the atoms that evidence makes true, and the choices that are open, but of some predicates."""
    vocabulary, data = asked.mln.vocabulary, asked.data
    true = frozenset(data.atoms()) if data is not None else frozenset()
    choices = tuple(open_choices(vocabulary, data, asked.opened, true, wholly_open))
    atoms = [a for q in asked.queries for a in _query_atoms(q, vocabulary)]
    formulas = [(text, f) for text, f in asked.queries if f is not None and not _is_ground_atom(f)]
    soft = tuple(data.soft_evidence()) if data is not None else ()
    query = tuple(dict.fromkeys(atoms))
    return Question(
        asked.mln, true, choices, soft, query, tuple(formulas), asked.given, asked, wholly_open
    )  # fmt: skip


def drop_listing(asked: Opening) -> Question:
    """Return a question without listed choices, for methods that use only its ``Opening``."""
    true = frozenset(asked.data.atoms()) if asked.data is not None else frozenset()
    atoms = [ground_atom(f) for _, f in asked.queries if isinstance(f, Atom)]
    single = tuple(dict.fromkeys(atom for atom in atoms if atom is not None))
    return Question(asked.mln, true, (), (), single, (), asked.given, asked)


def refuse_unlistable(asked: Opening) -> None:
    """Refuse a question whose atoms :func:`list_atoms` would refuse, before any other work."""
    vocabulary = asked.mln.vocabulary
    whole = {name for name, formula in asked.queries if formula is None}
    for name, predicate in vocabulary.predicates.items():
        if predicate.exclusive or name in asked.opened or name in whole:
            _refuse_many(predicate, vocabulary)


def _open_names(
    mln: MLN, data: Database | None, queries: Sequence[_Parsed], opened: list[str], closed: list[str]
) -> set[str]:
    """Return the predicates whose unlisted atoms are unknown."""
    known = mln.vocabulary.predicates
    for name in (*opened, *closed):
        mln.vocabulary[name]
    names = set(known) if data is None else set(_list_open_predicates(queries))
    kept = {name for name in names if not known[name].closed and name not in closed}
    return kept | set(opened)


def refuse_unlearned(mln: MLN) -> None:
    """Raise a sentence where a formula has no weight."""
    missing = [formula for formula in mln.formulas if isinstance(formula.weight, ToLearn)]
    if missing:
        shown = "; ".join(statement_text(formula) for formula in missing[:3])
        raise ArgumentError(
            f"{len(missing)} formula{'s have' if len(missing) > 1 else ' has'} no weight: {shown}. Write a "
            "number in front, or a full stop behind for a hard formula, or learn the weights from data."
        )


def _queries(
    mln: MLN, query: Sequence[str | Formula] | str | Formula | None, data: Database | None
) -> list[_Parsed]:
    if query is None:
        if data is not None:
            raise ArgumentError(
                'Say what to ask: query=["Smokes"] for all atoms of a predicate, or ["Smokes(Anna)"].'
            )
        return [(name, None) for name in mln.vocabulary.predicates]
    found: list[_Parsed] = []
    for item in formulas_in(query, "query"):
        named = isinstance(item, str) and NAME.fullmatch(item)
        if named and isinstance(item, str):
            _refuse_empty(mln.vocabulary[item], mln.vocabulary)
            found.append((item, None))
        else:
            found.append((item if isinstance(item, str) else "", _formula(mln, item)))
    return found


def _refuse_empty(predicate: Predicate, vocabulary: Vocabulary) -> None:
    for type_ in predicate.types:
        if not len(vocabulary.domain(type_)):
            raise ArgumentError(
                f"{predicate} has no ground atoms: no constant of type {type_} is known. List some, give"
                " facts that mention them, or sizes."
            )


def _formula(mln: MLN, item: str | Formula) -> Formula:
    formula = mln.parse(item) if isinstance(item, str) else complete_types(item, mln.vocabulary)
    for constant in constants(formula):
        if constant.type and constant.name not in mln.vocabulary.domain(constant.type):
            hint = did_you_mean(constant.name, mln.vocabulary.domain(constant.type)) or "."
            raise ArgumentError(f"{constant.name} is not a constant of type {constant.type}{hint}")
    return formula


def _list_open_predicates(queries: Sequence[_Parsed]) -> Iterator[str]:
    for name, formula in queries:
        yield from (name,) if formula is None else predicates(formula)


def _is_ground_atom(formula: Formula) -> bool:
    return isinstance(formula, Atom) and ground_atom(formula) is not None


def _query_atoms(query: _Parsed, vocabulary: Vocabulary) -> Iterator[GroundAtom]:
    name, formula = query
    if formula is None:
        predicate = vocabulary[name]
        _refuse_many(predicate, vocabulary)
        for arguments in product(*map(vocabulary.domain, predicate.types)):
            yield GroundAtom(name, arguments)
    elif isinstance(formula, Atom):
        atom = ground_atom(formula)
        if atom is not None:
            yield atom


def _refuse_many(predicate: Predicate, vocabulary: Vocabulary) -> None:
    number = 1
    for type_ in predicate.types:
        number *= len(vocabulary.domain(type_))
    if number > MOST_OPEN_ATOMS:
        raise TooLargeError(
            f"{predicate} has {number:,} ground atoms; they cannot be listed one by one.", number,
            ["ask for single atoms", "use fewer constants"],
        )  # fmt: skip
    refuse_beyond_memory(_ATOM_BYTES * number, f"Listing the {number:,} ground atoms of {predicate}")


def open_choices(
    vocabulary: Vocabulary, data: Database | None, opened: frozenset[str], true: frozenset[GroundAtom],
    passed: frozenset[str] = frozenset(),
) -> Iterator[Choice]:  # fmt: skip
    """Yield the open choices: unlisted atoms of opened predicates, and atoms marked as unknown by facts."""
    soft = {atom for atom, _ in data.soft_evidence()} if data is not None else set()
    for name, predicate in vocabulary.predicates.items():
        if name in passed:
            refuse_without_atoms(predicate, vocabulary)
            continue
        marked = _list_marked_atoms(data, name, "unknown") | {atom for atom in soft if atom.predicate == name}
        if not (predicate.exclusive or name in opened or marked):
            continue
        decided = _list_marked_atoms(data, name, "false") | _list_marked_atoms(data, name, "true")
        if predicate.exclusive:
            yield from _block_choices(vocabulary, predicate, name in opened, marked, decided, true)
        elif name in opened:
            _refuse_many(predicate, vocabulary)
            for arguments in product(*map(vocabulary.domain, predicate.types)):
                atom = GroundAtom(name, arguments)
                if atom not in decided:
                    yield Choice((atom,), may_be_none=True)
        else:
            for atom in sorted(marked - decided):
                yield Choice((atom,), may_be_none=True)


def _list_marked_atoms(data: Database | None, predicate: str, mark: str) -> set[GroundAtom]:
    if data is None or predicate not in data.vocabulary.predicates:
        return set()
    return {GroundAtom(predicate, row) for row in data.rows(predicate, mark)}  # type: ignore[arg-type]


def _block_choices(
    vocabulary: Vocabulary, predicate: Predicate, is_open: bool, marked: set[GroundAtom],
    decided: set[GroundAtom], true: frozenset[GroundAtom],
) -> Iterator[Choice]:  # fmt: skip
    """Yield one choice for each block (declared with ``!``) that evidence leaves open."""
    _refuse_many(predicate, vocabulary)
    if not predicate.function or is_open:  # a function that stays closed may be undefined
        refuse_without_atoms(predicate, vocabulary)
    blocks: dict[tuple[str, ...], list[GroundAtom]] = {}
    for arguments in product(*map(vocabulary.domain, predicate.types)):
        key = tuple(arguments[position] for position in predicate.block_keys)
        blocks.setdefault(key, []).append(GroundAtom(predicate.name, arguments))
    for members in blocks.values():
        settled = [atom for atom in members if atom in true]
        if len(settled) > 1:
            raise excluding(predicate, members, settled)
        free = [a for a in members if a not in decided and (is_open or a in marked)]
        if settled:
            continue
        # Such a function is undefined where the facts give it no value.
        undefined = predicate.function and not is_open
        if not free and not predicate.at_most_one and not undefined:
            raise make_empty_block_error(predicate, members, is_open=is_open)
        if free:
            yield Choice(tuple(free), may_be_none=predicate.at_most_one)


def soft_formulas(question: Question) -> tuple[WeightedFormula, ...]:
    """Return soft evidence as weighted atoms: virtual evidence multiplies the odds by p / (1 - p)."""
    return tuple(
        WeightedFormula(atom.atom(question.vocabulary[atom.predicate].types), Soft(log(p / (1 - p))))
        for atom, p in question.soft
    )


def conjunction(formulas: Sequence[Formula]) -> Formula:
    """Return the conjunction of some formulas."""
    return formulas[0] if len(formulas) == 1 else And(tuple(formulas))


# --- check the names and formulas given in a question, one or several, before any lookup --------


def names_in(names: Sequence[str] | str, argument: str) -> list[str]:
    """Return the names of predicates that an argument gives."""
    return [names] if isinstance(names, str) else _several(names, str, argument, "names of predicates")


def formulas_in(items: Sequence[str | Formula] | str | Formula, argument: str) -> list[str | Formula]:
    """Return the formulas, or texts of such, that an argument gives."""
    accepted = "formulas or their texts" if argument == "given" else "predicates, atoms or formulas"
    return [items] if isinstance(items, str | Formula) else _several(items, str | Formula, argument, accepted)


def _several(items: object, kind: Any, argument: str, accepted: str) -> list[Any]:  # noqa: ANN401 - a union
    """Return the items as a list; refuse items of another kind."""
    if not isinstance(items, Iterable):
        raise _make_refusal(argument, accepted, items)
    found = list(items)
    for item in found:
        if not isinstance(item, kind):
            raise _make_refusal(argument, accepted, item)
    return found


def _make_refusal(argument: str, accepted: str, given: object) -> ArgumentError:
    example = '"Smokes"' if argument != "given" else '"Smokes(Anna)"'
    return ArgumentError(
        f"{argument}= takes {accepted}, such as {example}, one or a list, not {given!r:.50}."
    )
