"""How the build finds the native loops."""

from __future__ import annotations

import pytest

pytest.importorskip("cffi")

from building import native_kernels


def test_folders_follow_those_whose_declarations_they_need():
    names = list(native_kernels.folders())
    assert names[0] == "common"
    assert names.index("half") < names.index("reduce")
    assert names.index("move") < names.index("gather")
    assert not any("#include" in text for text in native_kernels.folders().values())


def test_a_loop_is_a_folder(tmp_path, monkeypatch):
    for name, text in {
        "common": "int common_one(void);\n",
        "again": '#include "../zero/declarations.h"\nint again_one(zero);\n',
        "zero": "typedef int zero;\n",
    }.items():
        (tmp_path / "native" / name).mkdir(parents=True)
        (tmp_path / "native" / name / "declarations.h").write_text(text)
    monkeypatch.setattr(native_kernels, "SOURCES", tmp_path / "native")
    native_kernels.write_source(tmp_path / "build" / "kernels.c")
    source = (tmp_path / "build" / "kernels.c").read_text()
    assert "#define DML_FOR_LOOPS(DO) DO(zero) DO(again)\n" in source
    assert source.index("typedef int zero;") < source.index("int again_one(zero);")
    for listing, part in (
        ("dml_tables", "dispatch.h"),
        ("dml_loops", "kernels.inc"),
        ("dml_sources", "zero.c"),
    ):
        first = (tmp_path / "build" / f"{listing}.h").read_text().splitlines()[0]
        assert first == f'#include "{tmp_path / "native" / "zero" / part}"'
