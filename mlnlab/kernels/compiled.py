"""The decorator of all kernels: numba's ``njit`` with a cache that is never wrong and never in the way.

numba's own cache has three faults: it cannot be imported where no folder is writable, it does not notice that
a helper in another file has changed, so that old machine code answers for new source, and it writes into the
package. Here a kernel falls back to no cache, and the cache lies in the user's own, in a folder that is named
by the content of every file of this package (see :mod:`mlnlab.kernels.cache_folder`).

Importing this module imports numba (0.2 s); so kernel modules are imported in the function that uses them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from numba import njit
from numba.core.dispatcher import Dispatcher

from mlnlab.kernels.cache_folder import cache_folder, is_usable

Kernel = TypeVar("Kernel", bound="Callable[..., object]")


def compiled(function: Kernel) -> Kernel:
    """Return the function compiled at its first call, without the interpreter lock; cached where possible."""
    return _compile_function(function)


def borrowing(function: Kernel) -> Kernel:
    """Return the function compiled as above, but never counting who holds an array.

    What is ``inlined`` into it gives arrays new names, and numba counts up and down for each of them, by
    atomic instructions: a third of the time of a SampleSAT move. All arrays have to come from outside, and
    none is made or returned.
    """
    return _compile_function(function, _nrt=False)


def _compile_function(function: Kernel, **options: Any) -> Kernel:  # noqa: ANN401 - numba's own options
    kernel: Any = njit(nogil=True, **options)(function)
    # Nothing is writable, there is no home, or numba's internals have moved.
    with suppress(RuntimeError, OSError, ImportError, AttributeError, TypeError):
        # Private, but there is no public way; a test changes a helper's file and sees the result change.
        kernel._cache = _QuietCache(_cache_type()(function))  # noqa: SLF001
    return kernel  # type: ignore[no-any-return]


def inlined(function: Kernel) -> Kernel:
    """Return a part of kernels that is written out in each of them: a call with many arrays costs more."""
    kernel: Any = njit(nogil=True, inline="always")(function)
    return kernel  # type: ignore[no-any-return]


def plain_twin(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return the kernel as plain Python; the kernels that it calls are plain Python too."""
    return _plain(kernel, {})


def kernels_of(module: ModuleType) -> tuple[Callable[..., Any], ...]:
    """Return the kernels that a module has or uses, except for inlined ones."""
    found = (value for value in vars(module).values() if isinstance(value, Dispatcher))
    return tuple(kernel for kernel in found if kernel.targetoptions.get("inline") != "always")


def is_cached(kernel: Callable[..., Any]) -> bool:
    """Return whether machine code for a kernel lies on the disk, made from the source as it is now."""
    try:
        # Private too; without it a kernel counts as not cached, and nobody warms it up ahead of time.
        return bool(kernel._cache._cache_file._load_index())  # type: ignore[attr-defined] # noqa: SLF001
    except Exception:  # noqa: BLE001 - there is no cache, or a damaged one
        return False


class _Locator:
    """Tells numba where a kernel is cached: in the folder of this version of all kernels."""

    def __init__(self, function: FunctionType, file: str) -> None:
        self._py_file = file  # read by numba's warnings
        self._line = function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function: FunctionType, file: str) -> _Locator | None:
        """Return the place of a function; nothing where it cannot be written."""
        return cls(function, file) if is_usable(cache_folder()) else None

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(cache_folder())

    def ensure_cache_path(self) -> None:
        """Make the folder, which somebody may have removed."""
        cache_folder().mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self) -> str:
        """Return the cache folder's name, which differs where the source does."""
        return cache_folder().name

    def get_disambiguator(self) -> str:
        """Return the line number, which tells functions of one name apart."""
        return str(self._line)


@cache
def _cache_type() -> Any:  # noqa: ANN401 - numba is not typed
    """Return numba's own cache of a function, but in our folder."""
    from numba.core.caching import CompileResultCacheImpl, FunctionCache

    files = type("KernelFiles", (CompileResultCacheImpl,), {"_locator_classes": (_Locator,)})
    return type("KernelCache", (FunctionCache,), {"_impl_class": files})


class _QuietCache:
    """numba's cache of one kernel; unreadable and unwritable entries are compiled again, silently."""

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


def _plain(kernel: Any, done: dict[object, Callable[..., Any]]) -> Callable[..., Any]:  # noqa: ANN401
    if kernel in done:
        return done[kernel]
    function = kernel.py_func
    names = dict(function.__globals__)
    done[kernel] = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    names.update({n: _plain(v, done) for n, v in names.items() if isinstance(v, Dispatcher)})
    return done[kernel]
