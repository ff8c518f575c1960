"""A supply of variable names that are used nowhere else."""

from __future__ import annotations

from collections.abc import Iterable

from mlnlab.logic.formulas.formulas import Formula, Variable
from mlnlab.logic.formulas.substitution import all_variables
from mlnlab.logic.formulas.traversal import constants


class FreshNames:
    """Hands out variables; knows every name of a formula and every name it gave away itself."""

    def __init__(self, formula: Formula, taken: Iterable[Variable] = ()) -> None:
        """Reserve the names of the formula's variables and constants, and of further variables."""
        variables = (*all_variables(formula), *taken)
        names = [variable.name for variable in variables] + [part.name for part in constants(formula)]
        self._reserved = frozenset(names)
        self._last: dict[str, int] = {}

    def another(self, variable: Variable) -> Variable:
        """Return a variable of the same type with a name of its own: x, x1, x2, ..."""
        stem = variable.name.rstrip("0123456789") or variable.name
        number = self._last.get(stem, 0) + 1
        while f"{stem}{number}" in self._reserved:
            number += 1
        self._last[stem] = number
        return Variable(f"{stem}{number}", variable.type)
