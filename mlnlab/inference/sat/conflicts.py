"""Why no world is possible: a smallest set of formulas, facts and blocks that contradict each other.

A SAT solver is asked which ground formulas it needs for its refutation. These few are ground once more, now
with every fact they mention as an assumption of its own; then one assumption after the other is left out as
long as the rest still contradicts itself (deletion-based extraction of a minimal unsatisfiable subset,
Marques-Silva, 2010). What is left is minimal: without any one part of it there is a world.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from mlnlab.errors import MlnlabError, TooLargeError, UnsatisfiableError
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.clauses.ground_shapes import Target, clause_target, table_target
from mlnlab.grounding.networks.ground_bindings import (
    Grounding,
    ground_atoms_of,
    groundings_of,
)
from mlnlab.grounding.networks.propositional import NumberedClause, Propositions
from mlnlab.grounding.question.impossible_blocks import ImpossibleBlockError
from mlnlab.grounding.question.question import Choice, Opening, Question, list_atoms, opening, refuse_no_model
from mlnlab.inference.sat.conflict_parts import Conflict, Part, Remedy
from mlnlab.inference.sat.refutation import core_of, find_needed_parts, hard_parts, is_impossible
from mlnlab.logic.formulas.formulas import Formula, Not
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.formulas.weights import Hard, WeightedFormula
from mlnlab.model.database.fact_places import place_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

IMPOSSIBLE = "No world satisfies the hard formulas together with the evidence and the conditions."
MOST_SECONDS = 2.0  # for leaving out parts; what is left after that is not proven minimal
SECONDS_TO_DECIDE = 20.0  # whether there is a conflict at all
SECONDS_TO_CONFIRM = 5.0  # that a conflict is minimal, by grounding it again
MOST_ATOMS = 20_000  # that the formulas of a conflict may mention


def conflict(
    mln: MLN,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str | Formula] | str | Formula | None = None,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the public name of infer's argument
    closed: Sequence[str] | str = (),
    given: Sequence[str | Formula] | str | Formula = (),
) -> Conflict | None:
    r"""Return the conflict among hard formulas and facts, or ``None`` where a world is possible.

    The arguments are those of :func:`ml.infer`; without a query every atom that the database does not list
    is unknown, so that only what is written down can contradict itself.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x).")
    >>> ml.conflict(mln, ml.Database.from_text("Smokes(Anna)", mln)) is None
    True
    >>> db = ml.Database.from_text("Smokes(Anna)\n!Cancer(Anna)", mln)
    >>> [str(part) for part in ml.conflict(mln, db).parts]
    ['Smokes(x) => Cancer(x).    where x = Anna', 'Smokes(Anna)', '!Cancer(Anna)']
    >>> print(ml.conflict(mln, ml.Database.from_text("Smokes(Anna)", mln), "Smokes").of("closed")[0])
    Cancer(Anna) is not listed, and Cancer is closed: it is false
    """
    from mlnlab.model.database.database import Database as Facts

    refuse_no_model(mln)
    asked = query
    if query is None and isinstance(db, Facts):
        known = mln.vocabulary_with(db)
        asked = [p.name for p in known.predicates.values() if all(len(known.domain(t)) for t in p.types)]
    found = opening(mln, db, asked, open, given, closed)
    try:
        question = list_atoms(found)
    except ImpossibleBlockError as block:
        return _in_block(found, block)
    clauses = ground_clauses(question)
    impossible = is_impossible(clauses, time.monotonic() + SECONDS_TO_DECIDE)
    if impossible is None:
        raise MlnlabError(
            f"Whether a world is possible was not decided within {SECONDS_TO_DECIDE:g} seconds. Leave out"
            " formulas or facts, or use fewer constants, to find what contradicts what."
        )
    return conflict_in(clauses) if impossible else None


def _in_block(asked: Opening, block: ImpossibleBlockError) -> Conflict:
    """Return the conflict of facts with a block's declaration; each of these parts is needed."""
    if not block.members:
        return Conflict((Part("block", str(block)),), minimal=True)
    key = (block.members[0].predicate, ())
    facts = [_fact_part(asked, atom, atom in block.true) for atom in block.true or block.members]
    parts = _with_places(asked, [_block_part(key, block.members, bool(block.true)), *facts])
    return Conflict(parts, minimal=True, remedies=remedies(asked, parts, 0))


