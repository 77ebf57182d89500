"""The runners of other programs' operators: isolation and tables, and stand-ins for CUDA's libraries."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from clients import cuda_stubs, torch_ops
from toolchain import missing

Tell = Callable[[Any], None]

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork here")


def stand_in(behaviour: dict[int, Callable[[], Any]]) -> Callable[..., None]:
    """For ``run_operator``: what each sample does before it tells that it is right."""

    def run(name: str, op: Any, chosen: range, tell: Tell) -> None:
        for sample in chosen:
            behaviour.get(sample, lambda: None)()
            tell({"verdict": torch_ops.RIGHT, "why": "", "sample": sample})

    return run


def test_a_sample_that_ends_the_process_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def die() -> None:
        os.write(2, b"said before")
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(torch_ops, "run_operator", stand_in({1: die, 3: lambda: os._exit(7)}))
    row = torch_ops.isolated("op", None, 5, 60)
    assert [(result["verdict"], result.get("sample")) for result in row["results"]] == [
        ("right", 0),
        ("ended", None),
        ("right", 2),
        ("ended", None),
        ("right", 4),
    ]
    assert row["results"][1]["why"] == "SIGKILL: said before"
    assert row["results"][3]["why"] == "exit code 7: "


def test_a_sample_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_ops, "run_operator", stand_in({1: lambda: time.sleep(60)}))
    row = torch_ops.isolated("op", None, 2, 0.5)
    assert [result["verdict"] for result in row["results"]] == ["right", "ended"]
    assert row["results"][1]["why"] == "longer than 0.5 s: "


def test_a_sample_that_the_cpu_refuses_counts_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(name: str, op: Any, chosen: range, tell: Tell) -> None:
        for sample in chosen:
            tell(None if sample == 0 else {"verdict": torch_ops.DIFFERENT, "why": "1 is not 2"})

    monkeypatch.setattr(torch_ops, "run_operator", run)
    assert torch_ops.isolated("op", None, 2, 60)["results"] == [{"verdict": "different", "why": "1 is not 2"}]


def test_the_table_lists_what_is_not_wholly_right(tmp_path: Path) -> None:
    right, wrong = {"verdict": "right", "why": ""}, {"verdict": "refused", "why": "a | b\nc"}
    rows = [
        {"operator": "good", "results": [right, {**right, "on_cpu": True}], "said": ""},
        {"operator": "bad", "results": [right, wrong], "said": "x"},
        {"operator": "none", "results": [], "said": ""},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    lines = torch_ops.table(torch_ops.read(path)).splitlines()
    assert lines[2:] == [
        "| bad | 1 | 0 | 1 | 0 | a / b c |",
        "",
        "2 operators, 1 of them entirely right, 1 partly on the CPU, according to the plugin.",
        "Samples: 3 right, 0 different, 1 refused; 0 ended the process.",
    ]


ORIGINAL = "int cudaGetDeviceCount(int *count) { *count = 3; return 0; }\n"
USER = "int cudaGetDeviceCount(int *); int ask(void) { int count; return cudaGetDeviceCount(&count); }\n"


def test_a_stand_in_for_cuda_has_no_device(tmp_path: Path) -> None:
    """With the version node that the wheel's library asks for; the loader refuses a library that lacks one."""
    if not sys.platform.startswith("linux") or shutil.which("gcc") is None or shutil.which("readelf") is None:
        missing("gcc and binutils on Linux")
    folder, torch = tmp_path / "nvidia" / "cuda_runtime" / "lib", tmp_path / "torch" / "lib"
    folder.mkdir(parents=True)
    torch.mkdir(parents=True)
    (tmp_path / "original.c").write_text(ORIGINAL, encoding="utf-8")
    (tmp_path / "user.c").write_text(USER, encoding="utf-8")
    (tmp_path / "versions.map").write_text("libcudart.so.12 { global: cuda*; };\n", encoding="utf-8")
    name = "libcudart.so.12"
    original = ["original.c", f"-Wl,-soname,{name}", "-Wl,--version-script=versions.map", "-o", name]
    user = ["user.c", name, f"-Wl,-rpath,{folder}", "-Wl,-z,now", "-o", str(torch / "libuser.so")]
    for arguments in (original, user):
        subprocess.run(["gcc", "-shared", "-fPIC", *arguments], check=True, cwd=tmp_path)
    found = cuda_stubs.needed([torch / "libuser.so"])
    assert found == {name: {"libcudart.so.12": {"cudaGetDeviceCount"}, "": set()}}
    cuda_stubs.build(folder, name, found[name])
    # cudaErrorNoDevice.
    assert ctypes.CDLL(str(torch / "libuser.so")).ask() == 100
