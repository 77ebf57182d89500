"""How the results of an operator are checked: what of its tests is about it alone, counted."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

from directml_py.operators import SCHEMAS
from directml_py.text.plural import counted_words
from directml_py.validation.tensor_rules import level_name

from . import onnx_nodes
from .printed import examples

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests/fidelity/directml_1_13_cases.jsonl.gz"
PROGRAMS = ROOT / "tests/com/programs"
# As many operators of ONNX are named.
MANY = 8


def verification(name: str) -> str:
    """The list of the operator's page."""
    parts = [printed_examples(name), reference(name), recorded(name), onnx(name), programs(name)]
    return "\n".join(f"- {part}" for part in parts if part)


def printed_examples(name: str) -> str:
    count = _printed()[name]
    return f"Microsoft's page: {counted_words(count, 'example')} from it, each a test" if count else ""


def reference(name: str) -> str:
    return (
        "An independent reference implementation (`tests/operators/records`): random valid descs at every feature "
        f"level from `{level_name(SCHEMAS[name].level)}` on"
    )


def recorded(name: str) -> str:
    results, refusals = _recorded()[name, False], _recorded()[name, True]
    if not results and not refusals:
        return "[Microsoft's library](../inside/fidelity.md): no recorded case"
    parts = [
        *([f"{counted_words(results, 'recorded result')}"] if results else []),
        *([f"{counted_words(refusals, 'refused desc')}"] if refusals else []),
    ]
    return f"[Microsoft's library](../inside/fidelity.md) 1.13: compared with {' and '.join(parts)}"


def onnx(name: str) -> str:
    uses = onnx_nodes.written().get(name, {})
    if not uses:
        return ""
    nodes = ", ".join(sorted(uses, key=lambda node: (-uses[node][1], node))[:MANY])
    rest = f" and {len(uses) - MANY} more" if len(uses) > MANY else ""
    count = sum(total for _, total in uses.values())
    return f"ONNX {onnx_nodes.release()}: used in {counted_words(count, 'node test')} ({nodes}{rest})"


def programs(name: str) -> str:
    found = _programs().get(f"DML_OPERATOR_{name}", [])
    also = f"; also {', '.join(f'`{program}`' for program in found)} in `tests/com/programs`" if found else ""
    return f"C++: the example below is compiled, and its output compared with Python's{also}"


@cache
def _printed() -> Counter[str]:
    return Counter(one.operator for one in examples())


@cache
def _recorded() -> Counter[tuple[str, bool]]:
    """The recorded cases, by operator and whether the library refused them."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        return Counter((case["operator"], "refused" in case) for case in map(json.loads, lines))


@cache
def _programs() -> dict[str, list[str]]:
    """The C and C++ programs of the tests that name each operator's type."""
    found: dict[str, list[str]] = {}
    for path in sorted([*PROGRAMS.glob("*.c"), *PROGRAMS.glob("*.cpp")]):
        for name in sorted(set(re.findall(r"\bDML_OPERATOR_\w+\b", path.read_text(encoding="utf-8")))):
            found.setdefault(name, []).append(path.name)
    return found
