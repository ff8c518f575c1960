"""Reading files, with a sentence for everything that can be wrong with a path."""

from __future__ import annotations

import contextlib
from pathlib import Path

from mlnlab.errors import ArgumentError, Diagnostic, InputError, Severity, Span

MOST_BYTES = 4 << 30  # beyond, reading a text file at once would fill the memory of a usual machine


def read_bytes(path: object) -> bytes:
    """Return the content of a file, or raise one sentence that says why it cannot be read."""
    if not isinstance(path, str | Path) or not str(path):
        raise InputError(f"The path of a file is needed, not {path!r}.")
    file = Path(path).expanduser()
    try:
        problem = _unreadable(file)
        content = b"" if problem else file.read_bytes()
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.{_neighbours(file)}") from None
    except (OSError, ValueError) as failure:
        raise InputError(f"{path} cannot be read: {_reason(failure)}.") from None
    if problem:
        raise InputError(f"{path} {problem}.")
    return content


def _unreadable(file: Path) -> str:
    """Say why something that exists must not be read; nothing where it may be."""
    if file.is_dir():
        return "is a folder; a file is needed"
    size = file.stat().st_size
    if not file.is_file():
        return "is not an ordinary file"
    return f"is larger than {MOST_BYTES >> 30} GiB; load it as a table instead" if size > MOST_BYTES else ""


def _neighbours(file: Path) -> str:
    """Name the files of the same kind beside the missing one."""
    with contextlib.suppress(OSError):
        found = sorted(p.name for p in file.parent.glob(f"*{file.suffix}"))[:5] if file.suffix else []
        if found:
            return f" In that folder there are: {', '.join(found)}."
    return ""


def _reason(problem: Exception) -> str:
    return (problem.strerror or str(problem)) if isinstance(problem, OSError) else str(problem)


def decode_bytes(data: str | bytes, file: str) -> tuple[str, list[Diagnostic]]:
    """Decode some bytes; those outside UTF-8 are reported by place and replaced."""
    if isinstance(data, str):
        return data.removeprefix("\ufeff"), []
    if not isinstance(data, bytes | bytearray | memoryview):
        raise ArgumentError(f"A text is needed, not {data!r:.50} ({type(data).__name__}).")
    if b"\0" in data[:100_000]:
        span = Span(file, 1, 1, 1, 2)
        message = "this is not text: it holds zero bytes, as binary files (or UTF-16) do"
        return "", [Diagnostic("not-text", Severity.ERROR, message, span, expected="text in UTF-8")]
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError as problem:
        before = data[: problem.start].decode("utf-8", "replace").removeprefix("\ufeff")
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        text = data.decode("utf-8", "replace").removeprefix("\ufeff")
        source_line = text.split("\n")[line - 1][:10_000].rstrip("\r")
        latin = data[problem.start : problem.start + 1].decode("latin-1")
        span = Span(file, line, column, line, column + 1)
        return text, [
            Diagnostic(
                code="not-utf-8",
                severity=Severity.ERROR,
                message="this is not UTF-8 text",
                span=span,
                source_line=source_line,
                expected="text in UTF-8",
                repair=f"save the file as UTF-8 (read as Latin-1, the character would be {latin!r})",
            )
        ]
