"""Read a ground atom from a text like ``"Smokes(Anna)"``, as in a fact file."""

from __future__ import annotations

from mlnlab.errors import ArgumentError, Severity, require
from mlnlab.logic.formulas.formulas import Atom
from mlnlab.logic.formulas.ground_atoms import GroundAtom, ground_atom
from mlnlab.logic.vocabulary import Vocabulary
from mlnlab.model.database.world import check_ground_atom
from mlnlab.syntax.facts.fact_files import analyse_facts


def ground_atom_from(atom: str | GroundAtom | Atom, vocabulary: Vocabulary) -> GroundAtom:
    """Return the ground atom, after checking that the vocabulary has it."""
    if isinstance(atom, Atom):
        found = ground_atom(atom)
        if found is None:
            raise ArgumentError("A ground atom has constants only; this one has variables.")
    elif isinstance(atom, GroundAtom):
        found = atom
    else:
        require(atom, str, "A ground atom is a text such as 'Smokes(Anna)'")
        found = _read(atom, vocabulary)
    check_ground_atom(found, vocabulary)
    return found


def _read(text: str, vocabulary: Vocabulary) -> GroundAtom:
    analysis = analyse_facts(text, vocabulary, file="<atom>")
    errors = [d for d in analysis.diagnostics if d.severity is Severity.ERROR]
    if errors:
        raise ArgumentError(f"{text!r} is not a ground atom: {errors[0].message}.")
    for predicate, relation in analysis.relations.items():
        for row in relation.true.tolist():
            domains = map(analysis.vocabulary.domain, vocabulary[predicate].types)
            return GroundAtom(predicate, tuple(d[n] for d, n in zip(domains, row, strict=True)))
    raise ArgumentError(f"{text!r} is not a ground atom such as Smokes(Anna).")
