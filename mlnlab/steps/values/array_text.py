"""Arrays as texts: the kind of number, the shape, and the bytes in base64."""

from __future__ import annotations

import base64
import re
from math import prod

import numpy as np

from mlnlab.errors import InputError, printable
from mlnlab.steps.values.parts import Array

STORABLE_KINDS = "biufcSUmM"  # no Python objects, no records
_DTYPE = re.compile(rf"[<>|][{STORABLE_KINDS}]\d{{1,9}}(\[\d*[a-zA-Z]+\])?", re.ASCII)


def array_tree(array: Array) -> dict[str, object]:
    """Return an array as a mapping that ``json`` can write."""
    return {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "base64": base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii"),
    }


def array_from_tree(tree: dict[str, object]) -> Array:
    """Return the read-only array that a tree stands for.

    Its size follows from the bytes that are really there, so no text can ask for more memory than it is long.
    """
    dtype, shape = known_dtype(tree.get("dtype")), tree.get("shape")
    if not isinstance(shape, list) or len(shape) > 32 or not all(type(n) is int and n >= 0 for n in shape):
        raise InputError("An array's shape has to be a list of sizes.")
    text = tree.get("base64")
    if not isinstance(text, str):
        raise InputError("An array's bytes have to be a text in base64.")
    data = base64.b64decode(text, validate=True)
    if len(data) != prod(shape) * dtype.itemsize:
        raise InputError(
            f"An array of {dtype} with the shape {tuple(shape)} has {prod(shape) * dtype.itemsize:,} bytes, "
            f"but there are {len(data):,}."
        )
    # A copy, because the bytes of a text need not lie where this kind of number may lie.
    array = np.frombuffer(data, dtype).reshape(shape).copy() if data else np.empty(shape, dtype)
    array.setflags(write=False)
    return array


def known_dtype(text: object) -> np.dtype[np.generic]:
    """Return the kind of number that a file names, if it is one that files may hold."""
    refusal = f"An array of {printable(repr(text))[:40]} cannot be read: numbers, texts, bytes and times can."
    # Objects, records and arrays within arrays do not even look like this.
    if not isinstance(text, str) or not _DTYPE.fullmatch(text):
        raise InputError(refusal)
    try:
        return np.dtype(text)
    except (TypeError, ValueError):
        raise InputError(refusal) from None
