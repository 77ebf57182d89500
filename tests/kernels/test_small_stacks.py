"""Kernels take little of the stack of the thread that calls: everything runs in threads of 128 KiB."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .calls_of_everything import CALLS

ROOT = Path(__file__).resolve().parents[2]

ON_SMALL_STACK = """
import threading

def on_small_stack(title, call, *arguments):
    print(title, flush=True)
    errors = []

    def run():
        try:
            call(*arguments)
        except BaseException as error:
            errors.append(error)

    threading.stack_size(128 << 10)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
"""
SAMPLES = """
for name in sorted(SCHEMAS):
    for seed in range(3):
        on_small_stack(name, evaluate, name, seed)
"""
LARGE = """
for title, (build, *inputs) in CASES.items():
    on_small_stack(title, graph_of, build, *inputs)
"""


@pytest.mark.parametrize("text", [SAMPLES, LARGE], ids=["samples of every operator", "large tensors"])
def test_a_thread_of_128_kib(text: str) -> None:
    command = [sys.executable, "-c", CALLS + ON_SMALL_STACK + text]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=ROOT)
    assert run.returncode == 0, (run.returncode, run.stdout.splitlines()[-1:], run.stderr)
