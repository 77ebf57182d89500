"""setuptools commands: the C parts are built where possible, and left out elsewhere."""

from __future__ import annotations

import logging
import platform
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from setuptools import Extension
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from setuptools.errors import CompileError

from building import build_outputs, libdirectml, native_kernels, object_cache, windows_dlls

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = "directml_py.com.lib."
LIBRARY = LIBRARIES + "libdirectml"
# Beside it, in x86_64-windows, are the DLLs of Windows programs: Wine finds both in one folder of WINEDLLPATH.
WINE_LIBRARY = LIBRARIES + "wine.x86_64-unix." + windows_dlls.BRIDGE
# Without errno and floating-point exceptions results stay the same, including NaN and infinity. The last undoes an
# option of Python's own build: nothing here relies on wrapping signed integers, and gcc 12 drops an element of a sum of
# absolute INT16 values under -fwrapv.
KERNEL_FLAGS = ("-std=gnu11", "-O3", "-g0", "-fno-math-errno", "-fno-trapping-math", "-fno-wrapv")
# Warnings of which thousands of lines would hide all others: functions of a header that are for another file, and
# accumulators of unrolled loops, which gcc takes for uninitialized. Compilers ignore those that they do not know.
EXPECTED = (
    "-Wno-unknown-warning-option",
    "-Wno-unused-function",
    "-Wno-unused-variable",
    "-Wno-maybe-uninitialized",
)


def _interpreter() -> str:
    """The path of this interpreter, with its version: the unversioned path may later lead to another version."""
    versioned = Path(sys.executable).with_name(f"python{sys.version_info[0]}.{sys.version_info[1]}")
    return str(versioned if versioned.exists() else sys.executable)


