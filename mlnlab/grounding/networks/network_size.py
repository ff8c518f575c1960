"""How large a ground network will be, told before anything is grounded (lecture notes, eq. 13).

The number of open atoms is exact: it is counted from the declarations and the facts, block by block. The
groundings of clauses that evidence leaves open are counted too, by aggregation, where a bound is not small;
those of other formulas are bounded: each holds an open atom, and its closed premises are facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError, count_of
from mlnlab.grounding.joins.decided_counts import AtomBounds, DecidedCounts
from mlnlab.grounding.question.clause_literals import as_literals
from mlnlab.grounding.question.question import MOST_OPEN_ATOMS, Opening, opening
from mlnlab.logic.evaluation import typed_arithmetic
from mlnlab.logic.formulas.formulas import (
    And,
    Atom,
    Cardinality,
    Formula,
    Implies,
    Not,
    Or,
    Quantified,
    Variable,
)
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import children, subformulas
from mlnlab.logic.relations import Relation
from mlnlab.model.mln.writing import statement_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from mlnlab.logic.vocabulary import Predicate
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

    Scoped = tuple[Formula, frozenset[Variable]]

FEW = 1 << 16  # groundings for which a bound is good enough


@dataclass(frozen=True, slots=True)
class SourceSize:
    """How many groundings a formula has, and how many of them may depend on open atoms."""

    text: str
    kind: str  # "formula", "soft evidence" or "given"
    groundings: int
    most_open: int
    exact: bool  # whether just so many are open


@dataclass(frozen=True, slots=True)
class NetworkSize:
    """The estimated size of a ground network; ``most_open`` is an upper bound."""

    open_atoms: int
    sources: tuple[SourceSize, ...]

    @property
    def groundings(self) -> int:
        """The number of groundings of all formulas."""
        return sum(source.groundings for source in self.sources)

    @property
    def most_open(self) -> int:
        """The upper bound of the open groundings."""
        return sum(source.most_open for source in self.sources)

    @property
    def exact(self) -> bool:
        """Whether ``most_open`` is the exact number of open groundings."""
        return all(source.exact for source in self.sources)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each formula."""
        import pandas as pd

        rows = [(s.text, s.kind, s.groundings, s.most_open, s.exact) for s in self.sources]
        return pd.DataFrame(rows, columns=["formula", "kind", "groundings", "open at most", "exact"])

    def __repr__(self) -> str:
        bound = "" if self.exact else "at most "
        return (
            f"<NetworkSize: {count_of(self.open_atoms, 'open atom')}, {bound}{self.most_open:,} of "
            f"{count_of(self.groundings, 'grounding')}>"
        )


def network_size(
    mln: MLN,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str | Formula] | str | Formula | None = None,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the public name of infer's argument
    closed: Sequence[str] | str = (),
    given: Sequence[str | Formula] | str | Formula = (),
) -> NetworkSize:
    r"""Return how large the ground network of a question would be; nothing is grounded for it.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Friends(person, person)\n1 Friends(x, y) => Friends(y, x)")
    >>> ml.network_size(mln, {"person": 1_000_000})
    <NetworkSize: 1,000,000,000,000 open atoms, at most 1,000,000,000,000 of 1,000,000,000,000 groundings>
    """
    return size_of(opening(mln, db, query, open, given, closed))


def size_of(asked: Opening) -> NetworkSize:
    """Return how large the network of a question would be."""
    return _Sizes(asked).size()


def open_atoms_of(asked: Opening) -> dict[str, int]:
    """Return how many open atoms each predicate has, of those that have some; none of them is listed."""
    return {name: number for name, number in _Sizes(asked).opened.items() if number}


def bounds_of(asked: Opening, name: str) -> AtomBounds:
    """Return the true atoms of a predicate without blocks, and the false ones where the others are open."""
    predicate = asked.mln.vocabulary[name]
    relation = _relation(asked, predicate)
    atoms = prod(len(asked.mln.vocabulary.domain(type_)) for type_ in predicate.types)
    if name in asked.opened:
        return AtomBounds(relation.true, relation.false, other_cannot=True, atoms=atoms)
    possible = np.concatenate([relation.true, relation.unknown, relation.soft])
    return AtomBounds(relation.true, possible, other_cannot=False, atoms=atoms)