def contradiction(clauses: GroundClauses, hint: str = "") -> UnsatisfiableError:
    """Return the error for ground clauses that no world satisfies: a sentence, and the conflict."""
    return unsatisfiable(f"{IMPOSSIBLE}{hint}", conflict_in(clauses))


def unsatisfiable(sentence: str, found: Conflict) -> UnsatisfiableError:
    """Return an error that says a sentence and the conflict, and carries the conflict."""
    error = UnsatisfiableError(f"{sentence} {found}")
    error.conflict = found
    return error


def conflict_in(clauses: GroundClauses) -> Conflict:
    """Return the conflict in ground clauses that no world satisfies."""
    question = clauses.question
    grounds = _list_needed_groundings(clauses)
    found = None
    with suppress(TooLargeError):
        found = _minimal(question, grounds) if all(g.binding is not None for g in grounds) else None
    if found is None:
        parts = tuple(dict.fromkeys(_formula_part(g)._replace(binding=()) for g in grounds))
        found = Conflict(parts, minimal=False)
    placed = _with_places(question.asked, found.parts)
    ways = remedies(question.asked, placed, clauses.number_of_clauses)
    return replace(found, parts=placed, remedies=ways)


# --- which ground formulas are needed -------------------------------------------------------------


def _list_needed_groundings(clauses: GroundClauses) -> list[Grounding]:
    """Return the ground formulas in the solver's refutation, with their bindings."""
    for source, tally in zip(range(len(clauses.sources)), clauses.tallies, strict=True):
        if clauses.sources[source].hard and tally.false:
            return groundings_of(clauses, source, [None])
    keys = core_of(clauses, SECONDS_TO_DECIDE)
    targets: dict[int, list[Target]] = {}
    for kind, number in keys:
        if kind == "clause":
            source = int(clauses.clause_sources[number])
            targets.setdefault(source, []).append(clause_target(clauses, number))
        elif kind == "table":
            source = int(clauses.table_sources[number])
            targets.setdefault(source, []).append(table_target(clauses, number))
    return [g for source, wanted in targets.items() for g in groundings_of(clauses, source, wanted)]


# --- which facts they contradict ------------------------------------------------------------------


def _minimal(question: Question, grounds: Sequence[Grounding]) -> Conflict | None:
    """Return a minimal set of the ground formulas, the facts that they mention, and blocks."""
    formulas = [ground.formula for ground in grounds]
    mentioned = dict.fromkeys(a for f in formulas for a in ground_atoms_of(f, question.vocabulary))
    blocks = _blocks(question, mentioned)
    atoms = dict.fromkeys([*mentioned, *(atom for members, *_ in blocks.values() for atom in members)])
    if len(atoms) > MOST_ATOMS:
        return None
    number = {atom: place for place, atom in enumerate(atoms, 1)}
    free = Question(
        replace(question.mln, formulas=tuple(WeightedFormula(f, Hard()) for f in formulas)), frozenset(),
        tuple(Choice((atom,), may_be_none=True) for atom in atoms), (), (), (), (),
    )  # fmt: skip
    clauses = ground_clauses(free)
    made = Propositions(clauses)
    by_source: dict[int, list[NumberedClause]] = {place: [] for place in range(len(grounds))}
    for (kind, place), part in hard_parts(made):
        owner = clauses.clause_sources[place] if kind == "clause" else clauses.table_sources[place]
        by_source[int(owner)] += part
    for place, tally in enumerate(clauses.tallies):
        if tally.false:  # a formula that is false whatever the atoms are
            by_source[place] = [[]]
    parts = _claims_of_evidence(question, number, blocks, made)
    parts += [(_formula_part(g), g.formula, by_source[place]) for place, g in enumerate(grounds)]
    keys = [((str(place), place), said) for place, (*_, said) in enumerate(parts)]
    kept = find_needed_parts(keys, seconds=MOST_SECONDS)
    claims = [parts[place][1] for _, place in kept.keys]
    until = time.monotonic() + SECONDS_TO_CONFIRM
    if contradict(claims, atoms, free.mln, until) is False:
        return None
    minimal = kept.minimal and is_minimal(claims, atoms, free.mln, until) is True
    order = {"formula": 0, "condition": 1, "block": 2, "fact": 3, "closed": 4}
    found = [parts[place][0] for _, place in kept.keys]
    return Conflict(tuple(sorted(found, key=lambda part: order[part.kind])), minimal) if found else None


