"""What a call costs a Windows program, beside a program for Linux."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from com.building import config, facts
from toolchain import missing, need_d3d12_headers

from .conftest import PROGRAMS, Wine

pytestmark = pytest.mark.slow

# The goal is 1.3; other processes may take their time from one of the two.
MOST = 1.5


def test_calls_cost_little_more_than_on_linux(
    wine: Wine, program: Callable[[str], Path], tmp_path: Path
) -> None:
    if shutil.which("gcc") is None:
        missing("gcc")
    need_d3d12_headers()
    options = ["-std=gnu11", "-O1", *config("--cflags"), *config("--libs")]
    subprocess.run(
        ["gcc", str(PROGRAMS / "calls.c"), *options, "-o", str(tmp_path / "calls")], check=True, timeout=120
    )
    here = times(facts([tmp_path / "calls"]))
    there = times(facts(wine.command(program("calls")), wine.environment()))
    assert here.keys() == there.keys()
    slow = {name: (here[name], there[name]) for name in here if there[name] > MOST * here[name]}
    assert not slow


def times(lines: list[str]) -> dict[str, float]:
    found = {name: float(time) for name, time in (line.split(": ") for line in lines)}
    # Is most of the start of Python, which depends on what the machine does besides.
    found.pop("device")
    return found
