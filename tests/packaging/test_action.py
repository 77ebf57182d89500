"""The composite GitHub Action: its steps run here as a runner of GitHub's runs them, and what they export builds and
runs a C++ program."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from toolchain import missing, need_d3d12_headers

from ..com.building import config_path, library

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".github" / "actions" / "directml"
ACTION = yaml.safe_load((FOLDER / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
PROGRAM = r"""
#include <DirectML.h>
#include <cstdio>
#include <wrl/client.h>
int main()
{
    Microsoft::WRL::ComPtr<ID3D12Device> direct3d;
    Microsoft::WRL::ComPtr<IDMLDevice> device;
    HRESULT result = D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&direct3d));
    if (SUCCEEDED(result))
        result = DMLCreateDevice(direct3d.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&device));
    std::printf("%08X\n", static_cast<unsigned>(result));
}
"""


class Runner:
    """As much of GitHub's runner as a composite action meets: expressions, the files of environment and outputs."""

    def __init__(self, folder: Path, **inputs: str) -> None:
        self.folder = folder
        values = {name: str(entry.get("default", "")) for name, entry in ACTION["inputs"].items()}
        self.context = {f"inputs.{name}": value for name, value in {**values, **inputs}.items()}
        self.context["github.action_path"] = str(FOLDER)
        self.files = {name: folder / name for name in ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH")}
        for file in self.files.values():
            file.touch()
        self.environment = {**os.environ, **{name: str(file) for name, file in self.files.items()}}

    def expand(self, text: str) -> str:
        return EXPRESSION.sub(lambda match: self.context[match[1]], text)

    def run(self, step: dict[str, Any]) -> None:
        script = self.folder / "script.sh"
        script.write_text(self.expand(step["run"]), encoding="utf-8")
        own = {name: self.expand(value) for name, value in step.get("env", {}).items()}
        # The command line that GitHub documents for `shell: bash`.
        bash = [str(shutil.which("bash")), "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        run = subprocess.run(
            bash,
            env={**self.environment, **own},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert run.returncode == 0, run.stdout + run.stderr
        self.environment |= self.read("GITHUB_ENV")
        for name, value in self.read("GITHUB_OUTPUT").items():
            self.context[f"steps.{step['id']}.outputs.{name}"] = value

    def read(self, name: str) -> dict[str, str]:
        lines = self.files[name].read_text(encoding="utf-8").splitlines()
        return {key: value for key, _, value in (line.partition("=") for line in lines)}

    def shell(self, command: str) -> subprocess.CompletedProcess[str]:
        """A step of the workflow behind the action."""
        return subprocess.run(
            ["bash", "-c", command],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=300,
        )


def program(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/bash\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """The action, run for this Python, which has the package: pip installs nothing, and queries no index."""
    if shutil.which("g++") is None:
        missing("g++")
    need_d3d12_headers()
    library()
    runner = Runner(tmp_path_factory.mktemp("action"), python=sys.executable, requirement="directml-py")
    runner.environment |= {"PIP_NO_INDEX": "1", "CMAKE_PREFIX_PATH": "/opt/other"}
    for step in STEPS:
        runner.run(step)
    return runner


def test_its_form() -> None:
    """What GitHub requires of a composite action, and that expressions name inputs that exist."""
    assert ACTION["runs"]["using"] == "composite"
    assert ACTION["description"]
    for step in STEPS:
        assert step["shell"] == "bash"
        assert step["name"]
        # Inputs reach a script through its environment: as text in it they could be commands.
        assert not EXPRESSION.search(step["run"])
    used = set(EXPRESSION.findall((FOLDER / "action.yml").read_text(encoding="utf-8")))
    assert used == {
        *(f"inputs.{name}" for name in ACTION["inputs"]),
        "github.action_path",
        "steps.environment.outputs.library",
    }


def test_a_cpp_program_builds_and_runs_with_what_it_exports(ran: Runner) -> None:
    (ran.folder / "program.cpp").write_text(PROGRAM, encoding="utf-8")
    # Options may have quotes, where a path has spaces.
    build = ran.shell('eval "g++ -std=c++17 program.cpp -o program $DIRECTML_CFLAGS $DIRECTML_LIBS"')
    assert build.returncode == 0, build.stderr
    run = ran.shell("./program")
    assert run.stdout == "00000000\n", run.stderr


def test_cmake_and_the_loader_find_the_library(ran: Runner) -> None:
    assert ran.environment["CMAKE_PREFIX_PATH"] == f"{config_path('--cmake')}:/opt/other"
    opened = ran.shell(f"{shlex.quote(sys.executable)} -c 'import ctypes; ctypes.CDLL(\"libdirectml.so\")'")
    assert opened.returncode == 0, opened.stderr
    assert ran.expand(ACTION["outputs"]["library"]["value"]) == library()


def test_pkg_config_finds_it(ran: Runner) -> None:
    if shutil.which("pkg-config") is None:
        missing("pkg-config")
    # Its options are quoted as a shell reads them, each byte that is not ASCII by itself.
    options = [
        os.fsdecode(os.fsencode(one)) for one in shlex.split(ran.shell("pkg-config --libs directml").stdout)
    ]
    assert f"-L{config_path('--libdir')}" in options


def test_by_default_it_installs_the_repository_that_it_is_in(tmp_path: Path) -> None:
    recorder = program(tmp_path, "python", 'printf "%s\\n" "$@" >>said')
    runner = Runner(tmp_path, python=str(recorder))
    runner.run(STEPS[1])
    module, pip, install, requirement, *_ = (tmp_path / "said").read_text(encoding="utf-8").splitlines()
    assert (module, pip, install) == ("-m", "pip", "install")
    assert Path(requirement).resolve() == ROOT
    assert (Path(requirement) / "pyproject.toml").is_file()


def test_only_what_is_missing_is_asked_of_debian(tmp_path: Path) -> None:
    """g++, on a machine without it; the headers only where they are missing."""
    program(tmp_path, "apt-get", 'echo "$@" >>said')
    program(tmp_path, "id", "echo 0")
    runner = Runner(tmp_path)
    runner.environment["PATH"] = str(tmp_path)
    runner.run(STEPS[0])
    headers = "" if Path("/usr/include/directx/d3d12.h").exists() else " directx-headers-dev"
    assert (tmp_path / "said").read_text(encoding="utf-8").splitlines() == [
        "update -qq",
        f"install -y -qq --no-install-recommends g++{headers}",
    ]


def test_a_package_without_the_library_fails_the_step(tmp_path: Path) -> None:
    recorder = program(tmp_path, "python", 'echo "config: libdirectml.so was not built" >&2; exit 2')
    runner = Runner(tmp_path, python=str(recorder))
    with pytest.raises(AssertionError, match=r"libdirectml\.so was not built"):
        runner.run(STEPS[2])
