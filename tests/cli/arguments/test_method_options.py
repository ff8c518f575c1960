"""``--option NAME=VALUE``: texts become values of the types that a method's parameters have."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Literal, Optional

import pytest

from mlnlab.cli.arguments.method_options import convert_text, typed_options
from mlnlab.errors import InputError


@dataclass(frozen=True)
class Params:
    rounds: int = 3
    rate: float = 0.5
    restart: bool = False
    name: str = ""
    order: Literal["random", "fixed"] = "fixed"
    most: int | None = None
    least: Optional[float] = None  # noqa: UP045 - as a person may write it


METHOD = SimpleNamespace(name="walk", params=Params)


def test_each_value_gets_its_type():
    texts = ["rounds=1e3", "rate=2", "restart=Yes", "name=a=b", "order=random", "most=none", "least=0.25"]
    found = typed_options(texts, [METHOD])
    assert list(found.values()) == [1000, 2.0, True, "a=b", "random", None, 0.25]
    assert type(found["rounds"]) is int
    assert Params(**found)
    assert convert_text("most", "7", int | None) == 7
    assert convert_text("x", "no", bool) is False
    assert convert_text("x", "none", str | None) is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rounds=1.5", "rounds must be a whole number, not '1.5'."),
        ("rounds=1e999", "rounds must be a whole number, not '1e999'."),
        ("rate=fast", "rate must be a number, not 'fast'."),
        ("restart=2", "restart must be yes or no, not '2'."),
        ("order=odd", "order must be one of random, fixed, not 'odd'."),
        ("most=x", "most must be a whole number or none, not 'x'."),
        ("round=1", "walk has no option round; did you mean rounds?"),
        ("=1", "walk has no option "),
    ],
)
def test_what_does_not_fit_gets_a_sentence(text, sentence):
    with pytest.raises(InputError) as caught:
        typed_options([text], [METHOD])
    assert str(caught.value).startswith(sentence)
