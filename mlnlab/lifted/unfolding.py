"""What compilation leaves is compiled when sizes are known: constant by constant, equal remainders once.

A theory that no rule lifts is simplified by its sizes first: a subdomain without constants goes with all
that is said of it, and of a subdomain a constant is taken out, the smallest subdomain first, so that
theories stay small.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mlnlab.circuits.first_order import Body, Call, FirstOrderCircuit, Unfolded
from mlnlab.errors import TooLargeError
from mlnlab.lifted.canonical_theory import canonical
from mlnlab.lifted.compiling import Compilation, with_calls
from mlnlab.lifted.rules.domain_recursion import empty_subdomains, taken
from mlnlab.lifted.rules.inclusion_exclusion_per_constant import RULE as PER_CONSTANT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mlnlab.lifted.rules.rule import Fired
    from mlnlab.lifted.theory import Theory
    from mlnlab.lifted.unlifted_formulas import UnliftedFormulas

MOST_CLAUSES = 15_000  # of all theories that are compiled for one question, about half a minute


class Unfolding:
    """A circuit whose unfinished definitions are compiled when they are asked for, within one question."""

    def __init__(
        self, circuit: FirstOrderCircuit, compilation: Compilation, theories: Sequence[Theory],
        blamed: Callable[[], Sequence[UnliftedFormulas]],
    ) -> None:  # fmt: skip
        self.root = circuit.root
        self._bodies: dict[int, Body] = {n: d.body for n, d in enumerate(circuit.definitions)}
        self._theories = list(theories)
        self._numbers = {theory: number for number, theory in enumerate(theories)}
        self._clauses, self._blamed = 0, blamed
        self._special: dict[tuple[int, tuple[bool, ...], int], Body] = {}
        # Subdomains of a few constants each are taken apart faster than they are split again and again.
        rules = tuple(rule for rule in compilation.params.rules if rule is not PER_CONSTANT)
        params = replace(compilation.params, unfold=False, rules=rules)
        self._compilation = replace(compilation, params=params)

    def body(self, number: int, sizes: Sequence[int]) -> Body:
        """Return the body of a definition, compiled now if it was not before."""
        if number not in self._bodies:
            self._refuse_many(number)
            made, new = self._compilation.defined(self._theories[number], self._numbers)
            self._theories += new
            self._bodies[number] = made.body
        body = self._bodies[number]
        return self._unfolded(number, sizes) if isinstance(body, Unfolded) else body

    def _refuse_many(self, number: int) -> None:
        self._clauses += len(self._theories[number].clauses)
        if self._clauses > MOST_CLAUSES:
            blamed = self._blamed()
            told = " ".join(one.sentence for one in blamed) or "No rule lifts all of the model."
            raise TooLargeError(
                f"{told} To take constants out one by one makes theories of over {MOST_CLAUSES:,} clauses.",
                float(self._clauses),
                ["ask about smaller domains", *dict.fromkeys(way for one in blamed for way in one.remedies)],
            )

    def _unfolded(self, number: int, sizes: Sequence[int]) -> Body:
        empty = tuple(size == 0 for size in sizes)
        smallest = min(((size, b) for b, size in enumerate(sizes) if size), default=(0, -1))[1]
        key = (number, empty, -1 if any(empty) else smallest)
        if key not in self._special:
            theory = self._theories[number]
            fired = empty_subdomains(theory, empty) if any(empty) else taken(theory, smallest)
            self._special[key] = self._with_numbers(fired)
        return self._special[key]

    def _with_numbers(self, fired: Fired) -> Body:
        calls = []
        for part in fired.parts:
            found, old = canonical(part.theory)
            if found not in self._numbers:
                self._numbers[found] = len(self._numbers)
                self._theories.append(found)
            calls.append(Call(self._numbers[found], tuple(part.sizes[b] for b in old)))
        return with_calls(fired.body, calls)
