"""Compilation: a theory becomes a first-order circuit, rule by rule.

Van den Broeck et al., "Lifted probabilistic inference by first-order knowledge compilation" (IJCAI 2011).
Top down, the first rule of the list that applies to a theory makes its node; the theories that it leaves are
brought into canonical form, so that those equal up to renaming become one definition. Each state adds one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING

from mlnlab.circuits.first_order.first_order_circuit import (
    Body,
    Call,
    Counting,
    Definition,
    FirstOrderCircuit,
    InclusionExclusion,
    Power,
    Product,
    SizeCase,
    Sum,
    Unfolded,
)
from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.lifted.compile.rule_registry import RULES
from mlnlab.lifted.rules import domain_recursion
from mlnlab.lifted.theory.canonical_theory import canonical
from mlnlab.lifted.theory.rule import Fired, Refused, Rule
from mlnlab.logic.checked_options import check_options, real

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mlnlab.lifted.theory.theory import Theory

MOST_DEFINITIONS = 20_000
MOST_SECONDS = 3_600.0  # with 20,000 definitions, a budget of memory and time
LARGE_THEORY = 100  # clauses
RECURSION = domain_recursion.RULE.name
MOST_UNFOLDED = 120  # clauses of a theory that is unfolded before sizes are known
UNFOLDED = "left until sizes are known"


class NotLiftableError(ArgumentError):
    """No rule applies to a theory; the error has the theory, and the reason of each rule."""

    def __init__(self, message: str, theory: Theory, reasons: Sequence[tuple[str, str]]) -> None:
        super().__init__(message)
        self.theory, self.reasons = theory, tuple(reasons)


@dataclass(frozen=True, slots=True)
class CompileParams:
    """``rules`` in the order in which they are tried; ``limit``: the most definitions.

    ``seconds``: how long making them may take, without pauses between steps; ``work``: the most clauses of
    all theories together, those of large theories several times, which is the same on every machine.
    ``recursions``: how many constants are taken out one after the other before the rest is left until sizes
    are known; with 0, what no other rule lifts is refused.
    """

    rules: tuple[Rule, ...] = RULES
    limit: int = MOST_DEFINITIONS
    recursions: int = 3
    unfold: bool = True  # take constants out before sizes are known
    seconds: float = MOST_SECONDS
    work: float = inf

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        rules: object = self.rules
        if not isinstance(rules, tuple) or not all(isinstance(rule, Rule) for rule in rules):
            raise ArgumentError(
                f"rules= are some of mlnlab.lifted.compile.rule_registry.RULES, not {rules!r:.60}."
            )
        least = real(0, endless=True)
        check_options(self, limit=real(1, endless=True), recursions=least, seconds=least, work=least)


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A definition that was just made: the theory that it stands for, and how it came about."""

    number: int
    theory: Theory
    rule: str
    fired: Fired | None  # nothing where the definition is left until sizes are known
    body: Body
    refused: tuple[tuple[str, str], ...]  # the rules before it in the list, and why they did not apply


@dataclass(frozen=True, slots=True, eq=False)
class CompileState:
    """The definitions compiled so far, in blocks that later states share, and the work left."""

    blocks: tuple[tuple[Compiled, ...], ...]
    named: int  # definitions that are compiled or waiting
    shared: int  # calls that found their definition already there
    ended: bool = False

    @property
    def done(self) -> int:
        """How many definitions are made."""
        return sum(map(len, self.blocks))

    @property
    def newest(self) -> Compiled | None:
        """The definition that was made last."""
        return self.blocks[-1][-1] if self.blocks else None

    def list_definitions(self) -> Iterator[Compiled]:
        """Yield all definitions in the order in which they were made."""
        for block in self.blocks:
            yield from block

    def metrics(self) -> Mapping[str, float]:
        """Return how far compilation is."""
        return {"definitions": self.done, "waiting": self.named - self.done, "shared": self.shared}


