"""Generator of the reference pages for structs, enumerations, interfaces and commands."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import directml_py
from directml_py.abi.interface import IUnknown
from directml_py.abi.schema import StructSchema
from directml_py.api import d3d12_enums, enums
from directml_py.api.exports import EXPORTS
from directml_py.api.schema_data import OPERATORS, STRUCTS
from directml_py.cli import COMMANDS, command, parser
from directml_py.cli.doctor_command import FOREIGN_VARIABLES, VARIABLES, Variable

from .markdown import cell, documented, page, plain, table

API = "https://learn.microsoft.com/windows/win32/api"


def structs_page() -> str:
    """The structs other than operator descs, in C's order."""
    operator_structs = {schema.struct.name for schema in OPERATORS.values()}
    parts = []
    for schema in STRUCTS.values():
        if schema.name not in operator_structs and hasattr(directml_py, schema.name):
            parts += [f"## {schema.name}", struct_table(schema)]
    return page(
        "# Structs",
        "Structs are `ctypes.Structure`s with C's layout; `directml_py.cffi.ffi` has the same ones. A pointer field "
        "takes a Python object or a sequence, which the struct keeps alive; an omitted count is filled in from its "
        "array. Operator descs are on the [operators' pages](../operators/index.md).",
        *parts,
    )


def struct_table(schema: StructSchema) -> str:
    rows = []
    for entry in schema.fields:
        type_ = entry.type
        if entry.kind in ("enum", "flags"):
            type_ = f"[{type_}](enums.md#{type_.lower()})"
        elif entry.type in STRUCTS and entry.type not in {
            operator.struct.name for operator in OPERATORS.values()
        }:
            type_ = f"[{type_}](#{type_.lower()})"
        else:
            type_ = f"`{type_}`"
        remarks: list[str] = (
            [entry.kind] if entry.kind in ("array", "pointer", "variant", "union", "bytes") else []
        )
        remarks += [f"of `{entry.counted_by}` elements"] if entry.counted_by else []
        remarks += [f"typed by `{entry.governed_by}`"] if entry.governed_by else []
        remarks += ["may be null"] if entry.optional else []
        rows.append((f"`{entry.name}`", type_, ", ".join(remarks)))
    return table(("Field", "Type", "Remarks"), rows)


def enums_page() -> str:
    parts = []
    for module, heading in ((enums, "DirectML"), (d3d12_enums, "Direct3D 12 and DXGI")):
        parts.append(f"## {heading}")
        for name in module.ENUMERATIONS:
            kind = getattr(module, name)
            rows = [
                (f"`{member}`", value_text(kind, entry.value)) for member, entry in kind.__members__.items()
            ]
            parts += [f"### {name}", table(("Name", "Value"), rows)]
    return page(
        "# Enumerations",
        "Each is an `IntEnum` or an `IntFlag`; the members are also names of the package: "
        "`dml.DML_TENSOR_DATA_TYPE_FLOAT32`.",
        *parts,
    )


def value_text(kind: type[Enum], value: Any) -> str:
    is_flag = "Flag" in kind.__mro__[1].__name__ or kind.__name__ == "DML_FEATURE_LEVEL"
    return hex(value) if is_flag else str(value)


def interfaces() -> Iterator[type[IUnknown]]:
    """The COM interfaces that are public in Python, by name."""
    for name in sorted(EXPORTS):
        kind = getattr(directml_py, name)
        if inspect.isclass(kind) and issubclass(kind, IUnknown):
            yield kind


def interfaces_page() -> str:
    parts = []
    public = set(interfaces())
    for kind in interfaces():
        base = next((ancestor for ancestor in kind.__mro__[1:] if ancestor in public), None)
        parts += [f"## {kind.__name__}"]
        parts.append(f"Derives from [{base.__name__}](#{base.__name__.lower()})." if base else "")
        methods = ", ".join(sorted(methods_of(kind, base)))
        parts.append(documented(f"directml_py.{kind.__name__}", f":members: {methods}" if methods else ""))
    return page(
        "# Interfaces",
        "Methods have the names and argument order of C++. There is no `riid` and `ppv`: the object is returned. A "
        "failing `HRESULT` is raised as `DMLError`.",
        *parts,
    )


def methods_of(kind: type, base: type | None) -> set[str]:
    """The methods of an interface, without those inherited from ``base``."""
    return {
        name
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if name[0].isupper() and getattr(base, name, None) is not method
    }


COMPLETION = """\
## Completion in the shell

With the extra `shell` (`pip install 'directml-py[shell]'`, once the package is installed), Tab completes commands,
options, operators and rules:

```{code-block} sh
eval "$(register-python-argcomplete directml-py)"
```

Put the line into `~/.bashrc` or `~/.zshrc`; for fish it is
`register-python-argcomplete --shell fish directml-py | source`."""


def command_page() -> str:
    """The commands with their ``--help`` output."""
    top = parser()
    actions = [candidate for candidate in top._actions if isinstance(candidate, argparse._SubParsersAction)]
    parts = []
    for name in COMMANDS:
        for action in actions:
            chosen = action.choices[name]
            parts += [f"## {name}", cell(plain(command(name).HELP)), kept_lines(help_text(chosen))]
            for nested in (
                candidate
                for candidate in chosen._actions
                if isinstance(candidate, argparse._SubParsersAction)
            ):
                for inner, its in nested.choices.items():
                    parts += [f"### {name} {inner}", kept_lines(help_text(its))]
    return page(
        "# Command line",
        f"`{top.prog} COMMAND` has these commands; `directml-py COMMAND` is the same. "
        "[Variables of the environment](environment.md) have a page of their own.",
        COMPLETION,
        *parts,
    )


def environment_page() -> str:
    """The variables of the environment that the package reads."""

    def rows(variables: Mapping[str, Variable]) -> list[str]:
        return [f"| `{name}` | {one.values} | {one.meaning} |" for name, one in variables.items()]

    header = ["| Variable | Values | Meaning |", "| --- | --- | --- |"]
    return page(
        "# Environment variables",
        "`python -m directml_py doctor` lists those that are set, and reports wrong values and misspelt names.",
        "\n".join([*header, *rows(VARIABLES)]),
        "Of other programs' variables the package reads these:",
        "\n".join([*header, *rows(FOREIGN_VARIABLES)]),
        "`python -m directml_py exec` extends `LD_LIBRARY_PATH` and `LD_PRELOAD` for the program that it starts, and "
        "sets `TF_DIRECTML_PATH`; `wine` sets what Wine needs, which `wine --environment` prints.",
    )


def kept_lines(text: str) -> str:
    """A block whose columns stay what they are, however narrow the page."""
    return f"```{{code-block}} text\n:class: drawn\n\n{text.rstrip()}\n```"


def help_text(command_parser: argparse.ArgumentParser) -> str:
    """The ``--help`` output for a terminal of 80 columns, whatever the actual width."""
    command_parser.formatter_class = narrow(command_parser.formatter_class)
    return command_parser.format_help()


def narrow(base: Any) -> Any:
    def formatter(prog: str) -> Any:
        return base(prog, width=80)

    return formatter
