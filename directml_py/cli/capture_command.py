"""``python -m directml_py capture``: record a program's work, inspect it, replay it."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..capturing import VARIABLE
from ..storage import write_whole
from ..text.terminal import shown

if TYPE_CHECKING:
    from ..capturing.parser import CaptureLog

HELP = "Record what a program does with DirectML, show it as a page, replay it."
USAGE = """
  %(prog)s OUT -- PROGRAM [ARGS]
      run a program, in Python or with libdirectml.so, and record into OUT
  %(prog)s show OUT [--html FILE]
      write a page, OUT/index.html or FILE (- is the standard output)
  %(prog)s replay OUT
      replay dispatches and clears and compare what they write, bit for bit
  %(prog)s export OUT N [--json FILE]
      write dispatch N with its inputs as a DxDispatch model, dispatch-N.json or
      FILE

With -- the command records, so a folder may also be named show."""
# The exit code of a replay whose recording is incomplete.
CUT = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = USAGE.strip()
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("words", metavar="...", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    """The exit code: the recorded program's; else 0, 1 if a replay differs, 2 for unreadable input or wrong usage, 3 if
    a replay does not differ, but the recording is incomplete."""
    words: list[str] = arguments.words
    if "--" in words:
        separator = words.index("--")
        return _record(words[:separator], words[separator + 1 :])
    if words and words[0] in ACTIONS:
        return _look(arguments.parser.prog, words)
    return _wrong("give a folder, -- and a program, or show, replay or export and a folder (--help)")


def _wrong(text: str) -> int:
    print(f"capture: {shown(text)}", file=sys.stderr)
    return 2


def _record(before: Sequence[str], program: Sequence[str]) -> int:
    if len(before) != 1 or not program:
        return _wrong("give OUT -- PROGRAM [ARGS]: one folder before --, and a program after it")
    folder = Path(before[0])
    is_new = not folder.exists()
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            return _wrong(f"{folder} already exists; a capture needs a new or an empty folder")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return _wrong(f"cannot create {folder}: {error.strerror or error}")
    command = _command(program)
    environment = {**os.environ, VARIABLE: str(folder.resolve())}
    try:
        code = subprocess.run(command, env=environment).returncode
    except OSError as error:
        _drop(folder, is_new)
        return _wrong(f"cannot run {program[0]}: {error.strerror or error}")
    if not any(folder.iterdir()):
        _drop(folder, is_new)
        print(
            f"capture: {program[0]} did not use this package's DirectML; nothing was recorded",
            file=sys.stderr,
        )
        code = code or 1
    # The shells' convention for a process ended by a signal.
    return code if code >= 0 else 128 - code


def _drop(folder: Path, is_new: bool) -> None:
    """Remove the empty folder, if this command made it."""
    if is_new:
        folder.rmdir()


def _command(program: Sequence[str]) -> list[str]:
    """What runs a program: scripts that are not executable are run by this interpreter, as ``python SCRIPT`` does, and
    Windows programs by ``wine`` of this package."""
    if program[0].endswith(".py") and not os.access(program[0], os.X_OK):
        return [sys.executable, *program]
    if Path(program[0]).name in ("wine", "wine64"):
        return [sys.executable, "-m", "directml_py", "wine", *program[1:]]
    return list(program)


def _look(command: str, words: Sequence[str]) -> int:
    from ..capturing.parser import CaptureError

    parser = argparse.ArgumentParser(prog=f"{command} {words[0]}")
    parser.add_argument("folder", metavar="OUT", type=Path)
    add, act = ACTIONS[words[0]]
    add(parser)
    arguments = parser.parse_args(words[1:])
    try:
        return act(arguments)
    except CaptureError as error:
        return _wrong(str(error))
    except OSError as error:
        if error.filename is None:
            # Of the output, which `main` reports.
            raise
        return _wrong(f"{error.filename}: {error.strerror or error}")


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--html", metavar="FILE", help="where to write the page; - is the standard output")


def _show(arguments: argparse.Namespace) -> int:
    from ..capturing.page import page
    from ..capturing.parser import read_capture

    logs = read_capture(arguments.folder)
    _warn_of_cuts(logs)
    content = page(logs).encode("utf-8", "replace")
    if arguments.html == "-":
        sys.stdout.buffer.write(content)
        return 0
    target = arguments.folder / "index.html" if arguments.html is None else Path(arguments.html)
    write_whole(target, lambda file: file.write(content))
    print(shown(str(target)))
    return 0


def _warn_of_cuts(logs: Sequence[CaptureLog]) -> bool:
    """Whether a recording is incomplete, which is reported on standard error."""
    for log in logs:
        if log.cut:
            print(f"capture: {shown(str(log.path))} is incomplete; {log.cut}", file=sys.stderr)
    return any(log.cut for log in logs)


def _replay(arguments: argparse.Namespace) -> int:
    from ..capturing import event_types as e
    from ..capturing.parser import read_capture
    from ..capturing.replay import is_unknown, replay, replayed_count
    from ..text.terminal import track

    words = {
        e.DispatchEvent: "dispatches",
        e.ClearEvent: "clears",
        e.EndQueryEvent: "timestamps (times are not compared)",
        e.ResolveQueryEvent: "resolved queries",
        e.WriteImmediateEvent: "immediate writes",
    }
    counts: Counter[type] = Counter({e.DispatchEvent: 0})
    differing = unknown = 0
    logs = read_capture(arguments.folder)
    for log in logs:
        unknown += sum(is_unknown(command.what) for _, command in log.ran)
        for what, differences in track(replay(log), "replay", replayed_count(log)):
            counts[type(what)] += 1
            differing += bool(differences)
            for difference in differences:
                print(shown(str(difference)))
    done = [f"{counts[kind]} {word}" for kind, word in words.items() if kind in counts]
    print(f"{', '.join(done)} replayed, {differing or 'none'} with a different result")
    if unknown:
        print(f"{unknown} dispatches skipped: their operators were released before they could be recorded")
    cut = _warn_of_cuts(logs)
    if differing:
        return 1
    return CUT if cut else 0


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("number", metavar="N", type=int, help="the dispatch's number, as on the page")
    parser.add_argument("--json", metavar="FILE", help="the model; its inputs are written beside it")


def _export(arguments: argparse.Namespace) -> int:
    from ..capturing.dispatch_export import export
    from ..capturing.parser import read_capture

    target = arguments.json or f"dispatch-{arguments.number}.json"
    for path in export(read_capture(arguments.folder), arguments.number, target):
        print(shown(str(path)))
    return 0


ACTIONS = {
    "show": (_add_show, _show),
    "replay": (lambda parser: None, _replay),
    "export": (_add_export, _export),
}
