"""How much stack each function of the native kernels takes, as gcc reports it: entries little of the caller's, and
kernels a part of the work stack."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from toolchain import missing

pytest.importorskip("cffi")

from building import native_entries, native_kernels

LIMITS = native_kernels.SOURCES / "threads" / "limits.h"
# The call of an entry, with all that is called before the stack is changed.
ON_THE_CALLERS_STACK = ("dml_call_on", "dml_call_on_work_stack", "dml_make_work_stack")
MOST_OF_CALLER = 16 << 10
# Functions for whose arrays gcc finds no bound: values in blocks, of which a program has at most 512 KiB
# (DML_ELEMENTWISE_MAX_VALUES of them), and cffi's arguments, of at most 640 bytes.
ARRAYS_OF_KNOWN_SIZE = ("dml_elementwise_parts", "_cffi_f_")


def frames(folder: Path) -> dict[str, int]:
    """The bytes of each function's frame; a bounded one's largest."""
    flags = ["-O3", "-g0", "-fno-math-errno", "-fno-trapping-math", "-fno-wrapv", "-fstack-usage"]
    native_kernels.build(["gcc", *flags], folder)
    found: dict[str, int] = {}
    lines = [line for file in folder.glob("*.su") for line in file.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        where, size, kind = line.split("\t")
        name = where.rpartition(":")[2].split(".")[0]
        assert kind in ("static", "dynamic,bounded") or name.startswith(ARRAYS_OF_KNOWN_SIZE), line
        found[name] = max(int(size), found.get(name, 0))
    return found


@pytest.mark.slow
def test_frames(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        missing("gcc")
    sizes = frames(tmp_path)
    declarations = "\n".join(native_kernels.folders().values())
    entries = {f"{entry.name}_entry" for entry in native_entries.entries(declarations)}
    shared = sum(sizes.get(name, 0) for name in ON_THE_CALLERS_STACK)
    wrappers = [name for name in sizes if name.startswith("_cffi_")]
    assert wrappers
    largest = max(sizes[name] for name in (*entries & sizes.keys(), *wrappers))
    assert shared + 2 * largest < MOST_OF_CALLER
    stack = re.search(r"#define DML_STACK_BYTES \((\d+) << 20\)", LIMITS.read_text(encoding="utf-8"))
    assert stack
    assert max(sizes.values()) < (int(stack[1]) << 20) // 2
