"""What compilation leaves is compiled when sizes are known: constant by constant, equal remainders once.

A theory is simplified by its sizes first: what a subdomain has too few constants for goes with all that is
said of it. Where no rule lifts it, a constant is taken out, of the smallest subdomain first, so that theories
stay small.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mlnlab.circuits.first_order import Body, Call, Counting, FirstOrderCircuit, Unfolded
from mlnlab.errors import TooLargeError
from mlnlab.lifted.canonical_theory import canonical
from mlnlab.lifted.compiling import Compilation, with_calls
from mlnlab.lifted.rules.domain_recursion import of_few_constants, taken
from mlnlab.lifted.rules.inclusion_exclusion_per_constant import RULE as PER_CONSTANT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mlnlab.lifted.rules.rule import Fired
    from mlnlab.lifted.theory import Theory
    from mlnlab.lifted.unlifted_formulas import UnliftedFormulas

MOST_CLAUSES = 15_000  # of all theories that are compiled for one question, up to half a minute
_LARGE = 100  # clauses of one theory
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
            made, new = self._compilation.defined(self._theories[number], self._numbers)
            self._theories += new
            self._bodies[number] = made.body
        body = self._bodies[number]
        if isinstance(body, Counting) and sizes[body.subdomain] > MOST_CONSTANTS:
            raise self._too_large(f"more than {MOST_CONSTANTS:,} theories", float(sizes[body.subdomain]))
        return self._unfolded(number, sizes) if isinstance(body, Unfolded) else body

    def _refuse_many(self, theory: Theory) -> None:
        clauses = len(theory.clauses)
        self._clauses += clauses * max(1, clauses // _LARGE)  # large theories take longer for each clause
        if self._clauses > MOST_CLAUSES:
            raise self._too_large(f"theories of over {MOST_CLAUSES:,} clauses", float(self._clauses))

    def _too_large(self, what: str, size: float) -> TooLargeError:
        blamed = self._blamed()
        told = " ".join(one.sentence for one in blamed) or "No rule lifts all of the model."
        return TooLargeError(
            f"{told} To take constants out one by one makes {what}.", size,
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

    def _unfolded(self, number: int, sizes: Sequence[int]) -> Body:
        smallest = min(((size, b) for b, size in enumerate(sizes)), default=(0, -1))[1]
        if sizes[smallest] > MOST_CONSTANTS:
            raise self._too_large(f"more than {MOST_CONSTANTS:,} theories", float(sizes[smallest]))
        if (number, smallest) not in self._taken:
            self._taken[number, smallest] = self._with_numbers(taken(self._theories[number], smallest))
        return self._taken[number, smallest]

    def _with_numbers(self, fired: Fired) -> Body:
        calls = []
        for part in fired.parts:
            if len(part.theory.clauses) > _LARGE:  # whose canonical form alone takes long
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
