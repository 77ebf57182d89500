"""The C and C++ programs in ``tests/include/programs``: built once for each compiler, run case by case."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from toolchain import D3D12_HEADERS, STANDARD, STRICT, later, missing, need_d3d12_headers

SOURCES = Path(__file__).resolve().parent / "include" / "programs"
CPP = ["g++", *later("clang++")]


class Programs:
    """Keeps what it has built in a folder of the test session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _build(self, target: Path, compiler: str, *arguments: str) -> Path:
        if not target.exists():
            if shutil.which(compiler) is None:
                missing(compiler)
            build = subprocess.run([compiler, *arguments, "-o", str(target)], capture_output=True, text=True)
            assert (build.returncode, build.stderr) == (0, ""), build.stderr
        return target

    def object(self, compiler: str, source: str, *flags: str) -> Path:
        """The object file of a source file; compiling it must not cause a warning."""
        need_d3d12_headers()
        target = self.folder / f"{source}{''.join(flags)}.{compiler}.o"
        flags = (STANDARD[compiler], *STRICT, *D3D12_HEADERS, "-pthread", *flags)
        return self._build(target, compiler, *flags, "-c", str(SOURCES / source))

    def program(self, linker: str, *objects: Path) -> Path:
        target = self.folder / "+".join(object.name for object in objects).replace(".o", ".program")
        return self._build(target, linker, "-pthread", *map(str, objects))

    def shared_library(self, compiler: str, name: str, text: str) -> Path:
        """The folder that holds a shared library made from the text."""
        folder = self.folder / f"{name}.{compiler}"
        folder.mkdir(exist_ok=True)
        source = folder / "library.cpp"
        source.write_text(text, encoding="utf-8")
        self._build(folder / name, compiler, "-shared", "-fPIC", str(source))
        return folder

    def cases(self, compiler: str, source: str, *flags: str) -> list[str]:
        """The names of the cases in a source file."""
        program = self.program(compiler, self.object(compiler, source, *flags))
        return subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()

    def run(
        self, compiler: str, source: str, case: str, *flags: str, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Runs a case, with a standard input that is silent and does not end."""
        program = self.program(compiler, self.object(compiler, source, *flags))
        silence, speaker = os.pipe()
        try:
            return subprocess.run(
                [program, case],
                stdin=silence,
                capture_output=True,
                encoding="utf-8",
                timeout=60,
                env={**os.environ, **environment},
            )
        finally:
            os.close(silence)
            os.close(speaker)

    def check(self, compiler: str, source: str, *elsewhere: str) -> None:
        """Every case holds, but those of which other tests look at what they print or how they end."""
        cases = self.cases(compiler, source)
        assert set(elsewhere) < set(cases)
        runs = {case: self.run(compiler, source, case) for case in cases if case not in elsewhere}
        assert {case: run.stderr for case, run in runs.items() if run.returncode} == {}

    def link_and_run(self, linker: str, *objects: Path) -> subprocess.CompletedProcess[str]:
        program = self.program(linker, *objects)
        return subprocess.run([program], capture_output=True, encoding="utf-8", timeout=60)
