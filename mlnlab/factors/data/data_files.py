"""Read tables from files, arrays and frames, and write them as Libra's files.

A ``.data`` file has a row in each line: numbers of values with commas between them, ``*`` where a cell is
missing, no header (the format of Libra and of the DEBD collection). A ``.schema`` file has one line: how many
values each variable has. CSV files have a header, and keep their values as names. All of them may be
compressed (``.xz``, ``.gz``, ``.bz2``).
"""

from __future__ import annotations

import bz2
import lzma
import tempfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import InputError, count_of
from mlnlab.factors.data.table_coding import MISSING, MOST_VALUES, code_table, number_table
from mlnlab.factors.graphs.random_variables import RandomVariable
from mlnlab.model.tables.table_files import ENDINGS, files_as_tables
from mlnlab.model.tables.table_frames import as_table
from mlnlab.syntax.sources import MOST_BYTES, read_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.factors.data.table_coding import Coded

DATA, SCHEMA = ".data", ".schema"
ROWS = (DATA, ".q", ".ev")  # the last two are queries and evidence, mostly open
_DIGITS = b"0123456789"


def read_source(source: object, variables: Sequence[RandomVariable] | None = None) -> Coded:
    """Return variables and rows of a file, an array or a frame; ``variables``: for numbers without names."""
    if isinstance(source, str | Path):
        return read_file(Path(source), variables)
    if isinstance(source, list | tuple) and source and isinstance(source[0], list | tuple | np.ndarray):
        source = _as_numbers(source)
    if isinstance(source, np.ndarray) and source.dtype.kind in "iubf":
        return number_table(source, variables)
    return code_table(as_table("the data", source), variables)


def _as_numbers(rows: Sequence[Any]) -> object:
    """Return rows of whole numbers as an array, other rows as they are."""
    try:
        array = np.array(rows)
    except ValueError:  # of several lengths, which the reader of frames names
        return rows
    return array if array.dtype.kind in "iub" else rows


# --- files ----------------------------------------------------------------------------------------


def read_file(file: Path, variables: Sequence[RandomVariable] | None = None) -> Coded:
    """Return variables and rows of a file, by its ending; the schema beside a ``.data`` file is read, too."""
    inner = Path(file.stem) if file.suffix.lower() in _READERS else Path(file.name)
    ending = inner.suffix.lower()
    if ending in ROWS:
        rows = parse_data(_content(file), file.name)
        schema = file.with_name(f"{inner.stem}{SCHEMA}")
        if variables is None and schema.is_file():
            variables = read_schema(schema, rows.shape[1])
        return number_table(rows, variables)
    if ending not in ENDINGS:
        known = ", ".join((*ROWS, *ENDINGS))
        raise InputError(
            f"{file.name} is not a table: its name should end in one of {known}, or such an ending with "
            f"{', '.join(_READERS)} behind it."
        )
    if inner.name == file.name:
        return code_table(files_as_tables({"data": file}, None, None)["data"], variables)
    with tempfile.TemporaryDirectory(prefix="mlnlab-") as folder:
        unpacked = Path(folder, inner.name)
        unpacked.write_bytes(_content(file))
        return code_table(files_as_tables({"data": unpacked}, None, None)["data"], variables)


_READERS: dict[str, Callable[[], Any]] = {
    ".xz": lzma.LZMADecompressor,
    ".gz": lambda: zlib.decompressobj(wbits=31),
    ".bz2": bz2.BZ2Decompressor,
}


def _content(file: Path) -> bytes:
    """Return a file's bytes, unpacked where it is compressed."""
    content = read_bytes(file)
    make = _READERS.get(file.suffix.lower())
    if make is None:
        return content
    reader = make()
    try:
        unpacked: bytes = reader.decompress(content, MOST_BYTES)
    except (lzma.LZMAError, zlib.error, OSError, EOFError) as problem:
        raise InputError(f"{file.name} cannot be unpacked: {problem}.") from None
    if not reader.eof:
        reason = (
            f"holds more than {MOST_BYTES >> 30} GiB" if len(unpacked) >= MOST_BYTES else "ends too early"
        )
        raise InputError(f"{file.name} cannot be unpacked: it {reason}.")
    return unpacked


