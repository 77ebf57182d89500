"""``python -m directml_py doctor``: what is missing, what each part is for, and which package provides it."""

from __future__ import annotations

import argparse
import json
import os
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import NamedTuple

from ..abi.hresult import DMLError
from ..abi.memory import memory_probing
from ..capturing import VARIABLE as CAPTURE_VARIABLE
from ..d3d12.adapters import COUNT_VARIABLE, enumerated_adapters
from ..dml.profiles import profile_of
from ..kernels.backend import KERNELS_VARIABLE, THREADS_VARIABLE, backend
from ..runtime.observers import PROFILE_VARIABLE
from ..text.similar import did_you_mean
from ..wine.loader import WineError, find_loader
from ..wine.loader import check_library as check_dlls
from .config_command import LIBRARY, SYSTEM_HEADERS, Missing, check_library, guids

HELP = "List what this installation lacks, what it is needed for, and the package that provides it."


PREFIX = "DIRECTML_PY_"


def _any_value() -> object:
    """For variables that take any value, or whose value is checked when it is used."""
    return None


class Variable(NamedTuple):
    """A variable of the environment that the package reads: its values and their meaning, for the documentation.

    ``check`` raises ``DMLError``, ``ValueError`` or ``ImportError`` for a wrong value.
    """

    values: str
    meaning: str
    check: Callable[[], object] = _any_value


VARIABLES = {
    KERNELS_VARIABLE: Variable(
        "`native`, `numpy`",
        "which kernels compute; `native` fails where they were not built (default: native ones if they were)",
        lambda: bool(backend.wanted and backend.native),
    ),
    THREADS_VARIABLE: Variable(
        "a number",
        "the most threads that native kernels use (default: the processors of the process)",
        lambda: backend.threads,
    ),
    PROFILE_VARIABLE: Variable(
        "a profile, such as `demanding`; `NAME,removal_after=N`",
        "the [profile](../debugging/profiles.md) of DirectML devices that are created without one (default: `kind`)",
        lambda: profile_of(None),
    ),
    COUNT_VARIABLE: Variable(
        "a number, or a list such as `gpu,npu`",
        "the adapters that DXGI and DXCore enumerate (default: one GPU)",
        enumerated_adapters,
    ),
    CAPTURE_VARIABLE: Variable(
        "a folder", "record all work of the process into it, as [`capture`](../debugging/captures.md) does"
    ),
    f"{PREFIX}LIBDIR": Variable(
        "a folder", "where a copy of `libdirectml.so` finds the library that it was copied from"
    ),
    f"{PREFIX}REQUIRE_TOOLS": Variable(
        "`1`", "tests of this package fail where a compiler or a header is missing, instead of being skipped"
    ),
    f"{PREFIX}TEST_ISA": Variable(
        "an instruction set, such as `avx2`", "the kernels that this package's tests of kernels use"
    ),
}
# Those of other programs.
FOREIGN_VARIABLES = {
    "PATH": Variable("folders", "where `doctor` looks for compilers, and `wine` for Wine"),
    "PYTHONMALLOC": Variable("as Python takes it", "the allocator of the interpreter in C and C++ programs"),
    "WINELOADER": Variable("a file", "the Wine that runs Windows programs (default: the one on `PATH`)"),
    "XDG_CACHE_HOME": Variable(
        "a folder",
        "where Wine's prefix and, when the package is built, object files are kept (default: `~/.cache`)",
    ),
}


def problem_of(variable: str) -> str:
    """What is wrong with the value of a variable that the package reads, in one line; empty if nothing."""
    if variable not in os.environ:
        return ""
    try:
        VARIABLES[variable].check()
    except DMLError as error:
        return str(error.diagnostics[0].message if error.diagnostics else error.args[-1])
    except (ValueError, ImportError) as error:
        return str(error)
    return ""


def wrong_environment() -> str:
    """The first problem of a variable, in one line; empty if there is none."""
    return next(filter(None, map(problem_of, VARIABLES)), "")


class NotHere(Exception):
    """Why a part is absent, and what to do about it."""