@dataclass(frozen=True, eq=False)
class Compilation:
    """The compilation of a theory: a source of states, to be stepped, recorded and watched."""

    theory: Theory  # in canonical form
    params: CompileParams = field(default_factory=CompileParams)
    names: Callable[[Theory], str] = str

    def __iter__(self) -> Iterator[CompileState]:
        numbers: dict[Theory, int] = {self.theory: 0}
        waiting, state = [(self.theory, 0)], CompileState((), 1, 0)
        yield state
        spent = work = 0.0
        while waiting:
            theory, depth = waiting.pop()
            work += work_of(theory)
            if work > self.params.work:
                self._refuse_work(work)
            before, began = len(numbers), time.perf_counter()
            made, found = self.define_theory(theory, numbers, depth)
            spent += time.perf_counter() - began
            if spent > self.params.seconds and found:
                self._refuse_long(state, len(waiting) + len(found))
            waiting += [(part, depth + (made.rule == RECURSION)) for part in found]
            calls = 0 if made.fired is None else len(made.fired.parts)
            shared = state.shared + calls - (len(numbers) - before)
            state = CompileState(_append_definition(state.blocks, made), len(numbers), shared, not waiting)
            yield state

    def _refuse_work(self, work: float) -> None:
        raise TooLargeError(
            f"The theories to be compiled have more than {self.params.work:,.0f} clauses together.", work,
            ["raise work=", "drop formulas"],
        )  # fmt: skip

    def _refuse_long(self, state: CompileState, waiting: int) -> None:
        raise TooLargeError(
            f"Compiling has taken more than {self.params.seconds:,.0f} seconds: {state.done:,} definitions"
            f" are made, {waiting:,} wait.", float(state.named),
            ["raise seconds=", "drop formulas", "sample with ml.infer(..., method='mc-sat')"],
        )  # fmt: skip

    def define_theory(
        self, theory: Theory, numbers: dict[Theory, int], depth: int = 0
    ) -> tuple[Compiled, list[Theory]]:
        """Return the definition of a theory, and the new theories that it calls; ``numbers`` gets these."""
        rule, fired, refused = self.first_rule(theory)
        late = not self.params.unfold or depth >= self.params.recursions
        large = self.params.unfold and len(theory.clauses) > MOST_UNFOLDED
        if (rule.name == RECURSION and (late or large)) or (depth and large):
            return Compiled(numbers[theory], theory, UNFOLDED, None, Unfolded(theory), refused), []
        calls, new = [], []
        for part in fired.parts:
            found, old = canonical(part.theory)
            if found not in numbers:
                numbers[found] = len(numbers)
                new.append(found)
            calls.append(Call(numbers[found], tuple(part.sizes[b] for b in old)))
        if len(numbers) > self.params.limit:
            raise TooLargeError(
                f"The circuit has more than {self.params.limit:,} definitions; one of the last is made of"
                f" {self.names(theory)}.", float(len(numbers)),
                ["raise limit=", "drop formulas", "sample with ml.infer(..., method='mc-sat')"],
            )  # fmt: skip
        body = with_calls(fired.body, calls)
        return Compiled(numbers[theory], theory, rule.name, fired, body, refused), new

    def first_rule(self, theory: Theory) -> tuple[Rule, Fired, tuple[tuple[str, str], ...]]:
        """Return the first rule that applies, and why those before it do not."""
        reasons: list[tuple[str, str]] = []
        for rule in self.params.rules:
            if rule.name == RECURSION and not self.params.recursions:
                continue
            match rule.apply(theory):
                case Fired() as fired:
                    return rule, fired, tuple(reasons)
                case Refused(reason):
                    reasons.append((rule.name, reason))
        raise NotLiftableError(
            f"No rule of lifted inference applies to a theory that is made of {self.names(theory)}.",
            theory, reasons,
        )  # fmt: skip

    def cut_short(self, state: CompileState) -> CompileState:
        """Return a state that ends there: definitions that wait are left until sizes are known."""
        numbers = {self.theory: 0}
        for (
            one
        ) in state.list_definitions():  # in the order in which ``define_theory`` numbered what they call
            for part in () if one.fired is None else one.fired.parts:
                numbers.setdefault(canonical(part.theory)[0], len(numbers))
        made = {one.number for one in state.list_definitions()}
        waiting = tuple(
            Compiled(number, theory, UNFOLDED, None, Unfolded(theory), ())
            for theory, number in numbers.items() if number not in made
        )  # fmt: skip
        return replace(state, blocks=(*state.blocks, waiting), named=len(numbers), ended=True)

    def circuit(self, state: CompileState) -> FirstOrderCircuit:
        """Return the circuit of a state at the end."""
        made = sorted(state.list_definitions(), key=lambda one: one.number)
        return FirstOrderCircuit(tuple(Definition(one.theory.subdomains, one.body) for one in made))


def work_of(theory: Theory) -> int:
    """Return by how much a theory counts towards the work: large ones take longer for each clause."""
    clauses = len(theory.clauses)
    return clauses * max(1, clauses // LARGE_THEORY)


def _append_definition(
    blocks: tuple[tuple[Compiled, ...], ...], made: Compiled
) -> tuple[tuple[Compiled, ...], ...]:
    """Return blocks with one more definition; they double, so that all states together stay small."""
    grown = [*blocks, (made,)]
    while len(grown) > 1 and len(grown[-2]) <= len(grown[-1]):
        grown[-2:] = [grown[-2] + grown[-1]]
    return tuple(grown)


def with_calls(body: Body, calls: Sequence[Call]) -> Body:
    """Return a rule's node with its parts' definitions in the place of their numbers."""

    def product(part: Product) -> Product:
        return part._replace(calls=tuple(calls[c.definition] for c in part.calls))

    match body:
        case Product():
            return product(body)
        case Sum(terms):
            return Sum(tuple(map(product, terms)))
        case InclusionExclusion(first, second, both):
            return InclusionExclusion(product(first), product(second), product(both))
        case Power(call, count):
            return Power(calls[call.definition], count)
        case Counting(block, call):
            return Counting(block, calls[call.definition])
        case SizeCase(block, minimum, large, small):
            return SizeCase(block, minimum, product(large), product(small))
        case Unfolded():
            return body
