"""Valid descs of the operators that execute, built from the support tables and the pages' rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..abi.schema import OperatorSchema, Support, TensorSupport
from ..api.enums import (
    DML_AXIS_DIRECTION,
    DML_FEATURE_LEVEL,
    DML_REDUCE_FUNCTION,
    DML_REDUCE_FUNCTION_ARGMAX,
    DML_REDUCE_FUNCTION_ARGMIN,
    DML_TENSOR_DATA_TYPE,
    DML_TENSOR_FLAG_NONE,
    DML_TENSOR_FLAG_OWNED_BY_DML,
)
from ..api.schema_data import OPERATORS as SCHEMAS_BY_TYPE
from ..api.schema_data import STRUCTS
from ..descs.sizes import packed_strides
from ..descs.tensor import TensorDesc
from ..descs.values import OperatorDesc, Record
from ..operators import OPERATORS
from ..operators.gather import gathered_sizes
from .source import Source

HIGHEST = max(DML_FEATURE_LEVEL)
SCHEMAS = {schema.name: schema for schema in SCHEMAS_BY_TYPE.values() if schema.name in OPERATORS}
FUNCTIONS = tuple(DML_REDUCE_FUNCTION)
ARG_FUNCTIONS = (
    DML_REDUCE_FUNCTION_ARGMAX,
    DML_REDUCE_FUNCTION_ARGMIN,
)
OWNED = DML_TENSOR_FLAG_OWNED_BY_DML
NO_FLAGS = DML_TENSOR_FLAG_NONE
MAX_ELEMENTS = 1 << 12

Fields = dict[str, Any]


def operators_at(level: int) -> tuple[str, ...]:
    """The names of the executing operators that ``level`` has."""
    return tuple(sorted(name for name, schema in SCHEMAS.items() if schema.level <= level))


def check_operator_name(operator: str | None, names: Sequence[str]) -> None:
    if operator is not None and operator not in names:
        raise ValueError(f"operator must be one of {', '.join(names)} at this feature level, not {operator}")


def make_desc(name: str, fields: Mapping[str, Any]) -> OperatorDesc:
    """The desc of the operator ``name``; counts are filled in from their arrays."""
    schema = SCHEMAS[name]
    counts = {entry.counted_by: len(fields[entry.name]) for entry in schema.struct.fields if entry.counted_by}
    return OperatorDesc(
        schema,
        tuple(counts[e.name] if e.name in counts else fields[e.name] for e in schema.struct.fields),
    )


def support_table(schema: OperatorSchema, level: int, attributes: Mapping[str, Any]) -> Support:
    """The table of ``schema`` that ``level`` has for these attributes. Raises ``ValueError`` if it has none."""
    found = [
        table
        for table in schema.support
        if table.level <= level and all(attributes[name] in values for name, values in table.when.items())
    ]
    return max(found, key=lambda table: table.level)


def valid_desc(
    source: Source,
    operator: str | None = None,
    feature_level: int = HIGHEST,
    max_elements: int = MAX_ELEMENTS,
) -> OperatorDesc:
    """A desc that is valid at ``feature_level``, of ``operator`` (JOIN) or of any that executes there.

    No tensor has more than ``max_elements`` elements. Raises ``ValueError`` for an operator that does not execute
    or that the level lacks.
    """
    names = operators_at(feature_level)
    check_operator_name(operator, names)
    name = source.choice(names) if operator is None else operator
    return make_desc(name, BUILDERS[name](Maker(source, SCHEMAS[name], feature_level, max_elements)))


class Maker:
    """Decides sizes, data types and layouts within the support table of one operator."""

    def __init__(self, source: Source, schema: OperatorSchema, level: int, max_elements: int) -> None:
        self.source = source
        self.schema = schema
        self.level = level
        self.max_elements = max_elements

    def tensors(self, **attributes: Any) -> Mapping[str, TensorSupport]:
        """What the tensors may be, for these attribute values."""
        return support_table(self.schema, self.level, attributes).tensors

    def shape(self, rank: int, share: int = 1) -> list[int]:
        """Sizes with at most ``max_elements // share`` elements."""
        left = max(1, self.max_elements // share)
        sizes = [1] * rank
        for dimension in self.source.permutation(rank):
            most = left if self.source.chance(10) else min(left, 5)
            sizes[dimension] = self.source.integer(1, most)
            left //= sizes[dimension]
        return sizes

    def tensor(self, data_type: int, sizes: Sequence[int], is_output: bool = False) -> TensorDesc:
        """A tensor in any layout that its role allows."""
        source = self.source
        data_type = DML_TENSOR_DATA_TYPE(data_type)
        packed = TensorDesc(data_type, tuple(sizes), self.strides(sizes, is_output))
        if not source.chance(40):
            return packed
        element = max(1, packed.element_bits // 8)
        return TensorDesc(
            data_type,
            packed.sizes,
            packed.strides,
            OWNED if not is_output and source.chance(40) else NO_FLAGS,
            packed.minimum_size + 4 * source.choice((0, 1, 16, 1000)),
            source.choice((0, element, 2 * element, 16 * element, 256)),
        )

    def strides(self, sizes: Sequence[int], is_output: bool) -> tuple[int, ...] | None:
        source = self.source
        kind = source.integer(0, 9)
        if kind < 4:
            return None
        if kind == 4:
            return packed_strides(sizes)
        if kind == 5 and not is_output:
            return tuple(source.integer(0, 9) for _ in sizes)
        strides = [0] * len(sizes)
        step = source.integer(1, 3)
        for dimension in source.permutation(len(sizes)):
            strides[dimension] = step
            step = step * sizes[dimension] + source.integer(0, 2)
        for dimension, size in enumerate(sizes):
            if (size == 1 or not is_output) and source.chance(20):
                # The stride of a size of 1 does not matter; elsewhere 0 broadcasts.
                strides[dimension] = 0 if size > 1 else source.choice((0, 1, 7, 0xFFFFFFFF))
        return tuple(strides)

    def axes(self, rank: int) -> tuple[int, ...]:
        """At least one axis, each once, in any order."""
        return tuple(self.source.permutation(rank)[: self.source.integer(1, rank)])


def _parts(maker: Maker, whole: str, parts: str, parts_are_outputs: bool) -> Fields:
    source, tables = maker.source, maker.tensors()
    rank = source.choice(tables[whole].dimensions)
    data_type = source.choice(tables[whole].types)
    axis = source.integer(0, rank - 1)
    sizes = maker.shape(rank, 4)
    along = [sizes[axis]] + [source.integer(1, sizes[axis]) for _ in range(source.integer(1, 4) - 1)]

    def of(size: int) -> list[int]:
        return [*sizes[:axis], size, *sizes[axis + 1 :]]

    return {
        parts: tuple(maker.tensor(data_type, of(size), parts_are_outputs) for size in along),
        whole: maker.tensor(data_type, of(sum(along)), not parts_are_outputs),
        "Axis": axis,
    }


def _join(maker: Maker) -> Fields:
    return _parts(maker, "OutputTensor", "InputTensors", False)


def _split(maker: Maker) -> Fields:
    return _parts(maker, "InputTensor", "OutputTensors", True)


def _identity(maker: Maker) -> Fields:
    source, tables = maker.source, maker.tensors()
    sizes = maker.shape(source.choice(tables["InputTensor"].dimensions))
    data_type = source.choice(tables["InputTensor"].types)
    x = maker.tensor(data_type, sizes)
    scale_bias = None
    if x.element_bits < 64 and source.chance(30):
        values = (source.integer(-8, 8) / 4, source.integer(-100, 100) / 8)
        scale_bias = Record(STRUCTS["DML_SCALE_BIAS"], values)
    return {"InputTensor": x, "OutputTensor": maker.tensor(data_type, sizes, True), "ScaleBias": scale_bias}


def _reduction(maker: Maker, is_arg: bool, **attributes: Any) -> Fields:
    source, tables = maker.source, maker.tensors(**attributes)
    rank = source.choice(tables["InputTensor"].dimensions)
    sizes, axes = maker.shape(rank), maker.axes(rank)
    data_type = source.choice(tables["InputTensor"].types)
    reduced = [1 if axis in axes else size for axis, size in enumerate(sizes)]
    output_type = source.choice(tables["OutputTensor"].types) if is_arg else data_type
    return {
        **attributes,
        "InputTensor": maker.tensor(data_type, sizes),
        "OutputTensor": maker.tensor(output_type, reduced, True),
        "Axes": axes,
    }


def _reduce(maker: Maker) -> Fields:
    function = maker.source.choice(FUNCTIONS)
    return _reduction(maker, function in ARG_FUNCTIONS, Function=function)


def _arg(maker: Maker) -> Fields:
    return {**_reduction(maker, True), "AxisDirection": maker.source.choice(tuple(DML_AXIS_DIRECTION))}


def _gather(maker: Maker) -> Fields:
    source, tables = maker.source, maker.tensors()
    rank = source.choice(tables["InputTensor"].dimensions)
    axis, index_dimensions = source.integer(0, rank - 1), source.integer(1, rank)
    sizes, indices = maker.shape(rank, 64), [1] * rank
    indices[rank - index_dimensions :] = maker.shape(index_dimensions, 64)
    # What does not fit in the rank must be leading ones, which are cropped: of the input, then of the indices.
    excess = index_dimensions - 1
    from_input = source.integer(0, min(axis, excess))
    sizes[:from_input] = [1] * from_input
    first = rank - index_dimensions
    indices[first : first + excess - from_input] = [1] * (excess - from_input)
    expected = gathered_sizes(sizes, indices[first:], axis, rank)
    assert expected is not None
    data_type = source.choice(tables["InputTensor"].types)
    return {
        "InputTensor": maker.tensor(data_type, sizes),
        "IndicesTensor": maker.tensor(source.choice(tables["IndicesTensor"].types), indices),
        "OutputTensor": maker.tensor(data_type, expected, True),
        "Axis": axis,
        "IndexDimensions": index_dimensions,
    }


BUILDERS: dict[str, Callable[[Maker], Fields]] = {
    "ARGMAX": _arg,
    "ARGMIN": _arg,
    "ELEMENT_WISE_IDENTITY": _identity,
    "GATHER": _gather,
    "JOIN": _join,
    "REDUCE": _reduce,
    "SPLIT": _split,
}