class Part(NamedTuple):
    """A part of an installation: ``found()`` describes it, or raises ``NotHere``."""

    name: str
    purpose: str
    found: Callable[[], str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON array")


def run(arguments: argparse.Namespace) -> int:
    """The exit code: 1 if a variable of the environment is wrong, which affects every use; else 0."""
    rows = [*map(examined, PARTS), *environment()]
    if arguments.json:
        print(json.dumps(rows, indent=1))
    else:
        for row in rows:
            print(f"{row['state']:8} {row['name']}: {row['text']}")
    return int(any(row["state"] == "broken" for row in rows))


def examined(part: Part) -> dict[str, str]:
    """A row of the report, whose ``state`` is ``ok`` or ``missing``."""
    try:
        return {"state": "ok", "name": part.name, "text": part.found()}
    except NotHere as absent:
        return {"state": "missing", "name": part.name, "text": f"{absent} ({part.purpose})"}


def environment() -> Iterator[dict[str, str]]:
    """A row for each ``DIRECTML_PY_`` variable: ``set``, or ``broken`` for a wrong value or an unknown name."""
    for name in sorted(name for name in os.environ if name.startswith(PREFIX)):
        if name not in VARIABLES:
            hint = did_you_mean(name, VARIABLES)
            yield {"state": "broken", "name": name, "text": f"nothing reads this variable{hint}"}
        elif problem := problem_of(name):
            yield {"state": "broken", "name": name, "text": problem}
        else:
            yield {"state": "set", "name": name, "text": os.environ[name]}


def _loops() -> str:
    try:
        native = backend.native
    except (ImportError, ValueError) as error:
        raise NotHere(str(error)) from None
    if native is not None or backend.is_plain:
        return backend.title
    raise NotHere(
        "not built, so NumPy computes everything; install a C compiler and Python.h (Debian: gcc python3-dev), then "
        "this package again"
    )


def _profile() -> str:
    try:
        return profile_of(None).name
    except DMLError as error:
        raise NotHere(str(error)) from None


def _probing() -> str:
    method = memory_probing()
    if method == "not at all":
        raise NotHere(
            "neither process_vm_readv nor a pipe is permitted here, so a wild pointer crashes the process"
        )
    return f"by {method}"


def _library() -> str:
    try:
        check_library()
    except Missing as missing:
        raise NotHere(str(missing)) from None
    return str(LIBRARY)


def _headers() -> str:
    header = SYSTEM_HEADERS / "directx" / "d3d12.h"
    if not header.exists():
        raise NotHere(f"{header} is missing; apt-get install directx-headers-dev")
    return str(header)


def _guids() -> str:
    options = guids()
    if not options:
        raise NotHere("libDirectX-Guids is missing; apt-get install directx-headers-dev")
    return " ".join(options)


def _windows_programs() -> str:
    try:
        check_dlls()
        return find_loader()
    except WineError as error:
        raise NotHere(str(error)) from None


def _program(*names: str, package: str) -> Callable[[], str]:
    def found() -> str:
        paths = [path for path in map(shutil.which, names) if path]
        if not paths:
            raise NotHere(f"no {' or '.join(names)} on PATH; apt-get install {package}")
        return paths[0]

    return found


def _module(name: str, package: str) -> Callable[[], str]:
    def found() -> str:
        if find_spec(name) is None:
            raise NotHere(f"not importable; pip install {package}")
        return "importable"

    return found


PARTS = (
    Part("native kernels", "operators at full speed", _loops),
    Part("profile", "every device", _profile),
    Part("memory probing", "wild pointers become messages", _probing),
    Part("C library", "programs in C and C++, TensorFlow, PyTorch", _library),
    Part("Direct3D headers", "compiling programs that include d3d12.h", _headers),
    Part("DirectX-Guids", "linking programs that name IID_ variables", _guids),
    Part("Wine", "Windows programs", _windows_programs),
    Part("C++ compiler", "compiling programs", _program("g++", "clang++", package="g++")),
    Part("CMake", "find_package(DirectML)", _program("cmake", package="cmake")),
    Part("pkg-config", "directml.pc", _program("pkg-config", package="pkg-config")),
    Part("pytest", "the pytest plugin", _module("pytest", "pytest")),
    Part("hypothesis", "directml_py.testing.strategies", _module("hypothesis", "hypothesis")),
    Part("onnx", "directml_py.onnx, the command onnx", _module("onnx", "'directml-py[onnx]'")),
    Part("ONNX Runtime", "onnx --compare", _module("onnxruntime", "onnxruntime")),
    Part("rich", "progress bars", _module("rich", "'directml-py[shell]'")),
    Part("argcomplete", "completion in the shell", _module("argcomplete", "'directml-py[shell]'")),
    Part("scikit-learn", "the photograph sample", _module("sklearn", "'directml-py[samples]'")),
    Part("Pillow", "the photograph sample", _module("PIL", "'directml-py[samples]'")),
)