def _relation(asked: Opening, predicate: Predicate) -> Relation:
    data = asked.data
    known = data is not None and predicate.name in data.vocabulary.predicates
    return data.relation(predicate.name) if data is not None and known else Relation(predicate.arity)


class _Sizes:
    """Numbers of open atoms and of facts, predicate by predicate."""

    def __init__(self, asked: Opening) -> None:
        self.asked = asked
        self.vocabulary = asked.mln.vocabulary
        self.counts = DecidedCounts(self.vocabulary, lambda name: bounds_of(asked, name))
        predicates = self.vocabulary.predicates.values()
        self.opened = {p.name: self._open_atoms(p, self._relation(p)) for p in predicates}

    def size(self) -> NetworkSize:
        formulas = [(statement_text(w), "formula", w.formula) for w in self.asked.mln.formulas]
        conditions = [(to_text(condition), "given", condition) for condition in self.asked.given]
        sources = [self._source(*source) for source in (*formulas, *conditions)]
        return NetworkSize(sum(self.opened.values()), (*sources, *self._soft()))

    def _relation(self, predicate: Predicate) -> Relation:
        return _relation(self.asked, predicate)

    def _soft(self) -> Iterator[SourceSize]:
        for predicate in self.vocabulary.predicates.values():
            number = len(self._relation(predicate).soft)
            if number:
                # In a block that a fact settles, soft evidence finds nothing open.
                yield SourceSize(predicate.name, "soft evidence", number, number, not predicate.exclusive)

    # --- open atoms -------------------------------------------------------------------------------

    def _open_atoms(self, predicate: Predicate, relation: Relation) -> int:
        is_open = predicate.name in self.asked.opened
        if predicate.exclusive:
            return self._open_in_blocks(predicate, relation, is_open)
        if is_open:
            return self._product(predicate.types) - len(relation.true) - len(relation.false)
        return len(relation.unknown) + len(relation.soft)

    def _open_in_blocks(self, predicate: Predicate, relation: Relation, is_open: bool) -> int:
        """Count block by block: a true atom settles its block."""
        keys = predicate.block_keys
        settled = {tuple(row) for row in relation.true[:, keys].tolist()}
        listed = [relation.false] if is_open else [relation.unknown, relation.soft]
        rows = np.concatenate(listed)[:, keys].tolist()
        unsettled = sum(tuple(row) not in settled for row in rows)
        if not is_open:
            return unsettled
        blocks = self._product([predicate.types[place] for place in keys]) - len(settled)
        members = self._product([predicate.types[place] for place in predicate.exclusive])
        return blocks * members - unsettled

    def _product(self, types: Sequence[str]) -> int:
        return prod(len(self.vocabulary.domain(type_)) for type_ in types)

    # --- groundings -------------------------------------------------------------------------------

    def _source(self, text: str, kind: str, formula: Formula) -> SourceSize:
        sizes = {v: len(self.vocabulary.domain(v.type)) for v in free_variables(formula)}
        groundings = prod(sizes.values())
        most = min(groundings, self._by_open_atoms(formula, sizes), self._by_premises(formula, sizes))
        if most > FEW and (counted := self._count_open_groundings(formula)) is not None:
            return SourceSize(text, kind, groundings, *counted)
        return SourceSize(text, kind, groundings, most, exact=not most or self._leaves_all_open(formula))

    def _count_open_groundings(self, formula: Formula) -> tuple[int, bool] | None:
        """Count the open groundings of a clause or a conjunction of literals; return whether that is exact.

        It may be fewer where a literal and its opposite can be one atom; blocks are bounded only.
        """
        literals = as_literals(formula) or as_literals(formula, positive=False)
        if literals is None:
            return None
        atoms = [(one.atom.predicate, one.positive) for one in literals if isinstance(one.atom, Atom)]
        if any(self.vocabulary[name].exclusive and self.opened[name] for name, _ in atoms):
            return None
        try:
            number = self.counts.count_undecided_groundings(literals) - self.counts.false(literals)
        except TooLargeError:
            return None
        contrary = any((name, not positive) in atoms and self.opened[name] for name, positive in atoms)
        return number, not contrary

    def _by_open_atoms(self, formula: Formula, sizes: Mapping[Variable, int]) -> int:
        """Bound the groundings that hold an open atom: the atom fixes the variables that it has."""
        total = 0
        for part, bound in _parts(formula):
            if isinstance(part, Cardinality) and self.opened[part.predicate]:
                return prod(sizes.values())
            if isinstance(part, Atom):
                fixed = set(part.arguments) - bound
                others = prod(size for variable, size in sizes.items() if variable not in fixed)
                total += self.opened[part.predicate] * others
        return total

    def _by_premises(self, formula: Formula, sizes: Mapping[Variable, int]) -> int:
        """Bound the groundings that no closed premise decides: it must be one of the facts."""
        bound = prod(sizes.values())
        for truth in (True, False):
            for atom in _premises(formula, truth):
                if not self.opened[atom.predicate]:
                    facts = len(self._relation(self.vocabulary[atom.predicate]).true)
                    others = prod(size for v, size in sizes.items() if v not in atom.arguments)
                    bound = min(bound, facts * others)
        return bound

    def _leaves_all_open(self, formula: Formula) -> bool:
        """Return whether surely every grounding depends on open atoms: none can decide itself or is known."""
        parts = list(subformulas(formula))
        atoms = [part for part in parts if isinstance(part, Atom)]
        plain = all(children(part) or isinstance(part, Atom) for part in parts)
        if not plain or not atoms or any(_calculates(part) for part in parts):
            return False
        predicates = [self.vocabulary[atom.predicate] for atom in atoms]
        if any(self.opened[p.name] < self._product(p.types) or p.exclusive for p in predicates):
            return False
        names = [atom.predicate for atom in atoms]
        literals = as_literals(formula) or as_literals(formula, positive=False)
        if literals is not None:  # a clause decides itself where two literals contradict each other
            signs = {(atom.predicate, positive) for atom, positive in literals if isinstance(atom, Atom)}
            return len({name for name, _ in signs}) == len(signs)
        return len(set(names)) == len(names) and not any(isinstance(part, Quantified) for part in parts)


