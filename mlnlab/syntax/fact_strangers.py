"""What to say of constants that a type does not have, or did not have until now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlnlab.errors import Severity, count_of
from mlnlab.logic.ground_atoms import fact_constant
from mlnlab.logic.suggestions import closest
from mlnlab.logic.vocabulary import Domain, RangeDomain, Vocabulary
from mlnlab.syntax.fact_constants import Numbering, Places
from mlnlab.syntax.fact_findings import Findings, Problem, shown
from mlnlab.syntax.fact_sets import TypeSet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LONGEST_MISSPELT = 100  # characters; comparing longer names takes time and helps nobody


@dataclass(frozen=True, slots=True)
class StrangerReports:
    """Notes constants that do not belong, once each, at their first place."""

    places: Places
    findings: Findings

    def report(self, type_: str, domain: Domain, numbering: Numbering, names: NDArray[np.object_]) -> None:
        """Note the strangers of one type."""
        for name in numbering.outside:
            if self._wants("outside-domain"):
                self._outside(type_, domain, names[name], int(numbering.first[name]))
        for name, owner in numbering.foreign:
            if self._wants("wrong-type"):
                self._foreign(type_, owner, domain, names[name], int(numbering.first[name]))
        if numbering.added:
            self._added(type_, domain, numbering, names)

    def _wants(self, code: str) -> bool:
        """Return whether to describe one more problem of this code; if not, it is counted."""
        if not self.findings.wants(code):
            self.findings.add_unseen(code, 1)
            return False
        return True

    def _outside(self, type_: str, domain: Domain, name: str, place: int) -> None:
        message = f"{shown(name)} is not a {type_}: {_described(type_, domain)}"
        repair = _same_number(name) if _same_number(name) in domain else ""
        self.findings.add(Problem("outside-domain", message, *self.places.of(place), _sample(domain), repair))

    def _foreign(self, type_: str, owner: str, domain: Domain, name: str, place: int) -> None:
        message = f"{shown(name)} is a {owner}; a {type_} is expected here"
        short = len(name) <= _LONGEST_MISSPELT
        declared = f"{type_} = {{ {fact_constant(name)} }}, if it is a {type_}, too" if short else ""
        repair = (closest(name, domain) if short else None) or declared
        self.findings.add(Problem("wrong-type", message, *self.places.of(place), _sample(domain), repair))

    def _added(self, type_: str, domain: Domain, numbering: Numbering, names: NDArray[np.object_]) -> None:
        first = names[numbering.added[0]]
        number = len(numbering.added)
        others = f" and {count_of(number - 1, 'other name')}" if number > 1 else ""
        near = closest(first, domain) if len(first) <= _LONGEST_MISSPELT else None
        guess = f"; did you mean {near}?" if near else ""
        verb = "is" if number == 1 else "are"
        message = (
            f"{shown(first)}{others} {verb} not among the constants listed for {type_},"
            f" and {verb} added to them{guess}"
        )
        place = self.places.of(int(numbering.first[numbering.added[0]]))
        problem = Problem("unlisted-constant", message, *place, _sample(domain), near or "", Severity.WARNING)
        self.findings.add(problem)


def unknown_type(set_: TypeSet, vocabulary: Vocabulary) -> Problem:
    """Return what to say of ``persn = { Anna }``."""
    near = closest(set_.type, vocabulary.types) if len(set_.type) <= _LONGEST_MISSPELT else None
    guess = f"; did you mean {near}?" if near else ""
    message = f"there is no type {shown(set_.type)}{guess}"
    expected = ", ".join(list(vocabulary.types)[:5])
    repair = near or "declare it in the model"
    place = set_.line, set_.start, set_.start + len(set_.type)
    return Problem("unknown-type", message, *place, expected, repair)


def _described(type_: str, domain: Domain) -> str:
    if isinstance(domain, RangeDomain):
        return f"{type_} is the range {domain.low}, ..., {domain.high}"
    return f"{type_} has the constants {_sample(domain)}"


def _sample(domain: Domain) -> str:
    """Return some constants of a domain, as an example of what is expected."""
    if isinstance(domain, RangeDomain):
        return f"{domain.low}, ..., {domain.high}"
    few = [shown(domain[index]) for index in range(min(3, len(domain)))]
    return ", ".join([*few, "..."] if len(domain) > 3 else few)


def _same_number(name: str) -> str:
    """Return ``5`` for ``05`` and ``+5`` and ``5.0``, as a repair."""
    try:
        return f"{float(name):.0f}" if len(name) < 20 and float(name).is_integer() else ""
    except (ValueError, OverflowError):
        return ""