def _claims_of_evidence(
    question: Question, number: Mapping[GroundAtom, int], blocks: _Blocks, made: Propositions
) -> list[tuple[Part, Formula | Choice, list[NumberedClause]]]:
    """Return the claims of facts and blocks about the numbered atoms: in words, and as clauses."""
    parts: list[tuple[Part, Formula | Choice, list[NumberedClause]]] = []
    for atom, value in _facts(question, number, blocks):
        clause = [number[atom] if value else -number[atom]]
        said = fact(atom, value, question.vocabulary)
        parts.append((_fact_part(question.asked, atom, value), said, [clause]))
    for key, (members, may_be_none) in blocks.items():
        clauses = _block_clauses(made, [number[atom] for atom in members], may_be_none)
        parts.append((_block_part(key, members, may_be_none), Choice(members, may_be_none), clauses))
    return parts


_Blocks = dict[tuple[str, tuple[str, ...]], tuple[tuple[GroundAtom, ...], bool]]


def _blocks(question: Question, mentioned: Iterable[GroundAtom]) -> _Blocks:
    """Return the blocks of the atoms: their members, and whether none of them may be true."""
    from itertools import product

    found: _Blocks = {}
    unknown = {atom for choice in question.choices for atom in choice.atoms}
    for atom in mentioned:
        predicate = question.vocabulary[atom.predicate]
        if predicate.exclusive:
            keys = tuple(atom.arguments[position] for position in predicate.block_keys)
            if (atom.predicate, keys) not in found:
                fixed = dict(zip(predicate.block_keys, keys, strict=True))
                ranges = [
                    (fixed[place],) if place in fixed else tuple(question.vocabulary.domain(type_))
                    for place, type_ in enumerate(predicate.types)
                ]
                members = tuple(GroundAtom(atom.predicate, row) for row in product(*ranges))
                # A function that stays closed is undefined where the facts give it no value.
                undefined = predicate.function and unknown.isdisjoint(members)
                may_be_none = predicate.at_most_one or undefined
                found[atom.predicate, keys] = (members, may_be_none)
    return found


def _block_clauses(made: Propositions, numbers: list[int], at_most_one: bool) -> list[NumberedClause]:
    return [*([] if at_most_one else [numbers]), *made.at_most_one(numbers)]


def _facts(
    question: Question, atoms: Iterable[GroundAtom], blocks: _Blocks
) -> Iterable[tuple[GroundAtom, bool]]:
    """Yield the facts about the atoms, except for those that follow from a block and its true atom."""
    unknown = {atom for choice in question.choices for atom in choice.atoms}
    derived = {
        atom
        for members, _ in blocks.values()
        if any(member in question.true for member in members)
        for atom in members
        if atom not in question.true
    }
    for atom in atoms:
        if atom not in unknown and atom not in derived:
            yield atom, atom in question.true


def _fact_part(asked: Opening | None, atom: GroundAtom, value: bool) -> Part:
    if value or _is_listed(asked, atom):
        return Part("fact", f"{'' if value else '!'}{atom}", atom=atom)
    name = atom.predicate
    return Part("closed", f"{atom} is not listed, and {name} is closed: it is false", atom=atom)


