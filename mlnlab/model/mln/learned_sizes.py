r"""Weights that are applied where domains have clearly another size than where they were learned.

Each constant adds groundings, so that in a larger domain more of them pull at an atom, and what weights
matched at one size is off at another (Jain, Barthels and Beetz 2010). It does not matter for types whose
variables stand in every atom of every formula that has them: each atom then has as many neighbours in any
domain (Jaeger and Schulte 2018, "Inference, learning, and population size": such models are projective). Nor
does it matter where evidence, such as who follows whom, says which groundings there are.

Where weights were learned is known of the model that learning returned, ``found.mln``, and of models made
from it. Text files do not carry it: a model that was saved and loaded again warns of nothing.

>>> import mlnlab as ml
>>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\nFriends(x, y) => Friends(y, x)")
>>> types_that_matter(mln)
{}
>>> list(types_that_matter(mln.add("Smokes(x) ^ Friends(x, y) => Smokes(y)")))
['person']
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from mlnlab.errors import DomainSizeWarning
from mlnlab.logic.formulas.formulas import Formula, Quantified, Variable
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.formulas.substitution import all_variables, free_variables
from mlnlab.logic.formulas.traversal import atoms, subformulas
from mlnlab.logic.formulas.weights import weight_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.mln.mln import MLN, Domains

CLEARLY = 2.0  # times as large as any domain learned on, or as the smallest is larger


def sizes_of(vocabulary: Vocabulary) -> dict[str, int]:
    """Return the size of each type's domain."""
    return {type_: len(domain) for type_, domain in vocabulary.types.items()}


def types_that_matter(mln: MLN, evidence: Collection[str] = ()) -> dict[str, str]:
    """Return the types whose size changes the meaning of weights, each with a formula that causes it.

    ``evidence`` are predicates that were given when weights were learned, beside those declared closed.
    """
    known = mln.vocabulary.predicates
    given = {name for name, predicate in known.items() if predicate.closed or name in evidence}
    found: dict[str, str] = {}
    for one in mln.formulas:
        if weight_value(one.weight) != 0.0:
            for variable in _list_uneven_variables(one.formula, given):
                found.setdefault(variable.type, to_text(one.formula))
    for name, predicate in known.items():
        for place in () if name in given else predicate.exclusive:  # one of so many atoms is true
            found.setdefault(predicate.types[place], str(predicate))
    return found


def _list_uneven_variables(formula: Formula, given: Collection[str]) -> Iterator[Variable]:
    """Yield the variables that an atom lacks, or that a quantifier binds, and of which no evidence speaks."""
    uses = [set(free_variables(atom)) for atom in atoms(formula) if atom.predicate not in given]
    told = {v for atom in atoms(formula) if atom.predicate in given for v in free_variables(atom)}
    bound = {v for part in subformulas(formula) if isinstance(part, Quantified) for v in part.variables}
    for variable in all_variables(formula):
        uneven = variable in bound or not all(variable in use for use in uses)
        if uneven and variable not in told:
            yield variable


def warn_of_other_sizes(mln: MLN, *domains: Domains) -> None:
    """Warn where a learned model is applied to a domain of clearly another size; the same is said once.

    Python's own filters hush it: ``warnings.simplefilter("ignore", ml.DomainSizeWarning)``.
    """
    if not mln.learned_on:
        return
    matters = types_that_matter(mln)
    for one in domains:
        text = _remark(mln.learned_on, sizes_of(mln.vocabulary_with(one)), matters)
        if text:
            # At this line, wherever one asked: of equal warnings of a line Python's filters show one.
            warnings.warn(text, DomainSizeWarning, stacklevel=1)
            return


def _remark(
    learned_on: Sequence[Mapping[str, int]], sizes: Mapping[str, int], matters: Mapping[str, str]
) -> str:
    for type_, formula in matters.items():
        known, here = [one.get(type_, 0) for one in learned_on], sizes.get(type_, 0)
        least, most = min(known), max(known)
        if least and here and (here > CLEARLY * most or CLEARLY * here < least):
            range_ = f"{least:,} constants" if least == most else f"{least:,} to {most:,} constants"
            return (
                f"The weights were learned where {type_} has {range_}, and are applied where it has {here:,}."
                f" They do not mean the same there, because of formulas such as {formula}: how many of its"
                f" groundings pull at an atom depends on the size. Learn from data of this size; ml.transfer"
                " shows what the weights expect here. To silence this:"
                ' warnings.simplefilter("ignore", ml.DomainSizeWarning).'
            )
    return ""
