"""Wheels as users get them, and environments to put them into."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from sharing import built_once, shared_folder

ROOT = Path(__file__).resolve().parents[1]
CONTENT = ("pyproject.toml", "README.md", "LICENSE", "directml_py", "include", "tools")
# The files of a clone in which nothing was built: without generated files and libraries.
UNBUILT = shutil.ignore_patterns("__pycache__", "*.so", "cdefs.py", "directml.h", "Windows.h")


def build_wheel(folder: Path, **environment: str) -> Path:
    """Built from the source distribution of a copy, so that the repository gets no build folder and the wheel nothing
    that was built there."""
    source, target = folder / "source", folder / "wheel"
    source.mkdir(parents=True)
    for name in CONTENT:
        path = ROOT / name
        if path.is_dir():
            shutil.copytree(path, source / name, ignore=UNBUILT)
        else:
            shutil.copy(path, source / name)
    archive = source_distribution(source)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet"]
    subprocess.run(
        [*command, "--wheel-dir", str(target), str(archive)], check=True, env={**os.environ, **environment}
    )
    (built,) = target.glob("*.whl")
    return built


def source_distribution(source: Path) -> Path:
    """What a wheel is built from where there is no repository."""
    subprocess.run(
        [sys.executable, "-c", "from setuptools import setup; setup()", "--quiet", "sdist"],
        cwd=source,
        env={**os.environ, "PYTHONPATH": str(source / "tools")},
        check=True,
    )
    (archive,) = (source / "dist").glob("*.tar.gz")
    return archive


def shared_wheel(factory: pytest.TempPathFactory) -> Path:
    """The wheel as users get it, built once in a run."""
    folder = built_once(shared_folder(factory, "packaging") / "wheel", build_wheel)
    (built,) = folder.glob("wheel/*.whl")
    return built


def install(wheel: Path, folder: Path) -> Path:
    """A virtual environment with the wheel, and NumPy and cffi from where the tests run; its interpreter."""
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    purelib = sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
    (Path(purelib) / "outer.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    shutil.unpack_archive(wheel, purelib, "zip")
    return python
