"""Runs models in the runner under Wine: many in one process, each isolated from the others.

A model that ends the process, or takes too long, loses its own result; another process continues with the next one.
"""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from .wheels import LIBRARY, cache, runtime

SOURCE = Path(__file__).with_name("runner.c")
COMPILER = "x86_64-w64-mingw32-gcc"
SECONDS = 120.0
# The number of characters kept of what a process says about one model.
SAID = 4000
DONE, FAILED, ENDED = "done", "failed", "ended"
PLACED = re.compile(r"placed on \[(\w+)ExecutionProvider\]\. Number of nodes: (\d+)")
BEGIN = "=== begin "


@dataclass
class CaseOutcome:
    """What became of one model: its nodes by provider, the error, and what was said on standard error meanwhile."""

    status: str = ENDED
    why: str = ""
    placed: dict[str, int] = field(default_factory=dict)
    said: str = ""


def runner() -> Path:
    """The runner, built beside ONNX Runtime's DLLs if its source is newer.

    Raises ``FileNotFoundError`` if MinGW is missing, ``subprocess.CalledProcessError`` if it fails.
    """
    program = runtime() / "runner.exe"
    if not program.exists() or program.stat().st_mtime < SOURCE.stat().st_mtime:
        part = program.with_suffix(".part.exe")
        subprocess.run([COMPILER, "-std=gnu11", "-O2", "-o", str(part), str(SOURCE)], check=True)
        part.replace(program)
    return program


def command(provider: str, options: Sequence[str]) -> list[str]:
    program = [str(runner()), str(runtime() / LIBRARY), provider, *options]
    return [sys.executable, "-m", "directml_py", "wine", *program]


def run(
    folder: Path, jobs: Sequence[int], provider: str, options: Sequence[str] = (), seconds: float = SECONDS,
    variables: Mapping[str, str] | None = None,
) -> dict[int, CaseOutcome]:  # fmt: skip
    """Run the models N.onnx of ``folder`` on N.in, with the provider "dml" or "cpu".

    ``seconds`` is the limit for one model, ``options`` are KEY=VALUE entries of the session's configuration.
    """
    outcomes: dict[int, CaseOutcome] = {}
    left = list(jobs)
    while left:
        begun = len(outcomes)
        _run_process(folder, left, provider, options, seconds, variables or {}, outcomes)
        if len(outcomes) == begun:
            raise RuntimeError(
                f"the runner does not start: {(folder / 'said').read_text(errors='replace')[-SAID:]}"
            )
        left = [job for job in left if job not in outcomes]
    return outcomes


def _run_process(
    folder: Path, jobs: Sequence[int], provider: str, options: Sequence[str], seconds: float,
    variables: Mapping[str, str], outcomes: dict[int, CaseOutcome],
) -> None:  # fmt: skip
    root = Path(__file__).resolve().parents[3]
    paths = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
    with (folder / "said").open("w+b") as said:
        process = subprocess.Popen(
            command(provider, options), cwd=folder, env={**os.environ, "PYTHONPATH": paths, **variables},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, start_new_session=True,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write("".join(f"{job}\n" for job in jobs).encode())
            process.stdin.close()
            ended = _follow(process.stdout, seconds, outcomes)
            if ended:
                os.killpg(process.pid, signal.SIGKILL)
            code = process.wait(seconds)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            process.stdout.close()
        for outcome in outcomes.values():
            if outcome.status == ENDED and not outcome.why:
                outcome.why = ended or f"the process ended with exit code {code}"
        said.seek(0)
        _share(said.read().decode(errors="replace"), outcomes)


def _follow(pipe: IO[bytes], seconds: float, outcomes: dict[int, CaseOutcome]) -> str:
    """Read the runner's lines until it ends; returns why it must be ended, "" if it has ended by itself."""
    rest, current, limit = b"", CaseOutcome(), time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while (left := limit - time.monotonic()) > 0 and selector.select(left):
            part = os.read(pipe.fileno(), 1 << 16)
            if not part:
                return ""
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                word, _, text = line.decode(errors="replace").strip().partition(" ")
                if word == "begin":
                    current = outcomes[int(text)] = CaseOutcome()
                    limit = time.monotonic() + seconds
                elif word == "placed":
                    for name, count in PLACED.findall(text):
                        current.placed[name] = current.placed.get(name, 0) + int(count)
                elif word in (DONE, FAILED):
                    current.status, current.why = word, text.partition(" ")[2]
    return f"longer than {seconds:g} s"


def _share(said: str, outcomes: dict[int, CaseOutcome]) -> None:
    """Give each model what was said on standard error while it ran."""
    for part in said.split(BEGIN)[1:]:
        number, _, text = part.partition("\n")
        if number.strip().isdigit() and int(number) in outcomes:
            outcomes[int(number)].said = text.strip()[-SAID:]


def work_folder() -> Path:
    folder = cache() / "work"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
