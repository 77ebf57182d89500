"""The operators of random programs."""

from __future__ import annotations

from collections.abc import Callable

from directml_py.api.enums import (
    DML_REDUCE_FUNCTION_LOG_SUM_EXP,
    DML_TENSOR_DATA_TYPE_FLOAT32,
    DML_TENSOR_FLAG_NONE,
    DML_TENSOR_FLAG_OWNED_BY_DML,
)
from directml_py.api.operator_descs import (
    DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC,
    DML_JOIN_OPERATOR_DESC,
    DML_REDUCE_OPERATOR_DESC,
)
from directml_py.api.structs import DML_SCALE_BIAS, DML_TENSOR_DESC
from directml_py.descs import tensor_desc
from directml_py.dml import IDMLCompiledOperator
from directml_py.graph import Graph
from directml_py.session import Session

from . import program_values as v


def _tensor(size: int, flags: int = DML_TENSOR_FLAG_NONE) -> DML_TENSOR_DESC:
    return tensor_desc(DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 1, size], flags=flags)


def _identity(size: int) -> Callable[[Session], IDMLCompiledOperator]:
    def compiled(session: Session) -> IDMLCompiledOperator:
        scale = DML_SCALE_BIAS(2.0, 1.0)
        return session.compile(DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(_tensor(size), _tensor(size), scale))

    return compiled


def _join(flags: int) -> Callable[[Session], IDMLCompiledOperator]:
    def compiled(session: Session) -> IDMLCompiledOperator:
        parts = [_tensor(4), _tensor(4, flags)]
        return session.compile(DML_JOIN_OPERATOR_DESC(InputTensors=parts, OutputTensor=_tensor(8), Axis=3))

    return compiled


def _sum(session: Session) -> IDMLCompiledOperator:
    function = DML_REDUCE_FUNCTION_LOG_SUM_EXP
    return session.compile(DML_REDUCE_OPERATOR_DESC(function, _tensor(4), _tensor(1), Axes=[3]))


def _graph(session: Session) -> IDMLCompiledOperator:
    graph = Graph(session.dml)
    ends = [graph.input_tensor(name, DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 1, 4]) for name in "ab"]
    largest = graph.reduce(ends[0], function=DML_REDUCE_FUNCTION_LOG_SUM_EXP, axes=[3])
    return graph.compile({"joined": graph.join([largest, ends[1] * 2], axis=3)}).operator


DESCS: dict[str, Callable[[Session], IDMLCompiledOperator]] = {
    "scale 4": _identity(4),
    "scale 8": _identity(8),
    "join": _join(DML_TENSOR_FLAG_NONE),
    "join with weights": _join(DML_TENSOR_FLAG_OWNED_BY_DML),
    "sum": _sum,
    "graph": _graph,
}
_TENSORS: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "scale 4": ((16,), (16,)),
    "scale 8": ((32,), (32,)),
    "join": ((16, 16), (32,)),
    "join with weights": ((16,), (32,)),
    "sum": ((16,), (4,)),
    "graph": ((16, 16), (20,)),
}


def kinds(session: Session) -> tuple[v.OperatorKind, ...]:
    """The kinds, with the sizes of their temporary and persistent resources on this device."""
    operator_kinds = []
    for name, (inputs, outputs) in _TENSORS.items():
        op = DESCS[name](session)
        needs = op.GetBindingProperties()
        initializer = session.dml.CreateOperatorInitializer([op]).GetBindingProperties()
        operator_kinds.append(
            v.OperatorKind(
                name,
                inputs,
                outputs,
                name.startswith("scale"),
                (16,) if name.endswith("weights") else (),
                needs.TemporaryResourceSize,
                needs.PersistentResourceSize,
                initializer.TemporaryResourceSize,
            )
        )
    return tuple(operator_kinds)
