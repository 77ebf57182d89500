"""Kernels take little of the stack of the thread that calls: everything runs in threads of 128 KiB."""

from __future__ import annotations

import os
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
# The page faults of a convolution in a new thread, less those in a thread that has run it before.
FAULTS = """
import resource
import threading

build, x, w = CASES["3 x 3 convolution"]
graph = Graph()
inputs = [graph.input_tensor(name, F32, array.shape) for name, array in (("x", x), ("w", w))]
compiled = graph.compile({"y": build(graph, *inputs)})

def faults(start):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    start()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

def run():
    compiled.run([x, w])

def run_in_thread():
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()

for _ in range(3):
    run()
    run_in_thread()
print(min(faults(run_in_thread) for _ in range(5)) - min(faults(run) for _ in range(5)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("text", [SAMPLES, LARGE], ids=["samples of every operator", "large tensors"])
def test_a_thread_of_128_kib(text: str) -> None:
    command = [sys.executable, "-c", CALLS + ON_SMALL_STACK + text]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=ROOT)
    assert run.returncode == 0, (run.returncode, run.stdout.splitlines()[-1:], run.stderr)


@pytest.mark.slow
@pytest.mark.skipif(os.sysconf("SC_PAGESIZE") != 4096, reason="pages of 4 KiB")
def test_threads_reuse_work_stacks() -> None:
    """A new stack has some 60 faults."""
    run = subprocess.run([sys.executable, "-c", CALLS + FAULTS], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 30
