"""setuptools commands: the C parts are built where that is possible, and left out where it is not."""

from __future__ import annotations

import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from setuptools.errors import CompileError

from building import build_outputs, libdirectml, native_kernels

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = "directml_py.com.lib."
LIBRARY = LIBRARIES + "libdirectml"


def _interpreter() -> str:
    """This interpreter, by the name that says its version: another version may take its place."""
    versioned = Path(sys.executable).with_name(f"python{sys.version_info[0]}.{sys.version_info[1]}")
    return str(versioned if versioned.exists() else sys.executable)


class BuildExt(build_ext):
    """Extensions are optional: one that cannot be built is a warning, and its users say what is missing."""

    _stays = False

    def run(self) -> None:
        # setuptools forgets about inplace while it builds.
        self._stays = bool(self.inplace) or self.editable_mode
        super().run()

    def get_ext_filename(self, fullname: str) -> str:
        """The libraries go by the names that ``-ldirectml`` and its like look for."""
        if Path(*fullname.split(".")).name in libdirectml.LIBRARY_NAMES:
            return str(Path(*fullname.split("."))) + ".so"
        return str(super().get_ext_filename(fullname))  # type: ignore[no-untyped-call]

    def build_extension(self, ext: Extension) -> None:
        if ext.name == LIBRARY:
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
        source = Path(self.build_temp) / "libdirectml.c"
        # A package that is used from its source does not lie in its environment, and stays where it is.
        stays = ROOT / "directml_py" / "com" / "lib" if self._stays else ""
        libdirectml.write_source(source, _interpreter(), str(stays))
        ext.sources = [str(source)]
        ext.library_dirs = [folder]
        ext.runtime_library_dirs = [folder]
        ext.libraries = [name.removeprefix("lib").removesuffix(".so")]
        ext.extra_compile_args = ["-std=gnu11", "-fvisibility=hidden"]
        ext.extra_link_args = ["-Wl,-soname,libdirectml.so", "-Wl,-z,nodelete", "-pthread", "-ldl"]
        ext.extra_link_args.append(self._version_script())

    def _version_script(self) -> str:
        script = Path(self.build_temp) / "versions.map"
        libdirectml.write_version_script(script)
        return f"-Wl,--version-script={script}"

    def _prepare_forwarder(self, ext: Extension) -> None:
        """A library with those functions of ``libdirectml.so`` that Windows has in a DLL of its name."""
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
        if sys.platform == "win32":
            raise CompileError("the native kernels need the vector types of gcc or clang, and POSIX threads")
        source = Path(self.build_temp) / "kernels.c"
        native_kernels.write_source(source)
        ext.sources = [str(source)]
        ext.depends = [str(path) for path in sorted(native_kernels.SOURCES.rglob("*.*"))]
        # The first two give up errno and floating-point flags; results stay the same, NaN and infinity too. The last
        # takes back what Python is compiled with: nothing here counts on signed numbers that wrap, and gcc 12 drops
        # an element of a sum of absolute INT16 values under -fwrapv.
        flags = ["-fno-math-errno", "-fno-trapping-math", "-fno-wrapv"]
        ext.extra_compile_args = ["-std=gnu11", "-O3", "-g0", *flags]
        # Threads of the kernels live as long as the process, and so must the code that they run.
        stays = ["-Wl,-z,nodelete"] if sys.platform.startswith("linux") else []
        ext.extra_link_args = ["-pthread", "-lm", *stays]


class BuildPy(build_py):
    """The headers of ``include`` go into the package, where ``python -m directml_py config`` finds them.

    What a build makes goes where they are: into the clone, if that is what is installed.
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
    """What a wheel is built from, beside the package; without what building it makes anew."""

    def make_distribution(self) -> None:
        # What add_defaults finds is asked of another class, which knows nothing of this one.
        for folder in ("include", "tools", "directml_py/kernels/native"):
            paths = (path for path in (ROOT / folder).rglob("*") if path.is_file())
            self.filelist.extend(
                str(path.relative_to(ROOT)) for path in paths if "__pycache__" not in path.parts
            )
        self.filelist.files = [
            name for name in self.filelist.files if Path(name).as_posix() not in build_outputs.PATHS
        ]
        super().make_distribution()