@contextmanager
def without_calls(command: Sequence[str]) -> Iterator[None]:
    """Calls of this command are not logged: those of the kernels are seventy, of several lines each."""

    def is_other(record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith(f"{command[0]} ")

    # Not those of a logger: newer versions of setuptools have one for each module.
    handlers = logging.getLogger().handlers
    for handler in handlers:
        handler.addFilter(is_other)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(is_other)


class BuildExt(build_ext):
    """Extensions are optional: one that cannot be built causes a warning, and code that needs it says what is
    missing."""

    _stays = False

    def run(self) -> None:
        # setuptools resets ``inplace`` while it builds.
        self._stays = bool(self.inplace) or self.editable_mode
        super().run()

    def get_ext_filename(self, fullname: str) -> str:
        """The libraries get the file names that ``-ldirectml`` and the like look for."""
        if fullname.rpartition(".")[2] in (*libdirectml.LIBRARY_NAMES, windows_dlls.BRIDGE):
            return str(Path(*fullname.split("."))) + ".so"
        return str(super().get_ext_filename(fullname))  # type: ignore[no-untyped-call]

    def build_extensions(self) -> None:
        object_cache.use(self.compiler)
        # They take most of a build, and all processors but one would wait until it is their turn.
        with ThreadPoolExecutor(1) as pool:
            self._kernels = pool.submit(self._compile_kernels)
            super().build_extensions()

    def build_extension(self, ext: Extension) -> None:
        if ext.name in (LIBRARY, WINE_LIBRARY):
            self._prepare_library(ext)
        elif ext.name.startswith(LIBRARIES):
            self._prepare_forwarder(ext)
        if ext.name == native_kernels.MODULE:
            self._prepare_kernels(ext)
        super().build_extension(ext)

    def _prepare_library(self, ext: Extension) -> None:
        folder, name = sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("LDLIBRARY")
        if not sys.platform.startswith("linux"):
            raise CompileError("libdirectml.so is built on Linux alone")
        if not name or not name.endswith(".so") or not (Path(folder) / name).exists():
            raise CompileError(f"libdirectml.so needs a shared libpython; {folder}/{name} is none")
        is_for_wine = ext.name == WINE_LIBRARY
        if is_for_wine and platform.machine() != "x86_64":
            raise CompileError("Windows programs for x86-64 run on x86-64 alone")
        source = Path(self.build_temp) / ("libdirectml_wine.c" if is_for_wine else "libdirectml.c")
        # An editable package does not lie in its environment, and stays where it is.
        stays = ROOT / "directml_py" / "com" / "lib" if self._stays else ""
        abi = libdirectml.WINDOWS if is_for_wine else libdirectml.SYSTEM_V
        libdirectml.write_source(source, _interpreter(), str(stays), abi)
        ext.sources = [str(source)]
        ext.library_dirs = [folder]
        ext.runtime_library_dirs = [folder]
        ext.libraries = [name.removeprefix("lib").removesuffix(".so")]
        ext.extra_compile_args = ["-std=gnu11", "-fvisibility=hidden"]
        ext.extra_link_args = ["-Wl,-z,nodelete", "-pthread", "-ldl"]
        if is_for_wine:
            self._build_windows_dlls()
        else:
            ext.extra_link_args += ["-Wl,-soname,libdirectml.so", self._version_script()]

    def _build_windows_dlls(self) -> None:
        if windows_dlls.compiler() is None:
            raise CompileError(f"the DLLs of Windows programs need MinGW's {windows_dlls.COMPILER}")
        folders = [Path(self.get_ext_fullpath(WINE_LIBRARY)).parents[1]]
        if self._stays:
            folders.append(ROOT / "directml_py" / "com" / "lib" / "wine")
        for folder in folders:
            # setuptools copies the library of an editable package, but makes no folder for it.
            (folder / "x86_64-unix").mkdir(parents=True, exist_ok=True)
            windows_dlls.build(folder / "x86_64-windows", Path(self.build_temp) / "windows")

    def _version_script(self) -> str:
        script = Path(self.build_temp) / "versions.map"
        libdirectml.write_version_script(script)
        return f"-Wl,--version-script={script}"

    def _prepare_forwarder(self, ext: Extension) -> None:
        """A library with those functions of ``libdirectml.so`` that on Windows are in a DLL of its name."""
        name = ext.name.removeprefix(LIBRARIES)
        folder = Path(self.get_ext_fullpath(LIBRARY)).parent
        if not (folder / "libdirectml.so").exists():
            raise CompileError(f"{name}.so needs libdirectml.so, which was not built")
        source = Path(self.build_temp) / f"{name}.c"
        libdirectml.write_forwarder(source, name)
        ext.sources = [str(source)]
        ext.extra_compile_args = ["-std=gnu11", "-fvisibility=hidden"]
        ext.extra_link_args = [f"-Wl,-soname,{name}.so"]
        if name == libdirectml.PRELOADED:
            ext.extra_link_args += [self._version_script(), "-ldl"]
            return
        ext.library_dirs = [str(folder)]
        ext.libraries = ["directml"]
        ext.extra_link_args += ["-Wl,-rpath,$ORIGIN"]
        if libdirectml.FORWARDERS[name] == "D3D12":
            ext.extra_link_args.append(self._version_script())

    def _prepare_kernels(self, ext: Extension) -> None:
        source = Path(self.build_temp) / "kernels" / "_native.c"
        native_kernels.write_module(source)
        ext.sources = [str(source)]
        # setuptools says of each absolute path that it is not for the manifest.
        paths = (path.relative_to(ROOT) for path in native_kernels.SOURCES.rglob("*.*"))
        ext.depends = sorted(map(str, paths))
        ext.extra_compile_args = list(KERNEL_FLAGS)
        ext.extra_objects = self._kernels.result()
        # The kernels' threads live as long as the process, so their code must not be unloaded.
        stays = ["-Wl,-z,nodelete"] if sys.platform.startswith("linux") else []
        ext.extra_link_args = ["-pthread", "-lm", *stays]

    def _compile_kernels(self) -> list[str]:
        """The object files of the kernels, each of which the cache may have."""
        if sys.platform == "win32":
            raise CompileError("the native kernels need the vector types of gcc or clang, and POSIX threads")
        command = getattr(self.compiler, "compiler_so", None)
        if command is None:
            raise CompileError("the native kernels are compiled by gcc or clang")

        isas = native_kernels.known_isas(lambda words: native_kernels.accepted(command, words))
        total, numbers = len(list(native_kernels.units(isas))), count(1)

        def compile_unit(unit: native_kernels.Unit, unit_flags: list[str]) -> str:
            folder = Path(self.build_temp) / "kernels" / (unit.isa or "once")
            (made,) = self.compiler.compile(
                [str(unit.source)],
                output_dir=str(folder),
                extra_postargs=[*KERNEL_FLAGS, *EXPECTED, *native_kernels.FLAGS, *unit_flags],
            )
            name = unit.source.relative_to(native_kernels.SOURCES).as_posix()
            print(f"[{next(numbers)}/{total}] {name} {unit.isa}".rstrip(), flush=True)
            return str(made)

        with without_calls(command):
            return native_kernels.compile_all(compile_unit, isas)


class BuildPy(build_py):
    """The headers of ``include`` are copied into the package, where ``python -m directml_py config`` finds them.

    Build outputs are written beside the package's files: into the clone, for an editable install.
    """

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            build_outputs.write(ROOT / "directml_py", ROOT / "include")
            return
        package = Path(self.build_lib) / "directml_py"
        shutil.copytree(ROOT / "include", package / "include", dirs_exist_ok=True)
        build_outputs.write(package, package / "include")

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        headers = {
            path.relative_to(ROOT).as_posix() for path in (ROOT / "include").rglob("*") if path.is_file()
        }
        headers |= {path for path in build_outputs.PATHS if path.startswith("include/")}
        package = Path(self.build_lib) / "directml_py"
        made = [package / build_outputs.CFFI_PATH, *(package / path for path in sorted(headers))]
        return sorted({*super().get_outputs(include_bytecode), *map(str, made)})


class SDist(sdist):
    """The files that a wheel is built from, besides the package, without those that the build generates."""

    def make_distribution(self) -> None:
        # add_defaults uses another command class, which does not know this one.
        for folder in ("include", "tools", "directml_py/kernels/native"):
            paths = (path for path in (ROOT / folder).rglob("*") if path.is_file())
            self.filelist.extend(
                str(path.relative_to(ROOT)) for path in paths if "__pycache__" not in path.parts
            )
        self.filelist.files = [
            name for name in self.filelist.files if Path(name).as_posix() not in build_outputs.PATHS
        ]
        super().make_distribution()
