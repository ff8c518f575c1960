"""Reads the UAI competition's format: numbers of values, scopes and tables, without any names.

A file says MARKOV or BAYES, how many variables there are and how many values each has, how many factors there
are and over which variables each is, and then each factor's numbers, of which there are as many as told, the
last variable of the scope turning fastest. In a BAYES file the last variable of a scope is the child of the
others. Variables are called x0, x1, ... here, and values 0, 1, ...
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.factors.files.network_texts import Source, load_with, read_with
from mlnlab.factors.files.uai_words import Words, words_of
from mlnlab.factors.graphs.bayesian_network import BayesianNetwork
from mlnlab.factors.graphs.conditional_table import ConditionalTable
from mlnlab.factors.graphs.factor import MOST_VARIABLES, Factor
from mlnlab.factors.graphs.factor_graph import FactorGraph
from mlnlab.factors.graphs.random_variables import RandomVariable, show_name
from mlnlab.logic.vocabulary import FrozenMapping

if TYPE_CHECKING:
    import numpy as np

MOST_VALUES = 1_000_000  # of one variable, each of which gets a name
MOST_NAMES = 2_000_000  # of values of all variables


def load_uai(path: str | Path) -> FactorGraph | BayesianNetwork:
    """Read a UAI file: a factor graph from MARKOV, a Bayesian network from BAYES.

    >>> import mlnlab as ml
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pair.uai"
    ...     _ = path.write_text("MARKOV 2  2 3  1  2 0 1  6  1 2 3 0 5 6")
    ...     ml.load_uai(path)
    <FactorGraph of 2 variables and 1 factor: 6 cells, 6 states>
    """
    return load_with(_model, path)


def uai_model(text: str | bytes, name: str = "text") -> FactorGraph | BayesianNetwork:
    """Return the model that a text in UAI's format describes."""
    return read_with(_model, text, name)


def load_uai_evidence(path: str | Path) -> FrozenMapping[str]:
    """Read a UAI evidence file: how many values are known, then each as the numbers of variable and value.

    Files of the earlier form, in which the number of observations comes first, are read where it is 1.

    >>> import mlnlab as ml
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pair.uai.evid"
    ...     _ = path.write_text("1  1 2")
    ...     ml.load_uai_evidence(path)
    {'x1': '2'}
    """
    return load_with(_evidence, path)


def uai_evidence(text: str | bytes, name: str = "text") -> FrozenMapping[str]:
    """Return the evidence that a text describes."""
    return read_with(_evidence, text, name)


def _model(source: Source) -> FactorGraph | BayesianNetwork:
    words = words_of(source)
    kind = words.take("MARKOV or BAYES")
    if kind not in {"MARKOV", "BAYES"}:
        repair = kind.upper() if kind.upper() in {"MARKOV", "BAYES"} else ""
        message = f"{show_name(kind)} is not a kind of network"
        raise words.problem("no-kind", message, words.next - 1, "MARKOV or BAYES", repair)
    number = words.count("the number of variables", 0, words.left)
    sizes = [words.count(f"the number of values of x{n}", 1, MOST_VALUES) for n in range(number)]
    factors = words.count("the number of factors", 0, words.left)
    scopes = [_scope(words, n, number) for n in range(factors)]
    starts = [words.next, *(_table(words, n, scope, sizes) for n, scope in enumerate(scopes))][:-1]
    if sum(sizes) > MOST_NAMES:  # each value gets a name, of which nothing in the tables may speak
        message = f"the variables have {sum(sizes):,} values together"
        raise words.problem("too-many-values", message, 1, f"at most {MOST_NAMES:,}")
    variables = [RandomVariable.numbered(f"x{n}", size) for n, size in enumerate(sizes)]
    tables = [_numbers(words, start, [sizes[v] for v in s]) for start, s in zip(starts, scopes, strict=True)]
    if words.left:
        expected = "the end of the file"
        message = (
            f"the file goes on after the table of factor {factors - 1}" if factors else "the file goes on"
        )
        raise words.problem("too-long", message, words.next, expected)
    if kind == "MARKOV":
        pairs = zip(scopes, tables, strict=True)
        return FactorGraph(
            tuple(Factor.of([variables[v] for v in scope], table) for scope, table in pairs), tuple(variables)
        )
    return _bayesian(words, variables, scopes, tables, starts)


