"""The constants of a graph in a file: .npy files in a folder beside it, each named by what is in it.

A file that another version of the graph still names is therefore never overwritten with other contents.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..storage import regular_file, sync_folder, write_whole
from .json_reader import Item

SUFFIX = ".constants"
OWN_NAME = re.compile(r"[0-9a-f]{32}\.npy")


def file_name(array: npt.NDArray[Any]) -> str:
    """A name that arrays of other types, shapes or elements do not have."""
    contents = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    contents.update(_bytes(array))
    return f"{contents.hexdigest()[:32]}.npy"


def _bytes(array: npt.NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


class ConstantFiles:
    """The folder of the constants of the graph in ``path``: its name and ``.constants``."""

    def __init__(self, path: Path) -> None:
        self.folder = path.with_name(path.name + SUFFIX)

    def reference(self, array: npt.NDArray[Any]) -> str:
        """What the graph calls the file of a constant: its path from where the graph is."""
        return f"{self.folder.name}/{file_name(array)}"

    @contextlib.contextmanager
    def written(self, arrays: Iterable[npt.NDArray[Any]]) -> Iterator[None]:
        """Write ``arrays``; then, unless the block raises, remove those of older versions of the graph.

        What was there before is there again after an ``OSError``; after anything else, too much may be there.
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
        # What cannot be removed is in nobody's way.
        for name in names:
            with contextlib.suppress(OSError):
                (self.folder / name).unlink()
        with contextlib.suppress(OSError):
            self.folder.rmdir()


def _write_array(array: npt.NDArray[Any], file: BinaryIO) -> None:
    # Through tofile, which write_array takes, the operating system's reason for a failure is lost.
    np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
    file.write(_bytes(array))


def read_array(item: Item) -> Any:
    """The array in the file that ``item`` names: ``FOLDER/NAME`` or, as files of version 1 have it, ``NAME``, seen
    from where the graph is. Raises ``GraphFileError``."""
    name = item.text()
    parts = name.split("/")
    if len(parts) > 2 or not all(map(_is_plain, parts)):
        raise item.error(
            f"must be the name of a file in the graph's folder or in one beside it, not {name!r}"
        )
    try:
        with regular_file(item.file.parent.joinpath(*parts)) as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise item.error(f"cannot read {name!r}: {error.strerror or error}") from None
    except (ValueError, EOFError, MemoryError, SyntaxError, TypeError, RecursionError) as error:
        raise item.error(f"{name!r} is no .npy file of numbers: {error}") from None


def _is_plain(part: str) -> bool:
    return part not in ("", ".", "..") and not set(part) & set("\\:")
