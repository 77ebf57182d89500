"""Sources of operators: files with a desc, recorded cases, a graph or a DxDispatch model, and captures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..capturing import event_types as e
from ..capturing.parser import read_capture
from ..capturing.replay_state import ReplayState
from ..descs.desc_json import operator_schema, read_operator
from ..descs.operator_desc import OperatorDesc
from ..dml import IDMLCompiledOperator
from ..dml.compiler.graph_program import GraphProgram
from ..dxdispatch.graph_values import graph_in
from ..dxdispatch.model_files import ModelError
from ..graph.nodes import OperatorNode
from ..storage import read_regular
from ..text.json_reading import Item, JsonError, read_json
from .recorded_cases import Case, read_cases

Array = npt.NDArray[Any]


class SourceError(ValueError):
    """A file has no operators, or cannot be read."""


class SourceOperator(NamedTuple):
    """An operator with its name in the file; ``inputs`` is None if the file has none. ``case`` is the recorded case
    that it comes from, if any."""

    name: str
    desc: OperatorDesc
    inputs: Sequence[Array | None] | None = None
    case: Case | None = None


def operators_in(path: Path) -> Iterator[SourceOperator]:
    """The operators in a file or in a capture's folder. Raises ``OSError`` and ``SourceError``."""
    try:
        if path.is_dir():
            yield from _of_capture(path)
        elif path.name.endswith((".jsonl", ".jsonl.gz")):
            yield from (SourceOperator(case.name, case.desc, case.inputs, case) for case in read_cases(path))
        else:
            yield from _of_file(path)
    except ValueError as error:
        raise SourceError(str(error)) from None


def _of_file(path: Path) -> Iterator[SourceOperator]:
    try:
        top = read_json(read_regular(path))
    except JsonError:
        top = None
    if isinstance(top, dict) and "operator" in top:
        members = Item(path, "", top).fields({"operator", "desc"})
        schema = operator_schema(members["operator"])
        yield SourceOperator(schema.name, read_operator(schema, members["desc"]))
        return
    try:
        nodes = graph_in(path).nodes
    except ModelError as error:
        raise SourceError(f"{path}: {error}") from None
    yield from (SourceOperator(node.name, node.desc) for node in nodes if isinstance(node, OperatorNode))


def _of_capture(folder: Path) -> Iterator[SourceOperator]:
    """Each distinct operator of a capture, with the inputs of its first dispatch; without inputs in graphs."""
    visited: set[OperatorDesc] = set()
    for log in read_capture(folder):
        state = ReplayState(log)
        for _, command in log.ran:
            state.find(command)
            if isinstance(command.what, e.DispatchEvent) and command.what.dispatchable.op is not None:
                dispatch = command.what
                for desc, inputs in _of_dispatch(state, dispatch, command.what.dispatchable.op):
                    if desc not in visited:
                        visited.add(desc)
                        yield SourceOperator(f"dispatch {dispatch.number}", desc, inputs)
            state.leave(command)


def _of_dispatch(
    state: ReplayState, dispatch: e.DispatchEvent, op: IDMLCompiledOperator
) -> Iterator[tuple[OperatorDesc, Sequence[Array | None] | None]]:
    if isinstance(op.program, GraphProgram):
        for node in op.program.graph.nodes:
            if node is not None and node.desc is not None:
                yield node.desc, None
    elif op.op is not None:
        arrays: dict[int, Array] = {
            operand.slot.position: operand.tensor.load(np.ascontiguousarray(operand.bytes))
            for operand in state.operands(dispatch)
            if operand.slot.kind == "input"
        }
        present = [index for index, slot in enumerate(op.inputs) if slot.tensor is not None]
        is_whole = all(index in arrays for index in present)
        yield op.op.desc, [arrays.get(index) for index in range(len(op.inputs))] if is_whole else None
