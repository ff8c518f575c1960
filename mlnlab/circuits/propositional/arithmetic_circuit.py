"""Define arithmetic circuits: sums and products over indicators and parameters (Lowd's thesis, section 5.4).

A circuit computes the network polynomial of Darwiche (2003): with the indicators of all values that agree
with the evidence at 1 and the others at 0, its value is the probability of the evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlnlab.errors import count_of
from mlnlab.factors.graphs.random_variables import RandomVariable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

INDICATOR, PARAMETER, SUM, PRODUCT = 0, 1, 2, 3


@dataclass(frozen=True, slots=True, eq=False)
class ArithmeticCircuit:
    """Nodes in flat arrays, children before their parents, the root last.

    The children of node i are ``children[first_child[i]:first_child[i + 1]]``. An indicator has a variable
    and one of its values; a parameter has a number, and may name the variable whose distribution it is of.
    """

    variables: tuple[RandomVariable, ...]
    kinds: NDArray[np.uint8]  # INDICATOR, PARAMETER, SUM or PRODUCT
    first_child: NDArray[np.uint32]  # one more than there are nodes
    children: NDArray[np.uint32]
    variable: NDArray[np.int32]  # of an indicator, or of a parameter's distribution; -1 where there is none
    value: NDArray[np.int32]  # of an indicator; of a parameter's variable, where known; otherwise -1
    parameters: NDArray[np.float64]  # of parameter nodes; 0 elsewhere

    @property
    def edges(self) -> int:
        """The number of edges."""
        return len(self.children)

    def __len__(self) -> int:
        return len(self.kinds)

    def __repr__(self) -> str:
        size = f"{count_of(len(self), 'node')} and {count_of(self.edges, 'edge')}"
        return f"<ArithmeticCircuit over {count_of(len(self.variables), 'variable')}: {size}>"
