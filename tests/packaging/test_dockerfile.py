"""The Dockerfile, as far as it can be tried without Docker: files that it copies, packages and commands it names."""

from __future__ import annotations

import fnmatch
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info < (3, 11):
    import tomli as tomllib
else:
    import tomllib

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = ROOT / "docs" / "testing" / "Dockerfile"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def instructions() -> list[tuple[str, str]]:
    """Instruction and arguments, with continued lines joined and comments left out."""
    lines = [line for line in DOCKERFILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined.splitlines() if line)]


def arguments_of(word: str) -> list[str]:
    return [rest for name, rest in instructions() if name == word]


def commands() -> list[list[str]]:
    """The words of each command that the RUN lines consist of."""
    return [shlex.split(part) for run in arguments_of("RUN") for part in run.split("&&")]


def test_its_instructions_are_dockers() -> None:
    assert [word for word, _ in instructions()] == [
        *("ARG", "FROM", "ARG", "RUN", "COPY", "RUN", "ENV", "RUN", "ENV", "WORKDIR", "CMD"),
    ]


def test_its_python_is_one_that_the_package_supports() -> None:
    default = arguments_of("ARG")[0].removeprefix("PYTHON=")
    assert f"Programming Language :: Python :: {default}" in PROJECT["classifiers"]
    assert arguments_of("FROM") == ["python:${PYTHON}-slim-bookworm"]


def test_its_packages_are_those_of_contributing() -> None:
    (install,) = (words for words in commands() if words[:2] == ["apt-get", "install"])
    packages = {word for word in install[2:] if not word.startswith("-")}
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^apt-get install ((?:.|\\\n)*?)\n```", contributing, re.MULTILINE)
    assert packages <= set(listed.replace("\\", " ").split())
    assert {"g++", "directx-headers-dev"} <= packages


def test_it_installs_the_repository_and_the_pytest_of_its_tests() -> None:
    (copied,) = arguments_of("COPY")
    assert copied.split() == [".", "/usr/src/directml-py"]
    (install,) = (words for words in commands() if words[0] == "pip")
    assert install[:2] == ["pip", "install"]
    pytest_ = next(one for one in PROJECT["optional-dependencies"]["test"] if one.startswith("pytest>"))
    assert [word for word in install[2:] if not word.startswith("-")] == [copied.split()[1], pytest_]
    # The action next to it installs the same.
    assert f'"{pytest_}"' in (ROOT / ".github/actions/directml/action.yml").read_text(encoding="utf-8")


def test_nothing_that_git_has_is_kept_out() -> None:
    """Of Docker's patterns these hold for a name at the top, and with ``**/`` at any depth."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    patterns = [
        line
        for line in Path(f"{DOCKERFILE}.dockerignore").read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    ]

    def kept_out(path: str) -> bool:
        parts = path.split("/")
        return any(
            any(fnmatch.fnmatch(part, pattern[3:]) for part in parts)
            if pattern.startswith("**/")
            else fnmatch.fnmatch(parts[0], pattern)
            for pattern in patterns
        )

    assert kept_out(".venv/bin/python")
    assert kept_out("directml_py/com/lib/libdirectml.so")
    assert [path for path in listed.splitlines() if kept_out(path)] == []


def test_the_folder_is_where_python_puts_the_library() -> None:
    """A Python of /usr/local, as in Python's own images, has its packages there."""
    (folder,) = (
        rest.partition("=")[2] for rest in arguments_of("ENV") if rest.startswith("DIRECTML_LIBDIR=")
    )
    purelib, _, inside = folder.partition("/directml_py/")
    assert purelib == "/usr/local/lib/python${PYTHON}/site-packages"
    assert (ROOT / "directml_py" / inside / "DirectMLConfig.cmake").is_file()
    assert {part.partition("=")[2] for part in arguments_of("ENV")[1].split()} == {"$DIRECTML_LIBDIR"}


def test_the_packages_commands_are_commands() -> None:
    """Those of the RUN lines and of the page."""
    page = (ROOT / "docs/testing/docker.md").read_text(encoding="utf-8")
    found = re.findall(r"python -m directml_py ([a-z]+(?: --[a-z]+)*)", DOCKERFILE.read_text("utf-8") + page)
    assert sorted(set(found)) == ["config --cflags --libs", "config --libdir", "doctor"]
    for command in sorted(set(found)):
        words = [sys.executable, "-m", "directml_py", *command.split(), "--help"]
        assert subprocess.run(words, capture_output=True, timeout=120).returncode == 0, command


def test_the_page_builds_it_as_the_file_says() -> None:
    page = (ROOT / "docs/testing/docker.md").read_text(encoding="utf-8")
    command = "docker build -f docs/testing/Dockerfile -t directml-py ."
    assert command in page
    assert command in DOCKERFILE.read_text(encoding="utf-8")
