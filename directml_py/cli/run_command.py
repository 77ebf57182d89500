"""``python -m directml_py run``: runs scripts written for ``pydirectml`` or ``directml``."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path
from types import TracebackType

HELP = "Run a Python script that imports pydirectml or directml with this package's modules of those names."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", metavar="SCRIPT", help="the script's path, as python takes it")
    rest = parser.add_argument(
        "arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="the script's arguments"
    )
    # Python 3.11 and before would name it among what is missing.
    rest.required = False


def run(arguments: argparse.Namespace) -> int:
    """The exit code: 0, or 2 if there is no such script; the script itself may exit with any code."""
    from ..pydirectml import install

    path = Path(arguments.script)
    if not path.exists():
        print(f"run: there is no file {path}", file=sys.stderr)
        return 2
    if path.is_dir() and not (path / "__main__.py").exists():
        print(f"run: the folder {path} has no __main__.py", file=sys.stderr)
        return 2
    install()
    sys.argv = [arguments.script, *arguments.arguments]
    # As python does, so that the script can import modules beside it.
    sys.path[0] = str(path.resolve().parent if path.is_file() else path)
    try:
        runpy.run_path(arguments.script, run_name="__main__")
    except (BrokenPipeError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        # The script's own, whatever it is: shown as python shows it, without the frames that run the script.
        traceback = _of_script(error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(traceback), traceback)
        return 1
    return 0


def _of_script(traceback: TracebackType | None) -> TracebackType | None:
    """What follows the frames of this module and of ``runpy``; None for a script that is not Python."""
    filenames = (__file__, runpy.run_path.__code__.co_filename)
    while traceback is not None and traceback.tb_frame.f_code.co_filename in filenames:
        traceback = traceback.tb_next
    return traceback
