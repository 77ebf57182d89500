"""Running the command line and the samples as programs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def python():
    """``python(*arguments, **options)``: run an interpreter that finds this package; the finished process."""

    def run(*arguments, **options):
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        environment = {
            **os.environ,
            "PYTHONPATH": path,
            "PYTHONWARNINGS": "error",
            "PYTHONIOENCODING": "utf-8",
        }
        # Output is buffered, as it is for users, unless a test says -u.
        environment.pop("PYTHONUNBUFFERED", None)
        command = [sys.executable, *arguments]
        options.setdefault("stdout", subprocess.PIPE)
        return subprocess.run(
            command, stderr=subprocess.PIPE, text=True, timeout=60, env=environment, **options
        )

    return run
