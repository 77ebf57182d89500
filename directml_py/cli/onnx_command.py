"""``python -m directml_py onnx``: what becomes of an ONNX model, and what it computes."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from ..api.enums import DML_FEATURE_LEVEL
from ..text.terminal import track

if TYPE_CHECKING:
    from ..onnx.budget import Limits
    from ..onnx.errors import OpenSizes
    from ..onnx.explaining import Explanation
    from ..onnx.onnx_model import Model

HELP = "Show which DirectML operators an ONNX model becomes; run it, compare it with ONNX Runtime, save it."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="an .onnx file")
    parser.add_argument(
        "--input",
        metavar="NAME=SIZES",
        action="append",
        default=[],
        help=(
            "sizes of an input that the model leaves open, such as image=1,3,224,224, or the value of a "
            "symbolic dimension, such as batch=1"
        ),
    )
    parser.add_argument(
        "--level",
        metavar="LEVEL",
        help="the DirectML feature level, such as 5.0 (default: the newest)",
    )
    parser.add_argument(
        "--semantics",
        choices=("onnx", "directml"),
        default="onnx",
        help=(
            "whose results are wanted where they differ: ONNX's (default), or those of ONNX Runtime's DirectML "
            "provider"
        ),
    )
    parser.add_argument(
        "--external-data",
        metavar="FOLDER",
        type=Path,
        help="where to look for files of external data that are not beside the model",
    )
    parser.add_argument(
        "--limit",
        metavar="NAME=NUMBER",
        action="append",
        default=[],
        help="what reading the model may compute: bytes=NUMBER of arrays, steps=NUMBER of nodes and rounds of loops",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--svg", metavar="OUT", type=Path, help="write a picture of the graph")
    parser.add_argument(
        "--run", metavar="INPUTS.npz", type=Path, help="run the model on arrays by input name"
    )
    parser.add_argument("--output", metavar="OUT.npz", type=Path, help="with --run: write the results")
    parser.add_argument(
        "--compare", action="store_true", help="with --run: compare with ONNX Runtime on the CPU"
    )
    parser.add_argument(
        "--every-node",
        action="store_true",
        help="with --compare: also compare what each node computes, in order",
    )
    parser.add_argument(
        "--save", metavar="OUT", type=Path, help="write the serialized graph, and its constants beside it"
    )
    parser.add_argument(
        "--cpp",
        metavar="OUT",
        type=Path,
        help="write a C++ program that builds and runs the graph, and its constants beside it",
    )


def run(arguments: argparse.Namespace) -> int:
    """The exit code: 0; 1 if a node is refused or an output cannot be written; 2 for bad arguments and models."""
    try:
        from ..onnx.errors import OnnxError, OpenSizes
    except ImportError as error:
        return _wrong(str(error))
    try:
        _check(arguments)
        level, arrays = _level(arguments.level), _arrays(arguments.run)
        fixed: set[str] = set()
        bindings = {**{name: array.shape for name, array in arrays.items()}, **_bindings(arguments.input)}
        explanation = _explained(arguments, level, bindings)
        while explanation.needed & (arrays.keys() - fixed):
            fixed |= explanation.needed & arrays.keys()
            bindings |= {name: arrays[name] for name in fixed}
            explanation = _explained(arguments, level, bindings)
        _print(explanation, arguments.json)
        if explanation.refused:
            return 1
        _write(explanation.model, arguments)
        if arguments.run is not None:
            _run(explanation.model, arrays, arguments, level)
    except OpenSizes as error:
        return _wrong(_open_sizes(error))
    except (OnnxError, ValueError, TypeError, ImportError) as error:
        return _wrong(str(error))
    except OSError as error:
        if error.filename is None:
            # Of the output, which `main` reports.
            raise
        return _wrong(f"{error.filename or arguments.model}: {error.strerror or error}")
    return 0


def _wrong(text: str) -> int:
    print(f"onnx: {text}", file=sys.stderr)
    return 2


def _check(arguments: argparse.Namespace) -> None:
    """Raises ``ValueError`` for an option that only means something beside another one."""
    for option, other in (("output", "run"), ("compare", "run"), ("every_node", "compare")):
        if getattr(arguments, option) and not getattr(arguments, other):
            value = " INPUTS.npz" if other == "run" else ""
            raise ValueError(f"--{option.replace('_', '-')} needs --{other}{value}")


def _open_sizes(error: OpenSizes) -> str:
    """What to type, where the exception says what to write in Python."""
    if error.sizes is None:
        return f"{error.file}: input {error.name!r} has no sizes; give them: --input {error.name}=SIZES"
    from ..onnx.errors import shown_sizes

    sizes = ",".join(str(size) if isinstance(size, int) else "N" for size in error.sizes)
    advice = f"--input {error.name}={sizes}"
    names = dict.fromkeys(size for size in error.sizes if isinstance(size, str))
    if None not in error.sizes:
        advice += f" or {' '.join(f'--input {name}=N' for name in names)}"
    return f"{error.file}: input {error.name!r} has sizes {shown_sizes(error.sizes)}; give numbers: {advice}"


def _level(text: str | None) -> int | None:
    if text is None:
        return None
    name = f"DML_FEATURE_LEVEL_{text.replace('.', '_')}"
    if name not in DML_FEATURE_LEVEL.__members__:
        raise ValueError(f"--level is {text!r}, which is not a feature level")
    return DML_FEATURE_LEVEL[name]


def _arrays(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except (ValueError, TypeError, EOFError, BadZipFile):
        raise ValueError(f"--run is {path}, which is not an .npz file of arrays") from None


def _limits(texts: Sequence[str]) -> Limits:
    from ..onnx import Limits

    numbers: dict[str, int] = {}
    for text in texts:
        name, _, number = text.partition("=")
        if name not in Limits._fields or not number.isdecimal():
            names = " or ".join(f"{field}=NUMBER" for field in Limits._fields)
            raise ValueError(f"--limit is {text!r}; it must be {names}")
        numbers[name] = int(number)
    return Limits(**numbers)


def _bindings(texts: Sequence[str]) -> dict[str, Any]:
    bindings: dict[str, Any] = {}
    for text in texts:
        name, _, sizes = text.rpartition("=")
        try:
            numbers = [int(size) for size in sizes.split(",") if size.strip()]
        except ValueError:
            numbers = []
        if not name or (not numbers and sizes):
            raise ValueError(f"--input is {text!r}; it must be NAME=SIZES, such as image=1,3,224,224")
        bindings[name] = numbers[0] if len(numbers) == 1 and "," not in sizes else numbers
    return bindings


def _explained(arguments: argparse.Namespace, level: int | None, bindings: dict[str, Any]) -> Explanation:
    from ..onnx.explaining import explain

    def progress(nodes: Sequence[Any]) -> Any:
        return track(nodes, "nodes", len(nodes))

    return explain(arguments.model, level, bindings, progress, **_settings(arguments))


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """What is asked for besides, as ``explain`` and ``differences`` take it."""
    return {
        "semantics": arguments.semantics,
        "external_data": arguments.external_data,
        "limits": _limits(arguments.limit),
    }


def _print(explanation: Explanation, as_json: bool) -> None:
    rows, model = explanation.rows, explanation.model
    if as_json:
        document = {
            "inputs": {name: list(value.shape) for name, value in model.inputs.items()},
            "outputs": {name: list(value.shape) for name, value in model.outputs.items()},
            "nodes": [row._asdict() for row in rows],
        }
        print(json.dumps(document, indent=1))
        return
    names = max((len(row.node) for row in rows), default=0)
    kinds = max((len(row.kind) for row in rows), default=0)
    for row in rows:
        print(f"{row.node:{names}}  {row.kind:{kinds}}  {row}")
    count = len(explanation.refused)
    operators = sum(len(row.operators) for row in rows)
    print(f"{len(rows)} nodes: {operators} DirectML operators, {count} refused")


def _write(model: Model, arguments: argparse.Namespace) -> None:
    if arguments.svg is not None:
        arguments.svg.write_text(model.graph.to_svg(), encoding="utf-8")
    paths = [] if arguments.save is None else model.save(arguments.save)
    paths += [] if arguments.cpp is None else model.save_cpp(arguments.cpp)
    for path in paths:
        print(path, file=sys.stderr if arguments.json else sys.stdout)


def _run(model: Model, arrays: dict[str, Any], arguments: argparse.Namespace, level: int | None) -> None:
    # An input whose contents determined the graph is a constant in it.
    results: dict[str, Any] = model.run({name: arrays[name] for name in arrays if name in model.inputs})
    lines = [f"{name}: {array.dtype.name} {list(array.shape)}" for name, array in results.items()]
    if arguments.output is not None:
        np.savez(arguments.output, **results)
    if arguments.compare:
        from ..onnx.comparing import differences

        found = differences(arguments.model, arrays, level, arguments.every_node, **_settings(arguments))
        lines = list(map(str, found))
    print("\n".join(lines), file=sys.stderr if arguments.json else sys.stdout)
