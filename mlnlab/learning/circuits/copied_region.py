"""Tell which part of a circuit a split copies (Lowd's thesis, Definition 4 and Figure 5.2).

S(D, V) copies the nodes between the mutual ancestors of D and V and these two, once for each value of V, and
puts a sum over the values below each mutual ancestor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from mlnlab.circuits.propositional.arithmetic_circuit import INDICATOR, ArithmeticCircuit
from mlnlab.kernels.splits.work_circuit import LOWER, MUTUAL, UPPER
from mlnlab.learning.circuits.split_ac import SplitCircuit

Role: TypeAlias = Literal["mutual", "toward D", "toward V", "sum", "product"]
Distributions: TypeAlias = Sequence[Sequence[float]]


class Part(NamedTuple):
    """The part that a node plays in a split, and the value of V that it is a copy for; -1 for none."""

    role: Role
    value: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class CopiedRegion:
    """A circuit before and after a split, and the part of each node that the split is about."""

    before: ArithmeticCircuit
    after: ArithmeticCircuit
    parts_before: Mapping[int, Part]
    parts_after: Mapping[int, Part]
    mutual: int  # how many mutual ancestors there are


def copied_region(
    circuit: SplitCircuit, leaf: int, variable: int, before: Distributions, after: Distributions
) -> CopiedRegion:
    """Apply a split of a leaf on a variable, and return the copied region, with the leaves' distributions.

    >>> from mlnlab.factors.graphs.random_variables import RandomVariable
    >>> from mlnlab.learning.circuits.copied_region import copied_region
    >>> from mlnlab.learning.circuits.split_ac import SplitCircuit
    >>> circuit = SplitCircuit([RandomVariable.numbered(name, 2) for name in "AB"])
    >>> half = [0.5, 0.5]
    >>> found = copied_region(circuit, 1, 0, [half] * 2, [half] * 3)
    >>> sorted(part.role for part in found.parts_after.values()).count("product")
    2
    """
    frozen = circuit.freeze(before)
    old = _numbers(circuit, frozen)
    circuit.edge_cost(leaf, variable)  # finds the region
    work = circuit.work
    upper, lower, mutual = (int(work.totals[place]) for place in (UPPER, LOWER, MUTUAL))
    above = [tuple(row) for row in work.mutual[:mutual].tolist()]
    parts = {old[node]: Part("toward D") for node in work.upper[:upper].tolist()}
    parts |= {old[node]: Part("toward V") for node in work.lower[:lower].tolist()}
    parts |= {old[node]: Part("toward V") for _, _, node, _ in above if work.kind[node] != INDICATOR}
    parts |= {old[node]: Part("mutual") for node, *_ in above}
    circuit.split(leaf, variable)
    grown = circuit.freeze(after)
    new = _numbers(circuit, grown)
    sums = [int(row[3]) for row in circuit.work.mutual[:mutual].tolist()]
    found = {new[node]: Part("mutual") for node, *_ in above if node in new}
    for node in sums:
        found |= _parts_below(grown, new[node], {new[one] for one in new if one not in old})
    return CopiedRegion(frozen, grown, parts, found, mutual)


def _numbers(circuit: SplitCircuit, frozen: ArithmeticCircuit) -> dict[int, int]:
    """Return the number that each node has in the circuit frozen last."""
    nodes = circuit.work.order[: len(frozen)].tolist()
    return {node: number for number, node in enumerate(nodes)}


def _parts_below(circuit: ArithmeticCircuit, sum_: int, new: set[int]) -> dict[int, Part]:
    """Return the parts of a new sum, its products, and the copies below these."""

    def children(node: int) -> list[int]:
        first = circuit.first_child
        return [int(child) for child in circuit.children[first[node] : first[node + 1]]]

    found = {sum_: Part("sum")}
    for product in children(sum_):
        below = children(product)
        indicator = next(child for child in below if circuit.kinds[child] == INDICATOR)
        value = int(circuit.value[indicator])
        found[product] = Part("product", value)
        copies = [child for child in below if child in new]
        roles: tuple[Role, ...] = ("toward D",) if len(copies) == 1 else ("toward V", "toward D")
        for role, copy in zip(roles, copies, strict=True):
            waiting = [copy]
            for node in waiting:
                if node in new and node not in found:
                    found[node] = Part(role, value)
                    waiting += children(node)
    return found
