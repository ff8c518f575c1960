"""Forge states: change their arrays and numbers, write them with a right checksum, try to go on from them.

    NUMBA_BOUNDSCHECK=1 python -m tests.conformance.forged_states FOLDER SEED FORGERIES NAME...

A run of its own process, because what it looks for ends processes. It prints a line for each name: how many
forgeries were refused with a sentence and how many went on (a value that is possible is no forgery); whatever
else happens is printed as a failure with the change that led to it.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import fields, is_dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from mlnlab.errors import MlnlabError
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint
from tests.conformance.resumable import RUNS

MOST_STEPS = 3  # after each forged state: what is wrong in it is used by the first


def places_in(value, path=()):
    """Yield the path to each part of a state that can be forged."""
    yield path
    if is_dataclass(value):
        inner = [(f.name, getattr(value, f.name)) for f in fields(value)]
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        inner = zip(value._fields, value, strict=True)
    elif isinstance(value, tuple):
        inner = list(enumerate(value))[:4]
    elif isinstance(value, dict):
        inner = list(value.items())[:4]
    else:
        return
    for key, item in inner:
        yield from places_in(item, (*path, key))


def at(value, path):
    """Return the part at a path."""
    for key in path:
        value = value[key] if isinstance(value, dict) or isinstance(key, int) else getattr(value, key)
    return value


def changed(value, path, new):
    """Return the state with another part at a path."""
    if not path:
        return new
    key, rest = path[0], path[1:]
    if is_dataclass(value):
        return replace(value, **{key: changed(getattr(value, key), rest, new)})
    if isinstance(value, dict):
        return {**value, key: changed(value[key], rest, new)}
    if hasattr(value, "_fields"):
        return value._replace(**{key: changed(getattr(value, key), rest, new)})
    return (*value[:key], changed(value[key], rest, new), *value[key + 1 :])


EXTREMES = {
    "u": (0, 1, 7, 255, 2**31, 2**32 - 1, 2**64 - 1),
    "i": (-1, 0, 1, 1000, -(2**31), 2**62, -(2**63)),
    "f": (0.0, -1.0, 1e300, np.nan, np.inf, -np.inf, 2.0**40),
    "b": (True, False),
}


def forged_array(array, random):
    """Return another array: of another shape, of another type, or with an entry that cannot be."""
    kind = random.integers(6)
    if kind == 0:
        return np.concatenate([array, array[:1]]) if array.ndim and len(array) else np.zeros(3, array.dtype)
    if kind == 1:
        return array[:-1] if array.ndim and len(array) else array.reshape((*array.shape, 1))
    if kind == 2:
        return array[..., None] if random.integers(2) else array.reshape(-1)
    if kind == 3:
        return array.astype(random.choice(["f8", "i8", "u1", "u4", "f4", "i4"]))
    if kind == 4:
        return np.zeros_like(array)
    found = array.copy()
    if found.size:
        allowed = [n for n in EXTREMES.get(found.dtype.kind, (0,)) if _fits(n, found.dtype)]
        found.reshape(-1)[random.integers(found.size)] = allowed[random.integers(len(allowed))]
    return found


def _fits(number, dtype):
    if dtype.kind not in "iu":
        return True
    return np.iinfo(dtype).min <= number <= np.iinfo(dtype).max


def forged_part(part, random):
    """Return something else in place of a part."""
    if isinstance(part, np.ndarray):
        return forged_array(part, random)
    others = [
        None,
        -1,
        0,
        1,
        2**40,
        10**30,
        0.5,
        float("nan"),
        "another",
        (),
        (1, 2),
        True,
        {},
        np.zeros((2, 2)),
    ]
    if isinstance(part, tuple) and not hasattr(part, "_fields") and part:
        others += [part[:-1], (*part, part[0]), part[::-1], (*part[:-1], None)] * 4
    if isinstance(part, dict) and part:
        key = next(iter(part))
        others += [{**part, 5: part[key]}, {**part, "another": part[key]}, {key: None}] * 4
    return others[random.integers(len(others))]


def forgeries(states, random, number):
    """Yield forged states with the path and part that were changed."""
    for _ in range(number):
        state = states[random.integers(len(states))]
        paths = list(places_in(state))[1:]
        path = paths[random.integers(len(paths))]
        new = forged_part(at(state, path), random)
        yield changed(state, path, new), path, new


def tried(name, folder, seed, number):
    """Go on from forged states of one run; return how many were refused, went on, and what failed."""
    source = RUNS[name]()
    states = list(islice(source, 40))
    random = np.random.default_rng([seed, *name.encode()])
    refused, went_on, failures = 0, 0, []
    for place, (state, path, new) in enumerate(forgeries(states, random, number)):
        file = folder / f"{place % 2}.npz"
        try:
            save_checkpoint(file, state)
        except MlnlabError:
            continue  # a file cannot hold it
        print(name, path, repr(new)[:200], file=sys.stderr, flush=True)  # the last line, where this ends us
        try:
            for _ in islice(source.resume(load_checkpoint(file).state), MOST_STEPS):
                pass
            went_on += 1
        except MlnlabError:
            refused += 1
        except Exception as problem:  # noqa: BLE001 - whatever it is, it is no sentence
            failures.append(f"{name} {path} {new!r:.100}: {type(problem).__name__}: {problem!s:.200}")
    return refused, went_on, failures


def main():
    """Try the runs that are named."""
    folder, seed, number = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    warnings.simplefilter("ignore")
    failed = 0
    for name in sys.argv[4:] or RUNS:
        refused, went_on, failures = tried(name, folder, seed, number)
        print(f"{name}: {refused} refused, {went_on} went on", *failures, sep="\n", flush=True)
        failed += len(failures)
    sys.exit(min(failed, 100))


if __name__ == "__main__":
    main()
