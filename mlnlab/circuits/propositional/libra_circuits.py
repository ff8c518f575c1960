"""Read and write circuits in the format of the Libra toolkit, ``.ac``.

The first line of an ``.ac`` file lists how many values each variable has, ``(2 2 3)``. Then comes a node a
line, children before their parents: ``v VARIABLE VALUE``, ``n NUMBER``, ``* NODES`` or ``+ NODES``; the first
node is number 0. After ``EOF`` a line for each parameter that belongs to a distribution says which node it
is, its number again, and its conditions, the first of them the variable and value whose probability it is.
Libra's rows of values (``.data``, and ``.q`` and ``.ev`` with ``*`` for open values) are tables of data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from mlnlab.circuits.propositional.arithmetic_circuit import (
    INDICATOR,
    PARAMETER,
    PRODUCT,
    SUM,
    ArithmeticCircuit,
)
from mlnlab.circuits.propositional.circuit_properties import require_properties
from mlnlab.errors import ArgumentError
from mlnlab.factors.data.table_coding import MOST_VALUES
from mlnlab.factors.files.network_texts import Problems, Source, load_with, read_with
from mlnlab.factors.graphs.random_variables import RandomVariable
from mlnlab.steps.safe_files import write_text

_SIZES = re.compile(r"\(\s*(\d+(?:\s+\d+)*)?\s*\)", re.ASCII)
_NODE = re.compile(r"v \d{1,9} \d{1,9}|n [0-9.eE+-]+|[*+](?: \d{1,9})+", re.ASCII)
_FEATURE = re.compile(r"(\d{1,9}) \S+ \+v(\d{1,9})_(\d{1,9})(?: [+-]v\d+_\d+)*", re.ASCII)
_MARKS = {"*": PRODUCT, "+": SUM}
_NODE_FORMS = "v VARIABLE VALUE, n NUMBER, * NODES, + NODES or EOF"


def load_ac(path: str | Path, variables: Sequence[RandomVariable] | None = None) -> ArithmeticCircuit:
    r"""Read a circuit of the Libra toolkit; its variables are called X0, X1, ... unless they are given.

    >>> import mlnlab as ml
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> coin = "(2)\nv 0 0\nn 0.25\n* 0 1\nv 0 1\nn 0.75\n* 3 4\n+ 2 5\nEOF\n"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "coin.ac"
    ...     _ = path.write_text(coin)
    ...     ac = ml.load_ac(path)
    >>> ac.query({"X0": 1})
    0.75
    """
    return load_with(partial(_read_circuit, variables=variables), path)


def ac_circuit(
    text: str | bytes, variables: Sequence[RandomVariable] | None = None, name: str = "text"
) -> ArithmeticCircuit:
    """Return the circuit that a text in Libra's format describes."""
    return read_with(partial(_read_circuit, variables=variables), text, name)


def ac_text(circuit: ArithmeticCircuit) -> str:
    """Return a circuit in Libra's format; names are not kept."""
    lines = ["(" + " ".join(str(variable.size) for variable in circuit.variables) + ")"]
    features = []
    children, first = circuit.children.tolist(), circuit.first_child.tolist()
    for node, kind in enumerate(circuit.kinds.tolist()):
        variable, value = int(circuit.variable[node]), int(circuit.value[node])
        if kind == INDICATOR:
            lines.append(f"v {variable} {value}")
        elif kind == PARAMETER:
            number = repr(float(circuit.parameters[node]))
            lines.append(f"n {number}")
            if variable >= 0 and value >= 0:
                features.append(f"{node} {number} +v{variable}_{value}")
        else:
            below = children[first[node] : first[node + 1]]
            lines.append(" ".join(["+" if kind == SUM else "*", *map(str, below)]))
    return "\n".join([*lines, "EOF", *features, "EOF"]) + "\n"


def save_ac(circuit: ArithmeticCircuit, path: str | Path) -> None:
    """Write a circuit to a file in Libra's format.

    >>> import mlnlab as ml
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> ac = ml.compile_circuit(ml.sample_network("greenhouse"))
    >>> with TemporaryDirectory() as folder:
    ...     ml.save_ac(ac, Path(folder) / "greenhouse.ac")
    ...     ml.load_ac(Path(folder) / "greenhouse.ac").edges == ac.edges
    True
    """
    if not isinstance(circuit, ArithmeticCircuit):
        raise ArgumentError(
            f"An arithmetic circuit is written, not {circuit!r:.60}; that of a learned one is its .circuit."
        )
    write_text(path, ac_text(circuit))


