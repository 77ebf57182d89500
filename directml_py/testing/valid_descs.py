"""Generation of valid descs for every operator, from the support tables, the pages' facts and the recipes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..abi.schema import FieldSchema
from ..api.enums import DML_FEATURE_LEVEL
from ..api.schema_data import STRUCTS
from ..descs.build import build_operator_desc
from ..descs.data_types import data_type_of
from ..descs.operator_desc import OperatorDesc, Record
from ..descs.tensor import TensorDesc
from ..operators import SCHEMAS, operator_of, schema_named
from ..operators.operator import Advisory, Broadcast
from ..validation.fact_expressions import Reader
from ..validation.facts import facts_of, violations
from ..validation.report import Report
from ..validation.support_tables import applies, same_of
from ..validation.tensor_rules import level_name
from .decision_source import DecisionSource
from .desc_generator import MAX_ELEMENTS, DescGenerator, Fields
from .recipes import recipe_of

HIGHEST = max(DML_FEATURE_LEVEL)


def operators_at(level: int) -> tuple[str, ...]:
    """The names of the operators that ``level`` has."""
    return tuple(sorted(name for name, schema in SCHEMAS.items() if schema.level <= level))


def known_operator(operator: str | int | None, feature_level: int) -> str | None:
    """The operator's name, given as ``gemm``, ``DML_OPERATOR_GEMM`` or its number too. Raises ``ValueError`` if there
    is none, or if the level lacks it."""
    level = DML_FEATURE_LEVEL(feature_level)
    if operator is None:
        return None
    schema = schema_named(operator)
    if schema.level > level:
        raise ValueError(
            f"{level_name(level)} lacks {schema.type_name}, which {level_name(schema.level)} has"
        )
    return schema.name


def make_desc(name: str, fields: Mapping[str, Any]) -> OperatorDesc:
    """The desc of the operator ``name``; counts are filled in from their arrays."""
    return build_operator_desc(SCHEMAS[name], fields)


def valid_desc(
    source: DecisionSource,
    operator: str | None = None,
    feature_level: int = HIGHEST,
    max_elements: int = MAX_ELEMENTS,
) -> OperatorDesc:
    """A desc that is valid at ``feature_level``, of ``operator`` (JOIN) or of any that the level has.

    No tensor has more than ``max_elements`` elements. Raises ``ValueError`` for an operator that the level lacks.
    """
    name = known_operator(operator, feature_level) or source.choice(operators_at(feature_level))
    maker = DescGenerator(source, SCHEMAS[name], feature_level, max_elements)
    return Assembly(maker, recipe_of(name)(maker)).desc()


class Assembly:
    """Completes a recipe's choices to a desc."""

    def __init__(self, maker: DescGenerator, fields: Fields) -> None:
        self.maker = maker
        self.schema = maker.schema
        self.tensors = self.schema.struct.tensors
        counts = {entry.counted_by for entry in self.schema.struct.fields}
        self.attributes = {
            entry.name: fields[entry.name] if entry.name in fields else self._default(entry, fields)
            for entry in self.schema.struct.fields
            if not entry.is_tensor and entry.name not in counts
        }
        self.sizes: dict[str, Any] = {
            entry.name: fields[entry.name] for entry in self.tensors if fields.get(entry.name) is not None
        }
        # Optional tensors that are present although their sizes are inferred.
        self.inferred = frozenset(fields.get("present", ()))
        self.any_rank = frozenset(fields.get("any_rank", ()))
        self.types: Mapping[str, Any] = fields.get("types", {})

    def desc(self) -> OperatorDesc:
        included = self.inferred | set(self.sizes)
        present = [entry.name for entry in self.tensors if not entry.optional or entry.name in included]
        types = self.maker.data_types(present, self.attributes, self.types)
        self._type_attributes(types)
        self._share_sizes(present)
        self._infer_sizes(present, types)
        self._share_sizes(present)
        values: dict[str, Any] = dict(self.attributes)
        for entry in self.tensors:
            if entry.name in present:
                values[entry.name] = self._layout(entry, types[entry.name])
        desc = build_operator_desc(self.schema, values)
        return self._without_forbidden(desc, values)

    def _default(self, entry: FieldSchema, fields: Fields) -> Any:
        """A value for an attribute that the recipe leaves open."""
        source = self.maker.source
        if entry.kind == "enum" and entry.type != "DML_TENSOR_DATA_TYPE":
            return self.maker.enumerator(entry.name)
        if entry.kind == "bool":
            return source.chance(50)
        if entry.kind == "float":
            return source.integer(1, 8) / 4
        if entry.type == "DML_SCALE_BIAS" and source.chance(30):
            values = (source.integer(-8, 8) / 4, source.integer(-100, 100) / 8)
            return Record(STRUCTS["DML_SCALE_BIAS"], values)
        if entry.name == "FusedActivation" and source.chance(20):
            return self.maker.activation()
        return None

    def _type_attributes(self, types: Mapping[str, Any]) -> None:
        """Set data type attributes to the first output's type, and scalars of such a type to small numbers."""
        output = next(entry.name for entry in self.tensors if entry.role == "output" and entry.name in types)
        for entry in self.schema.struct.fields:
            if entry.type == "DML_TENSOR_DATA_TYPE" and self.attributes.get(entry.name) is None:
                self.attributes[entry.name] = types[output]
        for entry in self.schema.struct.fields:
            if entry.kind == "union" and self.attributes.get(entry.name) is None:
                floats = data_type_of(self.attributes[entry.governed_by]).kind == "F"
                self.attributes[entry.name] = self.maker.source.integer(0, 5) / (2.0 if floats else 1)
                if not floats:
                    self.attributes[entry.name] = int(self.attributes[entry.name])

    def _share_sizes(self, present: Sequence[str]) -> None:
        """Give tensors without sizes those of tensors that must have equal sizes."""
        desc = build_operator_desc(self.schema, self.attributes)
        for entry in same_of(self.schema):
            if "Sizes" not in entry.properties or not applies(entry, desc):
                continue
            shared = next((self.sizes[name] for name in entry.fields if name in self.sizes), None)
            for name in entry.fields:
                if shared is not None and name in present:
                    self.sizes.setdefault(name, shared)

    def _infer_sizes(self, present: Sequence[str], types: Mapping[str, Any]) -> None:
        """Infer the remaining sizes from the operator, with some of them 1 where broadcasting is allowed."""
        values: dict[str, Any] = dict(self.attributes)
        for name, sizes in self.sizes.items():
            if self.maker.field(name).kind == "array":
                values[name] = [TensorDesc(kind, tuple(shape)) for kind, shape in _typed(types[name], sizes)]
            else:
                values[name] = TensorDesc(types[name], tuple(sizes))
        if all(name in self.sizes for name in present):
            return
        ranks = {name: len(sizes) for name, sizes in self.sizes.items() if name in values}
        free = [name for name in present if name in self.any_rank and name not in ranks]
        for name, rank in self.maker.dimension_counts(free, self.attributes, ranks).items():
            values[name] = TensorDesc(types[name], (1,) * rank)
        shapes = operator_of(self.schema.name).shapes(build_operator_desc(self.schema, values))
        for name in present:
            if name in self.sizes or name not in shapes:
                continue
            shape: Any = shapes[name]
            many = self.maker.field(name).kind == "array"
            self.sizes[name] = [self._sizes(each) for each in shape] if many else self._sizes(shape)

    def _sizes(self, shape: Any) -> tuple[int, ...]:
        if isinstance(shape, Broadcast):
            return self.maker.broadcast(shape.sizes)
        return tuple(shape.sizes if isinstance(shape, Advisory) else shape)

    def _layout(self, entry: FieldSchema, data_type: Any) -> Any:
        sizes = self.sizes[entry.name]
        if entry.kind == "array":
            return [self.maker.tensor(kind, shape, entry.name) for kind, shape in _typed(data_type, sizes)]
        return self.maker.tensor(data_type, sizes, entry.name)

    def _without_forbidden(self, desc: OperatorDesc, values: dict[str, Any]) -> OperatorDesc:
        """Remove a ScaleBias or fused activation that the data type does not support."""
        reader = Reader(desc)
        for fact in facts_of(self.schema):
            if fact.statement not in ("absent", "identity") or not fact.holds_at(self.maker.level):
                continue
            if fact.condition is not None and not reader.holds(fact.condition):
                continue
            for path, _ in violations(fact, reader):
                if self.maker.field(path).type in ("DML_SCALE_BIAS", "DML_OPERATOR_DESC"):
                    values[path] = None
        return self._compilable(build_operator_desc(self.schema, values), values)

    def _compilable(self, desc: OperatorDesc, values: dict[str, Any]) -> OperatorDesc:
        """Pack the tensors that CompileOperator refuses for their layout."""
        report = Report()
        operator_of(desc.name).check_compilation(desc, report)
        for entry in self.tensors:
            value = values.get(entry.name)
            if isinstance(value, TensorDesc) and any(
                found.path.startswith(f"{entry.name}.") for found in report.errors
            ):
                values[entry.name] = value.replace(strides=None, total_size=-1)
        return build_operator_desc(self.schema, values) if report.errors else desc


def _typed(data_types: Any, sizes: Sequence[Sequence[int]]) -> Iterator[tuple[int, Sequence[int]]]:
    """The data type and sizes of each tensor of an array; ``data_types`` is one for all or a list."""
    return zip(data_types if isinstance(data_types, Sequence) else [data_types] * len(sizes), sizes)
