"""The gallery shows every sample."""

from __future__ import annotations

import pkgutil

from directml_py import samples

from .pages import ROOT, blocks


def test_every_sample_is_shown() -> None:
    shown = [
        block.language.partition("} ")[2]
        for block in blocks("docs/gallery/index.md")
        if block.language.startswith("{sample}")
    ]
    assert sorted(shown) == sorted(entry.name for entry in pkgutil.iter_modules(samples.__path__))
    assert all((ROOT / "directml_py" / "samples" / f"{name}.py").is_file() for name in shown)
