"""The command line, one module per command: ``HELP``, ``add_arguments(parser)`` and ``run(arguments)``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, TextIO, cast

from .._version import __version__
from ..abi.hresult import DMLError
from ..text.terminal import escape_what_streams_cannot_encode, shown

DESCRIPTION = "DirectML on an emulated Direct3D 12 device, on any machine."
SCRIPT = "directml-py"
EPILOG = f"""Completion by Tab, with the extra shell, for bash and zsh:
  eval "$(register-python-argcomplete {SCRIPT})"
"""
# The exit code of a shell's command that Ctrl-C ended.
INTERRUPTED = 130


class CommandModule(Protocol):
    """The interface of a command's module."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, arguments: argparse.Namespace) -> int:
        """The exit code of the process."""


# The commands and their modules, which are imported when they are asked for: `wine` and `exec` start programs, which
# should not wait for what other commands need.
COMMANDS = {
    name: f"{name}_command"
    for name in (
        "capture",
        "compare",
        "config",
        "doctor",
        "dispatch",
        "exec",
        "graph",
        "info",
        "onnx",
        "run",
        "show",
        "wine",
    )
}
COMMANDS["dispatch"] = "dxdispatch_command"


def command(name: str) -> CommandModule:
    """The module of a command."""
    return cast(CommandModule, import_module(f".{COMMANDS[name]}", __name__))


def parser(names: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser for the commands with these names."""
    script = SCRIPT if Path(sys.argv[0]).stem == SCRIPT else "python -m directml_py"
    top = argparse.ArgumentParser(
        prog=script,
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=__version__)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in names:
        module = command(name)
        subparser = commands.add_parser(name, help=module.HELP, description=module.HELP)
        module.add_arguments(subparser)
        subparser.set_defaults(parser=subparser)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 for success, 1 if its output cannot be written, 2 for bad arguments or a
    file that cannot be opened, 130 after Ctrl-C. Without a command the help is printed."""
    # A parent that closed a stream wants nothing of it; Python has None in its place.
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()
    escape_what_streams_cannot_encode()
    try:
        try:
            words = sys.argv[1:] if arguments is None else arguments
            top = parser(words[:1] if words and words[0] in COMMANDS else COMMANDS)
            if "_ARGCOMPLETE" in os.environ:
                _complete(top)
            if not words:
                top.print_help()
                return 0
            parsed, unknown = top.parse_known_args(words)
            if unknown:
                parsed.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
            # The doctor reports it in its table.
            problem = "" if parsed.command == "doctor" else _wrong_environment()
            if problem:
                print(f"{parsed.command}: {shown(problem)}", file=sys.stderr)
                return 2
            return command(parsed.command).run(parsed)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
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


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w")


def _complete(parser: argparse.ArgumentParser) -> None:
    """Answer a completion request of the shell and exit; does nothing without argcomplete."""
    try:
        import argcomplete
    except ImportError:
        return
    argcomplete.autocomplete(parser)


def _wrong_environment() -> str:
    """The first problem of this package's variables. To know them takes longer than many a command."""
    if not any(name.startswith("DIRECTML_PY_") for name in os.environ):
        return ""
    from .doctor_command import wrong_environment

    return wrong_environment()