def parse_data(content: bytes, name: str = "the text") -> NDArray[np.int64]:
    """Return the numbers of a ``.data`` file; -1 where a cell is missing."""
    text = content.replace(b"\r\n", b"\n").replace(b" ", b"").strip(b"\n")
    if not text:
        raise InputError(f"{name} is empty; a line holds a row, such as 0,1,1.")
    odd = text.translate(None, _DIGITS + b",*\n")
    if odd:
        place = text.index(odd[:1])
        line = text.count(b"\n", 0, place) + 1
        shown = odd[:1].decode("latin-1")
        raise InputError(
            f"{name}, line {line:,}: {shown!r} is not part of a row; a cell is the number of a value, or * "
            "where it is missing."
        )
    data = np.frombuffer(text + b"\n", np.uint8)
    width = _width(data, name)
    if len(data) == 2 * width * (np.count_nonzero(data == ord("\n"))) and b"*" not in text:
        cells = data[::2]
        if ((cells >= ord("0")) & (cells <= ord("9"))).all():  # every cell has one digit: by far the quickest
            return (cells.astype(np.int64) - ord("0")).reshape(-1, width)
    words = text.replace(b"\n", b",").split(b",")
    for place, word in enumerate(words):
        if word != b"*" and (not word or b"*" in word or len(word) > 9):
            problem = "is empty" if not word else f"is {word[:20].decode()}"
            raise InputError(
                f"{name}, line {place // width + 1:,}: cell {place % width + 1} {problem}; a cell is the "
                "number of a value, or * where it is missing."
            )
    numbers = np.array([MISSING if word == b"*" else int(word) for word in words], np.int64)
    return numbers.reshape(-1, width)


def _width(data: NDArray[np.uint8], name: str) -> int:
    """Return how many cells each line has; refuse lines with other numbers of them."""
    ends = np.flatnonzero(data == ord("\n"))
    commas = np.searchsorted(np.flatnonzero(data == ord(",")), ends)
    widths = np.diff(commas, prepend=0) + 1
    odd = np.flatnonzero(widths != widths[0])
    if len(odd):
        line = int(odd[0])
        raise InputError(
            f"{name}, line {line + 1:,} has {count_of(int(widths[line]), 'cell')}, the first line has "
            f"{int(widths[0])}."
        )
    return int(widths[0])


def read_schema(file: Path, width: int) -> tuple[RandomVariable, ...]:
    """Return the variables X0, X1, ... with the numbers of values that a ``.schema`` file tells."""
    text = read_bytes(file).decode("utf-8", "replace").strip()
    words = [word.strip() for word in text.split(",")]
    if len(words) != width:
        raise InputError(
            f"{file.name} tells the sizes of {count_of(len(words), 'variable')}, and a row has "
            f"{count_of(width, 'cell')}."
        )
    for word in words:
        if not word.isdecimal() or not 1 <= len(word) <= 9 or not 1 <= int(word) <= MOST_VALUES:
            raise InputError(
                f"{file.name} should hold one line with the number of values of each variable, such as "
                f"2,2,3; {word[:20]!r} is not a number from 1 to {MOST_VALUES:,}."
            )
    return tuple(RandomVariable.numbered(f"X{place}", int(word)) for place, word in enumerate(words))


# --- writing --------------------------------------------------------------------------------------


def data_text(rows: NDArray[np.int32]) -> str:
    """Return rows as a ``.data`` file: the numbers of the values, ``*`` for a missing cell."""
    lines = (",".join("*" if cell == MISSING else str(cell) for cell in row) for row in rows.tolist())
    return "".join(f"{line}\n" for line in lines)


def schema_text(variables: Sequence[RandomVariable]) -> str:
    """Return the line of a ``.schema`` file: how many values each variable has."""
    return ",".join(str(variable.size) for variable in variables) + "\n"
