"""A question with one fact otherwise: true, false or unknown; and which facts a query can feel at all.

With all other facts as they are, a fact can change a query only where a path of ground formulas over open
atoms leads from one to the other: evidence in between stops it (the Markov property of the ground network,
Richardson and Domingos 2006, definition 4.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import TYPE_CHECKING

from mlnlab.errors import TooLargeError, UnsatisfiableError
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.networks.links import links_between
from mlnlab.grounding.question.question import Choice, Question
from mlnlab.inference.answers.sensitivity import Value
from mlnlab.logic.formulas.formulas import Formula
from mlnlab.logic.formulas.ground_atoms import GroundAtom

if TYPE_CHECKING:
    from mlnlab.grounding.clauses.ground_clauses import GroundClauses
    from mlnlab.model.database.database import Database

MOST_LISTED = 20_000  # facts among which is looked for those within reach


def block_of(question: Question, atom: GroundAtom) -> tuple[GroundAtom, ...]:
    """Return the atoms of which one excludes the others, this one among them."""
    predicate = question.vocabulary[atom.predicate]
    if not predicate.exclusive:
        return (atom,)
    domains = [
        question.vocabulary.domain(type_) if place in predicate.exclusive else (atom.arguments[place],)
        for place, type_ in enumerate(predicate.types)
    ]
    return tuple(GroundAtom(atom.predicate, arguments) for arguments in product(*domains))


def with_fact(
    question: Question, atom: GroundAtom, value: Value, false: frozenset[GroundAtom] = frozenset()
) -> Question:
    """Return the question with one atom true, false or unknown, and all other facts as they are.

    ``false`` are the atoms that the database lists as false. In a block of exclusive atoms a true one makes
    the others false; where the true one is taken away, what is not listed as false becomes open.
    """
    members = block_of(question, atom)
    true = question.true - frozenset(members)
    others = (question.true & frozenset(members)) - {atom}
    choices = tuple(choice for choice in question.choices if not set(choice.atoms) & set(members))
    if value == "true":
        true |= {atom}
    elif others:  # another one is known to be the true one
        true |= others
    else:
        left = [member for member in members if member != atom and member not in false]
        choices = (*choices, *_open_again(question, atom, left, unknown=value == "unknown"))
    soft = tuple(pair for pair in question.soft if pair[0] != atom)
    return replace(question, true=true, choices=choices, soft=soft)


def _open_again(
    question: Question, atom: GroundAtom, others: Sequence[GroundAtom], *, unknown: bool
) -> tuple[Choice, ...]:
    """Return the open choice of a block without a known true atom; with this atom if it is unknown."""
    predicate = question.vocabulary[atom.predicate]
    atoms = (atom, *others) if unknown else tuple(others)
    may_be_none = predicate.at_most_one or not predicate.exclusive
    if not atoms and not may_be_none and not predicate.function:
        raise UnsatisfiableError(f"{predicate} needs a true atom, and all the others are known to be false.")
    return (Choice(atoms, may_be_none),) if atoms else ()


def value_now(question: Question, atom: GroundAtom) -> Value:
    """Return how an atom stands."""
    if any(atom in choice.atoms for choice in question.choices):
        return "unknown"
    return "true" if atom in question.true else "false"


# --- facts ----------------------------------------------------------------------------------------


def facts_of(question: Question, data: Database | None, *, unlisted: bool) -> dict[GroundAtom, str]:
    """Return the listed facts and their values; with ``unlisted`` also atoms false because unlisted."""
    if data is None:
        return {}
    facts: dict[GroundAtom, str] = dict.fromkeys(data.atoms("true"), "true")
    facts |= dict.fromkeys(data.atoms("false"), "false")
    facts |= {atom: f"true with probability {p:g}" for atom, p in data.soft_evidence()}
    if unlisted:
        unknown = {atom for choice in question.choices for atom in choice.atoms}
        for atom in _all_atoms(question):
            if atom not in unknown:
                facts.setdefault(atom, "false, as it is not listed")
    return facts


def number_of_atoms(question: Question) -> int:
    """Return how many ground atoms there are, without listing them."""
    number = 0
    for predicate in question.vocabulary.predicates.values():
        atoms = 1
        for type_ in predicate.types:
            atoms *= len(question.vocabulary.domain(type_))
        number += atoms
    return number


def _all_atoms(question: Question) -> Iterator[GroundAtom]:
    for name, predicate in question.vocabulary.predicates.items():
        for arguments in product(*map(question.vocabulary.domain, predicate.types)):
            yield GroundAtom(name, arguments)


# --- reach ----------------------------------------------------------------------------------------


def in_reach(question: Question, query: Formula, facts: Iterable[GroundAtom]) -> Mapping[GroundAtom, int]:
    """Return the facts that a query can feel, each with how many ground formulas away, nearest first."""
    asked = tuple(facts)
    if len(asked) > MOST_LISTED:
        raise TooLargeError(
            f"there are {len(asked):,} facts, of up to {MOST_LISTED:,}", len(asked), ["list fewer facts"]
        )
    ajar = _open_facts(question, asked, query)
    atoms = [atom for choice in ajar.choices for atom in choice.atoms]
    open_before = {atom for choice in question.choices for atom in choice.atoms}
    distances = _distances(ground_clauses(ajar), [atom in open_before for atom in atoms])
    found = {atoms[number]: distance for number, distance in distances.items()}
    felt = sorted((atom for atom in asked if atom in found), key=lambda atom: (found[atom], atom))
    return {atom: found[atom] for atom in felt}


def _open_facts(question: Question, facts: Sequence[GroundAtom], query: Formula) -> Question:
    """Open all facts at once, with their whole blocks, and put the query last among the conditions."""
    choices = list(question.choices)
    seen = {atom for choice in choices for atom in choice.atoms}
    for fact in facts:
        if fact not in seen:
            members = tuple(member for member in block_of(question, fact) if member not in seen)
            choices.append(Choice(members, may_be_none=True))
            seen.update(members)
    true = question.true - seen
    return replace(question, true=true, choices=tuple(choices), given=(*question.given, query))


def _distances(clauses: GroundClauses, passable: Sequence[bool]) -> dict[int, int]:
    """Return how many links lie between the query and each atom that it can feel."""
    links = links_between(clauses)
    starts, members, sources = links.starts.tolist(), links.members.tolist(), links.sources.tolist()
    of_links = [members[start:stop] for start, stop in pairwise(starts)]
    at: dict[int, list[int]] = {}
    for link, atoms in enumerate(of_links):
        for atom in atoms:
            at.setdefault(atom, []).append(link)
    query = max(number for number, source in enumerate(clauses.sources) if source.kind == "given")
    found = {atom: 0 for link, source in enumerate(sources) if source == query for atom in of_links[link]}
    frontier, used = list(found), set()
    while frontier:
        near: list[int] = []
        for atom in frontier:
            # A fact is known, so that nothing is felt through it; but the others of its block move with it.
            felt = at.get(atom, ())
            through = [n for n in felt if passable[atom] or sources[n] >= len(clauses.sources)]
            for link in [n for n in through if n not in used]:
                used.add(link)
                for other in of_links[link]:
                    if other not in found:
                        found[other] = found[atom] + 1
                        near.append(other)
        frontier = near
    return found
