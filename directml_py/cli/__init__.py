"""The command line, one module per command: ``HELP``, ``add_arguments(parser)`` and ``run(arguments)``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from .._version import __version__
from ..abi.hresult import DMLError
from ..text.terminal import escape_what_streams_cannot_encode, shown
from . import (
    capture_command,
    compare_command,
    config_command,
    doctor_command,
    dxdispatch_command,
    exec_command,
    explain_command,
    graph_command,
    info_command,
    onnx_command,
    rules_command,
    run_command,
    schema_command,
    support_command,
)
from .completion import complete
from .environment import wrong_environment

DESCRIPTION = "DirectML on an emulated Direct3D 12 device, on any machine."
SCRIPT = "directml-py"


class CommandModule(Protocol):
    """The interface of a command's module."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, arguments: argparse.Namespace) -> int:
        """The exit code of the process."""


COMMANDS: dict[str, CommandModule] = {
    "capture": capture_command,
    "compare": compare_command,
    "config": config_command,
    "doctor": doctor_command,
    "dispatch": dxdispatch_command,
    "exec": exec_command,
    "explain": explain_command,
    "graph": graph_command,
    "info": info_command,
    "onnx": onnx_command,
    "rules": rules_command,
    "run": run_command,
    "schema": schema_command,
    "support": support_command,
}


def parser() -> argparse.ArgumentParser:
    name = SCRIPT if Path(sys.argv[0]).stem == SCRIPT else "python -m directml_py"
    top = argparse.ArgumentParser(prog=name, description=DESCRIPTION)
    top.add_argument("--version", action="version", version=__version__)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        command.add_arguments(commands.add_parser(name, help=command.HELP, description=command.HELP))
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 for success, 1 if its output cannot be written, 2 for bad arguments or a
    file that cannot be opened."""
    escape_what_streams_cannot_encode()
    try:
        try:
            top = parser()
            if "_ARGCOMPLETE" in os.environ:
                complete(top)
            parsed = top.parse_args(arguments)
            # The doctor reports it in its table.
            problem = "" if parsed.command == "doctor" else wrong_environment()
            if problem:
                print(f"{parsed.command}: {shown(problem)}", file=sys.stderr)
                return 2
            return COMMANDS[parsed.command].run(parsed)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except DMLError as error:
        print(shown(str(error)), file=sys.stderr)
        return 2
    except OSError as error:
        if error.filename is not None:
            print(shown(str(error)), file=sys.stderr)
            return 2
        # Discard buffered output, which the interpreter would otherwise flush again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            # The reader, such as ``head``, closed the pipe early.
            return 0
        print(f"cannot write the output: {error.strerror}", file=sys.stderr)
        return 1
