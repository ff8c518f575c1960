"""Formulas that differ in constants alone, as ``+c`` writes them out: one template, one plan, one join.

Every constant that is not the same in all formulas of a family becomes a *slot*, a variable by whose values
counts are grouped. The count of a formula is then the template's where the slots hold the formula's own
constants, so that thousands of formulas cost what their template costs, and what their counts are long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlnlab.logic.formulas.formulas import (
    Arithmetic,
    Atom,
    Cardinality,
    Constant,
    Formula,
    Quantified,
    Term,
    Variable,
)
from mlnlab.logic.formulas.substitution import substitute
from mlnlab.logic.formulas.traversal import map_children, subformulas, terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    Found = list[Constant]


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """A template, its slots, and of each member its place among the formulas and its constants."""

    template: Formula
    slots: tuple[Variable, ...]
    members: tuple[int, ...]
    constants: tuple[tuple[str, ...], ...]

    def alone(self) -> list[Family]:
        """Return each member as a family of its own."""
        return [
            Family(substitute(self.template, _binding(self.slots, names)), (), (place,), ((),))
            for place, names in zip(self.members, self.constants, strict=True)
        ]


def families(formulas: Sequence[Formula]) -> list[Family]:
    r"""Return the formulas in families, in the order of their first members.

    >>> import mlnlab as ml
    >>> text = "word = {A, B}\nHas(page, word)\nTopic(page)\nHas(p, +w) => Topic(p)\nTopic(p)"
    >>> mln = ml.MLN.from_text(text)
    >>> [str(family.template) for family in families([one.formula for one in mln.expand().formulas])]
    ['Has(p, slot 1) => Topic(p)', 'Topic(p)']
    """
    alike: dict[tuple[Formula, int], list[tuple[int, Found]]] = {}
    for place, formula in enumerate(formulas):
        found: Found = []
        template = _open_constants(formula, found) if _can_be_opened(formula) else formula
        alike.setdefault((template, len(found)), []).append((place, found))
    return [_family(template, some) for (template, _), some in alike.items()]


def _can_be_opened(formula: Formula) -> bool:
    """Tell whether constants may become variables: below quantifiers these would be grouped by, too."""
    return not any(
        isinstance(part, Quantified | Cardinality)
        or any(isinstance(term, Arithmetic) for term in terms(part))
        for part in subformulas(formula)
    )


def _open_constants(formula: Formula, found: Found) -> Formula:
    """Return the formula with a slot for each constant in an atom, in reading order."""
    if isinstance(formula, Atom):
        return Atom(formula.predicate, tuple(_slot(term, found) for term in formula.arguments))
    return map_children(formula, lambda child: _open_constants(child, found))


def _slot(term: Term, found: Found) -> Term:
    if not isinstance(term, Constant):
        return term
    found.append(term)
    return Variable(f"slot {len(found)}", term.type)


def _family(template: Formula, some: Sequence[tuple[int, Found]]) -> Family:
    """Return a family; constants that all members share stay where they are."""
    first = some[0][1]
    slots = [Variable(f"slot {number + 1}", constant.type) for number, constant in enumerate(first)]
    differ = [
        number for number, constant in enumerate(first) if any(found[number] != constant for _, found in some)
    ]
    same = {slots[number]: first[number] for number in range(len(slots)) if number not in differ}
    return Family(
        substitute(template, same) if same else template,
        tuple(slots[number] for number in differ),
        tuple(place for place, _ in some),
        tuple(tuple(found[number].name for number in differ) for _, found in some),
    )


def _binding(slots: Sequence[Variable], names: Sequence[str]) -> dict[Variable, Term]:
    return {slot: Constant(name, slot.type) for slot, name in zip(slots, names, strict=True)}
