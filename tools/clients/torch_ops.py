"""PyTorch's operators on torch-directml over the emulator, compared with the CPU on PyTorch's own OpInfo samples.

    python -m directml_py exec python tools/clients/torch_ops.py results.jsonl
    python tools/clients/torch_ops.py results.jsonl --table # the results so far

Needs torch, torch-directml, expecttest and packaging in the environment (docs/pytorch.md). The first samples of each
operator run forward, in FLOAT32 if the operator takes it. Each operator runs in a child process of its own, with a time
limit; after a sample that ends the process, another child continues. An operator that has a line in the file is not run
again. The table lists the operators that are not entirely right.
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import json
import os
import re
import selectors
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SAMPLES = 6
SECONDS = 120.0
TOLERANCE = {"rtol": 1e-3, "atol": 1e-4}
# They return uninitialized memory.
UNDEFINED = re.compile(r"(new_)?empty(_like|_permuted|_strided)?$")
RIGHT, DIFFERENT, REFUSED, ENDED = "right", "different", "refused", "ended"
# The number of characters kept of a child's last output.
SAID = 1500

Result = dict[str, Any]


def operators() -> dict[str, Any]:
    """PyTorch's OpInfo records by name, with the variant's name if there is one."""
    # Loaded before the wheel's libdirectml.so, whose own C++ runtime catches the plugin's exceptions and ends the
    # process.
    ctypes.CDLL("libstdc++.so.6", mode=ctypes.RTLD_GLOBAL)
    from torch.testing._internal.common_methods_invocations import op_db

    return {f"{op.name}.{op.variant_test_name}".rstrip("."): op for op in op_db}


def samples(op: Any, count: int) -> Iterator[Any]:
    import torch

    types = (torch.float32, torch.int64, torch.int32, torch.bool, *sorted(op.dtypes, key=str))
    kind = next((kind for kind in types if kind in op.dtypes), None)
    # Some are for GPUs only.
    if kind is None:
        return
    torch.manual_seed(0)
    for _, sample in zip(range(count), op.sample_inputs("cpu", kind, requires_grad=False)):
        yield sample


def moved(value: Any, device: Any) -> Any:
    """``value`` with the tensors inside it moved to ``device``."""
    import torch
    from torch.utils._pytree import tree_map

    def move(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            return leaf.detach().to(device)
        return device if isinstance(leaf, torch.device) or leaf == "cpu" else leaf

    return tree_map(move, value)


def called(op: Any, sample: Any, device: Any, seed: int = 1) -> Any:
    import torch

    # Each run gets its own arguments, since some operators work in place.
    first, args, kwargs = moved((sample.input, sample.args, dict(sample.kwargs)), device)
    torch.manual_seed(seed)
    return moved(op(first, *args, **kwargs), "cpu")


def difference(found: Any, expected: Any, values: bool = True) -> str:
    """The message of ``torch.testing``; "" if the results agree. If ``values`` are meaningless, only sizes and types
    are compared."""
    import torch
    from torch.utils._pytree import tree_map

    if not values:
        found, expected = (
            tree_map(lambda leaf: torch.zeros_like(leaf) if isinstance(leaf, torch.Tensor) else 0, part)
            for part in (found, expected)
        )
    try:
        torch.testing.assert_close(found, expected, equal_nan=True, check_stride=False, **TOLERANCE)
    except (AssertionError, TypeError) as error:
        return str(error)
    return ""


def is_determined(name: str, op: Any, sample: Any, expected: Any) -> bool:
    """Whether two runs agree: random numbers of two devices never do."""
    return not UNDEFINED.match(name) and not difference(called(op, sample, "cpu", seed=2), expected)


def sample_result(name: str, op: Any, sample: Any, device: Any) -> Result | None:
    """The result of a sample; None if the CPU refuses it."""
    try:
        expected = called(op, sample, "cpu")
        determined = is_determined(name, op, sample, expected)
    except Exception:
        return None
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = called(op, sample, device)
        except Exception as error:
            return {"verdict": REFUSED, "why": f"{type(error).__name__}: {error}"[:SAID]}
    why = difference(found, expected, determined)
    on_cpu = any("fall back to run on the CPU" in str(warning.message) for warning in told)
    return {"verdict": DIFFERENT if why else RIGHT, "why": why[:SAID], "on_cpu": on_cpu}


def run_operator(name: str, op: Any, chosen: range, tell: Callable[[Result | None], None]) -> None:
    """In the child process, as torch-directml creates its device when it is imported."""
    import torch_directml

    device = torch_directml.device()
    for sample in itertools.islice(samples(op, chosen.stop), chosen.start, None):
        tell(sample_result(name, op, sample, device))


def isolated(name: str, op: Any, count: int, seconds: float) -> Result:
    """The results of one operator's samples. After a sample that ends the process, another child continues with the
    next."""
    results: list[Result] = []
    said, start = "", 0
    while start < count:
        lines, ended, text = _in_child(name, op, range(start, count), seconds)
        results += [result for line in lines if (result := json.loads(line)) is not None]
        if _wrong(results):
            said = (said + text)[-SAID:]
        if not ended:
            break
        results.append({"verdict": ENDED, "why": f"{ended}: {text}"})
        start += len(lines) + 1
    return {"operator": name, "results": results, "said": said}


def _in_child(name: str, op: Any, chosen: range, seconds: float) -> tuple[list[bytes], str, str]:
    """The child's report on each sample, how it ended ("" for success), and its output."""
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.close(reading)
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
                run_operator(
                    name, op, chosen, lambda told: _write(writing, json.dumps(told).encode() + b"\n")
                )
                code = 0
            except BaseException as error:
                _write(2, f"{type(error).__name__}: {error}".encode())
            finally:
                os._exit(code)
        os.close(writing)
        lines, ended = _collected(child, reading, seconds)
        os.close(reading)
        size = said.seek(0, os.SEEK_END)
        said.seek(max(0, size - SAID))
        return lines, ended, said.read().decode(errors="replace")


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _collected(child: int, reading: int, seconds: float) -> tuple[list[bytes], str]:
    """The complete lines that the child wrote, and how it ended ("" for success)."""
    limit, data = time.monotonic() + seconds, b""
    with selectors.DefaultSelector() as selector:
        selector.register(reading, selectors.EVENT_READ)
        while (left := limit - time.monotonic()) > 0 and selector.select(left):
            part = os.read(reading, 1 << 16)
            if not part:
                break
            data += part
        else:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return data.split(b"\n")[:-1], f"longer than {seconds:g} s"
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    ended = "" if code == 0 else signal.Signals(-code).name if code < 0 else f"exit code {code}"
    return data.split(b"\n")[:-1], ended


