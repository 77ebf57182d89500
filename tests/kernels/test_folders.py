"""How the build finds the native kernels: folders, and one list of them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("cffi")

from building import native_kernels
from building.kernel_list import ISA_FLAGS, KERNELS, NARROW, WIDE, NativeKernel

ROOT = Path(__file__).resolve().parents[2]


def test_folders_follow_those_whose_declarations_they_need():
    names = list(native_kernels.folders())
    assert names[0] == "common"
    assert names.index("half") < names.index("reduce")
    assert names.index("move") < names.index("gather_scatter_nd")
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
    for file in ("again/again.c", "again/kernels.c", "zero/kernels.c", "context.c"):
        (tmp_path / "native" / file).touch()
    monkeypatch.setattr(native_kernels, "SOURCES", tmp_path / "native")
    monkeypatch.setattr(native_kernels, "CONTEXTS", tmp_path / "native" / "context.c")
    again, zero = NativeKernel("again", (), "", WIDE), NativeKernel("zero", (), "", NARROW)
    monkeypatch.setattr(native_kernels, "KERNELS", (again, zero))
    return tmp_path


def test_a_kernel_is_a_folder(two_folders):
    native_kernels.write_module(two_folders / "build" / "_native.c")
    source = (two_folders / "build" / "_native.c").read_text()
    assert source.index("typedef int zero;") < source.index("int again_one(zero);")


def test_a_unit_is_a_file_and_an_instruction_set(two_folders):
    compiled = {}

    def compile_unit(unit: native_kernels.Unit, flags: list[str]) -> str:
        path = unit.source.relative_to(two_folders / "native").as_posix()
        compiled[path, unit.isa] = flags
        return f"{path}-{unit.isa}"

    isas = native_kernels.known_isas(lambda flags: not {"-mavx512f", "-Xarch_x86_64"} & {*flags})
    assert isas == ["baseline", "avx2"]
    objects = native_kernels.compile_all(compile_unit, isas)
    variants = [f"{name}/kernels.c-{isa}" for name in ("again", "zero") for isa in isas]
    assert sorted(objects) == sorted(["again/again.c-", "context.c-", *variants])
    assert compiled["context.c", ""] == ["-DDML_HAS_BASELINE", "-DDML_HAS_AVX2"]
    assert compiled["again/again.c", ""] == []
    assert compiled["zero/kernels.c", "baseline"] == ["-DDML_ISA=baseline"]
    assert compiled["zero/kernels.c", "avx2"] == ["-mavx2", "-mfma", "-mf16c", "-DDML_ISA=avx2"]


def test_a_context_has_the_last_variant_of_each_kernel():
    text = native_kernels.CONTEXTS.read_text(encoding="utf-8")
    contexts = dict(re.findall(r"dml_context dml_context_(\w+) = \{\n(.*?)\n\};", text, re.DOTALL))
    macro = re.search(r"#define DML_KERNELS\(narrow, wide\)(.*?[^\\])\n", text, re.DOTALL)
    assert macro is not None
    assert list(contexts) == list(ISA_FLAGS)
    isas = list(ISA_FLAGS)
    for isa, rows in contexts.items():
        expected = {}
        for kernel in KERNELS:
            for file, names in kernel.sources.items():
                table = kernel.name if file == "kernels.c" else f"{kernel.name}_{Path(file).stem}"
                older = [name for name in names if isas.index(name) <= isas.index(isa)]
                if older and file != "amx.c":
                    expected[table] = f"&dml_{table}_table_{older[-1]}"
        arguments = re.search(r"DML_KERNELS\((\w+), (\w+)\)", rows)
        assert arguments is not None
        rows += macro[1].replace("##narrow", arguments[1]).replace("##wide", arguments[2])
        assert dict(re.findall(r"\.(\w+) = (&\w+)", rows)) == expected, isa


def test_a_folder_that_the_list_lacks_is_named(two_folders, monkeypatch):
    monkeypatch.setattr(native_kernels, "KERNELS", native_kernels.KERNELS[1:])
    with pytest.raises(
        ValueError, match=r"native/again has no entry in KERNELS of tools/building/kernel_list\.py"
    ):
        native_kernels.write_module(two_folders / "build" / "_native.c")


def test_an_entry_without_a_folder_is_named(two_folders, monkeypatch):
    monkeypatch.setattr(native_kernels, "KERNELS", (*native_kernels.KERNELS, NativeKernel("third", (), "")))
    with pytest.raises(ValueError, match=r"has third, but .*native/third is missing"):
        native_kernels.write_module(two_folders / "build" / "_native.c")


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
