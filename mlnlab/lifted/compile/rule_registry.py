"""The rules of compilation in the order in which they are tried; the first that applies is taken.

What makes a theory smaller at no cost comes first, what costs a sum over sizes last.
"""

from __future__ import annotations

from mlnlab.lifted.rules import (
    atom_counting,
    domain_recursion,
    enough_elements,
    inclusion_exclusion,
    inclusion_exclusion_per_constant,
    independence,
    independent_sets,
    partial_grounding,
    shannon,
    subsumption,
    unit_propagation,
)

RULES = (
    unit_propagation.RULE,
    subsumption.RULE,
    independence.RULE,
    enough_elements.RULE,
    shannon.RULE,
    partial_grounding.RULE,
    independent_sets.RULE,
    inclusion_exclusion.RULE,
    atom_counting.RULE,
    inclusion_exclusion_per_constant.RULE,
    domain_recursion.RULE,
)
