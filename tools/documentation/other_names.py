"""What ONNX and PyTorch call an operator, so that a search for their names finds its page."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

from directml_py.operators import SCHEMAS

from . import onnx_nodes
from .markdown import code

if sys.version_info < (3, 11):
    import tomli as tomllib
else:
    import tomllib

TORCH = Path(__file__).with_name("torch_names.toml")
ONNX_PAGE = "https://onnx.ai/onnx/operators/onnx__{name}.html"


def base_name(name: str) -> str:
    """An operator's name without the number of its version."""
    return re.sub(r"\d+$", "", name)


def versions(name: str) -> list[str]:
    """The operators whose names differ only in the trailing number, oldest first."""
    same = [other for other in SCHEMAS if base_name(other) == base_name(name)]
    return sorted(same, key=lambda other: SCHEMAS[other].value)


@cache
def torch_table() -> dict[str, list[str]]:
    with TORCH.open("rb") as file:
        table: dict[str, list[str]] = tomllib.load(file)
        return table


def torch_names(name: str) -> list[str]:
    return torch_table().get(base_name(name), [])


def onnx_names(name: str) -> list[str]:
    """The ONNX operators that any version of the operator computes alone, in half of ONNX's tests of them or more."""
    uses = [onnx_nodes.written().get(other, {}) for other in versions(name)]
    return sorted({node for found in uses for node, (alone, total) in found.items() if alone * 2 >= total})


def index_entries(name: str) -> str:
    """Entries of the index, which a search ranks first; of PyTorch's names with and without their module."""
    torch = torch_names(name)
    short = [one.rpartition(".")[2] for one in torch]
    entries = dict.fromkeys([*onnx_names(name), *torch, *(one for one in short if not one.startswith("_"))])
    return code(f"{{index-names}} {name}", "\n".join(entries)) if entries else ""


def other_names(name: str) -> str:
    """The lines of the operator's page; empty if it has no other name."""
    lines = []
    if onnx := onnx_names(name):
        lines.append(f"- ONNX: {', '.join(map(onnx_link, onnx))}")
    if torch := torch_names(name):
        lines.append(f"- PyTorch: {', '.join(f'`{one}`' for one in torch)}")
    return "\n".join(lines)


def onnx_link(node: str) -> str:
    return f"[{node}]({ONNX_PAGE.format(name=node)})"
