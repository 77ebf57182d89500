"""Programs in a child of this process, which has imported what they use.

A new interpreter takes longer to start than most of them to run, and pytest in it longer still. The child has no other
threads than its own, and what pytest has installed is taken out. What a program prints, loads and finds at its start
can only be tested in a new interpreter.
"""

from __future__ import annotations

import faulthandler
import io
import logging
import os
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings
from typing import IO

SECONDS = 60


def run_in_child(program: str) -> subprocess.CompletedProcess[str]:
    """The finished process that has run the text; a watchdog ends it if it hangs."""
    if not hasattr(os, "fork"):
        command = [sys.executable, "-c", program]
        return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=SECONDS)
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        with warnings.catch_warnings():
            # The threads of pytest-xdist hold no locks that a program needs.
            warnings.filterwarnings("ignore", "This process", DeprecationWarning)
            child = os.fork()
        if not child:
            code = 1
            try:
                become_new(output, errors)
                code = exit_code_of(program)
                sys.stdout.flush()
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        texts = [text_of(file) for file in (output, errors)]
    return subprocess.CompletedProcess(program, os.waitstatus_to_exitcode(status), *texts)


def become_new(output: IO[bytes], errors: IO[bytes]) -> None:
    sys.stdin = io.StringIO()
    for number, name, file in ((1, "stdout", output), (2, "stderr", errors)):
        os.dup2(file.fileno(), number)
        setattr(sys, name, os.fdopen(number, "w", buffering=1, encoding="utf-8", closefd=False))
    threading.excepthook, sys.unraisablehook = threading.__excepthook__, sys.__unraisablehook__
    logging.getLogger().handlers.clear()
    warnings.resetwarnings()
    # It is not a Python thread, of which a program may ask whether there are any.
    faulthandler.dump_traceback_later(SECONDS, exit=True)


def exit_code_of(program: str) -> int:
    try:
        exec(program, {"__name__": "__main__"})
    except SystemExit as end:
        return int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
