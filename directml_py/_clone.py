"""What a program imports that runs in a clone of the repository, when the package was installed somewhere else.

Python looks in the current folder first, so there it finds the clone's source, which ``pip install .`` has not built.
This is a module of its own since no other program loads it.
"""

from __future__ import annotations

import warnings
from importlib import metadata
from pathlib import Path

from ._version import __version__

NAME = "directml_py"
# Every build makes this file, with a C compiler or without.
BUILT = f"{NAME}/api/cdefs.py"


def use_installed(search_path: list[str]) -> None:
    """Let the package load its modules from the installation of its own version, if there is one.

    Warns where the only installation is of another version: the source is used then, with NumPy alone.
    """
    others = []
    for distribution in metadata.distributions(name="directml-py"):
        if Path(str(distribution.locate_file(BUILT))).exists():
            if distribution.version == __version__:
                search_path[:] = [str(distribution.locate_file(NAME))]
                return
            others.append(distribution.version)
    if others:
        warnings.warn(
            f"directml_py {__version__} is imported from {search_path[0]}, which was never built, although version "
            f"{others[0]} is installed: start the program in another folder to use that one, or build this one by "
            f"pip install -e {Path(search_path[0]).parent}",
            RuntimeWarning,
            stacklevel=3,
        )
