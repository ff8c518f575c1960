"""Ground atoms: a predicate and the names of its constants."""

from __future__ import annotations

import re
from typing import NamedTuple

from mlnlab.logic.formulas.formulas import Atom, Constant

_PLAIN_CONSTANT = re.compile(r"[^\W\d_]\w*(?:['-][^\W\d]\w*)*'*|-?\d+(?:\.\d+)?")

NAME = re.compile(r"[^\W\d]\w*(?:['-][^\W\d]\w*)*'*")  # a word of the language, as its grammar has it
QUANTIFIERS = frozenset({"exist", "exists", "forall"})  # words that name a quantifier, in any case


class GroundAtom(NamedTuple):
    """A predicate and the names of its constants; prints as it would be written in a fact file."""

    predicate: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.predicate}({', '.join(map(fact_constant, self.arguments))})"

    def atom(self, types: tuple[str, ...]) -> Atom:
        """Return the formula of this ground atom."""
        return Atom(self.predicate, tuple(map(Constant, self.arguments, types)))


def ground_atom(atom: Atom) -> GroundAtom | None:
    """Return the ground atom of a formula's atom, ``None`` where an argument is not a constant."""
    names = tuple(argument.name for argument in atom.arguments if isinstance(argument, Constant))
    return GroundAtom(atom.predicate, names) if len(names) == len(atom.arguments) else None


def quote_name(name: str) -> str:
    """Return the name in double quotes, with quotes and backslashes escaped."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def fact_constant(name: str) -> str:
    """Return a constant as a fact file writes it: bare where its name is plain, else quoted."""
    return name if _PLAIN_CONSTANT.fullmatch(name) else quote_name(name)


def formula_constant(name: str) -> str:
    """Return a constant as a formula writes it: lower-case names would be variables, so they are quoted."""
    plain = _PLAIN_CONSTANT.fullmatch(name) and not name[0].islower() and name.casefold() not in QUANTIFIERS
    return name if plain else quote_name(name)
