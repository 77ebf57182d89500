"""``python -m directml_py schema``: prints the catalog as JSON, for programs in other languages."""

from __future__ import annotations

import argparse
import json

from .catalog_document import document, json_schema

HELP = "Print the whole API as JSON: structs with layouts, enumerations, operators, support tables, interfaces, rules."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json-schema", action="store_true", help="print the JSON Schema of that document instead"
    )


def run(arguments: argparse.Namespace) -> int:
    print(json_schema().rstrip() if arguments.json_schema else json.dumps(document(), indent=1))
    return 0
