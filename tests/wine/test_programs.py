"""The programs of tests/com, built by MinGW: Windows programs under Wine have the same facts."""

from __future__ import annotations

import pytest
from com.building import CLANG, MINGW, Builder, facts
from com.test_programs import C_TOPICS, PROFILE_TOPICS, TOPICS
from toolchain import later

from .conftest import Wine


def told(
    wine: Wine, builder: Builder, program: str, compilers: dict[str, str], *arguments: str, **variables: str
) -> list[str]:
    """The facts that the program tells; all must hold."""
    built = builder.program(program, compilers[program])
    return facts(wine.command(built, *arguments), wine.environment(**variables))


# What the ABI of Windows and its own handles, strings, threads and stacks change; the rest is the Python of tests/com.
OF_WINDOWS = (
    "adapters",
    "answered",
    "captured",
    "debug_layer",
    "fences",
    "graphs",
    "identity",
    "impostors",
    "info_queue",
    "operators",
    "private_data",
    "released",
    "removal",
    "structs",
    "threads",
    "upload",
    "versions",
)


@pytest.mark.parametrize(
    "topic", [*OF_WINDOWS, *later(*(topic for topic in TOPICS if topic not in OF_WINDOWS))]
)
@pytest.mark.parametrize("compilers", [MINGW, *later(CLANG)], ids=["mingw", "clang"])
def test_cpp(wine: Wine, builder: Builder, compilers: dict[str, str], topic: str) -> None:
    assert told(wine, builder, "object_model", compilers, topic)


@pytest.mark.parametrize("topic", C_TOPICS)
@pytest.mark.parametrize("compilers", [MINGW, *later(CLANG)], ids=["mingw", "clang"])
def test_c(wine: Wine, builder: Builder, compilers: dict[str, str], topic: str) -> None:
    assert told(wine, builder, "c_program", compilers, topic)


def test_no_topic_is_left_out(wine: Wine, builder: Builder) -> None:
    found = told(wine, builder, "object_model", MINGW)
    assert set(found) == {*TOPICS, *PROFILE_TOPICS, "dispatches", "rounds"}


def test_the_environment_chooses_a_profile(wine: Wine, builder: Builder) -> None:
    variables = {"DIRECTML_PY_PROFILE": "demanding"}
    assert told(wine, builder, "object_model", MINGW, "profiles", "7", "36", "28", "denied", **variables)


def test_the_environment_chooses_how_many_adapters_there_are(wine: Wine, builder: Builder) -> None:
    assert told(wine, builder, "object_model", MINGW, "adapters", "3", DIRECTML_PY_ADAPTERS="3")


def test_uses_of_a_released_object_name_module_and_offset(wine: Wine, builder: Builder) -> None:
    run = wine.run(builder.program("object_model", MINGW["object_model"]), "released_quietly")
    assert run.returncode == 0, run.stderr
    for call in ("ID3D12Resource::GetDesc", "ID3D12Resource::Unmap", "IUnknown::Release"):
        released = f"{call}: this is ID3D12Resource, whose last reference was released by object_model.exe+0x"
        assert released in run.stderr, run.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("topic", "count"), [("rounds", 300), ("dispatches", 10_000)])
def test_memory_does_not_grow(wine: Wine, builder: Builder, topic: str, count: int) -> None:
    lines = told(wine, builder, "object_model", MINGW, topic, str(count))
    sizes = {
        name: int(size) for name, size in (line.split(": ") for line in lines if line.startswith("VmRSS"))
    }
    assert sizes["VmRSS at the end"] - sizes["VmRSS at a tenth"] < 8 << 20, sizes
