"""Estimate the free memory: the machine's, less the limits of containers and of the process.

Work whose estimate is larger is refused before it begins, because a process that runs out of memory is killed
with all that it knew. Where a system tells nothing, nothing is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from math import inf
from pathlib import Path

from mlnlab.errors import ArgumentError, TooLargeError

ALLOWING = "MLNLAB_MEMORY"  # an environment variable: how much may be taken, whatever is measured
SMALL = 100e6  # bytes that nobody is asked about
_MEASURED = re.compile(r"\s*([0-9]+(?:[.][0-9]+)?)\s*([kMGT]?)i?B?\s*", re.IGNORECASE)
_UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_UNLIMITED = 1 << 60  # control groups write "no limit" as a number near 2^63
_GROUPS = ("sys/fs/cgroup", "sys/fs/cgroup/unified")


def refuse_beyond_memory(needed: float, work: str, ways: Sequence[str] = ()) -> None:
    """Refuse work that would take more bytes than are free; ``work`` is its sentence's subject."""
    if not fits(needed):
        free = free_bytes()
        allowed = f"{needed / 1e9:.0f}GB" if needed >= 1e10 else f"{needed / 1e6:.0f}MB"
        raise TooLargeError(
            f"{work} would take about {memory_in_words(needed)} of memory; {memory_in_words(free)} are free.",
            needed,
            [*ways, f'free some memory, or allow it all the same: os.environ["{ALLOWING}"] = "{allowed}"'],
        )


def fits(needed: float) -> bool:
    """Return whether a number of bytes is free; small amounts are not checked."""
    return needed <= SMALL or needed <= free_bytes()


def free_bytes(root: Path = Path("/")) -> float:
    """Return how many bytes this process can still take, as far as the system says so."""
    allowed = os.environ.get(ALLOWING, "").strip()
    if allowed:
        return _in_bytes(allowed)
    return max(0.0, min(chain([_of_machine(root)], _of_groups(root), _of_process(root)), default=inf))


def _in_bytes(text: str) -> float:
    read = _MEASURED.fullmatch(text)
    if read is None:
        raise ArgumentError(f'{ALLOWING} is an amount of memory such as "20GB", not {text!r:.60}.')
    return float(read[1]) * _UNITS[read[2].upper()]


def _of_machine(root: Path) -> float:
    """Return the memory available without displacing other processes, swap included."""
    told = _read_numbers(root / "proc/meminfo")
    if "MemAvailable" not in told:
        return inf
    return 1024 * (told["MemAvailable"] + told.get("SwapFree", 0.0))


def _of_groups(root: Path) -> Iterator[float]:
    """Yield the memory left by the process's control groups and by those around them."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        inside = Path(path.lstrip("/"))
        within = [inside, *inside.parents]  # a container may see its own group as the root
        if "memory" in controllers.split(","):
            folders = [root / "sys/fs/cgroup/memory" / one for one in within]
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        elif not controllers:
            folders = [root / mount / one for mount in _GROUPS for one in within]
            names = ("memory.max", "memory.current", "inactive_file")
        else:
            continue
        for folder in folders:
            limit, used = _number(folder / names[0]), _number(folder / names[1])
            if limit < _UNLIMITED and used < inf:
                yield limit - used + _read_numbers(folder / "memory.stat").get(names[2], 0.0)


def _of_process(root: Path) -> Iterator[float]:
    """Yield the memory left by the limits of the process, as ``ulimit -v`` sets them."""
    try:
        import resource
    except ImportError:  # not every system has them
        return
    told = _read_numbers(root / "proc/self/status")
    for kind, used in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
        limit = resource.getrlimit(kind)[0]
        if limit != resource.RLIM_INFINITY:
            yield limit - 1024 * told.get(used, 0.0)


def _read_numbers(path: Path) -> dict[str, float]:
    """Return the numbers of a file with a name and a number in each line."""
    rows = (line.replace(":", " ").split() for line in _text(path).splitlines())
    return {row[0]: float(row[1]) for row in rows if len(row) > 1 and row[1].isdigit()}


def _number(path: Path) -> float:
    text = _text(path).strip()
    return float(text) if text.isdigit() else inf


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def memory_in_words(number: float) -> str:
    """Return an amount of memory in words.

    >>> memory_in_words(31_500), memory_in_words(2_345_678), memory_in_words(3.21e9)
    ('0.03 MB', '2.3 MB', '3.2 GB')
    """
    for size, name in ((1e9, "GB"), (1e6, "MB")):
        if number >= size:
            return f"{number / size:.2g} {name}" if number < 10 * size else f"{number / size:,.0f} {name}"
    return f"{max(number / 1e6, 0.01):.1g} MB"
