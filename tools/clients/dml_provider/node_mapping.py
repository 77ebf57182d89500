"""The DirectML operators that the provider creates for a model, beside those that ``directml_py.onnx`` does."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from judging import listed
from onnx import numpy_helper

from directml_py.capturing.serialize import describe_operator
from directml_py.onnx.errors import OnnxError
from directml_py.onnx.model_file import ModelFile
from directml_py.onnx.onnx_model import built_for, device_of
from directml_py.onnx.semantics import DIRECTML

from . import wine_batches
from .node_models import ProviderCase
from .tensors import write

SAME, RANKS, DESCS, OPERATORS = (
    "the same",
    "the same but for leading dimensions of 1",
    "other descs",
    "other operators",
)
CPU, FAILED, REFUSED, HOST = "provider: CPU", "provider: failed", "refused here", "computed at load"
VERDICTS = (SAME, RANKS, DESCS, OPERATORS, HOST, REFUSED, CPU, FAILED)


# No line at all.
NOTHING = re.compile("(?!)")
# A line that counts operators, of the provider and of this package.
COUNTS = re.compile(r"operators: the provider has (.*), this package (.*)")
LIST = Path(__file__).parent.with_name("provider_mapping.toml")


class MappingReason(NamedTuple):
    """Why lines of models of one of the ONNX operators ``nodes`` (any, if there are none) differ.

    They match ``says``; or they count other operators, of which the provider has ``theirs`` in the place of ``ours``.
    """

    why: str
    says: re.Pattern[str] = NOTHING
    nodes: frozenset[str] = frozenset()
    theirs: str = ""
    ours: str = ""

    def is_for(self, row: MappingRow) -> bool:
        """One that is for any line is for models of its own operators alone."""
        is_for = self.nodes.intersection if self.says.pattern else self.nodes.issuperset
        return not self.nodes or bool(is_for(row.operators))


class CreatedOperator(NamedTuple):
    """A DirectML operator and the fields of its desc."""

    name: str
    desc: dict[str, Any]


class MappingRow(NamedTuple):
    """How the operators of one model differ: a line for each difference."""

    case: str
    operators: tuple[str, ...]
    verdict: str
    lines: tuple[str, ...] = ()


def reasons(path: Path = LIST) -> list[MappingReason]:
    return listed.read(path, MappingReason)


@cache
def counted(text: str) -> Counter[str]:
    """Operators as lines count them: ``2 SLICE + JOIN``."""
    found: Counter[str] = Counter()
    for part in filter(None, text.split(" + ")):
        *count, name = part.split()
        found[name] += int(count[0]) if count else 1
    return found


def reasons_of(row: MappingRow, line: str, reasons: Iterable[MappingReason]) -> list[MappingReason]:
    """The first reason for a line; for one that counts operators, as many as explain all of them. Empty if none do."""
    fitting = [reason for reason in reasons if reason.is_for(row)]
    for reason in fitting:
        if reason.says.search(line):
            return [reason]
    counts = COUNTS.fullmatch(line)
    if counts is None:
        return []
    left = [counted("" if text == "none" else text) for text in counts.groups()]
    found = []
    for reason in fitting:
        swap = counted(reason.theirs), counted(reason.ours)
        while any(swap) and all(part <= whole for part, whole in zip(swap, left)):
            left = [whole - part for part, whole in zip(swap, left)]
            found.append(reason)
    return [] if any(left) else found


def compare(cases: Sequence[ProviderCase], folder: Path) -> Iterator[MappingRow]:
    """Run cases in the provider, each a model of ``folder``, and compare what either side creates."""
    captures = folder / "captures"
    for number, case in enumerate(cases):
        (folder / f"{number}.onnx").write_bytes(case.model.SerializeToString())
        write(folder / f"{number}.in", case.inputs)
    variables = {"DIRECTML_PY_CAPTURE": str(captures)}
    outcomes = wine_batches.run(folder, range(len(cases)), "dml", variables=variables)
    created = list(_sessions(captures))
    if len(created) != len(cases):
        raise RuntimeError(f"{len(cases)} models made {len(created)} queues")
    for number, (case, theirs) in enumerate(zip(cases, created)):
        kinds = tuple(sorted({node.op_type for node in case.model.graph.node}))
        outcome = outcomes[number]
        if not theirs:
            verdict = FAILED if outcome.status != wine_batches.DONE else CPU
            yield MappingRow(case.title, kinds, verdict, (outcome.why[:200],) if outcome.why else ())
        else:
            yield _row(case, kinds, theirs)
    for path in (*folder.glob("*.onnx"), *folder.glob("*.in"), *folder.glob("*.out"), *captures.iterdir()):
        path.unlink()


def _sessions(captures: Path) -> Iterator[list[CreatedOperator]]:
    """The operators of each session, whose first act is to create a queue, in the order of the sessions."""
    for path in sorted(captures.glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns):
        session: list[CreatedOperator] | None = None
        with path.open(encoding="utf-8", errors="replace") as events:
            for line in events:
                if line.startswith('{"event":"queue"'):
                    if session is not None:
                        yield session
                    session = []
                elif line.startswith('{"event":"operator"') and line.endswith("\n") and session is not None:
                    session += operators_of(json.loads(line))
        if session is not None:
            yield session


def operators_of(event: dict[str, Any]) -> list[CreatedOperator]:
    nodes = event["graph"]["nodes"] if "graph" in event else [event]
    return [CreatedOperator(node["operator"], node["desc"]) for node in nodes if "operator" in node]


def operators_here(case: ProviderCase) -> list[CreatedOperator]:
    """Those of this package. Raises ``OnnxError``."""
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in case.inputs}
    model, _ = built_for(ModelFile(case.model), device_of(None), arrays, DIRECTML)
    if not model.graph.outputs:
        return []
    return operators_of(describe_operator(model.compiled.operator, lambda data: 0))


def _row(case: ProviderCase, kinds: tuple[str, ...], theirs: list[CreatedOperator]) -> MappingRow:
    try:
        ours = operators_here(case)
    except OnnxError as error:
        return MappingRow(case.title, kinds, REFUSED, (error.reason,))
    if not ours:
        return MappingRow(case.title, kinds, HOST, (_listed(theirs),))
    if not (lines := tuple(differences(theirs, ours))):
        return MappingRow(case.title, kinds, SAME)
    if not (told := tuple(differences(map(stripped, theirs), map(stripped, ours)))):
        return MappingRow(case.title, kinds, RANKS, lines)
    others = any(line.startswith("operators") for line in told)
    return MappingRow(case.title, kinds, OPERATORS if others else DESCS, told)


def differences(theirs: Iterable[CreatedOperator], ours: Iterable[CreatedOperator]) -> Iterator[str]:
    """A line for each operator that only one side has, and for each field that differs in an operator of both."""
    left, right = list(map(_plain, theirs)), list(map(_plain, ours))
    for one in list(left):
        if one in right:
            left.remove(one)
            right.remove(one)
    for one in list(left):
        other = next((other for other in right if other.name == one.name), None)
        if other is not None:
            left.remove(one)
            right.remove(other)
            yield from _fields(one.name, one.desc, other.desc)
    if left or right:
        yield f"operators: the provider has {_listed(left) or 'none'}, this package {_listed(right) or 'none'}"


def _listed(operators: Iterable[CreatedOperator]) -> str:
    counts = Counter(one.name for one in operators)
    return " + ".join(f"{count} {name}" if count > 1 else name for name, count in sorted(counts.items()))


def _plain(one: CreatedOperator) -> CreatedOperator:
    """Without who owns a tensor, which follows from what is constant, and without fields that say nothing."""
    desc: dict[str, Any] = _without_flags(one.desc)
    if desc.get("ScaleBias") == {"Scale": 1.0, "Bias": 0.0}:
        del desc["ScaleBias"]
    if "Beta" in desc and "CTensor" not in desc:
        del desc["Beta"]
    return CreatedOperator(one.name, desc)


def _without_flags(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _without_flags(field)
            for name, field in value.items()
            if name != "Flags" and field is not None
        }
    return [_without_flags(one) for one in value] if isinstance(value, list) else value


def stripped(one: CreatedOperator) -> CreatedOperator:
    """Without the leading dimensions of size 1 that all its tensors of the highest rank have, and without strides that
    say nothing."""
    tensors = list(_tensors(one.desc))
    rank = max((len(tensor["Sizes"]) for tensor in tensors), default=0)
    highest = [tensor["Sizes"] for tensor in tensors if len(tensor["Sizes"]) == rank]
    count = min((_leading_ones(sizes) for sizes in highest), default=0)
    desc: dict[str, Any] = _stripped(one.desc, count, rank)
    for name in ("Axis", "Axes"):
        if isinstance(desc.get(name), int):
            desc[name] -= count
        elif isinstance(desc.get(name), list):
            desc[name] = [axis - count for axis in desc[name] if axis >= count]
    return CreatedOperator(one.name, desc)


def _tensors(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict) and "Sizes" in value:
        yield value
    elif isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _tensors(one)


def _leading_ones(sizes: list[int]) -> int:
    return next((index for index, size in enumerate(sizes) if size != 1), len(sizes))


def _stripped(value: Any, count: int, rank: int) -> Any:
    if isinstance(value, list):
        return [_stripped(one, count, rank) for one in value]
    if not isinstance(value, dict):
        return value
    if "Sizes" not in value:
        return {name: _stripped(field, count, rank) for name, field in value.items()}
    cut = max(0, count - (rank - len(value["Sizes"])))
    sizes = value["Sizes"][cut:]
    packed = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    strides = (value.get("Strides") or [0] * cut + packed)[cut:]
    told = [0 if size == 1 else stride for size, stride in zip(sizes, strides)]
    plain = [0 if size == 1 else stride for size, stride in zip(sizes, packed)]
    return value | {"Sizes": sizes, "Strides": None if told == plain else told}


def _fields(path: str, one: Any, other: Any) -> Iterator[str]:
    if one == other:
        return
    if isinstance(one, dict) and isinstance(other, dict):
        for name in dict.fromkeys((*one, *other)):
            yield from _fields(f"{path}.{name}", one.get(name), other.get(name))
    elif (
        isinstance(one, list)
        and isinstance(other, list)
        and len(one) == len(other)
        and isinstance(one[0], dict)
    ):
        for index, (left, right) in enumerate(zip(one, other)):
            yield from _fields(f"{path}[{index}]", left, right)
    else:
        yield f"{path}: the provider has {_shown(one)}, this package {_shown(other)}"


def _shown(value: Any) -> str:
    return "none" if value is None else json.dumps(value, separators=(",", ":"))