def _premises(formula: Formula, truth: bool) -> Iterator[Atom]:
    """Yield atoms outside quantifiers that, where one of them is false, give the formula this truth."""
    match formula:
        case Atom() if not truth:
            yield formula
        case Not(operand):
            yield from _premises(operand, not truth)
        case And(operands) if not truth:
            yield from chain.from_iterable(_premises(operand, truth) for operand in operands)
        case Or(operands) if truth:
            yield from chain.from_iterable(_premises(operand, truth) for operand in operands)
        case Implies(premise, conclusion) if truth:
            yield from chain(_premises(premise, truth=False), _premises(conclusion, truth))
        case _:
            return


def _calculates(part: Formula) -> bool:
    return next(iter(typed_arithmetic(part)), None) is not None


def _parts(formula: Formula, bound: frozenset[Variable] = frozenset()) -> Iterator[Scoped]:
    """Yield all parts of a formula with the variables that quantifiers bind there."""
    yield formula, bound
    inner = bound | set(formula.variables) if isinstance(formula, Quantified) else bound
    for child in children(formula):
        yield from _parts(child, frozenset(inner))


def refuse_large_network(size: NetworkSize, limit: int, what: str) -> None:
    """Refuse a network with too many open atoms or open groundings, and name the main cause."""
    about = f"{count_of(size.open_atoms, 'open atom')} and up to {count_of(size.most_open, 'open grounding')}"
    ways = [
        "use fewer constants", "list more facts, or close predicates: only open atoms are ground",
        "ask for single atoms", "ml.lazy_map_state grounds only what it takes to prove a world best",
    ]  # fmt: skip
    if size.open_atoms > MOST_OPEN_ATOMS:
        raise TooLargeError(
            f"The ground {what} would have {about}; the limit is {MOST_OPEN_ATOMS:,} atoms.",
            size.open_atoms,
            ways,
        )
    if size.most_open > limit:
        worst = max(size.sources, key=lambda source: source.most_open)
        raise TooLargeError(
            f"The ground {what} would have {about}; the limit is {limit:,} groundings. Most of them,"
            f" {worst.most_open:,}, come from {worst.text:.200}", size.most_open,
            ["drop or change that formula", *ways, "give a higher limit="],
        )  # fmt: skip
