"""Process isolation: runs a real library in a child process, since some descs crash it."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from ..descs.operator_desc import OperatorDesc
from .comparison import Comparison
from .loading import HardwareError, PathLike


class Crash(NamedTuple):
    """``desc`` crashed the library's process."""

    desc: OperatorDesc
    signal: int

    def __str__(self) -> str:
        name = ""
        if self.signal in signal.valid_signals():
            name = f" ({signal.Signals(self.signal).name})"
        return f"{self.desc.schema.type_name}: ended by signal {self.signal}{name}"


class Isolated:
    """``compare`` with a library in a child process, which is restarted after a crash.

    Raises ``HardwareError`` if the library cannot be opened. Close it, or use it in a ``with`` statement.
    """

    def __init__(
        self, directml: PathLike, d3d12: PathLike | None = None, dxcore: PathLike | None = None
    ) -> None:
        self._paths = directml, d3d12, dxcore
        self._process: Any = None
        self._start()

    def compare(self, desc: OperatorDesc, inputs: Sequence[Any] | None = None) -> Comparison | Crash:
        """As ``Library.compare``, or the signal that ended the process."""
        if self._process is None:
            self._start()
        self._pipe.send((desc, inputs))
        try:
            answer = self._pipe.recv()
        except (EOFError, ConnectionResetError):
            assert self._process is not None
            self._process.join()
            code = self._process.exitcode or 0
            self.close()
            return Crash(desc, -code if code < 0 else code)
        if isinstance(answer, BaseException):
            raise answer
        assert isinstance(answer, Comparison)
        return answer

    def close(self) -> None:
        self._pipe.close()
        if self._process is not None:
            self._process.join()
            self._process = None

    def __enter__(self) -> Isolated:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._paths), daemon=True)
        self._process.start()
        theirs.close()
        try:
            failure = self._pipe.recv()
        except EOFError:
            self._process.join()
            failure = HardwareError(
                f"the library's process ended while opening it: exit code {self._process.exitcode}"
            )
        if failure is not None:
            self.close()
            raise failure


def _serve(pipe: Connection, paths: tuple[PathLike, PathLike | None, PathLike | None]) -> None:
    from .real_directml import open

    try:
        library = open(*paths)
    except HardwareError as error:
        pipe.send(error)
        return
    pipe.send(None)
    with library:
        while True:
            try:
                desc, inputs = pipe.recv()
            except EOFError:
                return
            try:
                pipe.send(library.compare(desc, inputs))
            except (TypeError, ValueError, HardwareError) as error:
                pipe.send(error)