def _scope(words: Words, number: int, variables: int) -> tuple[int, ...]:
    size = words.count(f"the number of variables of factor {number}", 0, MOST_VARIABLES)
    scope = tuple(words.count(f"a variable of factor {number}", 0, variables - 1) for _ in range(size))
    if len(set(scope)) < size:
        twice = next(place for place in range(size) if scope[place] in scope[:place])
        message = f"factor {number} names the variable {scope[twice]} twice"
        raise words.problem("variable-twice", message, words.next - size + twice)
    return scope


def _table(words: Words, number: int, scope: tuple[int, ...], sizes: list[int]) -> int:
    """Step over a table after a look at its length, and return where the next one begins."""
    start = words.next
    told = words.count(f"the number of entries of factor {number}", 0, 10**18)
    cells = prod(sizes[variable] for variable in scope)
    if told != cells:
        shape = " times ".join(str(sizes[variable]) for variable in scope) or "1"
        message = f"factor {number} has {shape} entries, not {told:,}"
        raise words.problem("wrong-number-of-entries", message, start, f"{cells}")
    if cells > words.left:
        expected = f"{cells:,} entries of factor {number}; {words.left:,} are there"
        raise words.problem("unfinished-file", "the file ends too early", len(words.words), expected)
    words.next += cells
    return words.next


def _numbers(words: Words, start: int, shape: list[int]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    reader = Words(words.source, words.words, start + 1)
    return reader.reals(prod(shape), "a number from 0 up").reshape(shape)


def _bayesian(
    words: Words,
    variables: list[RandomVariable],
    scopes: list[tuple[int, ...]],
    tables: list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]],
    starts: list[int],
) -> BayesianNetwork:
    found: dict[int, ConditionalTable] = {}
    for number, (scope, table, start) in enumerate(zip(scopes, tables, starts, strict=True)):
        if not scope:
            raise words.problem("no-child", f"factor {number} has no variable to be the table of", start)
        if scope[-1] in found:
            message = f"factor {number} is a second table of the variable {scope[-1]}, its last one"
            raise words.problem("table-twice", message, start, "one table for each variable")
        named = [variables[variable] for variable in scope]
        try:
            found[scope[-1]] = ConditionalTable(named[-1], named[:-1], table)
        except ArgumentError as problem:
            raise words.problem("no-distribution", str(problem).rstrip("."), start) from None
    missing = [number for number in range(len(variables)) if number not in found]
    if missing:
        message = f"no table has the variable {missing[0]} as its last one"
        raise words.problem("no-table", message, 0, "a table for each variable of a BAYES network")
    try:
        return BayesianNetwork(tuple(found[number] for number in range(len(variables))))
    except ArgumentError as problem:
        raise words.problem("cycle", str(problem).rstrip("."), 0) from None


def _evidence(source: Source) -> FrozenMapping[str]:
    words = words_of(source)
    if not words.left:
        return FrozenMapping()
    first = words.count("the number of known values", 0, 10**18)
    if words.left != 2 * first and first == 1:
        first = words.count("the number of known values of the one observation", 0, 10**18)
    found: dict[str, str] = {}
    for pair in _pairs(words, first):
        variable, value = pair
        if f"x{variable}" in found:
            raise words.problem("variable-twice", f"the variable {variable} has two values", words.next - 2)
        found[f"x{variable}"] = str(value)
    if words.left:
        message = f"{first:,} values are announced, but more follow"
        raise words.problem("too-long", message, words.next, "the end of the file")
    return FrozenMapping(found)


def _pairs(words: Words, number: int) -> Iterator[tuple[int, int]]:
    for _ in range(min(number, words.left // 2 + 1)):
        yield (
            words.count("the number of a variable", 0, 10**9),
            words.count("the number of a value", 0, 10**9),
        )
