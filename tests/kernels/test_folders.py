"""How the build finds the native kernels: folders, and one list of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("cffi")

from building import native_kernels
from building.kernel_list import KERNELS, NativeKernel

ROOT = Path(__file__).resolve().parents[2]


def test_folders_follow_those_whose_declarations_they_need():
    names = list(native_kernels.folders())
    assert names[0] == "common"
    assert names.index("half") < names.index("reduce")
    assert names.index("move") < names.index("gather")
    assert not any("#include" in text for text in native_kernels.folders().values())


@pytest.fixture
def two_folders(tmp_path, monkeypatch):
    for name, text in {
        "common": "int common_one(void);\n",
        "again": '#include "../zero/declarations.h"\nint again_one(zero);\n',
        "zero": "typedef int zero;\n",
    }.items():
        (tmp_path / "native" / name).mkdir(parents=True)
        (tmp_path / "native" / name / "declarations.h").write_text(text)
    monkeypatch.setattr(native_kernels, "SOURCES", tmp_path / "native")
    again = NativeKernel("again", (), "", launches=("dml_again_run",))
    zero = NativeKernel("zero", (), "", avx512="kernels.inc", array_launches=("dml_zero_run",))
    monkeypatch.setattr(native_kernels, "KERNELS", (again, zero))
    return tmp_path


def test_a_kernel_is_a_folder(two_folders):
    native_kernels.write_source(two_folders / "build" / "kernels.c")
    source = (two_folders / "build" / "kernels.c").read_text()
    assert "#define DML_FOR_KERNELS(DO) DO(zero) DO(again)\n" in source
    assert "#define DML_FOR_AVX512_KERNELS(DO) DO(zero)\n" in source
    assert "#define DML_FOR_LAUNCHES(DO) DO(DML_LAUNCH_AGAIN_RUN, dml_again_run)\n" in source
    assert "#define DML_FOR_ARRAY_LAUNCHES(DO) DO(DML_LAUNCH_ZERO_RUN, dml_zero_run)\n" in source
    assert source.index("typedef int zero;") < source.index("int again_one(zero);")
    for listing, names in (
        ("dml_tables", ["zero/dispatch.h", "again/dispatch.h"]),
        ("dml_kernels", ["zero/kernels.inc", "again/kernels.inc"]),
        ("dml_avx512_kernels", ["zero/kernels.inc"]),
        ("dml_sources", ["zero/zero.c", "again/again.c"]),
    ):
        lines = (two_folders / "build" / f"{listing}.h").read_text().splitlines()
        assert lines == [f'#include "{two_folders / "native" / name}"' for name in names]


def test_a_folder_that_the_list_lacks_is_named(two_folders, monkeypatch):
    monkeypatch.setattr(native_kernels, "KERNELS", native_kernels.KERNELS[1:])
    with pytest.raises(
        ValueError, match=r"native/again has no entry in KERNELS of tools/building/kernel_list\.py"
    ):
        native_kernels.write_source(two_folders / "build" / "kernels.c")


def test_an_entry_without_a_folder_is_named(two_folders, monkeypatch):
    monkeypatch.setattr(native_kernels, "KERNELS", (*native_kernels.KERNELS, NativeKernel("third", (), "")))
    with pytest.raises(ValueError, match=r"has third, but .*native/third is missing"):
        native_kernels.write_source(two_folders / "build" / "kernels.c")


def test_the_list_has_every_folder():
    names = [name for name in native_kernels.folders() if name != native_kernels.COMMON]
    assert len(native_kernels.listed_kernels(names)) == len(KERNELS) == len(names)


def test_every_kernel_has_a_test_and_a_row_of_the_benchmark(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setattr(sys, "path", [str(ROOT / "tools"), *sys.path])
    import bench

    titles = [title for title, _ in bench.chosen(bench.wanted([], every=True))]
    problems = []
    for kernel in KERNELS:
        missing = [name for name in kernel.tests if not (ROOT / "tests" / "kernels" / name).exists()]
        if missing or not kernel.tests:
            problems.append(
                f"{kernel.name}: there is no tests/kernels/{', '.join(missing) or 'test'} for its variants"
            )
        if not kernel.benchmark or not any(title.startswith(kernel.benchmark) for title in titles):
            problems.append(f"{kernel.name}: no row of tools/bench.py begins with {kernel.benchmark!r}")
    assert not problems, "\n".join(problems)