def _wrong(results: list[Result]) -> bool:
    return any(result["verdict"] != RIGHT for result in results)


def read(path: Path) -> dict[str, Result]:
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {row["operator"]: row for row in rows}


def table(rows: dict[str, Result]) -> str:
    """Markdown: the operators that are not entirely right, and the totals."""
    lines = [
        f"| operator | {RIGHT} | {DIFFERENT} | {REFUSED} | {ENDED} | the first that is wrong |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    totals: Counter[str] = Counter()
    run = {name: row["results"] for name, row in rows.items() if row["results"]}
    wholly = 0
    for name, results in sorted(run.items()):
        counts = Counter(result["verdict"] for result in results)
        totals += counts
        first = next((result["why"] for result in results if result["verdict"] != RIGHT), None)
        if first is None:
            wholly += 1
            continue
        cells = [name, *(str(counts[verdict]) for verdict in (RIGHT, DIFFERENT, REFUSED, ENDED))]
        lines.append(f"| {' | '.join(cells)} | {_cell(first)} |")
    on_cpu = sum(any(result.get("on_cpu") for result in results) for results in run.values())
    lines += [
        "",
        f"{len(run)} operators, {wholly} of them entirely right, {on_cpu} partly on the CPU, according to the plugin.",
        f"Samples: {totals[RIGHT]} {RIGHT}, {totals[DIFFERENT]} {DIFFERENT}, {totals[REFUSED]} {REFUSED}; "
        f"{totals[ENDED]} {ENDED} the process.",
    ]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())[:160]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, help="a file of JSON lines; an existing file is continued")
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--operators", default="", help="a regular expression of their names")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for one operator")
    arguments = parser.parse_args()
    rows = read(arguments.results)
    if not arguments.table:
        wanted = {
            name: op
            for name, op in operators().items()
            if name not in rows and re.search(arguments.operators, name)
        }
        with arguments.results.open("a", encoding="utf-8") as file:
            for number, (name, op) in enumerate(wanted.items(), 1):
                rows[name] = isolated(name, op, arguments.samples, arguments.seconds)
                file.write(json.dumps(rows[name]) + "\n")
                file.flush()
                print(f"{number}/{len(wanted)} {name}", file=sys.stderr)
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
