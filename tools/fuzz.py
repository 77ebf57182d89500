"""Fuzz the package with random descs, ``--count`` of them or endlessly, in worker processes.

    python tools/fuzz.py --count 1000000 --workers 2
    python tools/fuzz.py --seed 7 --case 1234        # reproduce one case
    python tools/fuzz.py programs --count 10000      # programs under the debug layers, valid and with one mistake each

Each case has a valid desc, which is executed, a desc that breaks one rule, and several with corrupted memory (wild
pointers, huge counts, flipped bytes). If a worker crashes, hangs or fails, the run ends with exit code 1 and reports
the seed. Programs are drawn by Hypothesis, which makes the first failure small.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import mmap
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

CASES_APART = 1 << 40
HANG_SECONDS = 60
REPORT_SECONDS = 10
# A worker's progress record: its current case, and the counts of descs by kind.
PROGRESS = struct.Struct("<q6Q")
KINDS = ("valid", "broken", "corrupted", "accepted", "refused", "type_errors")


def run_case(seed: int, case: int) -> int:
    from fuzzing.fuzz_cases import Fuzzer

    Fuzzer().case(seed * CASES_APART + case)
    print("nothing wrong")
    return 0


def work(path: Path, seed: int, first: int, stride: int, count: int) -> int:
    """Run the cases ``first``, ``first + stride`` ... until ``count`` descs are done (0: endlessly)."""
    from fuzzing.fuzz_cases import Fuzzer

    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), PROGRESS.size) as shown:
        fuzzer, case = Fuzzer(), first
        while not count or fuzzer.descs < count:
            PROGRESS.pack_into(shown, 0, case, *(fuzzer.counts[kind] for kind in KINDS))
            try:
                fuzzer.case(seed * CASES_APART + case)
            except BaseException:
                traceback.print_exc()
                return 1
            case += stride
        PROGRESS.pack_into(shown, 0, -1, *(fuzzer.counts[kind] for kind in KINDS))
    return 0


class FuzzWorker:
    def __init__(self, folder: Path, seed: int, number: int, workers: int, count: int) -> None:
        self.path = folder / f"worker{number}"
        self.path.write_bytes(PROGRESS.pack(-1, *(0 for _ in KINDS)))
        arguments = [str(value) for value in (self.path, seed, number, workers, count)]
        self.process = subprocess.Popen([sys.executable, __file__, "--worker", *arguments])
        self.case, self.counts, self.moved = -1, Counter[str](), time.monotonic()

    def look(self) -> str:
        """Update the progress; returns the failure, if any."""
        ended = self.process.poll()
        case, *counts = PROGRESS.unpack(self.path.read_bytes())
        now = time.monotonic()
        if case != self.case:
            self.case, self.moved = case, now
        self.counts = Counter(dict(zip(KINDS, counts)))
        if ended is None and now - self.moved > HANG_SECONDS:
            self.process.kill()
            return f"hung for {HANG_SECONDS} seconds"
        if ended is not None and ended < 0:
            return f"died of {signal.Signals(-ended).name}"
        return f"ended with exit code {ended}" if ended else ""


def summary(workers: Sequence[FuzzWorker], start: float) -> str:
    counts = sum((worker.counts for worker in workers), Counter[str]())
    descs, seconds = counts["valid"] + counts["broken"] + counts["corrupted"], time.monotonic() - start
    return (
        f"{descs} descs in {seconds:.0f} s ({descs / max(seconds, 1e-9):.0f}/s): {counts['valid']} valid, "
        f"{counts['broken']} with one broken rule, {counts['corrupted']} corrupted ({counts['accepted']} accepted, "
        f"{counts['refused']} refused, {counts['type_errors']} TypeErrors)"
    )


def supervise(seed: int, count: int, number: int) -> int:
    """Run the workers; returns the exit code."""
    start = reported = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        share = -(-count // number)
        workers = [FuzzWorker(Path(folder), seed, index, number, share) for index in range(number)]
        for worker in workers:
            stack.callback(worker.process.kill)
        try:
            while True:
                for worker in workers:
                    wrong = worker.look()
                    if wrong:
                        print(f"a worker {wrong} in case {worker.case} of seed {seed}; again with")
                        print(f"  {sys.executable} {__file__} --seed {seed} --case {worker.case}")
                        print(summary(workers, start))
                        return 1
                if all(worker.process.returncode == 0 for worker in workers):
                    break
                if time.monotonic() - reported > REPORT_SECONDS:
                    reported = time.monotonic()
                    print(summary(workers, start), flush=True)
                time.sleep(0.2)
        except KeyboardInterrupt:
            pass
        print(summary(workers, start), f"; nothing wrong (seed {seed})", sep="")
    return 0


def natural(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return value


def main(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["--worker"]:
        path, *numbers = arguments[1:]
        return work(Path(path), *map(int, numbers))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "programs", nargs="?", choices=["programs"], help="programs instead of descs, in this process"
    )
    parser.add_argument(
        "--count", type=natural, default=0, help="descs to try (default: endless; 1000 programs)"
    )
    parser.add_argument("--seed", type=natural, default=None, help="default: random")
    parser.add_argument("--workers", type=natural, default=os.cpu_count() or 1)
    parser.add_argument("--case", type=natural, help="run only this case, in this process")
    options = parser.parse_args(arguments)
    if options.programs:
        from fuzzing.programs import state_machine

        state_machine.run(options.count or 1000, options.seed)
        print(f"nothing wrong; mistakes found: {dict(state_machine.ProgramMachine.tried)}")
        return 0
    seed = time.time_ns() & 0xFFFFFFFF if options.seed is None else options.seed
    if options.case is not None:
        return run_case(seed, options.case)
    return supervise(seed, options.count, max(1, options.workers))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
