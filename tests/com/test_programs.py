"""C++ and C programs that use libdirectml.so as they would use DirectML."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

import pytest
from toolchain import later

from .building import Builder, facts

TOPICS = (
    "adapters",
    "answered",
    "captured",
    "clears",
    "commands",
    "debug_identity",
    "debug_layer",
    "devices",
    "errors",
    "fences",
    "graphs",
    "identity",
    "impostors",
    "info_queue",
    "initialization",
    "leftovers",
    "lifetime",
    "operators",
    "private_data",
    "rebound",
    "released",
    "released_quietly",
    "removal",
    "root_signatures",
    "structs",
    "threads",
    "unemulated",
    "upload",
    "versions",
)
# Of processes in whose environment a profile is chosen.
PROFILE_TOPICS = ("no_profile", "profile_removal", "profiles")
C_TOPICS = ("debug", "errors", "objects", "operators", "removal")
ROUNDS = 2000
DISPATCHES = 50_000
# A round leaves nothing behind; what the allocators keep for themselves stays far below this.
GROWTH = 8 << 20


@functools.lru_cache(None)
def told(program: Path, *arguments: str) -> tuple[str, ...]:
    return tuple(facts([program, *arguments]))


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("compiler", ["g++", *later("clang++")])
def test_cpp(builder: Builder, compiler: str, topic: str) -> None:
    assert told(builder.program("object_model", compiler), topic)


@pytest.mark.parametrize("topic", C_TOPICS)
@pytest.mark.parametrize("compiler", ["gcc", *later("clang")])
def test_c(builder: Builder, compiler: str, topic: str) -> None:
    assert told(builder.program("c_program", compiler), topic)


@pytest.mark.parametrize(
    ("profile", "arguments"),
    [
        ("", ("2", "0", "0", "supported")),
        ("kind", ("2", "0", "0", "supported")),
        # An input, an output, both resources, and three more; multiples of 4 that are none of 16.
        ("demanding", ("7", "36", "28", "denied")),
        ("no-descriptors", ("0", "0", "0", "supported")),
    ],
)
def test_the_environment_chooses_a_profile(
    builder: Builder, profile: str, arguments: tuple[str, ...]
) -> None:
    program = builder.program("object_model", "g++")
    assert facts([program, "profiles", *arguments], {"DIRECTML_PY_PROFILE": profile})


def test_the_environment_chooses_how_many_adapters_there_are(builder: Builder) -> None:
    program = builder.program("object_model", "g++")
    assert facts([program, "adapters", "3"], {"DIRECTML_PY_ADAPTERS": "3"})


def test_a_profile_that_removes_the_device(builder: Builder) -> None:
    program = builder.program("object_model", "g++")
    assert facts([program, "profile_removal"], {"DIRECTML_PY_PROFILE": "kind,removal_after=2"})


def test_a_profile_that_is_none(builder: Builder) -> None:
    program = builder.program("object_model", "g++")
    assert facts([program, "no_profile"], {"DIRECTML_PY_PROFILE": "gentle"})


def test_why_a_device_was_removed_is_told_without_debug_layers(builder: Builder) -> None:
    """Reported once per device: later failures have the same reason."""
    command = [str(builder.program("object_model", "g++")), "removal"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    reason = "bindings[0].SizeInBytes is 8; at least 16 bytes are needed [DML-BufferBinding-size]"
    assert run.stderr.count(reason) == 1, run.stderr


def test_uses_of_a_released_object_are_told_without_debug_layers(builder: Builder) -> None:
    command = [str(builder.program("object_model", "g++")), "released_quietly"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    for call in ("ID3D12Resource::GetDesc", "ID3D12Resource::Unmap", "IUnknown::Release"):
        assert f"{call}: this is ID3D12Resource, whose last reference was released by " in run.stderr, (
            run.stderr
        )


def test_a_debug_layer_that_comes_too_late_is_told(builder: Builder) -> None:
    command = [str(builder.program("object_model", "g++")), "debug_layer"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    assert run.stderr.count("EnableDebugLayer was called after the device was created") == 1, run.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "compilers", "topics"),
    [("object_model", ("g++", "clang++"), TOPICS), ("c_program", ("gcc", "clang"), C_TOPICS)],
)
def test_compilers_agree(
    builder: Builder, program: str, compilers: tuple[str, str], topics: tuple[str, ...]
) -> None:
    """Including values that the C++ and C ABIs pass differently."""
    first, second = (builder.program(program, compiler) for compiler in compilers)
    for topic in topics:
        assert told(first, topic) == told(second, topic)


@pytest.mark.parametrize(
    ("program", "compiler", "topics"),
    [
        ("object_model", "g++", (*TOPICS, *PROFILE_TOPICS, "dispatches", "rounds")),
        ("c_program", "gcc", C_TOPICS),
    ],
)
def test_no_topic_is_left_out(builder: Builder, program: str, compiler: str, topics: tuple[str, ...]) -> None:
    assert set(told(builder.program(program, compiler))) == set(topics)


@pytest.mark.slow
@pytest.mark.parametrize(("topic", "count"), [("rounds", ROUNDS), ("dispatches", DISPATCHES)])
def test_memory_does_not_grow(builder: Builder, topic: str, count: int) -> None:
    """While everything is created, run and released repeatedly, and while an operator is dispatched."""
    lines = facts([builder.program("object_model", "g++"), topic, str(count)], timeout=3000)
    sizes = {
        name: int(size) for name, size in (line.split(": ") for line in lines if line.startswith("VmRSS"))
    }
    assert sizes["VmRSS at the end"] - sizes["VmRSS at a tenth"] < GROWTH, sizes
