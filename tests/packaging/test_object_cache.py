"""Objects that an earlier build has compiled are taken as they are, and nothing else is."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pytest
from building import object_cache
from building.commands import without_calls
from setuptools._distutils.ccompiler import new_compiler
from setuptools._distutils.errors import CompileError
from toolchain import missing


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A source that includes a header, and a compiler that writes down what it compiles."""
    if shutil.which("gcc") is None:
        missing("gcc")
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone" / "answer.h").write_text("#define ANSWER 42\n")
    (tmp_path / "clone" / "answer.c").write_text('#include "answer.h"\nint answer(void) { return ANSWER; }\n')
    compiler = tmp_path / "cc"
    compiler.write_text(
        f'#!/bin/sh\ncase "$*" in *" -c "*) echo "$*" >> {tmp_path}/calls;; esac\nexec gcc "$@"\n'
    )
    compiler.chmod(0o755)
    return tmp_path


def build(clone: Path, name: str, *flags: str) -> tuple[bytes, int]:
    """The object that a build in a folder of its own makes, and how often the compiler has been called by then."""
    folder = clone / name
    shutil.copytree(clone / "clone", folder)
    compiler = new_compiler(compiler="unix")
    compiler.set_executables(compiler_so=[str(clone / "cc")])
    object_cache.use(compiler, clone / "objects")
    (made,) = compiler.compile(
        [str(folder / "answer.c")], output_dir=str(folder), extra_postargs=list(flags), include_dirs=["/usr"]
    )
    return Path(made).read_bytes(), len((clone / "calls").read_text().splitlines())


def test_the_same_source_in_another_folder_is_not_compiled_again(clone: Path) -> None:
    first, calls = build(clone, "first")
    assert calls == 1
    assert build(clone, "second") == (first, 1)


def test_another_header_or_flag_is_compiled(clone: Path) -> None:
    first, _ = build(clone, "first")
    (clone / "clone" / "answer.h").write_text("#define ANSWER 43\n")
    second, calls = build(clone, "second")
    assert second != first
    assert calls == 2
    third, calls = build(clone, "third", "-DANSWER=44", "-O2")
    assert third != second
    assert calls == 3


def test_an_error_is_the_compilers_and_keeps_nothing(clone: Path) -> None:
    (clone / "clone" / "answer.h").write_text("#error broken\n")
    with pytest.raises(CompileError):
        build(clone, "first")
    assert not list(clone.glob("objects/*"))


def test_a_folder_that_cannot_be_written_is_done_without(clone: Path) -> None:
    (clone / "objects").write_text("a file")
    assert build(clone, "first")[1] == 1
    assert build(clone, "second")[1] == 2


def test_calls_of_the_compiler_are_not_logged(clone: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where a line of progress stands for each."""
    caplog.set_level(logging.INFO)
    build(clone, "first")
    calls = caplog.text.count("answer.c")
    assert calls
    with without_calls([str(clone / "cc")]):
        assert build(clone, "second", "-O2")[1] == 2
    assert caplog.text.count("answer.c") == calls
    build(clone, "third", "-O1")
    assert caplog.text.count("answer.c") > calls
