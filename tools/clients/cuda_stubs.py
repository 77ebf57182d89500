"""Stubs of the CUDA libraries that PyPI's Linux wheels of PyTorch link to, for machines without an NVIDIA GPU.

The wheels load only if CUDA's libraries do, some 2.5 GB that a CPU never calls. A stub has the name, the symbol
versions and the functions that the wheel's libraries need from the original; each function returns 100, which in CUDA's
runtime means that there is no device. Needs gcc and binutils.

    python tools/clients/cuda_stubs.py ENVIRONMENT/lib/python3.11/site-packages
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

# The folder in which PyTorch looks for each library: nvidia/FOLDER/lib.
FOLDERS = {
    "libcublas": "cublas",
    "libcublasLt": "cublas",
    "libcudart": "cuda_runtime",
    "libcudnn": "cudnn",
    "libcufft": "cufft",
    "libcupti": "cuda_cupti",
    "libcurand": "curand",
    "libcusolver": "cusolver",
    "libcusparse": "cusparse",
    "libnccl": "nccl",
    "libnvToolsExt": "nvtx",
    "libnvrtc": "cuda_nvrtc",
}
# The prefixes of CUDA's symbols.
PREFIX = re.compile(r"(__cuda|cu(da|blas|dnn|fft|pti|rand|solver|sparse)|nccl|nvtx|nvrtc)")
NO_DEVICE = 100

# The symbols of a library by symbol version; "" for unversioned ones.
Symbols = dict[str, set[str]]


def _printed(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(libraries: list[Path]) -> dict[str, Symbols]:
    """The symbols that ``libraries`` need from each CUDA library, by the file name that they look for.

    For a versioned symbol ELF names the library that defines it, for an unversioned one it does not: every stub defines
    those.
    """
    found: dict[str, Symbols] = {}
    plain: set[str] = set()
    for path in libraries:
        names = re.findall(r"NEEDED\)\s+Shared library: \[(.+?)\]", _printed("readelf", "-dW", str(path)))
        for name in names:
            if name.partition(".")[0] in FOLDERS:
                found.setdefault(name, defaultdict(set))
        nodes = _version_nodes(path)
        for symbol, _, version in re.findall(
            r" U (\w+)(@(\S+))?", _printed("nm", "-D", "--with-symbol-versions", str(path))
        ):
            if not PREFIX.match(symbol):
                continue
            if version and nodes.get(version) in found:
                found[nodes[version]][version].add(symbol)
            else:
                plain.add(symbol)
    for symbols in found.values():
        symbols[""] = plain
    return found


def _version_nodes(path: Path) -> dict[str, str]:
    """The file from which each symbol version is needed."""
    nodes, file = {}, ""
    for line in _printed("readelf", "-VW", str(path)).splitlines():
        if match := re.search(r"File: (\S+)", line):
            file = match[1]
        elif match := re.search(r"Name: (\S+)\s+Flags", line):
            nodes[match[1]] = file
    return nodes


def build(target: Path, name: str, symbols: Symbols) -> None:
    """Compile the stub ``name`` into ``target``."""
    versioned = {version: names for version, names in symbols.items() if version}
    functions = sorted(set().union(*symbols.values()))
    source = "".join(f"int {function}(void) {{ return {NO_DEVICE}; }}\n" for function in functions)
    script = "".join(
        f"{version} {{ global: {' '.join(f'{function};' for function in sorted(names))} }};\n"
        for version, names in versioned.items()
    )
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        text, nodes = Path(folder, "stub.c"), Path(folder, "stub.map")
        text.write_text(source, encoding="utf-8")
        nodes.write_text(script, encoding="utf-8")
        versions = [f"-Wl,--version-script={nodes}"] if versioned else []
        command = ["gcc", "-shared", "-fPIC", "-w", f"-Wl,-soname,{name}", *versions, str(text)]
        subprocess.run([*command, "-o", str(target / name)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("site_packages", type=Path, help="the folder that holds torch")
    root = parser.parse_args().site_packages
    for name, symbols in needed(sorted((root / "torch" / "lib").glob("*.so*"))).items():
        folder = root / "nvidia" / FOLDERS[name.partition(".")[0]] / "lib"
        if not (folder / name).exists():
            build(folder, name, symbols)
            print(folder / name)


if __name__ == "__main__":
    main()
