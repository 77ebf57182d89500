"""Generator for valid descs: ranks, sizes, data types and layouts within the tables of one operator."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from ..abi.schema import FieldSchema, OperatorSchema
from ..api.enums import DML_TENSOR_DATA_TYPE, DML_TENSOR_FLAG_NONE, DML_TENSOR_FLAG_OWNED_BY_DML
from ..api.schema_data import OPERATORS
from ..descs.build import build_operator_desc
from ..descs.operator_desc import OperatorDesc
from ..descs.tensor import TensorDesc
from ..descs.tensor_size import packed_strides
from ..descs.types_by_name import enum_class
from ..validation.fact_expressions import Reader, names_in
from ..validation.facts import facts_of, violations
from ..validation.fused_activation_rules import ANYWHERE
from ..validation.support_tables import Same, Support, same_of, support_of
from .decision_source import DecisionSource

MAX_ELEMENTS = 1 << 12
ANY_RANK = range(1, 9)
NOTHING: Mapping[str, Any] = {}
Fields = dict[str, Any]

# Inputs that Microsoft's library rejects with strides of 0.
WHOLE = {("SCATTER_ND", "IndicesTensor")}


class DescGenerator:
    """The choices that a recipe draws on, for one operator."""

    def __init__(self, source: DecisionSource, schema: OperatorSchema, level: int, max_elements: int) -> None:
        self.source = source
        self.schema = schema
        self.level = level
        self.max_elements = max_elements
        # Tensors that must be packed, with null strides.
        self.unstrided: set[str] = set()

    def table(self, **attributes: Any) -> Support | None:
        """The support table for these attribute values; None without one."""
        tables = [
            table
            for table in support_of(self.schema)
            if table.level <= self.level
            and all(attributes.get(name) in values for name, values in table.when.items())
        ]
        return max(tables, key=lambda table: table.level, default=None)

    def ranks(self, field: str, **attributes: Any) -> range:
        """The supported dimension counts of a tensor."""
        table = self.table(**attributes)
        return ANY_RANK if table is None or field not in table.tensors else table.tensors[field].dimensions

    def rank(self, field: str, least: int = 1, most: int = 8, **attributes: Any) -> int:
        """A supported dimension count for ``field``, from ``least`` to ``most``."""
        return self.source.choice([rank for rank in self.ranks(field, **attributes) if least <= rank <= most])

    def shape(self, rank: int, share: int = 1, most: int = 5) -> list[int]:
        """Sizes with at most ``max_elements // share`` elements."""
        budget = max(1, self.max_elements // share)
        sizes = [1] * rank
        for dimension in self.source.permutation(rank):
            high = budget if most == 5 and self.source.chance(10) else min(budget, most)
            sizes[dimension] = self.source.integer(1, high)
            budget //= sizes[dimension]
        return sizes

    def broadcast(self, sizes: Sequence[int], keep: Container[int] = ()) -> tuple[int, ...]:
        """``sizes`` with some set to 1, except for the dimensions in ``keep``."""
        if not self.source.chance(30):
            return tuple(sizes)
        return tuple(
            size if dimension in keep or self.source.chance(50) else 1 for dimension, size in enumerate(sizes)
        )

    def some(self, *fields: str) -> tuple[str, ...]:
        """Any subset of ``fields``, in their order: a set's order would differ between processes."""
        return tuple(field for field in fields if self.source.chance(50))

    def axes(self, rank: int) -> tuple[int, ...]:
        """One or more distinct axes, in any order."""
        return tuple(self.source.permutation(rank)[: self.source.integer(1, rank)])

    def enumerator(self, field: str, **others: Any) -> Any:
        """A supported enumerator for ``field``, by the facts that involve only it and ``others``."""
        entry = self.field(field)
        known = {field, *others}
        members = [
            member
            for member in enum_class(entry.type).__members__.values()
            if self._holds({field: member, **others}, known)
        ]
        return self.source.choice(members)

    def _holds(self, values: Mapping[str, Any], known: set[str]) -> bool:
        for fact in facts_of(self.schema):
            trees = [fact.tree] if fact.condition is None else [fact.tree, fact.condition]
            if not fact.holds_at(self.level) or any(
                not names_in(self.schema, tree) <= known for tree in trees
            ):
                continue
            reader = Reader(build_operator_desc(self.schema, values))
            if (fact.condition is None or reader.holds(fact.condition)) and violations(fact, reader):
                return False
        return True

    def led(self, field: str, *sizes: int) -> list[int]:
        """``sizes`` padded with leading ones to a supported dimension count for ``field``."""
        return [1] * (self.rank(field, len(sizes)) - len(sizes)) + [*sizes]

    def activation(self, *but: str) -> OperatorDesc:
        """A desc without tensors of an activation that any operator can fuse, except those in ``but``."""
        schemas = [
            schema for schema in OPERATORS.values() if schema.name in ANYWHERE and schema.name not in but
        ]
        schema = self.source.choice([schema for schema in schemas if schema.level <= self.level])
        floats = [entry.name for entry in schema.struct.fields if entry.kind == "float"]
        return build_operator_desc(schema, {name: self.source.integer(4, 8) / 4 for name in floats})

    def field(self, name: str) -> FieldSchema:
        return self.schema.struct.fields[self.schema.struct.index[name]]

    def data_types(
        self, present: Sequence[str], attributes: Mapping[str, Any], required: Mapping[str, Any] = NOTHING
    ) -> dict[str, Any]:
        """A supported data type for each present tensor field, equal where the page requires it.

        ``required`` fixes some of them; for an array field it has one type for all tensors or a list.
        """
        table = self.table(**attributes)
        chosen = {}
        for group in self._groups(present, "DataType", attributes):
            types = [set(table.tensors[name].types) for name in group if table and name in table.tensors]
            common = set.intersection(*types) if types else {1}
            fixed = [required[name] for name in group if name in required]
            data_type = fixed[0] if fixed else self.source.choice(sorted(common))
            chosen.update(dict.fromkeys(group, data_type))
        return chosen

    def dimension_counts(
        self, present: Sequence[str], attributes: Mapping[str, Any], fixed: Mapping[str, int]
    ) -> dict[str, int]:
        """A supported dimension count for each of ``present``, equal where the page requires it."""
        chosen: dict[str, int] = {}
        for group in self._groups([*present, *fixed], "DimensionCount", attributes):
            ranks = [fixed[name] for name in group if name in fixed] or sorted(
                set.intersection(*(set(self.ranks(name, **attributes)) for name in group))
            )
            rank = self.source.choice(ranks)
            chosen.update((name, rank) for name in group if name not in fixed)
        return chosen

    def _groups(
        self, present: Sequence[str], property_name: str, attributes: Mapping[str, Any]
    ) -> list[list[str]]:
        """The present tensor fields, grouped by the equivalence of a property."""
        groups: list[set[str]] = [{name} for name in present]
        for entry in same_of(self.schema):
            if property_name not in entry.properties or not _applies(entry, attributes):
                continue
            joined = [group for group in groups if group & set(entry.fields)]
            if joined:
                groups = [group for group in groups if group not in joined] + [set().union(*joined)]
        return sorted(map(sorted, groups))

    def tensor(self, data_type: int, sizes: Sequence[int], field: str, broadcast: bool = True) -> TensorDesc:
        """A tensor with any layout that its role allows."""
        source, is_output = self.source, self.field(field).role == "output"
        kind = DML_TENSOR_DATA_TYPE(data_type)
        is_whole = is_output or not broadcast or (self.schema.name, field) in WHOLE
        strides = None if field in self.unstrided else self.strides(sizes, is_whole)
        packed = TensorDesc(kind, tuple(sizes), strides)
        if not source.chance(40):
            return packed
        return TensorDesc(
            kind,
            packed.sizes,
            packed.strides,
            DML_TENSOR_FLAG_OWNED_BY_DML
            if not is_output and self.may_be_owned(field) and source.chance(40)
            else DML_TENSOR_FLAG_NONE,
            packed.minimum_size + 4 * source.choice((0, 1, 16, 1000)),
            source.choice((0, 16, 32, 256, 1 << 31)),
        )

    def may_be_owned(self, field: str) -> bool:
        return not any(
            fact.statement == "not_owned" and field in fact.fields for fact in facts_of(self.schema)
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
        stride = source.integer(1, 3)
        for dimension in source.permutation(len(sizes)):
            strides[dimension] = stride
            stride = stride * sizes[dimension] + source.integer(0, 2)
        for dimension, size in enumerate(sizes):
            if (size == 1 or not is_output) and source.chance(20):
                # The stride of a dimension of size 1 is irrelevant; elsewhere 0 broadcasts.
                strides[dimension] = 0 if size > 1 else source.choice((0, 1, 7, 0xFFFFFFFF))
        return tuple(strides)


def _applies(entry: Same, attributes: Mapping[str, Any]) -> bool:
    return all(attributes.get(name) in values for name, values in entry.when.items())
