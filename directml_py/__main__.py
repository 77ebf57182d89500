"""``python -m directml_py``: what this installation can do."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Sequence

import numpy as np

from ._version import __version__
from .api.schema_data import OPERATORS as CATALOG
from .cli import config as build_config
from .cli import graph as graph_command
from .cli.rules import as_markdown, as_text
from .cli.rules import rules as every_rule
from .cli.support import support_table
from .dml.device import HIGHEST_FEATURE_LEVEL
from .kernels import backend
from .operators import OPERATORS


def info(_: argparse.Namespace) -> int:
    """Versions, feature level, kernels, and what the debug layers check beyond the rules of every call."""
    rows = {
        "directml-py": __version__,
        "DirectML API": "1.15",
        "feature level": HIGHEST_FEATURE_LEVEL.name,
        "operators": f"{len(OPERATORS)} of {len(CATALOG)} execute",
        "kernels": backend.title,
        "C library": "built" if build_config.LIBRARY.exists() else "not built",
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "platform": platform.platform(),
    }
    checks = [("debug check", rule.id) for rule in every_rule() if rule.debug]
    for name, value in [*rows.items(), *checks]:
        print(f"{name + ':':15}{value}")
    return 0


def support(arguments: argparse.Namespace) -> int:
    """The support table of one operator, or the list of operators that execute."""
    if arguments.operator is None:
        print("\n".join(sorted(OPERATORS)))
        return 0
    name = arguments.operator.upper().removeprefix("DML_OPERATOR_")
    schema = next((entry for entry in CATALOG.values() if entry.name == name), None)
    if schema is None:
        print(f"support: there is no operator DML_OPERATOR_{name}", file=sys.stderr)
        return 2
    print(support_table(schema, executes=name in OPERATORS))
    return 0


def rules(arguments: argparse.Namespace) -> int:
    """Every rule that is checked: identifier, severity, text, the page it comes from, the test that breaks it."""
    print(as_markdown() if arguments.markdown else as_text())
    return 0


def graph(arguments: argparse.Namespace) -> int:
    """What a saved graph consists of and what the compiler makes of it, as text or as a picture."""
    return graph_command.run(arguments)


def config(arguments: argparse.Namespace) -> int:
    """What the build of a C or C++ program with libdirectml.so needs, in the manner of python3-config."""
    return build_config.run(arguments)


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "config": config,
    "graph": graph,
    "info": info,
    "rules": rules,
    "support": support,
}


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m directml_py", description=__doc__)
    top.add_argument("--version", action="version", version=__version__)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, function in COMMANDS.items():
        command = commands.add_parser(name, help=function.__doc__, description=function.__doc__)
        if function is config:
            build_config.add_arguments(command)
        if function is graph:
            graph_command.add_arguments(command)
        if function is rules:
            command.add_argument("--markdown", action="store_true", help="a table in Markdown")
        if function is support:
            command.add_argument(
                "operator",
                nargs="?",
                metavar="OPERATOR",
                help="such as JOIN or DML_OPERATOR_JOIN; none lists them",
            )
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 if it worked, 1 if its output could not be written, 2 if what the user asked for does not
    exist."""
    try:
        try:
            parsed = parser().parse_args(arguments)
            return COMMANDS[parsed.command](parsed)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError as error:
        # What is still buffered goes nowhere, so that the interpreter does not try again when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            # The reader, such as ``head``, has seen enough.
            return 0
        print(f"cannot write the output: {error.strerror}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