def _is_listed(asked: Opening | None, atom: GroundAtom) -> bool:
    """Return whether a fact says that the atom is false."""
    data = asked.data if asked is not None else None
    if data is None or atom.predicate not in data.vocabulary.predicates:
        return False
    domains = [data.vocabulary.domain(type_) for type_ in data.vocabulary[atom.predicate].types]
    if not all(name in domain for name, domain in zip(atom.arguments, domains, strict=True)):
        return False
    row = [domain.number(name) for name, domain in zip(atom.arguments, domains, strict=True)]
    return bool((data.relation(atom.predicate).false == row).all(axis=1).any())


def _with_places(asked: Opening | None, parts: Sequence[Part]) -> tuple[Part, ...]:
    """Return the parts with the places where they were written, as far as these are known."""
    wanted = [(p.atom, not p.text.startswith("!")) for p in parts if p.kind == "fact" and p.atom]
    data = asked.data if asked is not None else None
    known = data.places(wanted) if data is not None and wanted else {}
    found = []
    for part in parts:
        place = known.get((part.atom, not part.text.startswith("!"))) if part.atom is not None else None
        if part.kind == "formula" and asked is not None and asked.mln.places:
            spans = [asked.mln.places[number] for number in copies_of(asked, part)]
            # A formula with * is written once, and becomes several.
            written = dict.fromkeys(place_of(span, span.line_text) for span in spans if span is not None)
            first = next(iter(written), None)
            place = replace(first, again=tuple(written)[1:]) if first is not None else None
        found.append(part._replace(place=place) if part.kind != "closed" else part)
    return tuple(found)


def _block_part(key: tuple[str, tuple[str, ...]], members: tuple[GroundAtom, ...], may_be_none: bool) -> Part:
    shown = ", ".join(map(str, members[:4])) + (", ..." if len(members) > 4 else "")
    return Part("block", f"that {'at most' if may_be_none else 'exactly'} one of {shown} is true ({key[0]})")


def _formula_part(ground: Grounding) -> Part:
    kind = "condition" if ground.kind == "given" else "formula"
    return Part(kind, ground.text, tuple((ground.binding or {}).items()), source=ground.number)


# --- check a conflict before it is reported -----------------------------------------------------

# It is ground again, alone, and judged without any selectors.

# All parts together must have no world; all but any one of them must have one.


def fact(atom: GroundAtom, value: bool, vocabulary: Vocabulary) -> Formula:
    """Return a fact as a formula."""
    said = atom.atom(vocabulary[atom.predicate].types)
    return said if value else Not(said)


def contradict(
    claims: Sequence[Formula | Choice], atoms: Collection[GroundAtom], mln: MLN, until: float
) -> bool | None:
    """Return whether claims about some atoms contradict each other; ``None`` where a moment passes first."""
    blocks = [claim for claim in claims if isinstance(claim, Choice)]
    bound = {atom for block in blocks for atom in block.atoms}
    free = [Choice((atom,), may_be_none=True) for atom in atoms if atom not in bound]
    formulas = [WeightedFormula(claim, Hard()) for claim in claims if not isinstance(claim, Choice)]
    model = replace(mln, formulas=tuple(formulas))
    if time.monotonic() > until:
        return None
    try:
        clauses = ground_clauses(Question(model, frozenset(), (*blocks, *free), (), (), (), ()))
    except TooLargeError:
        return None
    return is_impossible(clauses, until)


def is_minimal(
    claims: Sequence[Formula | Choice], atoms: Collection[GroundAtom], mln: MLN, until: float
) -> bool | None:
    """Return whether none of the claims can be left out; ``None`` where that took too long."""
    for left_out in range(len(claims)):
        answer = contradict([*claims[:left_out], *claims[left_out + 1 :]], atoms, mln, until)
        if answer is not False:
            return None if answer is None else False
    return True


# --- remedies, tried before they are suggested --------------------------------------------------

# Without any one part of a minimal conflict the others agree; whether then a world is possible at all, or
# another conflict is left, a SAT solver says, over the changed question ground anew.

