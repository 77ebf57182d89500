"""What a user gets from a built wheel, away from the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from building import build_outputs, windows_dlls
from toolchain import missing
from wheels import install, shared_wheel

from directml_py import __version__
from directml_py.wine.loader import DLLS, WineError, find_loader
from directml_py.wine.prefix import end

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared_wheel(tmp_path_factory)


@pytest.mark.slow
def test_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"directml_py", next(top for top in tops if top.endswith(".dist-info"))}
    # Whatever the package opens beside its modules lies in its folders; the kernels' C is compiled, not opened.
    native = ROOT / "directml_py" / "kernels" / "native"
    files = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "directml_py").rglob("*")
        if path.is_file() and native not in path.parents and "__pycache__" not in path.parts
    }
    assert not files - set(names)


@pytest.mark.slow
def test_a_build_makes_what_no_commit_holds(wheel: Path) -> None:
    """The source distribution has none of it, and the wheel that is built from it has all."""
    (archive,) = wheel.parents[1].glob("source/dist/*.tar.gz")
    with tarfile.open(archive) as source:
        held = {name.partition("/")[2] for name in source.getnames()}
    assert {"include/DirectML.h", "include/windows.h", "directml_py/api/cdefs.pyi"} <= held
    assert held.isdisjoint(build_outputs.PATHS)
    package = zipfile.ZipFile(wheel)
    assert package.read("directml_py/include/directml.h") == (ROOT / "include" / "DirectML.h").read_bytes()
    assert package.read("directml_py/include/Windows.h") == (ROOT / "include" / "windows.h").read_bytes()
    assert b"DML_JOIN_OPERATOR_DESC" in package.read("directml_py/api/cdefs.py")


@pytest.mark.parametrize("module", ["directml_py.api.cdefs", "_cffi_backend"])
def test_a_package_that_was_never_built_says_so(module: str) -> None:
    """Another module that is missing is not taken for it."""
    code = f"import sys; sys.modules[{module!r}] = None; import directml_py.cffi"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 1
    last = result.stderr.splitlines()[-1]
    assert last.startswith("ImportError: directml_py/api/cdefs.py is missing:") == module.endswith("cdefs")
    assert ("pip install -e ." in last) == module.endswith("cdefs")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The source that an install without ``-e`` leaves as it is, beside a folder for what is installed."""
    clone = tmp_path / "clone"
    ignore = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(ROOT / "directml_py", clone / "directml_py", ignore=ignore)
    for made in build_outputs.PATHS:
        (clone / made).unlink(missing_ok=True)
    (tmp_path / "site").mkdir()
    return clone


def imported_in(clone: Path, version: str) -> tuple[str, str]:
    """The folder that the package comes from there, and what Python warns of, while ``version`` is installed."""
    site = clone.with_name("site")
    (site / "directml_py").symlink_to(ROOT / "directml_py")
    metadata = site / f"directml_py-{version}.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: directml-py\nVersion: {version}\n")
    code = "import directml_py.api.enums as module; print(module.__file__)"
    # Without this environment's own installation.
    run = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=clone,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
    )
    return str(Path(run.stdout).parents[1]), run.stderr


def test_a_clone_that_was_never_built_uses_the_installed_package(clone: Path) -> None:
    assert imported_in(clone, __version__) == (str(clone.with_name("site") / "directml_py"), "")


def test_a_clone_that_was_never_built_says_that_another_version_is_installed(clone: Path) -> None:
    folder, warning = imported_in(clone, "0.9")
    assert folder == str(clone / "directml_py")
    assert "version 0.9 is installed" in warning
    assert f"pip install -e {clone}" in warning


@pytest.mark.slow
def test_a_wheel_runs_windows_programs(wheel: Path, tmp_path: Path) -> None:
    """With the DLLs that MinGW has built for it, in a prefix of its own."""
    for tool in (windows_dlls.COMPILER, windows_dlls.RESOURCES):
        if shutil.which(tool) is None:
            missing("gcc-mingw-w64-x86-64")
    folder = "directml_py/com/lib/wine/"
    dlls = {f"{folder}x86_64-windows/{name}.dll" for name in DLLS}
    assert {f"{folder}x86_64-unix/directml_py.so", *dlls} <= set(zipfile.ZipFile(wheel).namelist())
    try:
        find_loader()
    except WineError:
        missing("wine64")
    source = tmp_path / "program.c"
    source.write_text(
        "#include <windows.h>\n"
        "HRESULT WINAPI D3D12CreateDevice(void *, int, const GUID *, void **);\n"
        "int main(void)\n"
        "{\n"
        "    return D3D12CreateDevice(NULL, 0xb000, &IID_IUnknown, NULL) == S_FALSE ? 7 : 1;\n"
        "}\n"
    )
    program = tmp_path / "program.exe"
    subprocess.run([windows_dlls.COMPILER, str(source), "-o", str(program), "-ld3d12", "-luuid"], check=True)
    python = install(wheel, tmp_path / "environment")
    environment = {**os.environ, "PYTHONPATH": "", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [str(python), "-m", "directml_py", "wine", str(program)]
    try:
        run = subprocess.run(
            command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True, timeout=300
        )
    finally:
        end(tmp_path / "cache" / "directml-py" / "wine")
        shutil.rmtree(tmp_path / "cache")
    assert run.returncode == 7, run.stderr


@pytest.mark.slow
def test_hello_directml_runs_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """With NumPy and cffi from this environment, but the package from the wheel alone."""
    shutil.unpack_archive(wheel, tmp_path / "site", "zip")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r});"
        "import directml_py, runpy;"
        f"assert directml_py.__file__.startswith({str(tmp_path)!r}), directml_py.__file__;"
        "import directml_py.cffi;"
        "runpy.run_module('directml_py.samples.hello_directml', run_name='__main__')"
    )
    environment = {**os.environ, "PYTHONPATH": ""}
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("1.618000") == 24


def test_import_needs_no_compiler_and_no_cffi_parser(tmp_path: Path) -> None:
    """The cffi module is an out-of-line one: neither cffi's parser nor setuptools is loaded for it."""
    code = (
        "import sys, directml_py, directml_py.cffi;"
        "print(sorted({'cffi', 'pycparser', 'setuptools', 'distutils'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.slow
def test_an_editable_install_is_a_path_that_type_checkers_follow(tmp_path: Path) -> None:
    """Not a finder, which runs code. What a build makes lies in the clone then. Nothing is compiled for this test."""
    copy = tmp_path / "copy"
    ignore = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info", "*.so")
    shutil.copytree(ROOT, copy, ignore=ignore)
    for made in build_outputs.PATHS:
        (copy / made).unlink()
    code = (
        "import sys; sys.path.insert(0, 'tools')\n"
        "from building import commands, pep517\n"
        "commands.BuildExt.run = lambda self: None\n"
        f"pep517.build_editable({str(tmp_path)!r})"
    )
    subprocess.run([sys.executable, "-c", code], cwd=copy, check=True, capture_output=True)
    (built,) = tmp_path.glob("*.whl")
    archive = zipfile.ZipFile(built)
    (path,) = (name for name in archive.namelist() if name.endswith(".pth"))
    assert archive.read(path).decode().strip() == str(copy)
    for made in build_outputs.PATHS:
        assert (copy / made).read_bytes() == (ROOT / made).read_bytes(), f"{made}: install the package again"
