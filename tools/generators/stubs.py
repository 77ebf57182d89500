"""``directml_py/api/structs.pyi`` and its neighbours: the fields and constructors of structs, for type checkers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .catalog import SCALARS, Catalog, Enum, Field, Struct
from .docstrings import docstring_lines
from .python_text import PYTHON_NOTICE, listing
from .schema import Kinds
from .structs import HANDLES_TITLE, base_of, split

OPERATOR = "DML_OPERATOR_DESC"
ELEMENTS = {"FLOAT": "Reals", "DOUBLE": "Reals"}


class Types(NamedTuple):
    """The descriptor of a field, and the type that a constructor accepts for it."""

    descriptor: str
    written: str


def types_of(field: Field, struct: Struct, kinds: Kinds) -> Types:
    if field.array:
        is_text = field.array[0] == "WCHAR"
        return (
            Types("CharactersField", "str")
            if is_text
            else Types("ArrayField", "Array[Any] | tuple[Any, ...]")
        )
    kind, name = kinds.of(field, struct)
    if kind == "pointer":
        also = " | TypedOperatorDesc" if name == OPERATOR else ""
        return Types(
            pointer_field(name, f"To[{name}]{also}") if also else f"PointerField[{name}]", f"To[{name}]{also}"
        )
    if kind == "array" and (name in SCALARS or name in kinds.enums):
        plural = ELEMENTS.get(name, "Integers")
        return Types(f"{plural}Field", plural)
    if kind == "array":
        element = f"{name} | TypedOperatorDesc" if name == OPERATOR else name
        written = f"Structs[{element}]"
        return Types(pointer_field(name, written) if element != name else f"StructsField[{name}]", written)
    if kind in ("struct", "union"):
        return Types(f"HeldField[{name}]", f"Held[{name}]")
    if kind in ("enum", "flags"):
        return Types("IntegerField", f"{name} | Integer")
    plain = {
        "float": "Real",
        "string": "Text",
        "interface": "Interface",
        "integer": "Integer",
        "bool": "Integer",
    }
    word = plain.get(kind, "Memory")
    return Types(f"{word}Field", word)


def pointer_field(target: str, written: str) -> str:
    return f"Field[_Pointer[{target}], {written}]"


class Stub:
    """One module of structs."""

    def __init__(self, catalog: Catalog) -> None:
        self.kinds = Kinds(catalog)
        self.by_name = {
            struct.name: struct
            for struct in (*catalog.structs, *catalog.d3d12_structs, *catalog.dxgi_structs)
        }
        # An editor reads the stub alone: the classes of the operators' descs are made when they are named.
        self.docstrings = {one.struct.name: docstring_lines(one) for one in catalog.operators}

    def fields(self, struct: Struct) -> Iterator[tuple[str, Types]]:
        """The fields, including those of anonymous members."""
        for field in struct.fields:
            yield field.name, types_of(field, struct, self.kinds)
            if field.anonymous:
                yield from self.fields(self.by_name[field.type])

    def lines(self, struct: Struct) -> list[str]:
        fields = list(self.fields(struct))
        written = [f"{name}: {types.written} = ..." for name, types in fields]
        if struct.union:
            first = ["self", "*", *written]
        else:
            name, types = fields[0]
            first = ["self", f"{name}: {types.written} | {struct.name} = ...", *written[1:]]
        body = [*self.docstrings.get(struct.name, ())]
        body += [f"    {name}: {types.descriptor}" for name, types in fields]
        body.append(f"    def __init__({', '.join(first)}) -> None: ...")
        if not struct.union:
            body.append(f"    def replace({', '.join(['self', '*', *written])}) -> Self: ...")
        alias = [f"{struct.alias} = {struct.name}", ""] if struct.alias else []
        return [f"class {struct.name}({base_of(struct)}):", *body, "", *alias]


def module(
    docstring: str, structs: Iterable[Struct], stub: Stub, homes: dict[str, str], module_name: str
) -> str:
    structs = list(structs)
    body = "\n".join(line for struct in structs for line in stub.lines(struct))
    used = set(re.findall(r"[A-Za-z_]\w*", body))
    known = {
        **homes,
        **dict.fromkeys(("Structure", "Union", "TypedOperatorDesc", "AnyOperatorDesc"), "..abi.structure"),
        "Self": "typing_extensions",
        "Any": "typing",
        "_Pointer": "ctypes",
        "Array": "ctypes",
    }
    imports: dict[str, list[str]] = {}
    for name in sorted(used):
        home = known.get(name) or ("..abi.fields" if is_of_fields(name) else "")
        if home and home != module_name:
            imports.setdefault(home, []).append(name)
    names = sorted(name for struct in structs for name in (struct.name, struct.alias) if name)
    lines = [f"from {home} import {', '.join(used)}" for home, used in imports.items()]
    # ``replace`` is meant to take fewer keywords than its base's.
    head = [PYTHON_NOTICE, '# mypy: disable-error-code="override"']
    return "\n".join([*head, f'"""{docstring}"""', "", *lines, "", *listing(names), "", body])


def is_of_fields(name: str) -> bool:
    words = (
        "Integer",
        "Integers",
        "Real",
        "Reals",
        "Structs",
        "Held",
        "Memory",
        "Text",
        "Interface",
        "To",
        "Field",
    )
    return name in words or name.endswith("Field")


def generate(catalog: Catalog) -> dict[str, str]:
    stub = Stub(catalog)
    handles, d3d12 = split(catalog.d3d12_structs)
    operators = [operator.struct for operator in catalog.operators]
    modules = {
        "structs": ("Plain structs of DirectML.h.", catalog.structs),
        "operator_descs": ("The descs of the operators.", operators),
        "d3d12_structs": (
            "Structs of Direct3D 12, DXGI and DXCore that DirectML programs use.",
            [*d3d12, *catalog.dxgi_structs],
        ),
        "descriptor_handles": (HANDLES_TITLE, handles),
    }
    homes = {struct.name: f".{name}" for name, (_, structs) in modules.items() for struct in structs}
    homes |= names_of(catalog.enums, ".enums")
    homes |= names_of([*catalog.d3d12_enums, *catalog.dxgi_enums], ".d3d12_enums")
    return {
        f"directml_py/api/{name}.pyi": module(docstring, structs, stub, homes, f".{name}")
        for name, (docstring, structs) in modules.items()
    }


def names_of(enums: Iterable[Enum], home: str) -> dict[str, str]:
    return {enum.name: home for enum in enums}