SECONDS = 1.0  # for trying remedies; those that were not tried are told as such
MOST_REMEDIES = 12
MOST_CLAUSES = 100_000  # of a question that is ground anew for each remedy


def remedies(asked: Opening | None, parts: Sequence[Part], clauses: int) -> tuple[Remedy, ...]:
    """Return remedies for a conflict of these parts, tried as far as that is quick."""
    if asked is None:
        return ()
    until = time.monotonic() + SECONDS
    found = list(dict.fromkeys(_remedies(asked, parts)))
    return tuple(
        replace(one, suffices=_suffices(asked, one, until))
        if clauses <= MOST_CLAUSES and number < MOST_REMEDIES
        else one
        for number, one in enumerate(found)
    )


def _remedies(asked: Opening, parts: Sequence[Part]) -> Iterator[Remedy]:
    opened: set[str] = set()
    dropped: set[int] = set()
    for part in parts:
        where = f" ({part.place.everywhere})" if part.place is not None else ""
        copies = copies_of(asked, part)
        if part.kind == "formula" and dropped.isdisjoint(copies):
            dropped.update(copies)
            if len(copies) == 1:
                yield Remedy("drop", f"drop the formula, or give it a weight: {part.text}", part)
            else:
                number = "both" if len(copies) == 2 else f"all {len(copies)}"
                what = f"drop {number} copies of the formula{where}, or give them a weight"
                yield Remedy("drop", f"{what}: {part.text}", part)
        elif part.kind == "condition":
            times = f", which is given {len(copies)} times" if len(copies) > 1 else ""
            yield Remedy("condition", f"leave out the condition {part.text}{times}", part)
        elif part.kind == "fact" and part.atom is not None:
            if part.text.startswith("!") and part.atom.predicate not in asked.opened:
                yield Remedy("unknown", f"write ?{part.atom} in the place of !{part.atom}{where}", part)
            else:
                yield Remedy("delete", f"delete the fact {part.text}{where}", part)
        elif part.kind == "closed" and part.atom is not None and part.atom.predicate not in opened:
            opened.add(part.atom.predicate)
            name = part.atom.predicate
            yield Remedy("open", f'open {name}: name it in the query or by open=["{name}"]', part)


def copies_of(asked: Opening, part: Part) -> list[int]:
    """Return the numbers of a formula, or of a condition, and of all that are equal to it."""
    if part.source is None or part.kind not in {"formula", "condition"}:
        return []
    all_of_them = asked.mln.formulas if part.kind == "formula" else asked.given
    one = all_of_them[part.source]
    return [number for number, other in enumerate(all_of_them) if other == one]


def apply_remedy(asked: Opening, remedy: Remedy) -> Opening:
    """Return the question after a remedy."""
    part = remedy.part
    copies = copies_of(asked, part)
    if remedy.kind == "drop":
        kept = tuple(f for number, f in enumerate(asked.mln.formulas) if number not in copies)
        return replace(asked, mln=replace(asked.mln, formulas=kept, places=()))
    if remedy.kind == "condition":
        kept_conditions = tuple(f for number, f in enumerate(asked.given) if number not in copies)
        return replace(asked, given=kept_conditions)
    atom = part.atom
    if atom is None or (remedy.kind != "open" and asked.data is None):
        return asked
    if remedy.kind == "open":
        return replace(asked, opened=asked.opened | {atom.predicate})
    data = asked.data
    if data is None:
        return asked
    if remedy.kind == "unknown" or atom.predicate in asked.opened:
        return replace(asked, data=data.with_atoms({str(atom): None}))
    return replace(asked, data=data.with_atoms({str(atom): False}))


def _suffices(asked: Opening, remedy: Remedy, until: float) -> bool | None:
    """Return whether a world is possible after a remedy; ``None`` where that takes too long to find out."""
    if time.monotonic() > until:
        return None
    try:
        impossible = is_impossible(ground_clauses(list_atoms(apply_remedy(asked, remedy))), until)
    except MlnlabError:  # opened, it may be too large to ground, or leave a block without an atom
        return None
    return None if impossible is None else not impossible
