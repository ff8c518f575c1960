"""The clauses of the sample models, in a form plain enough to print them and to count them by hand.

Nothing here uses the engine, so that its counts and probabilities can be compared with these.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

Row = tuple[str, ...]
Facts = Mapping[str, Sequence[Row]]
Atom = tuple[str, Row]
Schema = Mapping[str, Row]  # the argument types of each predicate

EQUAL = "="


@dataclass(frozen=True, slots=True)
class Rule:
    """``body => head``: where all atoms of the body are true, one of the head is; with its weight.

    An atom is written ``("Friends", ("x", "y"))``; in the head ``("=", ("x", "y"))`` is an equation. The
    weight is ``None`` where it is to be learned, and infinity where the rule is hard. Variables in
    ``per_constant`` are marked ``+``: each constant has a weight of its own, and counts are of all together.
    """

    weight: float | None
    body: tuple[Atom, ...]
    head: tuple[Atom, ...]
    per_constant: tuple[str, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables in order of appearance."""
        return tuple(dict.fromkeys(v for _, arguments in self.body + self.head for v in arguments))


def rule_text(rule: Rule) -> str:
    """Return the rule in Alchemy's language."""
    body, head = ([_atom_text(a, rule.per_constant) for a in part] for part in (rule.body, rule.head))
    if body and head:
        text = f"{' ^ '.join(body)} => {' v '.join(head)}"
    else:
        text = " v ".join(head or [f"!{atom}" for atom in body])
    if rule.weight is None:
        return text
    return f"{text}." if math.isinf(rule.weight) else f"{rule.weight:g} {text}"


def _atom_text(atom: Atom, per_constant: Row = ()) -> str:
    predicate, variables = atom
    arguments = [f"+{name}" if name in per_constant else name for name in variables]
    return " = ".join(arguments) if predicate == EQUAL else f"{predicate}({', '.join(arguments)})"


def variable_types(rule: Rule, schema: Schema) -> dict[str, str]:
    """Return the type of each variable, which is that of the places where it stands."""
    return {
        variable: type_
        for predicate, arguments in rule.body + rule.head
        if predicate != EQUAL
        for variable, type_ in zip(arguments, schema[predicate], strict=True)
    }


def domains_of(facts: Facts, schema: Schema) -> dict[str, tuple[str, ...]]:
    """Return the constants of each type, in order of first appearance."""
    found: dict[str, dict[str, None]] = {type_: {} for types in schema.values() for type_ in types}
    for predicate, rows in facts.items():
        for row in rows:
            for constant, type_ in zip(row, schema[predicate], strict=True):
                found[type_][constant] = None
    return {type_: tuple(constants) for type_, constants in found.items()}


def groundings(rule: Rule, schema: Schema, domains: Mapping[str, Sequence[str]]) -> Iterator[dict[str, str]]:
    """Yield every binding of the rule's variables."""
    types = variable_types(rule, schema)
    for constants in product(*(domains[types[variable]] for variable in rule.variables)):
        yield dict(zip(rule.variables, constants, strict=True))


def bound(atom: Atom, binding: Mapping[str, str]) -> Atom:
    """Return the ground atom."""
    return atom[0], tuple(binding[variable] for variable in atom[1])


def true_groundings(rule: Rule, schema: Schema, facts: Facts, domains: Mapping[str, Sequence[str]]) -> int:
    """Return n_i: all groundings without those whose body is true and whose head is false."""
    types = variable_types(rule, schema)
    everything = math.prod(len(domains[types[variable]]) for variable in rule.variables)
    true = {(predicate, row) for predicate, rows in facts.items() for row in rows}
    unbound = [v for v in rule.variables if not any(v in arguments for _, arguments in rule.body)]
    violated = 0
    for binding in _matches(rule.body, facts):
        for constants in product(*(domains[types[variable]] for variable in unbound)):
            whole = binding | dict(zip(unbound, constants, strict=True))
            violated += not any(_holds(bound(atom, whole), true) for atom in rule.head)
    return everything - violated


def _holds(atom: Atom, true: set[Atom]) -> bool:
    return len(set(atom[1])) == 1 if atom[0] == EQUAL else atom in true


def _matches(body: Sequence[Atom], facts: Facts) -> list[dict[str, str]]:
    """Return the bindings under which all atoms of the body are facts, joining one after the other."""
    bindings: list[dict[str, str]] = [{}]
    for predicate, variables in body:
        known = [v for v in dict.fromkeys(variables) if bindings and v in bindings[0]]
        by_known: dict[Row, list[dict[str, str]]] = {}
        for row in facts.get(predicate, ()):
            binding: dict[str, str] = {}
            if all(binding.setdefault(v, c) == c for v, c in zip(variables, row, strict=True)):
                by_known.setdefault(tuple(binding[v] for v in known), []).append(binding)
        bindings = [old | new for old in bindings for new in by_known.get(tuple(old[v] for v in known), ())]
    return bindings
