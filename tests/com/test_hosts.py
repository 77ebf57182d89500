"""Programs that load libdirectml.so at run time, in various environments."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sharing import built_once, shared_folder
from toolchain import missing, need_d3d12_headers

from .building import WARNINGS, config, config_path, library

SOURCE = Path(__file__).resolve().parent / "hosts" / "host.cpp"
OLD_PYTHON = ("-DOLD_PYTHON", "-rdynamic")
BUILT_FOR = f"{sys.version_info[0]}.{sys.version_info[1]}"


class Hosts:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def program(self, *flags: str) -> Path:
        if shutil.which("g++") is None:
            missing("g++")
        need_d3d12_headers()
        library()
        options = ["-std=c++17", "-pthread", *WARNINGS, *flags, *config("--cflags")]

        def build(folder: Path) -> None:
            command = ["g++", *options, str(SOURCE), "-o", str(folder / "host"), "-lDirectX-Guids", "-ldl"]
            made = subprocess.run(command, capture_output=True, text=True)
            assert made.returncode == 0, made.stderr

        return built_once(self._folder / "-".join(["host", *flags]).replace("=", ""), build) / "host"

    def run(
        self,
        *arguments: str | Path,
        flags: tuple[str, ...] = (),
        folder: Path | None = None,
        **variables: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run ``host LIBRARY TOPIC``, with only ``variables`` in its environment."""
        command = [str(self.program(*flags)), *map(str, arguments)]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=120, cwd=folder or self._folder, env=variables
        )


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Hosts:
    return Hosts(shared_folder(tmp_path_factory, "hosts"))


def succeeds(run: subprocess.CompletedProcess[str]) -> list[str]:
    assert (run.returncode, run.stderr) == (0, ""), run
    return run.stdout.splitlines()


def test_dlopen_without_rtld_global(hosts: Hosts) -> None:
    """NumPy is not linked to libpython, but must find its symbols."""
    assert succeeds(hosts.run(library(), "load")) == ["00000000"]


