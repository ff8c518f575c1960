"""Why a rule did not make a definition: its failed precondition, or that another one came before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mlnlab.errors import ArgumentError, require
from mlnlab.lifted.compile.compiling import RECURSION, Compiled, CompileParams
from mlnlab.lifted.compile.rule_registry import RULES
from mlnlab.lifted.theory.rule import Fired, Refused, Rule
from mlnlab.logic.suggestions import did_you_mean

# made: it is the rule; refused: its precondition fails; later: it would do, but another comes before it.
Verdict = Literal["made", "refused", "later", "left out"]


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The verdict of a rule at a definition, with its reason."""

    rule: str
    definition: int
    verdict: Verdict
    reason: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.reason}"


def why_not(rule: str, one: Compiled, params: CompileParams | None = None) -> WhyNot:
    """Return why a rule did not make a definition; rules behind the one that did are asked now."""
    allowed = CompileParams() if params is None else params
    found = _find_rule(rule, allowed)
    for name, reason in one.refused:
        if name == found.name:
            return WhyNot(name, one.number, "refused", reason)
    if found.name == one.rule:
        return WhyNot(
            found.name, one.number, "made", f"It made definition {one.number}. {_note(one)}".strip()
        )
    if found.name == RECURSION and not allowed.recursions:
        return WhyNot(found.name, one.number, "left out", "It was left out with recursions=0.")
    match found.apply(one.theory):
        case Refused(reason):
            return WhyNot(found.name, one.number, "refused", reason)
        case Fired(note=note):
            said = (
                f"It would apply: {note} But {one.rule} comes before it in the list, and the first is taken."
            )
            return WhyNot(found.name, one.number, "later", said)


def _note(one: Compiled) -> str:
    return "" if one.fired is None else one.fired.note


def _find_rule(name: str, params: CompileParams) -> Rule:
    require(name, str, "Rules are given by name")
    known = {rule.name: rule for rule in params.rules}
    if name in known:
        return known[name]
    if name in {rule.name for rule in RULES}:
        raise ArgumentError(f"The rule {name} is not among those that this model was compiled with.")
    hint = did_you_mean(str(name), tuple(known)) or "."
    raise ArgumentError(f"There is no rule {name!s:.60}{hint} There are: {', '.join(known)}.")
