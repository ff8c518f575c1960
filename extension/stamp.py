"""Say from which sources the extension was built: the last step of its build, and what the tests compare.

The stamp is a hash over the sources in this folder and over the shared modules that they draw with. It stands
beside the build; with other sources it is another one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
SHARED = SOURCES.parent / "mlnlab" / "display" / "static"
BUILD = SOURCES.parent / "mlnlab" / "labextension"
STAMP = BUILD / "sources.sha256"

_MADE = {"node_modules", "lib", ".yarn", "__pycache__"}
_DRAWN_WITH = ("scene.js", "table.js")
_IMPORT = re.compile(r'^import [^;]*?from "(\./[\w./-]+)";', re.MULTILINE)


def fingerprint() -> str:
    """Return a hash over the names and the texts of everything that the build is made from."""
    digest = hashlib.sha256()
    for path in sources():
        # Line ends are the checkout's affair.
        text = path.read_bytes().replace(b"\r\n", b"\n")
        name = path.relative_to(SOURCES.parent).as_posix()
        digest.update(f"{name} {len(text)}\n".encode() + text)
    return digest.hexdigest()


def sources() -> list[Path]:
    """Return what the build is made from, in an order that is the same everywhere."""
    own = (path for path in SOURCES.rglob("*") if path.is_file() and not is_made(path))
    return sorted({*own, *shared_modules()}, key=lambda path: path.relative_to(SOURCES.parent).as_posix())


def is_made(path: Path) -> bool:
    """Tell whether a file below this folder comes from a build or an installation."""
    return bool(_MADE & set(path.relative_to(SOURCES).parts))


def shared_modules() -> set[Path]:
    """Return the modules of drawings and tables, with everything that they import."""
    found: set[Path] = set()
    waiting = [SHARED / name for name in _DRAWN_WITH]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imported(path)
    return found


def _imported(path: Path) -> Iterator[Path]:
    for name in _IMPORT.findall(path.read_text(encoding="utf-8")):
        yield (path.parent / name).resolve()


def main() -> None:
    """Write the stamp, and the file by which Lab names the package manager that brought us."""
    (BUILD / "install.json").write_bytes((SOURCES / "install.json").read_bytes())
    STAMP.write_text(fingerprint() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
