"""Compile the remaining theories when sizes are known: constant by constant, equal remainders once.

A theory is simplified by its sizes first: pieces and clauses that need more constants than a subdomain has
are dropped. Where no rule lifts it, a constant is taken out, of the smallest subdomain first, so that
theories stay small.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mlnlab.circuits.first_order.first_order_circuit import Body, Call, Counting, FirstOrderCircuit, Unfolded
from mlnlab.errors import TooLargeError
from mlnlab.lifted.compile.compiling import LARGE_THEORY, Compilation, with_calls, work_of
from mlnlab.lifted.rules.domain_recursion import of_few_constants, take_constant
from mlnlab.lifted.rules.inclusion_exclusion_per_constant import RULE as PER_CONSTANT
from mlnlab.lifted.theory.canonical_theory import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mlnlab.lifted.compile.unlifted_formulas import UnliftedFormulas
    from mlnlab.lifted.theory.rule import Fired
    from mlnlab.lifted.theory.theory import Theory

MOST_CLAUSES = 4_000  # of all theories that are compiled for one question: a second or so
GROWING = 4  # theories, each larger than the one before it, after which the next ones are taken to grow too
MOST_CONSTANTS = 10_000  # that are taken out one after the other


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
        self._widest: dict[int, int] = {}
        self._special: dict[tuple[int, tuple[int, ...]], Body | None] = {}
        self._taken: dict[tuple[int, int], Body] = {}
        self._last, self._spent, self._grown = 0, 0, 0  # clauses of the last theory taken apart and by then
        # Subdomains of a few constants each are taken apart faster than they are split again and again.
        rules = tuple(rule for rule in compilation.params.rules if rule is not PER_CONSTANT)
        params = replace(compilation.params, unfold=False, rules=rules)
        self._compilation = replace(compilation, params=params)

    def body(self, number: int, sizes: Sequence[int]) -> Body:
        """Return the body of a definition, compiled now if it was not before."""
        smaller = self._smaller(number, sizes)
        if smaller is not None:
            return smaller
        if number not in self._bodies:
            self._refuse_many(self._theories[number])
            made, new = self._compilation.define_theory(self._theories[number], self._numbers)
            self._theories += new
            self._bodies[number] = made.body
        body = self._bodies[number]
        if isinstance(body, Counting) and sizes[body.subdomain] > MOST_CONSTANTS:
            raise self._too_large(f"more than {MOST_CONSTANTS:,} theories", float(sizes[body.subdomain]))
        return self._unfold_body(number, sizes) if isinstance(body, Unfolded) else body

    def _refuse_many(self, theory: Theory) -> None:
        self._clauses += work_of(theory)
        if self._clauses > MOST_CLAUSES:
            raise self._too_large(f"theories of over {MOST_CLAUSES:,} clauses", float(self._clauses))

    def _refuse_growing(self, clauses: int, size: int) -> None:
        """Refuse theories that grow with each constant that is taken out, where many are left to take."""
        self._grown = self._grown + 1 if clauses > self._last else 0
        expected = self._clauses + (self._clauses - self._spent) * size
        self._last, self._spent = clauses, self._clauses
        if self._grown >= GROWING and expected > MOST_CLAUSES:
            raise self._too_large(f"ever larger theories, of over {expected:,} clauses", float(expected))

    def _too_large(self, what: str, size: float) -> TooLargeError:
        blamed = self._blamed()
        told = " ".join(one.sentence for one in blamed) or "No rule lifts all of the model."
        return TooLargeError(
            f"{told} Taking constants out one by one makes {what}.", size,
            ["ask about smaller domains", *dict.fromkeys(way for one in blamed for way in one.remedies)],
        )  # fmt: skip

    def _smaller(self, number: int, sizes: Sequence[int]) -> Body | None:
        """Return the theory without that for which there are too few constants, if there is such."""
        if number not in self._widest:
            self._widest[number] = _widest(self._theories[number])
        key = (number, tuple(min(size, self._widest[number]) for size in sizes))
        if key not in self._special:
            fired = of_few_constants(self._theories[number], sizes)
            self._special[key] = None if fired is None else self._with_numbers(fired)
        return self._special[key]

    def _unfold_body(self, number: int, sizes: Sequence[int]) -> Body:
        smallest = min(((size, b) for b, size in enumerate(sizes)), default=(0, -1))[1]
        if sizes[smallest] > MOST_CONSTANTS:
            raise self._too_large(f"more than {MOST_CONSTANTS:,} theories", float(sizes[smallest]))
        if (number, smallest) not in self._taken:
            self._refuse_growing(len(self._theories[number].clauses), sizes[smallest])
            self._taken[number, smallest] = self._with_numbers(
                take_constant(self._theories[number], smallest)
            )
        return self._taken[number, smallest]

    def _with_numbers(self, fired: Fired) -> Body:
        calls = []
        for part in fired.parts:
            if len(part.theory.clauses) > LARGE_THEORY:  # whose canonical form alone takes long
                self._refuse_many(part.theory)
            found, old = canonical(part.theory)
            if found not in self._numbers:
                self._numbers[found] = len(self._numbers)
                self._theories.append(found)
            calls.append(Call(self._numbers[found], tuple(part.sizes[b] for b in old)))
        return with_calls(fired.body, calls)


def _widest(theory: Theory) -> int:
    """Return the most constants of one subdomain that something is about; larger sizes make no difference."""
    about = [piece.subdomains for piece in theory.pieces] + [clause.subdomains for clause in theory.clauses]
    return max((one.count(b) for one in about for b in set(one)), default=0)
