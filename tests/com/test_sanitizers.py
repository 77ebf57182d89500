"""The same programs under AddressSanitizer, UndefinedBehaviorSanitizer, LeakSanitizer and valgrind."""

from __future__ import annotations

import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from toolchain import missing

from .building import Builder, facts
from .test_programs import C_TOPICS, TOPICS

pytestmark = pytest.mark.slow

# Vtables that were made in C have no run-time type information before them, where the check of -fsanitize=vptr
# looks for it.
SANITIZE = ("-g", "-fsanitize=address,undefined", "-fno-sanitize=vptr", "-fno-sanitize-recover=undefined")
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
# Valgrind is slow: these topics cover everything that C and Python pass to each other.
VALGRIND_TOPICS = ("lifetime", "structs")


def clean(program: Path, topic: str) -> None:
    """No reports, including leaks, for the program, the library or Python."""
    try:
        assert facts([program, topic], OPTIONS)
    except AssertionError as error:
        if "LeakSanitizer has encountered a fatal error" in str(error):
            missing("permission to trace processes, which LeakSanitizer needs,")
        raise


@pytest.mark.parametrize("topic", TOPICS)
def test_address_leak_and_undefined(builder: Builder, topic: str) -> None:
    clean(builder.program("object_model", "g++", *SANITIZE), topic)


@pytest.mark.parametrize("topic", C_TOPICS)
def test_address_leak_and_undefined_in_c(builder: Builder, topic: str) -> None:
    clean(builder.program("c_program", "gcc", *SANITIZE), topic)


def frames(stack: ET.Element) -> list[str]:
    return [
        f"{frame.findtext('fn', '?')} in {frame.findtext('obj', '?')}" for frame in stack.findall("frame")
    ]


def is_ours(error: ET.Element) -> bool:
    """Invalid accesses count if code of ours is on the stack, unless the dynamic linker reads whole words. Leaks and
    undefined values count by which code allocated the memory or tested the value: CPython multiplies undefined digits
    by 0."""
    stack = error.find("stack")
    if stack is None:
        return False
    found = [frame for frame in frames(stack) if "vgpreload" not in frame]
    if not error.findtext("kind", "").startswith("Invalid") or "/ld-linux" in found[0]:
        found = found[:1]
    return any(re.search(r"in .*(libdirectml\.so|/object_model|/c_program)", frame) for frame in found)


def valgrind_errors(command: list[str | Path], report: Path) -> list[str]:
    if shutil.which("valgrind") is None:
        missing("valgrind")
    options = ["--xml=yes", f"--xml-file={report}", "--leak-check=full", "--show-leak-kinds=definite"]
    options.append("--num-callers=40")
    facts(["valgrind", *options, *command], {"PYTHONMALLOC": "malloc"}, timeout=1800)
    return [
        f"{error.findtext('kind')}: {' < '.join(frames(stack))}"
        for error in ET.parse(report).getroot().findall("error")
        if is_ours(error) and (stack := error.find("stack")) is not None
    ]


@pytest.mark.parametrize("topic", VALGRIND_TOPICS)
def test_valgrind(builder: Builder, tmp_path: Path, topic: str) -> None:
    program = builder.program("object_model", "g++")
    assert valgrind_errors([program, topic], tmp_path / "report.xml") == []


def test_valgrind_in_c(builder: Builder, tmp_path: Path) -> None:
    program = builder.program("c_program", "gcc")
    assert valgrind_errors([program, "objects"], tmp_path / "report.xml") == []
