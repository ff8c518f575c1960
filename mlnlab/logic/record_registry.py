"""Find records by name: a folder whose files each end in one, as a method, an optimiser or a learner does.

A name leads to its file, ``mc-sat`` to ``mc_sat.py``, which is imported when it is asked for; the whole
folder is only walked for listings and tests. Variants of one algorithm may share a file, which lists them in
``VARIANTS``: ``lhl-noheu`` is looked for in ``lhl_noheu.py``, then in ``lhl.py``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Generic, Protocol, TypeVar

from mlnlab.errors import ArgumentError
from mlnlab.logic.suggestions import did_you_mean


class Named(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str:
        """The name that people write."""
        ...


R = TypeVar("R", bound=Named)


class RecordRegistry(Generic[R]):
    """The records of one kind in the files of a package; ``packages`` may get others, such as one's own."""

    def __init__(
        self, package: str, attribute: str, kind: type[R], called: str, *, has_variants: bool = False
    ) -> None:
        """Take the package, the name of the records in its files, their type, and their name in sentences."""
        self.packages = [package]
        self._attribute, self._kind, self._called = attribute, kind, called
        self._has_variants = has_variants

    def get(self, name: str) -> R | None:
        """Return the record of this name, nothing where no file has it."""
        words = name.split("-")
        for length in range(len(words), 0, -1):
            stem = "_".join(words[:length])
            for package in self.packages if stem.isidentifier() else ():
                for record in self._in_file(package, stem):
                    if record.name == name:
                        return record
        return None

    def find_record(self, name: object, others: Iterable[str] = ()) -> R:
        """Return the record of this name, or refuse it; ``others`` are names that are not in any file."""
        found = self.get(name) if isinstance(name, str) else None
        if found is None:
            names = [*others, *self.names()]
            hint = did_you_mean(str(name), names) or "."
            raise ArgumentError(
                f"There is no {self._called} {name!s:.60}{hint} There are: {', '.join(names)}."
            )
        return found

    def names(self) -> tuple[str, ...]:
        """Return all names; a file is imported only where it may hold variants."""
        if self._has_variants:
            return tuple(record.name for record in self.all())
        return tuple(stem.replace("_", "-") for _, stem in self._files())

    def all(self) -> tuple[R, ...]:
        """Return all records, file by file in the order of their names."""
        return tuple(self._every())

    def _every(self) -> Iterator[R]:
        for package, stem in self._files():
            yield from self._in_file(package, stem)

    def _files(self) -> Iterator[tuple[str, str]]:
        for package in self.packages:
            path = importlib.import_module(package).__path__
            for name in sorted(module.name for module in pkgutil.iter_modules(path) if not module.ispkg):
                yield package, name

    def _in_file(self, package: str, stem: str) -> Iterator[R]:
        if find_spec(f"{package}.{stem}") is None:
            return
        module = importlib.import_module(f"{package}.{stem}")
        for record in (getattr(module, self._attribute, None), *getattr(module, "VARIANTS", ())):
            if isinstance(record, self._kind):
                yield record
