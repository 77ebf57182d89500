"""``python -m directml_py support``: lists the operators, or prints an operator's support table."""

from __future__ import annotations

import argparse
import json
import sys

from ..abi.schema import OperatorSchema
from ..api import enums
from ..api.schema_data import OPERATORS as CATALOG
from ..descs.data_types import type_name
from ..descs.types_by_name import enum_class
from ..validation.support_tables import Support, support_of
from ..validation.tensor_rules import level_name
from .catalog_document import document
from .completion import completed_by

HELP = "Print the support table of one operator, or list all operators."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    operator = parser.add_argument(
        "operator",
        nargs="?",
        metavar="OPERATOR",
        help="such as JOIN or DML_OPERATOR_JOIN; without one, all are listed",
    )
    completed_by(operator, lambda: [schema.name for schema in CATALOG.values()])
    parser.add_argument(
        "--json", action="store_true", help="print JSON, as in the output of the schema command"
    )


def run(arguments: argparse.Namespace) -> int:
    """The exit code: 0, or 2 for an unknown operator."""
    if arguments.operator is None:
        names = sorted(schema.name for schema in CATALOG.values())
        print(json.dumps(names) if arguments.json else "\n".join(names))
        return 0
    name = arguments.operator.upper().removeprefix("DML_OPERATOR_")
    schema = next((entry for entry in CATALOG.values() if entry.name == name), None)
    if schema is None:
        print(f"support: there is no operator DML_OPERATOR_{name}", file=sys.stderr)
        return 2
    if arguments.json:
        print(json.dumps({schema.type_name: document()["operators"][schema.type_name]}, indent=1))
    else:
        print(support_table(schema))
    return 0


def support_table(schema: OperatorSchema) -> str:
    """The operator's support table from its page, per feature level."""
    lines = [
        f"{schema.type_name} ({schema.struct.name})",
        schema.about,
        f"introduced in {level_name(schema.level)}",
    ]
    condition = None
    for entry in support_of(schema):
        if entry.when and entry.when != condition:
            lines += ["", _condition(schema, entry)]
            condition = entry.when
        lines += ["", f"{level_name(entry.level)} and above", *_rows(entry)]
    return "\n".join(lines)


def _condition(schema: OperatorSchema, entry: Support) -> str:
    conditions = []
    for name, values in entry.when.items():
        field = schema.struct.fields[schema.struct.index[name]]
        conditions.append(f"{name}: " + ", ".join(enum_class(field.type)(value).name for value in values))
    return "; ".join(conditions)


def _rows(entry: Support) -> list[str]:
    width = max(map(len, entry.tensors))
    rows = []
    for name, support in entry.tensors.items():
        first, last = support.dimensions[0], support.dimensions[-1]
        counts = str(first) if first == last else f"{first} to {last}"
        types = ", ".join(type_name(enums.DML_TENSOR_DATA_TYPE(value)) for value in support.types)
        rows.append(f"  {name:{width}}  {counts:6}  {types}")
    return rows
