"""First-order circuits as JSON and back: ``circuit.schema.json`` describes the format, version 1.

What is read may come from anybody: everything is checked before a circuit is made of it, and an evaluation
of what was accepted comes to an end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, assert_never

from mlnlab.circuits.first_order.first_order_circuit import (
    SIGNED,
    Body,
    Call,
    Counting,
    Definition,
    FirstOrderCircuit,
    InclusionExclusion,
    Leaf,
    Power,
    Product,
    SizeCase,
    Sum,
    Unfolded,
    calls_of,
)
from mlnlab.circuits.first_order.sizes import CHOSEN, Count, Size
from mlnlab.errors import ArgumentError, require

FORMAT, VERSION = "mlnlab-circuit", 1
MOST_TEXT = 50_000_000  # characters
MOST_DEFINITIONS, MOST_PARTS, LARGEST = 100_000, 100_000, 1_000_000
SIGNS = ("true", "false", "free", "impossible")
Json = dict[str, Any]


# --- writing --------------------------------------------------------------------------------------


def circuit_json(circuit: FirstOrderCircuit, symbols: Sequence[str] = ()) -> Json:
    r"""Return a circuit as ``circuit.schema.json`` describes it; ``symbols`` name its kinds of atoms.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\n1 Smokes(x)")
    >>> found = ml.circuit_json(ml.lift(mln).compile().circuit, ["Smokes(x)"])
    >>> found["format"], found["version"], len(found["definitions"])
    ('mlnlab-circuit', 1, 1)
    """
    require(circuit, FirstOrderCircuit, "A circuit is needed, such as ml.lift(mln).compile().circuit")
    if not circuit.is_complete:
        raise ArgumentError(
            "This circuit is finished only when sizes are known; one that no rule leaves open can be written."
        )
    return {
        "format": FORMAT, "version": VERSION, "root": circuit.root, "symbols": list(map(str, symbols)),
        "definitions": [
            {"subdomains": one.subdomains, "body": _body_json(one.body)} for one in circuit.definitions
        ],
    }  # fmt: skip


def _body_json(body: Body) -> Json:
    match body:
        case Product():
            return {"kind": "product", **_product_json(body)}
        case Sum(terms):
            return {"kind": "sum", "terms": list(map(_product_json, terms))}
        case InclusionExclusion(first, second, both):
            parts = dict(
                zip(("first", "second", "both"), map(_product_json, (first, second, both)), strict=True)
            )
            return {"kind": "inclusion-exclusion", **parts}
        case Power(call, times):
            return {"kind": "power", "call": _call_json(call), "times": _count_json(times)}
        case Counting(subdomain, call):
            return {"kind": "counting", "subdomain": subdomain, "call": _call_json(call)}
        case SizeCase(subdomain, minimum, large, small):
            return {"kind": "size-case", "subdomain": subdomain, "minimum": minimum,
                    "large": _product_json(large), "small": _product_json(small)}  # fmt: skip
        case Unfolded():
            raise ArgumentError("A definition that is not compiled yet cannot be written.")
        case _:
            assert_never(body)


def _product_json(product: Product) -> Json:
    leaves = [
        {"symbol": leaf.symbol, "sign": leaf.sign, "times": _count_json(leaf.times)}
        for leaf in product.leaves
    ]
    return {"leaves": leaves, "calls": list(map(_call_json, product.calls))}


def _call_json(call: Call) -> Json:
    return {"definition": call.definition, "sizes": list(map(_size_json, call.sizes))}


def _size_json(size: Size) -> Json:
    return {"terms": [list(term) for term in size.terms], "constant": size.constant}


def _count_json(count: Count) -> Json:
    falling = [{"size": _size_json(size), "times": times} for size, times in count.falling]
    return {"falling": falling, "divided": count.divided}


# --- reading --------------------------------------------------------------------------------------


def circuit_from_json(data: str | Json) -> FirstOrderCircuit:
    r"""Return the circuit that JSON describes, as text or as read; refuse others in a sentence.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\n1 Smokes(x)")
    >>> circuit = ml.lift(mln).compile().circuit
    >>> ml.circuit_from_json(ml.circuit_json(circuit)) == circuit
    True
    """
    read = _read(data)
    _is(read.get("format") == FORMAT, "its format is not 'mlnlab-circuit'")
    _is(read.get("version") == VERSION, f"its version is not {VERSION}; a newer mlnlab may read it")
    given = _list(read.get("definitions"), "definitions", MOST_DEFINITIONS)
    _is(len(given) > 0, "it has no definitions")
    wide = [_number(_object(one, "a definition").get("subdomains"), "subdomains", 0, 1000) for one in given]
    reader = _Reader(wide)
    made = tuple(
        Definition(n, reader.body(_object(one.get("body"), "a body"), n))
        for n, one in zip(wide, given, strict=True)
    )
    circuit = FirstOrderCircuit(made, _number(read.get("root"), "root", 0, len(made) - 1))
    refuse_endless(circuit)
    return circuit


def _read(data: str | Json) -> Json:
    if not isinstance(data, str):
        return _object(data, "the whole")
    _is(len(data) <= MOST_TEXT, f"its text is longer than {MOST_TEXT:,} characters")
    try:
        return _object(json.loads(data), "the whole")
    except (ValueError, RecursionError) as problem:
        raise ArgumentError(f"This is not a circuit: its text is not JSON ({problem!s:.80}).") from None


class _Reader:
    """Reads bodies, whose numbers must fit the definitions that there are."""

    def __init__(self, wide: Sequence[int]) -> None:
        self.wide = wide

    def body(self, body: Json, own: int) -> Body:
        match body.get("kind"):
            case "product":
                return self.product(body, own)
            case "sum":
                return Sum(tuple(self.product(t, own) for t in _list(body.get("terms"), "terms")))
            case "inclusion-exclusion":
                parts = [self.product(body.get(name), own) for name in ("first", "second", "both")]
                return InclusionExclusion(*parts)
            case "power":
                return Power(self.call(body.get("call"), own), self.count(body.get("times"), own))
            case "counting":
                subdomain = _number(body.get("subdomain"), "a subdomain", 0, own - 1)
                return Counting(subdomain, self.call(body.get("call"), own, least=CHOSEN))
            case "size-case":
                subdomain = _number(body.get("subdomain"), "a subdomain", 0, own - 1)
                minimum = _number(body.get("minimum"), "a minimum", 1, LARGEST)
                parts = [self.product(body.get(name), own) for name in ("large", "small")]
                return SizeCase(subdomain, minimum, *parts)
            case kind:
                raise ArgumentError(f"This is not a circuit: there is no node of kind {kind!r:.40}.")

    def product(self, product: object, own: int) -> Product:
        found = _object(product, "a product")
        leaves = tuple(self.leaf(leaf, own) for leaf in _list(found.get("leaves"), "leaves"))
        return Product(leaves, tuple(self.call(call, own) for call in _list(found.get("calls"), "calls")))

    def leaf(self, leaf: object, own: int) -> Leaf:
        found = _object(leaf, "a leaf")
        sign = found.get("sign")
        if sign not in SIGNS:
            raise ArgumentError(f"This is not a circuit: the sign of a leaf is one of {', '.join(SIGNS)}.")
        least = -1 if sign == "impossible" else 0
        made = sign != "impossible" and found.get("symbol") == SIGNED
        symbol = SIGNED if made else _number(found.get("symbol"), "a symbol", least, LARGEST)
        return Leaf(symbol, sign, self.count(found.get("times"), own))

    def call(self, call: object, own: int, least: int = 0) -> Call:
        found = _object(call, "a call")
        number = _number(found.get("definition"), "a call's definition", 0, len(self.wide) - 1)
        sizes = tuple(self.size(size, own, least) for size in _list(found.get("sizes"), "sizes"))
        _is(len(sizes) == self.wide[number],
            f"a call gives {len(sizes)} sizes to a definition of {self.wide[number]} subdomains")  # fmt: skip
        return Call(number, sizes)

    def size(self, size: object, own: int, least: int = 0) -> Size:
        found = _object(size, "a size")
        terms = []
        for term in _list(found.get("terms"), "terms"):
            pair = _list(term, "a term", 2)
            _is(len(pair) == 2, "a term is a pair of a subdomain and a coefficient")
            subdomain = _number(pair[0], "a subdomain", least, own - 1)
            terms.append((subdomain, _number(pair[1], "a coefficient", -1000, 1000)))
        _is(all(times for _, times in terms), "a coefficient is 0")
        _is([b for b, _ in terms] == sorted({b for b, _ in terms}), "the terms of a size are not in order")
        return Size(tuple(terms), _number(found.get("constant"), "a constant", -LARGEST, LARGEST))

    def count(self, count: object, own: int) -> Count:
        found = _object(count, "a number of atoms")
        falling = []
        for factor in _list(found.get("falling"), "factors", 100):
            pair = _object(factor, "a factor")
            times = _number(pair.get("times"), "how often a factor counts", 1, 100)
            falling.append((self.size(pair.get("size"), own), times))
        return Count(tuple(falling), _number(found.get("divided"), "a divisor", 1, 10**160))


def _is(condition: object, words: str) -> None:
    if not condition:
        raise ArgumentError(f"This is not a circuit: {words}.")


def _object(value: object, what: str) -> Json:
    if not isinstance(value, dict):
        raise ArgumentError(f"This is not a circuit: {what} is not a JSON object.")
    return value


def _list(value: object, what: str, most: int = MOST_PARTS) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise ArgumentError(f"This is not a circuit: {what} is not a list of at most {most:,}.")
    return value


def _number(value: object, what: str, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ArgumentError(f"This is not a circuit: {what} is not a whole number from {low:,} to {high:,}.")
    return value


# --- whether the evaluation of a circuit ends ---------------------------------------------------

# Definitions that call themselves must do so with fewer elements.

# Domain recursion takes one element out where there is one (a case by size), and nothing on the way back adds
# any. A circuit that was compiled is so; one that was read must be looked at.


def refuse_endless(circuit: FirstOrderCircuit) -> None:
    """Refuse a circuit in which a definition may call itself for ever, or with more elements."""
    import networkx as nx

    recursive = circuit.recursive()
    endless: nx.DiGraph[int] = nx.DiGraph()
    for number in recursive:
        body = circuit.definitions[number].body
        for call, decreases in _inner_calls(body):
            if call.definition not in recursive:
                continue
            if not _adds_nothing(body, call):
                raise ArgumentError(
                    f"This is not a circuit: definition {number} eventually calls itself with more elements."
                )
            if not decreases:
                endless.add_edge(number, call.definition)
    if not nx.is_directed_acyclic_graph(endless):
        raise ArgumentError("This is not a circuit: a definition calls itself with no fewer elements.")


def _inner_calls(body: Body) -> Iterator[tuple[Call, bool]]:
    """Yield calls, and whether there are fewer elements in them: one less, where there is one."""
    if not isinstance(body, SizeCase):
        yield from ((call, False) for call in calls_of(body))
        return
    taken = Size(((body.subdomain, 1),), -1)
    for call in body.large.calls:
        yield call, taken in call.sizes
    for call in body.small.calls:
        yield call, False


def _adds_nothing(body: Body, call: Call) -> bool:
    """Tell whether a call has no more elements in all than its caller has: none is handed on twice."""
    if any(size.constant > 0 for size in call.sizes):
        return False
    total: dict[int, int] = {}
    for size in call.sizes:
        for subdomain, times in size.terms:
            total[subdomain] = total.get(subdomain, 0) + times
    chosen = total.pop(CHOSEN, 0)
    if isinstance(body, Counting) and chosen > 0:
        total[body.subdomain] = total.get(body.subdomain, 0) + chosen
    return all(times <= 1 for times in total.values()) and _is_natural(body, call)


def _is_natural(body: Body, call: Call) -> bool:
    """Tell whether a call's sizes are parts of a whole: n, k, n - k, or n - 1 where there is one."""
    allowed = {Size(((CHOSEN, 1),)), Size(())}
    if isinstance(body, Counting):
        allowed.add(Size(tuple(sorted(((body.subdomain, 1), (CHOSEN, -1))))))
    if isinstance(body, SizeCase):
        allowed.add(Size(((body.subdomain, 1),), -1))
    return all(
        size in allowed or (len(size.terms) == 1 and size.terms[0][1] == 1 and not size.constant)
        for size in call.sizes
    )
