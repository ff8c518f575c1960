"""Sizes that are not known yet: linear forms over those of subdomains; numbers of atoms as their products.

A subdomain is a set of constants that the circuit cannot tell apart. The sizes of a definition's subdomains
are its parameters; what it calls gets linear forms of them, such as n - 1 or k and n - k below a counting
node.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial, perm, prod
from typing import NamedTuple

CHOSEN = -1  # the number of elements that a counting node puts into the first part: k


class Size(NamedTuple):
    """``constant + sum of coefficient · size``, by the numbers of subdomains, or CHOSEN for k."""

    terms: tuple[tuple[int, int], ...]  # (subdomain, coefficient), sorted; no coefficient is 0
    constant: int = 0

    def __str__(self) -> str:
        signed = [
            f"{'-' if times < 0 else '+'}{'' if abs(times) == 1 else abs(times)}"
            f"{'k' if subdomain == CHOSEN else f'n{subdomain}'}"
            for subdomain, times in sorted(self.terms, key=lambda term: (term[1] < 0, term[0]))
        ]
        text = "".join(signed) + (f"{self.constant:+d}" if self.constant or not signed else "")
        return text.removeprefix("+")

    def minus(self, other: Size) -> Size:
        """Return the difference of two sizes."""
        return _linear([*self.terms, *((b, -c) for b, c in other.terms)], self.constant - other.constant)

    def at(self, sizes: Sequence[int], chosen: int = 0) -> int:
        """Return the size where those of all subdomains are known."""
        return self.constant + sum(c * (chosen if b == CHOSEN else sizes[b]) for b, c in self.terms)

    def within(self, sizes: Sequence[Size], chosen: Size | None = None) -> Size:
        """Return the size in terms of the sizes that the subdomains have elsewhere."""
        terms: list[tuple[int, int]] = []
        constant = self.constant
        for subdomain, times in self.terms:
            inner = sizes[subdomain] if subdomain != CHOSEN or chosen is None else chosen
            terms += [(b, times * c) for b, c in inner.terms]
            constant += times * inner.constant
        return _linear(terms, constant)


def _linear(terms: Sequence[tuple[int, int]], constant: int) -> Size:
    found: dict[int, int] = {}
    for subdomain, times in terms:
        found[subdomain] = found.get(subdomain, 0) + times
    return Size(tuple(sorted((b, c) for b, c in found.items() if c)), constant)


def of_subdomain(subdomain: int) -> Size:
    """Return the size of a subdomain itself."""
    return Size(((subdomain, 1),))


def fix_size(constant: int) -> Size:
    """Return a size that is known."""
    return Size((), constant)


class Count(NamedTuple):
    """How many atoms or elements: a product of n (n-1) ... (n-m+1), divided by a number.

    Tuples of m different elements of a subdomain of n are such a product; sets of them are that by m!.
    """

    falling: tuple[tuple[Size, int], ...]  # (n, m)
    divided: int = 1

    def __str__(self) -> str:
        if self.divided != 1:
            return " · ".join(f"C({size}, {times})" for size, times in self.falling)
        return " · ".join(_falling_text(size, times) for size, times in self.falling) or "1"

    def at(self, sizes: Sequence[int]) -> int:
        """Return the number where the sizes of all subdomains are known."""
        return prod(perm(max(n.at(sizes), 0), m) for n, m in self.falling) // self.divided


def _falling_text(size: Size, times: int) -> str:
    factors = [Size(size.terms, size.constant - down) for down in range(times)]
    return " · ".join(str(f) if len(f.terms) + bool(f.constant) == 1 else f"({f})" for f in factors)


def tuples_of(subdomains: Sequence[int]) -> Count:
    """Return the number of tuples over subdomains, those of one subdomain of different elements."""
    numbers = {subdomain: subdomains.count(subdomain) for subdomain in sorted(set(subdomains))}
    return Count(tuple((of_subdomain(subdomain), times) for subdomain, times in numbers.items()))


def sets_of(subdomain: int, elements: int) -> Count:
    """Return the number of sets of ``elements`` elements of a subdomain."""
    return Count(((of_subdomain(subdomain), elements),), factorial(elements))
