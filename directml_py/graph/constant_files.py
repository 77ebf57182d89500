"""Content-addressed constants of a saved graph: .npy files in a folder beside it, each named by a hash.

A file that another version of the graph still refers to is therefore never overwritten with other contents.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..npy_header import read_header
from ..storage import regular_file, sync_folder, write_whole
from .json_reader import Item

SUFFIX = ".constants"
OWN_NAME = re.compile(r"[0-9a-f]{32}\.npy")


def file_name(array: npt.NDArray[Any]) -> str:
    """A file name unique to the array's type, shape and elements."""
    contents = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    contents.update(_bytes(array))
    return f"{contents.hexdigest()[:32]}.npy"


def _bytes(array: npt.NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


class ConstantFiles:
    """The constants folder of the graph in ``path``: its name plus ``.constants``."""

    def __init__(self, path: Path) -> None:
        self.folder = path.with_name(path.name + SUFFIX)

    def reference(self, array: npt.NDArray[Any]) -> str:
        """The path of a constant's file in the graph, relative to the graph file."""
        return f"{self.folder.name}/{file_name(array)}"

    @contextlib.contextmanager
    def written(self, arrays: Iterable[npt.NDArray[Any]]) -> Iterator[None]:
        """Write ``arrays``; then, unless the block raises, remove those of older versions of the graph.

        After an ``OSError`` the previous files are restored; after other exceptions, surplus files may remain.
        """
        by_name = {file_name(array): array for array in arrays}
        before = self._names()
        try:
            if by_name:
                self.folder.mkdir(exist_ok=True)
            for name, array in by_name.items():
                write_whole(self.folder / name, partial(_write_array, array))
            sync_folder(self.folder.parent)
            yield
        except OSError:
            self._remove(by_name.keys() - before)
            raise
        self._remove(before - by_name.keys())

    def _names(self) -> set[str]:
        try:
            return {path.name for path in self.folder.iterdir() if OWN_NAME.fullmatch(path.name)}
        except (FileNotFoundError, NotADirectoryError):
            return set()

    def _remove(self, names: Iterable[str]) -> None:
        # A leftover file does no harm.
        for name in names:
            with contextlib.suppress(OSError):
                (self.folder / name).unlink()
        with contextlib.suppress(OSError):
            self.folder.rmdir()


def _write_array(array: npt.NDArray[Any], file: BinaryIO) -> None:
    # write_array uses tofile, which loses the operating system's error.
    np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
    file.write(_bytes(array))


def read_array(item: Item) -> Any:
    """The array in the file that ``item`` names, relative to the graph file: ``FOLDER/NAME`` or, in files of version
    1, ``NAME``. Raises ``GraphFileError``."""
    name = item.text()
    parts = name.split("/")
    if len(parts) > 2 or not all(map(_is_plain, parts)):
        raise item.error(
            f"must be the name of a file in the graph's folder or in one beside it, not {name!r}"
        )
    try:
        with regular_file(item.file.parent.joinpath(*parts)) as file:
            header = read_header(file)
            if header.size > os.fstat(file.fileno()).st_size - file.tell():
                raise ValueError(f"its shape needs {header.size} bytes")
            file.seek(0)
            return np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise item.error(f"cannot read {name!r}: {error.strerror or error}") from None
    except (ValueError, MemoryError) as error:
        raise item.error(f"{name!r} is not a .npy file of numbers: {error}") from None


def _is_plain(part: str) -> bool:
    return part not in ("", ".", "..") and not set(part) & set("\\:")
