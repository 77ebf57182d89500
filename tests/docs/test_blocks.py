"""Every block of code in README.md and docs runs, and prints what the page says that it prints."""

from __future__ import annotations

import contextlib
import gc
import logging
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from toolchain import missing, need_d3d12_headers

import directml_py as dml
from directml_py.d3d12.debug import debug_layer_enabled
from directml_py.kernels import backend

from ..com.building import library
from .pages import Block, blocks, pages
from .running import CPP, SHELL, Page

# Blocks that cannot run here: how many on which page, and why, in the words of the markers above them.
UNRUN = Counter(
    {
        ("docs/debugging/debuggers.md", "changes the configuration of GDB"): 1,
        ("docs/debugging/profiles.md", "stands for tests and a program of yours"): 1,
        ("docs/gallery/programs.md", "needs a network"): 6,
        ("docs/dxdispatch.md", "needs a network"): 1,
        ("docs/dxdispatch.md", "needs the build above"): 1,
        ("docs/inside/fidelity.md", "fetches the library with pip, and takes a million descs"): 1,
        ("docs/inside/fidelity.md", "fetches web-platform-tests"): 1,
        ("docs/inside/fidelity.md", "the paths are yours"): 1,
        ("docs/inside/speed.md", "the files are those of two runs"): 1,
        ("docs/inside/speed.md", "the program is yours"): 1,
        ("docs/inside/operators.md", "the whole suite runs it"): 1,
        ("docs/onnx.md", "an installation of its own"): 1,
        ("docs/porting/linux.md", "an installation of its own"): 1,
        ("docs/porting/linux.md", "needs a network"): 2,
        ("docs/porting/linux.md", "stands for a program of yours"): 1,
        ("docs/porting/pydirectml.md", "stands for a script of yours"): 1,
        ("docs/pytorch.md", "an installation of its own"): 1,
        ("docs/pytorch.md", "needs PyTorch 2.4.1"): 4,
        ("docs/start.md", "an installation of its own"): 1,
        ("docs/testing/docker.md", "needs Docker"): 3,
        ("docs/testing/hardware.md", "the paths are yours"): 2,
        ("docs/tensorflow.md", "an installation of its own"): 1,
        ("docs/tensorflow.md", "needs TensorFlow 2.10"): 4,
        ("docs/testing/googletest.md", "an installation of its own"): 1,
        ("docs/testing/googletest.md", "tests/com/test_gtest_recipe.py does"): 1,
        ("docs/windows-programs.md", "an installation of its own"): 1,
        ("docs/windows-programs.md", "takes an hour"): 1,
        ("docs/windows-programs.md", "the prefix is yours"): 1,
        ("docs/windows-programs.md", "the program is yours"): 3,
    }
)


# What these print is planned for the kernels in C.
NATIVE = {"docs/debugging/messages.md", "docs/inside/graph-compiler.md"}


def run_blocks(page: str) -> list[Block]:
    """What is to be run of a page. The README's two commands are what continuous integration begins with."""
    return [block for block in blocks(page) if (page, block.language) != ("README.md", "sh")]


COSTLY = [
    page for page in pages() if any(block.language in SHELL and not block.unrun for block in run_blocks(page))
]


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextlib.contextmanager
def as_in_a_new_process() -> Iterator[None]:
    """Logging is off, and what a page enables is disabled afterwards. The devices of earlier pages, which the debug
    layer would warn of, are collected."""
    gc.collect()
    root, was_on, modules = logging.getLogger(), debug_layer_enabled(), set(sys.modules)
    handlers, root.handlers = root.handlers, []
    try:
        yield
    finally:
        root.handlers = handlers
        for name in set(sys.modules) - modules:
            if name.partition(".")[0] in ("pydirectml", "directml"):
                del sys.modules[name]
        if not was_on:
            dml.D3D12GetDebugInterface().DisableDebugLayer()


def need_kernels(page: str) -> None:
    if page in NATIVE and backend.native is None:
        pytest.skip("no native kernels")


@pytest.mark.parametrize("page", pages())
def test_python(page: str, folder: Path) -> None:
    need_kernels(page)
    with as_in_a_new_process():
        Page(page, run_blocks(page), folder, everything=False).run()


@pytest.mark.slow
@pytest.mark.parametrize("page", COSTLY)
def test_everything(page: str, folder: Path) -> None:
    need_kernels(page)
    if any(block.language in CPP or "$ g++ " in block.text for block in blocks(page)):
        if shutil.which("g++") is None:
            missing("g++")
        need_d3d12_headers()
        library()
    with as_in_a_new_process():
        Page(page, run_blocks(page), folder, everything=True).run()


def test_what_nobody_runs_is_listed() -> None:
    found = Counter((page, block.unrun) for page in pages() for block in blocks(page) if block.unrun)
    assert found == UNRUN