@dataclass(slots=True)
class _Nodes:
    """The arrays of a circuit while its lines are read."""

    kinds: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=lambda: [0])
    children: list[int] = field(default_factory=list)
    variable: list[int] = field(default_factory=list)
    value: list[int] = field(default_factory=list)
    parameters: list[float] = field(default_factory=list)

    def add(self, kind: int, variable: int = -1, value: int = -1, number: float = 0.0) -> None:
        self.kinds.append(kind)
        self.variable.append(variable)
        self.value.append(value)
        self.parameters.append(number)
        self.ends.append(len(self.children))


def _read_circuit(source: Source, variables: Sequence[RandomVariable] | None) -> ArithmeticCircuit:
    lines = source.text.split("\n")
    told = _SIZES.fullmatch(lines[0].strip())
    if told is None:
        raise _problem(source, 0, "no-sizes", "the first line is not a list of sizes", "such as (2 2 3)")
    sizes = _read_sizes(source, (told[1] or "").split())
    if variables is None:
        variables = [RandomVariable.numbered(f"X{number}", size) for number, size in enumerate(sizes)]
    elif [variable.size for variable in variables] != sizes:
        raise ArgumentError(f"{source.name} is over {len(sizes)} variables of other sizes than those given.")
    nodes, end = _Nodes(), 0
    for end, line in enumerate(lines[1:], 1):
        words = line.split()
        if words == ["EOF"]:
            break
        _read_node(source, end, words, sizes, nodes)
    else:
        raise _problem(source, end, "unfinished-file", "the file ends before EOF", "EOF")
    if not nodes.kinds:
        raise _problem(source, end, "no-nodes", "there are no nodes", _NODE_FORMS)
    for number, line in enumerate(lines[end + 1 :], end + 1):
        _read_feature(source, number, line.strip(), sizes, nodes)
    circuit = ArithmeticCircuit(
        tuple(variables),
        np.array(nodes.kinds),
        np.array(nodes.ends),
        np.array(nodes.children, np.uint32),
        np.array(nodes.variable),
        np.array(nodes.value),
        np.array(nodes.parameters),
    )
    require_properties(circuit, "smooth")
    return circuit


def _read_sizes(source: Source, words: list[str]) -> list[int]:
    """Return the numbers of values; refuse more than a file of this length can be about."""
    most = MOST_VALUES + len(source.text)
    sizes = [int(word) if len(word) <= 9 else most + 1 for word in words]
    if not all(0 < size <= MOST_VALUES for size in sizes) or sum(sizes) > most:
        message = f"a variable has from 1 to {MOST_VALUES:,} values, and all of them at most {most:,} here"
        raise _problem(source, 0, "wrong-sizes", message, "such as (2 2 3)")
    return sizes


def _read_node(source: Source, line: int, words: list[str], sizes: list[int], nodes: _Nodes) -> None:
    if not _NODE.fullmatch(" ".join(words)):
        raise _problem(source, line, "no-node", "this line is not a node", _NODE_FORMS)
    if words[0] == "v":
        variable, value = map(int, words[1:])
        if variable >= len(sizes) or value >= sizes[variable]:
            raise _problem(source, line, "no-value", "there is no such variable or value", f"sizes {sizes}")
        nodes.add(INDICATOR, variable, value)
    elif words[0] == "n":
        try:
            number = float(words[1])
        except ValueError:
            number = -1.0
        if not 0 <= number < np.inf:
            raise _problem(source, line, "no-number", f"{words[1]} is not a number from 0 up", "n 0.25")
        nodes.add(PARAMETER, number=number)
    else:
        below = [int(word) for word in words[1:]]
        if max(below) >= len(nodes.kinds):
            message = f"node {max(below)} does not come before node {len(nodes.kinds)}"
            raise _problem(source, line, "no-child", message, "numbers of earlier nodes")
        nodes.children += below
        nodes.add(_MARKS[words[0]])


def _read_feature(source: Source, line: int, text: str, sizes: list[int], nodes: _Nodes) -> None:
    """Note the variable and value of a parameter's distribution; lines of other features are passed over."""
    found = _FEATURE.fullmatch(text)
    if found is None:
        return
    node, variable, value = map(int, found.groups())
    if node >= len(nodes.kinds) or nodes.kinds[node] != PARAMETER:
        raise _problem(source, line, "no-parameter", f"node {node} is not a number", "a line of n NUMBER")
    if variable >= len(sizes) or value >= sizes[variable]:
        raise _problem(source, line, "no-value", "there is no such variable or value", f"sizes {sizes}")
    nodes.variable[node], nodes.value[node] = variable, value


def _problem(source: Source, line: int, code: str, message: str, expected: str) -> Problems:
    starts = source.line_starts
    start = starts[min(line, len(starts) - 1)]
    stop = max(start + 1, start + len(source.line(min(line, len(starts) - 1) + 1)))
    return Problems([source.problem(code, message, start, stop, expected=expected)])
