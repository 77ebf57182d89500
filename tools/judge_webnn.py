"""WebNN's conformance cases, as graphs of this package's operators.

    python tools/judge_webnn.py FOLDER...            # a table by operator of WebNN
    python tools/judge_webnn.py FOLDER --details     # also each case that differs or is not lowered
    python tools/judge_webnn.py FOLDER... --save     # also the figures that docs/inside/fidelity.md shows

FOLDER is ``webnn/conformance_tests`` of web-platform-tests (JavaScript), or one of JSON converted from it, or
``webnn/resources/test_data`` of 2024. A case's inputs become graph inputs or constants as it says, and its
results are compared within the tolerances that web-platform-tests has for its operators. A case that several files have
counts once. The exit code is 1 if one differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
from judging.webnn.cases import Unread, WebnnCase, read
from judging.webnn.lowering import Lowering, NotLowered, lower
from judging.webnn.wpt_tolerances import is_within, tolerance

from directml_py.abi.hresult import DMLError
from directml_py.graph.nodes import OperatorNode

VERDICTS = ("agree", "differ", "wrong case", "not lowered", "not read")
# By name: cases whose expected values are wrong, or that leave few digits of FLOAT32, with what the exact result is.
WRONG_CASES = {
    "l2Pool2d float32 4D tensor options.roundingType=ceil": "the last windows lack their square root",
    "l2Pool2d float32 4D tensor options.outputSizes ignores options.roundingType=floor": "the same windows",
    "batchNormalization options.axis=0 + gelu": "it is -0.0359513",
    "gru float32 tensors steps=2 with options.bias, options.recurrentBias, options.direction='both' and "
    "options.returnSequence=true": "of sums around 25, -2.2133147 is left: the case is 5 ULP from it",
}
SEVERAL = "graphs of several"
FIGURES = Path(__file__).parent / "judging" / "webnn" / "last_run.json"


class WebnnVerdict(NamedTuple):
    """``nodes`` are the names of the DirectML operators of a graph."""

    operator: str
    case: str
    verdict: str
    why: str = ""
    nodes: frozenset[str] = frozenset()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--details", action="store_true", help="print each case that does not agree")
    parser.add_argument(
        "--save", action="store_true", help=f"write {FIGURES.name}, which the page is made of"
    )
    arguments = parser.parse_args()
    verdicts = list(judge(arguments.folders))
    show(verdicts, arguments.details)
    if arguments.save:
        save(verdicts)
    return 1 if any(one.verdict == "differ" for one in verdicts) else 0


def judge(folders: Iterable[Path]) -> Iterable[WebnnVerdict]:
    known: set[str] = set()
    for folder in folders:
        if not folder.is_dir():
            raise SystemExit(f"{folder} is no folder")
        for path in sorted(folder.iterdir()):
            for case in read(path) if path.suffix in (".js", ".json") else ():
                content = digest(case)
                if content not in known:
                    known.add(content)
                    yield verdict_of(path, case)


def digest(case: WebnnCase | Unread) -> str:
    """That of what a case says, whatever the names of it and of its operands."""
    if isinstance(case, Unread):
        return case.name
    operands = [*case.inputs.items(), *case.outputs.items()]
    parts = [(one.data_type, one.array.shape, one.array.tobytes(), one.is_constant) for _, one in operands]
    calls = repr([(call.name, call.arguments, sorted(call.options.items())) for call in case.calls])
    for index, (name, _) in enumerate(operands):
        calls = calls.replace(repr(name), f"#{index}")
    return sha256(repr((calls, parts)).encode()).hexdigest()


def verdict_of(path: Path, case: WebnnCase | Unread) -> WebnnVerdict:
    if isinstance(case, Unread):
        return WebnnVerdict(path.name.split(".")[0], case.name, "not read", case.why)
    names = {call.name for call in case.calls}
    operator = names.pop() if len(names) == 1 else SEVERAL
    try:
        lowered = lower(case)
        wrong = differences(case, lowered)
    except (NotLowered, DMLError) as error:
        return WebnnVerdict(operator, case.name, "not lowered", str(error))
    if not wrong:
        return WebnnVerdict(operator, case.name, "agree", nodes=nodes_of(lowered))
    if case.name in WRONG_CASES:
        return WebnnVerdict(operator, case.name, "wrong case", f"{wrong}: {WRONG_CASES[case.name]}")
    return WebnnVerdict(operator, case.name, "differ", wrong)


def nodes_of(lowered: Lowering) -> frozenset[str]:
    return frozenset(
        node.operator.desc.name for node in lowered.graph.nodes if isinstance(node, OperatorNode)
    )


def differences(case: WebnnCase, lowered: Lowering) -> str:
    """What is wrong with a case's results; empty if nothing is. Raises ``DMLError``."""
    compiled = lowered.graph.compile({name: value.x for name, value in lowered.outputs.items()})
    fed = {graph_input.name for graph_input in lowered.graph.inputs.values()}
    results = compiled.run(
        {
            name: operand.array.reshape(operand.array.shape or (1,))
            for name, operand in case.inputs.items()
            if name in fed
        }
    )
    shapes = {name: value.shape for name, value in lowered.values.items()}
    for name, expected in case.outputs.items():
        shape = lowered.outputs[name].shape
        if shape != expected.array.shape:
            return f"{name} has shape {shape}, not {expected.array.shape}"
        found = results[name].reshape(shape)
        allowed = tolerance(case, shapes, expected.data_type)
        if found.dtype != expected.array.dtype:
            return f"{name} has elements of {found.dtype}, not {expected.array.dtype}"
        within = is_within(found, expected.array, allowed)
        if not within.all():
            at = np.unravel_index(int(np.argmin(within)), within.shape)
            unit = "" if allowed.is_absolute else " ULP"
            return (
                f"{name}{list(map(int, at))} is {found[at]}, not {expected.array[at]} within "
                f"{allowed.value:g}{unit}; {np.count_nonzero(~within)} of {within.size}"
            )
    return ""


def show(verdicts: list[WebnnVerdict], details: bool) -> None:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in verdicts:
        counts[one.operator][one.verdict] += 1
    print("| Operator | Cases |" + "".join(f" {verdict.capitalize()} |" for verdict in VERDICTS))
    print("| --- " * (2 + len(VERDICTS)) + "|")
    rows = [*sorted(counts.items()), ("all", sum(counts.values(), Counter()))]
    for operator, row in rows:
        cells = [row.total(), *(row[verdict] or "" for verdict in VERDICTS)]
        print(f"| {operator} | {' | '.join(map(str, cells))} |")
    if details:
        for one in verdicts:
            if one.verdict != "agree":
                print(f"{one.operator}: {one.case}: {one.verdict}: {one.why}")
        return
    reasons = Counter((one.verdict, one.operator, one.why.splitlines()[0]) for one in verdicts if one.why)
    for (verdict, operator, why), count in reasons.items():
        print(f"{operator}: {verdict}: {why} ({count})")


def save(verdicts: list[WebnnVerdict]) -> None:
    """The counts of verdicts, and for each operator of DirectML of the agreeing cases that it is a node of. IDENTITY
    is in each of them, as a copy."""
    nodes = Counter(name for one in verdicts for name in one.nodes if name != "ELEMENT_WISE_IDENTITY")
    counts = Counter(one.verdict for one in verdicts)
    figures = {
        "verdicts": {verdict: counts[verdict] for verdict in VERDICTS},
        "agree": dict(sorted(nodes.items())),
    }
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
