"""The decorator of all kernels: numba's ``njit`` with a cache that is never wrong and never in the way.

numba's own cache has two faults: it cannot be imported where no folder is writable, and it does not notice
that a helper in another file has changed, so that old machine code answers for new source. Here a kernel
falls back to no cache, and the cache is stamped with the content of every file of this package.

Importing this module imports numba (0.2 s); so kernel modules are imported in the function that uses them.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from numba import njit
from numba.core.dispatcher import Dispatcher

if TYPE_CHECKING:
    from collections.abc import Callable

Kernel = TypeVar("Kernel", bound="Callable[..., object]")


def compiled(function: Kernel) -> Kernel:
    """Return the function compiled at its first call, without the interpreter lock; cached where possible."""
    return _compiled(function)


def borrowing(function: Kernel) -> Kernel:
    """Return the function compiled as above, but never counting who holds an array.

    What is ``inlined`` into it gives arrays new names, and numba counts up and down for each of them, by
    atomic instructions: a third of the time of a SampleSAT move. All arrays have to come from outside, and
    none is made or returned.
    """
    return _compiled(function, _nrt=False)


def _compiled(function: Kernel, **options: Any) -> Kernel:  # noqa: ANN401 - numba's own options
    try:
        kernel: Any = _with_own_cache(njit(nogil=True, cache=True, **options)(function))
    except (RuntimeError, OSError, AttributeError):  # nothing is writable, or numba's internals have moved
        kernel = njit(nogil=True, **options)(function)
    return kernel  # type: ignore[no-any-return]


def inlined(function: Kernel) -> Kernel:
    """Return a part of kernels that is written out in each of them: a call with many arrays costs more."""
    kernel: Any = njit(nogil=True, inline="always")(function)
    return kernel  # type: ignore[no-any-return]


def plain_twin(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return the kernel as plain Python; the kernels that it calls are plain Python too."""
    return _plain(kernel, {})


def kernels_of(module: ModuleType) -> tuple[Callable[..., Any], ...]:
    """Return the kernels that a module has or uses; what is written out in them is none."""
    found = (value for value in vars(module).values() if isinstance(value, Dispatcher))
    return tuple(kernel for kernel in found if kernel.targetoptions.get("inline") != "always")


def is_cached(kernel: Callable[..., Any]) -> bool:
    """Return whether machine code for a kernel lies on the disk, made from the source as it is now."""
    try:
        # Private too; without it a kernel counts as not cached, and nobody warms it up ahead of time.
        return bool(kernel._cache._cache_file._load_index())  # type: ignore[attr-defined] # noqa: SLF001
    except Exception:  # noqa: BLE001 - there is no cache, or a damaged one
        return False


@cache
def source_digest(folder: Path) -> str:
    """Return the SHA-256 of all Python files under a folder, with their names."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


class _QuietCache:
    """numba's cache of one kernel; what cannot be read or written is compiled again, silently."""

    def __init__(self, inner: Any) -> None:  # noqa: ANN401 - numba is not typed
        self._inner = inner

    def load_overload(self, *arguments: object) -> object:
        """Return the machine code for a signature; a damaged file counts as absent."""
        try:
            return self._inner.load_overload(*arguments)
        except Exception:  # noqa: BLE001 - unpickling a damaged file raises whatever it likes
            return None

    def save_overload(self, *arguments: object) -> None:
        """Keep the machine code for a signature, unless the disk is full or has become read-only."""
        try:
            self._inner.save_overload(*arguments)
        except Exception:  # noqa: BLE001 - see above: the old index is read before the new one is written
            self._inner.disable()

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)


def _with_own_cache(kernel: Any) -> Any:  # noqa: ANN401 - numba is not typed
    # Private, but there is no public way; a test changes a helper's file and sees the result change.
    file = kernel._cache._cache_file  # noqa: SLF001
    file._source_stamp = (*file._source_stamp, source_digest(Path(__file__).parent))  # noqa: SLF001
    kernel._cache = _QuietCache(kernel._cache)  # noqa: SLF001
    return kernel


def _plain(kernel: Any, done: dict[object, Callable[..., Any]]) -> Callable[..., Any]:  # noqa: ANN401
    if kernel in done:
        return done[kernel]
    function = kernel.py_func
    names = dict(function.__globals__)
    done[kernel] = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    names.update({n: _plain(v, done) for n, v in names.items() if isinstance(v, Dispatcher)})
    return done[kernel]
