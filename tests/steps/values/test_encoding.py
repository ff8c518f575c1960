"""States as JSON: they come back the same; what is not registered, damaged or hostile is refused."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import InitVar, dataclass, field
from enum import Enum
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlnlab.errors import ArgumentError, InputError
from mlnlab.steps.values.encoding import REGISTRY, Registry, storable
from mlnlab.steps.values.sameness import differing_parts, same_state
from tests.steps.toys import SCALARS, Colour, Count, Inner, Place, frozen, histories


def there_and_back(value, registry=REGISTRY):
    return registry.decode_tree(json.loads(json.dumps(registry.encode_value(value), allow_nan=False)))


@given(histories(most=6))
def test_states_come_back_the_same(states):
    for state in states:
        assert differing_parts(there_and_back(state), state) == ()


@given(
    st.recursive(
        SCALARS | st.binary(max_size=5) | st.complex_numbers() | st.fractions(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.lists(inner, max_size=3).map(tuple)
            | st.dictionaries(st.text(max_size=2) | st.integers(), inner, max_size=3)
            | st.dictionaries(st.text(max_size=2), inner, max_size=3).map(MappingProxyType)
        ),
        max_leaves=12,
    )
)
def test_values_come_back_the_same(value):
    found = there_and_back(value)
    assert same_state(found, value) or type(found) is MappingProxyType
    assert differing_parts(found, value) == ()


@pytest.mark.parametrize(
    "value",
    [
        frozen([1.5, float("nan"), -0.0]),
        np.zeros((0, 3)),
        np.array(7, np.uint64),
        np.array([[1, 2], [3, 4]], np.int8, order="F"),
        np.array(["Anna", "Bo"]),
        np.array([b"x"]),
        np.array(["2024-01-01"], "M8[D]"),
        np.array([1 + 2j], ">c16"),
        np.array([True, False]),
        np.float32(1.5),
        np.datetime64("2024-01-01T12"),
        (Colour.RED, Place(1, (2,)), frozenset({1}), Fraction(-1, 3), 10**5000),
        {"$": 1},
        "\ud800 odd",
    ],
    ids=lambda value: f"{type(value).__name__}-{getattr(value, 'dtype', '')}",
)
def test_each_kind_comes_back(value):
    found = there_and_back(value)
    assert differing_parts(found, value) == ()
    if isinstance(found, np.ndarray):
        assert not found.flags.writeable


class TestRegistering:
    def test_what_is_not_registered_is_named_with_its_place(self):
        @dataclass(frozen=True)
        class Private:
            x: int

        sentence = r"state\['a'\]\[1\]\.scale cannot be stored: .*Private is not registered"
        with pytest.raises(ArgumentError, match=sentence):
            REGISTRY.encode_value({"a": (1, Inner(Private(1), np.zeros(1)))})
        with pytest.raises(ArgumentError, match="ndarray is not registered"):
            REGISTRY.encode_value(np.array([None]))
        with pytest.raises(ArgumentError, match="a key of state"):
            REGISTRY.encode_value({Private(1): 1})

    def test_a_name_stands_for_one_class(self):
        registry = Registry()

        def defined():
            @storable("mine", registry)
            @dataclass(frozen=True)
            class Mine:
                x: int

            return Mine

        defined()
        newer = defined()
        assert type(there_and_back(newer(1), registry)) is newer
        with pytest.raises(ArgumentError, match=r"'mine' stands for .*Mine already"):
            storable("mine", registry)(Count)

    def test_only_values_can_be_registered(self):
        with pytest.raises(ArgumentError, match="only dataclasses"):
            REGISTRY.add("tests.list", list)
        for name in ("", "array", "int"):
            with pytest.raises(ArgumentError, match="cannot name a class"):
                REGISTRY.add(name, Count)

    def test_fields_outside_the_constructor_come_back(self):
        registry = Registry()

        @storable("cached", registry)
        @dataclass(frozen=True)
        class Cached:
            x: int
            square: int = field(init=False)

            def __post_init__(self):
                object.__setattr__(self, "square", self.x**2)

        value = Cached(3)
        object.__setattr__(value, "square", 10)
        assert there_and_back(value, registry).square == 10

    def test_a_class_that_refuses_the_values_gets_a_sentence(self):
        registry = Registry()

        @storable("positive", registry)
        @dataclass(frozen=True)
        class Positive:
            x: int
            start: InitVar[int] = 0

            def __post_init__(self, start):
                if self.x < 0:
                    raise ZeroDivisionError("x is negative.")

        with pytest.raises(InputError, match=r"^A value cannot be made: x is negative\.$"):
            registry.decode_tree({"$": "positive", "fields": {"x": -1}})

    def test_members_of_enumerations_go_by_name(self):
        registry = Registry()

        @storable("level", registry)
        class Level(int, Enum):
            LOW = 1

        assert registry.encode_value(Level.LOW) == {"$": "level", "member": "LOW"}
        assert there_and_back(Level.LOW, registry) is Level.LOW


ARRAY = {"$": "array", "dtype": "<f8", "shape": [1], "base64": "AAAAAAAAAAA="}


@pytest.mark.parametrize(
    ("tree", "sentence"),
    [
        ({"$": "os.system", "fields": {}}, "kind 'os.system', which is not known here"),
        ({"$": ["a"]}, "not known here"),
        ({"$": "toys.Count", "fields": {}}, "Count has the fields value, but in the file"),
        ({"$": "toys.Count", "fields": {"value": 1, "__class__": 2}}, "another version"),
        ({"$": "toys.Count"}, "cannot be made"),
        ({"$": "toys.Colour", "member": "GREEN"}, "cannot be made"),
        ({"$": "toys.Colour", "member": "__class__"}, "cannot be made"),
        ({"$": "toys.Place", "fields": {"row": 1}}, "cannot be made"),
        ({"$": "dict", "entries": [[{"a": 1}, 1]]}, "cannot be made"),
        ({"$": "dict", "entries": 3}, "cannot be made"),
        ({"$": "int", "hex": "zz"}, "cannot be made"),
        ({"$": "bytes", "base64": "*"}, "cannot be made"),
        ({"$": "fraction", "hex": ["0x1", "0x0"]}, "cannot be made"),
        (ARRAY | {"dtype": "|O"}, r"array of '\|O' cannot be read"),
        (ARRAY | {"dtype": "O"}, "cannot be read"),
        (ARRAY | {"dtype": "(1000000,)f8"}, "cannot be read"),
        (ARRAY | {"dtype": "f8,O"}, "cannot be read"),
        (ARRAY | {"dtype": "<f7"}, "cannot be read"),
        (ARRAY | {"dtype": {"names": ["a"], "formats": ["O"]}}, "cannot be read"),
        (ARRAY | {"dtype": "\x1b[31m"}, "cannot be read"),
        (ARRAY | {"shape": [2]}, "has 16 bytes, but there are 8"),
        (ARRAY | {"shape": [10**15]}, "but there are 8"),
        (ARRAY | {"shape": [-1]}, "list of sizes"),
        (ARRAY | {"shape": [True]}, "list of sizes"),
        (ARRAY | {"shape": [0, 10**30], "base64": ""}, "cannot be made"),
        (ARRAY | {"base64": "AAA"}, "cannot be made"),
        (ARRAY | {"base64": 5}, "in base64"),
    ],
)
def test_hostile_trees_get_a_sentence(tree, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        REGISTRY.decode_tree({"inside": [tree]})
    assert len(str(caught.value).splitlines()) == 1
    assert str(caught.value).isprintable()


def test_deep_nesting_gets_a_sentence():
    tree = []
    for _ in range(100_000):
        tree = [tree]
    with pytest.raises(InputError, match="nested too deeply"):
        REGISTRY.decode_tree(tree)
    while tree:  # taken apart from outside, or Python's own clean-up would go as deep
        tree = tree[0]


def test_a_name_that_is_not_known_yet_is_looked_for_in_a_package(tmp_path, monkeypatch):
    folder = tmp_path / "farm" / "yard"
    folder.mkdir(parents=True)
    for path in (tmp_path / "farm", folder):
        (path / "__init__.py").write_text("")
    (tmp_path / "farm" / "__init__.py").write_text(
        "from mlnlab.steps.values.encoding import Registry\nREGISTRY = Registry('farm')\n"
    )
    (folder / "hens.py").write_text(
        "from dataclasses import dataclass\nfrom farm import REGISTRY\n"
        "from mlnlab.steps.values.encoding import storable as add\n"
        "def storable(name):\n    return add(name, REGISTRY)\n\n"
        '@storable("hens.Hen")\n@dataclass\nclass Hen:\n    eggs: int\n'
    )
    (folder / "foxes.py").write_text('# storable("hens.Fox")\nraise RuntimeError\n')
    monkeypatch.syspath_prepend(tmp_path)
    registry = importlib.import_module("farm").REGISTRY
    assert registry.decode_tree({"$": "hens.Hen", "fields": {"eggs": 3}}).eggs == 3
    for name in ("hens.Fox", "farm.yard.hens", "hens.*", 'hens.Hen")'):
        with pytest.raises(InputError, match="not known here"):
            registry.decode_tree({"$": name, "fields": {}})
    assert "farm.yard.foxes" not in sys.modules
