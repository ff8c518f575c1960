"""A JSON text and arrays in one ``.npz`` file, sealed with a checksum.

Any program that reads ``.npz`` can read it. Members are stored uncompressed; the archive's comment, its last
bytes, says ``sha256=`` and the checksum of all bytes before the digits.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from math import prod
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np

from mlnlab.errors import InputError
from mlnlab.steps.array_text import known_dtype
from mlnlab.steps.parts import Array

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_HEADER = "header.json"
_MARK = b"sha256="
_DIGITS = 64
_CHUNK = 2**20


class Damaged(Exception):  # noqa: N818 - a finding, never shown as it is
    """A file is missing, or not what was written; the text is what follows the file's name in a sentence."""


def write_archive(file: BinaryIO, header: dict[str, object], arrays: Iterable[Array]) -> None:
    """Write a header and arrays, in this order, to a file that is open for reading and writing."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(_HEADER), json.dumps(header, allow_nan=False))
        for number, array in enumerate(arrays):
            # The same state gives the same bytes: no member bears the time of writing.
            with archive.open(zipfile.ZipInfo(_member(number)), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        archive.comment = _MARK + b"0" * _DIGITS
    size = file.seek(0, 2)
    digest = _digest(file, size - _DIGITS)
    file.seek(size - _DIGITS)
    file.write(digest)


def _member(number: int) -> str:
    return f"array_{number}.npy"


def _digest(file: BinaryIO, size: int) -> bytes:
    """Return the checksum of the first bytes of a file."""
    checksum = hashlib.sha256()
    file.seek(0)
    while size > 0 and (chunk := file.read(min(size, _CHUNK))):
        checksum.update(chunk)
        size -= len(chunk)
    return checksum.hexdigest().encode("ascii")


def is_whole(path: Path) -> bool:
    """Say whether there is a file here with the right checksum."""
    try:
        with path.open("rb") as file:
            _check_sum(file)
    except (Damaged, OSError):
        return False
    return True


def _check_sum(file: BinaryIO) -> int:
    """Return the size of a file whose checksum is right."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _DIGITS - len(_MARK)))
    mark, digits = file.read(len(_MARK)), file.read()
    if mark != _MARK:
        raise Damaged("is damaged or no checkpoint: its end is not there")
    if _digest(file, size - _DIGITS) != digits:
        raise Damaged("is damaged: its checksum is wrong")
    return size


def read_archive(path: Path) -> tuple[dict[str, object], list[Array]]:
    """Return the header and the read-only arrays of a file."""
    try:
        with path.open("rb") as file:
            size = _check_sum(file)
            with zipfile.ZipFile(file) as archive:
                return _read_members(archive, size)
    except FileNotFoundError:
        raise Damaged("does not exist") from None
    except OSError as problem:
        raise Damaged(f"cannot be read: {problem.strerror or problem}") from None
    except (InputError, Damaged):
        raise
    except RecursionError:
        raise InputError("the values are nested too deeply.") from None
    except Exception as problem:
        # The checksum is right, so it was made like this: zip, JSON and numpy each have errors of their own.
        raise InputError(f"it is no checkpoint ({problem}).") from problem


def _read_members(archive: zipfile.ZipFile, size: int) -> tuple[dict[str, object], list[Array]]:
    members = archive.infolist()
    # So nothing is compressed, and no two members share their bytes.
    if sum(member.file_size for member in members) > size:
        raise InputError("its members unpack to more than the file itself has.")
    header = json.loads(archive.read(_HEADER))
    if not isinstance(header, dict):
        raise InputError("its header is no JSON object.")
    return header, [_read_array(archive, _member(number)) for number in range(len(members) - 1)]


def _read_array(archive: zipfile.ZipFile, name: str) -> Array:
    with archive.open(name) as member:
        version = np.lib.format.read_magic(member)
        if version not in {(1, 0), (2, 0)}:
            raise InputError(f"{name} has a newer format.")
        old = version == (1, 0)
        read_header = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = cast(
            "tuple[tuple[int, ...], bool, np.dtype[np.generic]]", read_header(member)
        )
        data = member.read()
    known_dtype(dtype.str if dtype.names is None and dtype.subdtype is None else None)
    if len(data) != prod(shape) * dtype.itemsize:
        raise InputError(f"{name} has {len(data):,} bytes, which is not what its shape needs.")
    flat = np.frombuffer(data, dtype) if data else np.empty(0, dtype)
    array = flat.reshape(shape, order="F" if fortran else "C").copy(order="K")
    array.setflags(write=False)
    return array