def test_the_environment_of_another_python_is_none_of_ours(hosts: Hosts, tmp_path: Path) -> None:
    for name in ("directml_py", "numpy", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(9)\n", encoding="utf-8")
    foreign = {"PYTHONHOME": "/nowhere", "PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": "/nowhere"}
    assert succeeds(hosts.run(library(), "load", folder=tmp_path, **foreign)) == ["00000000"]


OTHER_SOURCES = """\
import ctypes, sys
import directml_py.com.expected_digest as built
built.DECLARATIONS = "0"
made = ctypes.c_void_p()
function = ctypes.CDLL(sys.argv[1]).D3D12CreateDevice
function.restype = ctypes.c_uint32
print(hex(function(None, 0xB000, None, ctypes.byref(made))))
"""


def test_a_library_of_other_sources() -> None:
    """A library built with an older package would call Python with unknown names and values."""
    command = [sys.executable, "-c", OTHER_SOURCES, library()]
    run = subprocess.run(
        command, capture_output=True, text=True, timeout=120, cwd=Path(__file__).resolve().parents[2]
    )
    assert run.stdout == "0x80004005\n", run
    assert "ImportError: libdirectml.so in " in run.stderr
    assert " was built from sources other than those of the package " in run.stderr
    assert "install the package again" in run.stderr


@pytest.mark.parametrize("wanted", ["C", "C.UTF-8"])
def test_the_locale_stays(hosts: Hosts, wanted: str) -> None:
    """Python sets the one that the environment names, or replaces C by another one, unless it is configured not to."""
    assert succeeds(hosts.run(library(), "locale", LC_ALL=wanted)) == ["00000000", "C"]


@pytest.mark.parametrize("topic", ["fork", "fork_early"])
def test_after_fork(hosts: Hosts, topic: str) -> None:
    run = hosts.run(library(), topic)
    assert run.returncode == 0, run
    assert "child: 0" in run.stdout.splitlines()


def test_fork_among_threads(hosts: Hosts) -> None:
    run = hosts.run(library(), "fork_among_threads")
    assert run.returncode == 0, run
    assert run.stdout.splitlines() == ["child: 0"] * 20


@pytest.mark.parametrize("children", [10, pytest.param(1000, marks=pytest.mark.slow)])
def test_fork_while_another_thread_loads(hosts: Hosts, children: int) -> None:
    ended: list[str] = []
    while len(ended) < children:
        run = hosts.run(library(), "fork_while_loading")
        assert run.returncode == 0, run
        ended += [line for line in run.stdout.splitlines() if line.startswith("child")]
    assert set(ended) == {"child: 0"}


def empty_library(path: Path) -> Path:
    if shutil.which("gcc") is None:
        missing("gcc")
    subprocess.run(["gcc", "-shared", "-xc", os.devnull, "-o", str(path)], check=True)
    return path


def test_another_libpython_in_the_process(hosts: Hosts, tmp_path: Path) -> None:
    other = empty_library(tmp_path / "libpython3.99.so.1.0")
    run = hosts.run(library(), "beside", other)
    assert (run.returncode, run.stdout) == (3, "80004005\n"), run
    assert (
        f"libdirectml.so: it was built for Python {BUILT_FOR}; this process already has {other}" in run.stderr
    )


@pytest.mark.parametrize("name", [f"libpython{BUILT_FOR}.so.1.0", "libpython3.so"])
def test_what_only_looks_like_another_libpython(hosts: Hosts, tmp_path: Path, name: str) -> None:
    other = empty_library(tmp_path / name)
    assert succeeds(hosts.run(library(), "beside", other)) == ["00000000"]


def test_a_program_with_another_python_inside(hosts: Hosts) -> None:
    run = hosts.run(library(), "load", flags=OLD_PYTHON)
    assert (run.returncode, run.stdout) == (3, "80004005\n"), run
    assert f"it was built for Python {BUILT_FOR}; this process already has Python 2.7.18\n" in run.stderr


def test_libraries_of_other_names(hosts: Hosts) -> None:
    folder = config_path("--libdir")
    run = hosts.run("libdirectml.so", "names", LD_LIBRARY_PATH=folder)
    assert succeeds(run) == []


def test_programs_link_to_the_other_names(hosts: Hosts, tmp_path: Path) -> None:
    """As programs for WSL do; a linker searches only the libraries that it is given, not their dependencies."""
    need_d3d12_headers()
    folder = config_path("--libdir")
    (tmp_path / "program.cpp").write_text(
        "#include <DirectML.h>\n"
        "int main() { ID3D12Device* device = nullptr;\n"
        "return D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device)) == S_OK ? 0 : 1; }\n",
        encoding="utf-8",
    )
    links = ["-L", folder, "-ld3d12", "-ldxcore", f"-Wl,-rpath,{folder}"]
    command = ["g++", "-std=c++17", *config("--cflags"), "program.cpp", "-o", "program", *links]
    subprocess.run(command, check=True, cwd=tmp_path)
    subprocess.run(["./program"], check=True, cwd=tmp_path, env={})


def test_copies_find_the_package(hosts: Hosts, tmp_path: Path) -> None:
    """Copied under another name, or all of them to the program's folder."""
    copy = tmp_path / "libdirectml.0123456789abcdef.so"
    shutil.copy(library(), copy)
    assert succeeds(hosts.run(copy, "load")) == ["00000000"]
    folder = tmp_path / "all"
    folder.mkdir()
    for name in ("libdirectml.so", "libd3d12.so", "libdxcore.so"):
        shutil.copy(Path(library()).with_name(name), folder)
    assert succeeds(hosts.run("libdirectml.so", "names", LD_LIBRARY_PATH=str(folder))) == []


def test_exec_leads_programs_to_the_libraries(hosts: Hosts) -> None:
    program = hosts.program()
    command = [sys.executable, "-m", "directml_py", "exec", str(program), "libdirectml.so", "names"]
    assert succeeds(subprocess.run(command, capture_output=True, text=True, timeout=120)) == []


@pytest.mark.slow
def test_leaks_of_the_program_are_told_and_no_others(hosts: Hosts) -> None:
    flags = ("-g", "-fsanitize=address")
    run = hosts.run(library(), "load", flags=flags)
    if "LeakSanitizer has encountered a fatal error" in run.stderr:
        missing("permission to trace processes, which LeakSanitizer needs,")
    assert succeeds(run) == ["00000000"]
    run = hosts.run(library(), "leak", flags=flags)
    assert run.returncode != 0
    assert "SUMMARY: AddressSanitizer: 77 byte(s) leaked in 1 allocation(s)." in run.stderr
