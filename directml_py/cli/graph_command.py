"""``python -m directml_py graph``: shows a serialized graph or a DxDispatch model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..capturing import is_capture
from ..graph.graph import Graph
from ..graph.pictures.sketch import Fate, sketch
from ..text.terminal import shown

HELP = "Show the nodes of a serialized graph or a DxDispatch model and the compiled plan, as text or as a picture."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a serialized graph, as dxdispatch.save_graph writes it, or a DxDispatch model",
    )
    parser.add_argument("--svg", metavar="OUT", help="write a picture; - writes it to the standard output")
    parser.add_argument("--dot", metavar="OUT", help="write the graph in Graphviz's DOT language; - as above")


def run(arguments: argparse.Namespace) -> int:
    """The exit code: 0, 1 if a picture cannot be written, 2 if the file cannot be read."""
    from ..dxdispatch.graph_values import ModelError, graph_in

    try:
        graph = graph_in(Path(arguments.file))
    except ModelError as error:
        print(f"graph: {arguments.file}: {shown(str(error))}", file=sys.stderr)
        return 2
    except OSError as error:
        if is_capture(Path(arguments.file)):
            text = f"{arguments.file} is a capture; `capture export` writes one of its dispatches as a model"
        else:
            text = f"cannot read {arguments.file}: {error.strerror or error}"
        print(f"graph: {text}", file=sys.stderr)
        return 2
    if arguments.svg is None and arguments.dot is None:
        return _write("-", shown(summary(graph)) + "\n")
    codes = []
    if arguments.svg is not None:
        codes.append(_write(arguments.svg, graph.to_svg()))
    if arguments.dot is not None:
        codes.append(_write(arguments.dot, graph.to_dot()))
    return max(codes)


def _write(target: str, text: str) -> int:
    if target == "-":
        # Names may be any Unicode, and the picture declares itself UTF-8.
        sys.stdout.flush()
        binary = getattr(sys.stdout, "buffer", None)
        sys.stdout.write(text) if binary is None else binary.write(text.encode())
        return 0
    try:
        Path(target).write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"graph: cannot write {target}: {error.strerror or error}", file=sys.stderr)
        return 1
    return 0


def summary(graph: Graph) -> str:
    """A summary of the graph: one line for each input, step and output."""
    drawn = sketch(graph)
    lines = []
    for figure in drawn.figures:
        tensors = ", ".join(str(tensor) for tensor in (figure.outputs or figure.inputs))
        together = f" in step {figure.step}" if figure.fate is Fate.FUSED else ""
        fate = "" if figure.fate is Fate.EXECUTED else f" ({figure.fate.value}{together})"
        name = figure.name.replace("\n", "\\n")
        lines.append(f"{name + ':':24} {' '.join(figure.lines)} -> {tensors}{fate}")
    if drawn.plan is not None:
        lines.append(f"{'temporary memory:':24} {drawn.plan.temporary_size} bytes")
    if drawn.problem:
        lines.append(f"not compiled: {drawn.problem}")
    return "\n".join(lines)
