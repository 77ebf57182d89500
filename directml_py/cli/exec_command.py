"""``python -m directml_py exec``: programs that look for DirectML, Direct3D 12 and DXCore as files."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping

from . import config_command

HELP = "Start a program with libdirectml.so, libd3d12.so and libdxcore.so where it looks for them."
# TF_DIRECTML_PATH is tensorflow-directml-plugin's; copies of the library find their package by the last one.
NAMED = ("TF_DIRECTML_PATH", "DIRECTML_PY_LIBDIR")


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """``variables`` with those that lead a program, and what it starts, to the libraries."""
    folder = str(config_command.FOLDER)
    # An empty part of the path is the working folder.
    search = [folder, *filter(None, variables.get("LD_LIBRARY_PATH", "").split(os.pathsep))]
    return {**variables, "LD_LIBRARY_PATH": os.pathsep.join(search), **dict.fromkeys(NAMED, folder)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", metavar="PROGRAM", help="a path, or a name on PATH")
    parser.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="its own arguments")


def run(arguments: argparse.Namespace) -> int:
    """Does not return, or 2 if there is no library or the program cannot be started."""
    try:
        config_command.check_library()
        os.execvpe(
            arguments.program, [arguments.program, *arguments.arguments], environment(dict(os.environ))
        )
    except config_command.Missing as missing:
        print(f"exec: {missing}", file=sys.stderr)
    except OSError as error:
        print(f"exec: {arguments.program}: {error.strerror}", file=sys.stderr)
    return 2
