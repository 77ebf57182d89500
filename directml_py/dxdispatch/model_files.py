"""Files of models and of their constants: lookup, reading and atomic writing, also of ``.npy`` arrays."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ..api.enums import DML_TENSOR_DATA_TYPE
from ..descs.data_types import data_type_for
from ..storage import read_regular, write_whole


class ModelError(ValueError):
    """A model that cannot be read or run; the text is DxDispatch's where it has one."""


def source_path(folder: Path, name: str) -> Path:
    """``name`` in ``folder``, or, if it does not exist there, in the current directory."""
    if "\0" in name:
        raise ModelError("A path has no null characters.")
    path = (folder / name).absolute()
    try:
        return path if path.exists() else Path(name).absolute()
    except OSError as error:
        raise ModelError(f"Given filename '{name}' could not be opened: {error.strerror}.") from None


def read_file(path: Path) -> bytes:
    """The contents of a file. Raises ``ModelError`` for what cannot be read, such as a folder or an endless device."""
    try:
        return read_regular(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is too large"
        raise ModelError(f"Given filename '{path}' could not be opened: {reason}.") from None


def check_target(target: str, folders: Sequence[Path]) -> None:
    """Raise ``ModelError`` for an output file that is in none of ``folders``, wherever symbolic links lead."""
    try:
        path = Path(target).resolve()
        is_inside = any(path.is_relative_to(folder.resolve()) for folder in folders)
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(f"The target path '{target}' cannot be resolved: {error}.") from None
    if not is_inside:
        raise ModelError(
            f"The target path '{target}' leads out of the output folder '{folders[0]}', which a model may not write "
            "unless it is allowed to."
        )


def write_file(path: Path, content: bytes) -> None:
    """Write a file atomically, creating missing folders. Raises ``OSError``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, lambda file: file.write(content))


SUFFIX = ".bin"


def constant_path(graph: Path, name: str) -> Path:
    """The file of the constant ``name``, beside the graph. Raises ``ModelError`` for a name that leads elsewhere."""
    for kind in (PurePosixPath, PureWindowsPath):
        path = kind(name)
        if path.is_absolute() or path.drive or ".." in path.parts or "\0" in name:
            raise ModelError(f"Could not open file: the constant '{name}' is not beside the graph")
    return graph.parent / (name + SUFFIX)


def read_npy(data: bytes) -> tuple[bytes, DML_TENSOR_DATA_TYPE]:
    """The bytes of the elements, in native byte order, and their type.

    Raises ``ModelError`` for what is not a C-order array of numbers. The size is checked against the file's before
    anything is allocated.
    """
    file = io.BytesIO(data)
    try:
        header = read_header(file)
    except ValueError as error:
        raise ModelError(f"NumPy array: {error}.") from None
    dtype = header.dtype
    data_type = None if dtype.subdtype else data_type_for(dtype)
    if data_type is None:
        raise ModelError(f"NumPy array elements of type {dtype} are not supported.")
    if header.is_fortran:
        raise ModelError("Fortran stride order unsupported.")
    size, content = header.size, memoryview(data)[file.tell() :]
    if size > len(content):
        raise ModelError(f"NumPy array has {len(content)} bytes of data; its shape needs {size}.")
    elements = np.frombuffer(content[:size], dtype)
    return elements.astype(dtype.newbyteorder("="), copy=False).tobytes(), DML_TENSOR_DATA_TYPE(data_type)


def write_npy(array: np.ndarray[Any, Any]) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)
    return file.getvalue()


class NpyHeader(NamedTuple):
    """``size`` is that of all elements, in bytes."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(file: BinaryIO) -> NpyHeader:
    """The header, with the file positioned behind it. Raises ``ValueError`` for anything but a header of version 1.0 or
    2.0 of an array of numbers; nothing is allocated for the array."""
    try:
        version = np.lib.format.read_magic(file)
        reader: Any = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        header = None if reader is None else NpyHeader(*reader(file))
    except OSError:
        raise
    except Exception as error:
        # NumPy takes the header to Python's tokenizer and parser, whose errors are of many kinds.
        raise ValueError(f"its header is invalid: {error}") from None
    if header is None:
        raise ValueError(f"version {version[0]}.{version[1]} is not supported")
    if header.dtype.hasobject:
        raise ValueError(f"elements of type {header.dtype} are not supported")
    if any(dimension < 0 for dimension in header.shape):
        raise ValueError(f"its shape is {header.shape}")
    return header
