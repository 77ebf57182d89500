"""``python -m directml_py wine``: runs Windows programs with this package's DirectML under Wine."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from ..capturing import leave_to_next_program
from ..text.terminal import shown
from ..wine.loader import WineError, check_library, check_program, environment, find_loader
from ..wine.prefix import MARKER, default_prefix, install, repair, uninstall, user_prefix

HELP = (
    "Run a Windows program with this package's DirectML.dll, d3d12.dll, dxgi.dll and dxcore.dll under Wine."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "%(prog)s [--prefix PREFIX] PROGRAM.exe [ARGS ...]\n"
        "       %(prog)s --install PREFIX | --uninstall PREFIX\n"
        "       %(prog)s --environment"
    )
    parser.add_argument(
        "--prefix",
        metavar="PREFIX",
        help="a prefix of yours that the DLLs were installed into (by default one of the package's own)",
    )
    actions = parser.add_mutually_exclusive_group()
    actions.add_argument("--install", metavar="PREFIX", help="put the DLLs into a prefix of yours")
    actions.add_argument("--uninstall", metavar="PREFIX", help="take them out, and put back what was there")
    actions.add_argument(
        "--environment",
        action="store_true",
        help="print the variables that Wine needs, for a shell that starts it itself",
    )
    parser.add_argument("program", metavar="PROGRAM.exe", nargs="?", help="a Windows program for x86-64")
    parser.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="the program's arguments")


def run(arguments: argparse.Namespace) -> int:
    """Replace this process by the program; returns 2 if it cannot be started, for a reason that it prints."""
    try:
        return _act(arguments)
    except WineError as error:
        print(f"wine: {shown(str(error))}", file=sys.stderr)
    except OSError as error:
        print(f"wine: {error.filename or arguments.program}: {error.strerror}", file=sys.stderr)
    return 2


def _act(arguments: argparse.Namespace) -> int:
    if arguments.uninstall is not None:
        uninstall(user_prefix(arguments.uninstall))
        return 0
    check_library()
    if arguments.install is not None:
        return _install(user_prefix(arguments.install))
    if arguments.program is None and not arguments.environment:
        raise WineError("give a program, --install PREFIX, --uninstall PREFIX or --environment")
    if arguments.program is not None:
        check_program(arguments.program)
    loader = find_loader()
    variables = environment(_prefix(arguments, loader), os.environ)
    if arguments.environment:
        return _print_changes(variables)
    sys.stdout.flush()
    leave_to_next_program()
    return os.execve(loader, [loader, arguments.program, *arguments.arguments], variables)


def _install(prefix: Path) -> int:
    install(prefix)
    command = f"python -m directml_py wine --prefix {shlex.quote(str(prefix))} PROGRAM.exe"
    print(f"installed; run a program with: {command}")
    return 0


def _print_changes(variables: Mapping[str, str]) -> int:
    changed = {name: value for name, value in variables.items() if os.environ.get(name) != value}
    print("".join(f"export {name}={shlex.quote(value)}\n" for name, value in changed.items()), end="")
    return 0


def _prefix(arguments: argparse.Namespace, loader: str) -> Path:
    if arguments.prefix is None:
        prefix = default_prefix(loader)
    else:
        prefix = user_prefix(arguments.prefix)
        if not (prefix / MARKER).exists():
            raise WineError(
                f"the DLLs are not installed in {prefix}; run: python -m directml_py wine --install "
                f"{shlex.quote(str(prefix))}"
            )
    repair(prefix)
    return prefix
