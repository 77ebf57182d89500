"""``python -m directml_py exec``: runs programs that load DirectML, Direct3D 12 and DXCore as shared libraries."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping

from ..capturing import leave_to_next_program
from . import config_command

HELP = "Run a program with libdirectml.so, libd3d12.so and libdxcore.so on its library search path."
# Takes precedence over any libdirectml.so that a program, such as torch-directml, loads by its path.
PRELOADED = "libdirectml_preload.so"
SEPARATORS = re.compile("[ :]+")
# tensorflow-directml-plugin reads TF_DIRECTML_PATH; copies of the library find their package by DIRECTML_PY_LIBDIR.
NAMED = ("TF_DIRECTML_PATH", "DIRECTML_PY_LIBDIR")


def _preloaded(folder: str) -> str:
    """The library's path, which works even if a program resets LD_LIBRARY_PATH, unless LD_PRELOAD cannot express it."""
    return PRELOADED if SEPARATORS.search(folder) else f"{folder}/{PRELOADED}"


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """``variables``, extended so that a program and its children find the libraries."""
    folder = str(config_command.FOLDER)
    # An empty entry of the path would mean the working directory.
    search = [folder, *filter(None, variables.get("LD_LIBRARY_PATH", "").split(os.pathsep))]
    # Memory checkers' libraries, which a program may preload too, insist on being the first.
    preload = [*SEPARATORS.split(variables.get("LD_PRELOAD", "")), _preloaded(folder)]
    return {
        **variables,
        "LD_LIBRARY_PATH": os.pathsep.join(search),
        "LD_PRELOAD": os.pathsep.join(filter(None, preload)),
        **dict.fromkeys(NAMED, folder),
    }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", metavar="PROGRAM", help="a path, or a name on PATH")
    rest = parser.add_argument(
        "arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="the program's arguments"
    )
    # Python 3.11 and before would name it among what is missing.
    rest.required = False


def run(arguments: argparse.Namespace) -> int:
    """Replace this process; returns 2 if the library is missing or the program cannot be started."""
    try:
        config_command.check_library()
        leave_to_next_program()
        os.execvpe(
            arguments.program, [arguments.program, *arguments.arguments], environment(dict(os.environ))
        )
    except config_command.Missing as missing:
        print(f"exec: {missing}", file=sys.stderr)
    except OSError as error:
        print(f"exec: {arguments.program}: {error.strerror}{_hint(arguments.program)}", file=sys.stderr)
    return 2


def _hint(program: str) -> str:
    """For the name of a file in the current folder, which, as in a shell, is only looked for on PATH."""
    is_here = os.sep not in program and os.path.exists(program)
    return f" on PATH; the file in this folder is ./{program}" if is_here else ""
