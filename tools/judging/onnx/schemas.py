"""The operators of ONNX Runtime: the versions of each, their inputs and attributes, and the types of its kernels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from onnx import AttributeProto, TensorProto
from onnxruntime.capi import onnxruntime_pybind11_state as runtime

MICROSOFT = "com.microsoft"
OLDEST = 7
# The first versions that are of use: those of ONNX from which on no converter is needed, and of com.microsoft.
FIRST = {"": OLDEST, MICROSOFT: 1}
KINDS = {f"tensor({name.lower()})": number for name, number in TensorProto.DataType.items()}
NAMES = {number: name for name, number in KINDS.items()}
LATEST = 1 << 30
HALF = "tensor(float16)"
SINGLE = runtime.schemadef.OpSchema.FormalParameterOption.Single


class SchemaVersion(NamedTuple):
    """A version of an operator, and the operator sets from ``since`` to ``until`` that have it.

    ``inputs`` are names with the names of type constraints, or types; ``types`` are what the kernels
    take for each constraint, or the schema if there are no kernels.
    """

    domain: str
    name: str
    since: int
    until: int
    inputs: tuple[tuple[str, str], ...]
    required_inputs: frozenset[str]
    output_count: int
    is_variadic: bool
    attributes: dict[str, AttributeProto | None]
    required: frozenset[str]
    attribute_kinds: dict[str, int]
    types: dict[str, tuple[str, ...]]

    def constraint(self, index: int) -> str:
        """The type constraint of an input, or its type; empty if there are not so many inputs."""
        if index < len(self.inputs):
            return self.inputs[index][1]
        return self.inputs[-1][1] if self.is_variadic and self.inputs else ""


@cache
def versions() -> tuple[SchemaVersion, ...]:
    """All versions of all operators that ONNX Runtime knows, in order."""
    return tuple(_versions())


def _versions() -> Iterator[SchemaVersion]:
    found: dict[tuple[str, str], list[Any]] = {}
    for schema in runtime.get_all_operator_schema():
        if schema.domain in FIRST:
            found.setdefault((schema.domain, schema.name), []).append(schema)
    for (domain, name), schemas in sorted(found.items()):
        schemas.sort(key=lambda schema: int(schema.since_version))
        for schema, following in zip(schemas, [*schemas[1:], None]):
            until = LATEST if following is None else following.since_version - 1
            if until >= FIRST[domain] and not schema.deprecated:
                versions_kernels = [
                    kernel for kernel in _kernels(domain, name) if _overlap(kernel, schema, until)
                ]
                yield _version(schema, until, versions_kernels)


@cache
def versions_of(domain: str, name: str) -> tuple[SchemaVersion, ...]:
    return tuple(one for one in versions() if (one.domain, one.name) == (domain, name))


@cache
def _kernels(domain: str, name: str) -> tuple[Any, ...]:
    return tuple(
        kernel
        for kernel in runtime.get_all_opkernel_def()
        if (kernel.domain, kernel.op_name) == (domain, name) and kernel.provider == "CPUExecutionProvider"
    )


def _overlap(kernel: Any, schema: Any, until: int) -> bool:
    first, last = kernel.version_range
    return bool(first <= until and last >= schema.since_version)


def _version(schema: Any, until: int, kernels: list[Any]) -> SchemaVersion:
    types = {}
    for constraint in schema.type_constraints:
        kernel_types = [
            one for kernel in kernels for one in kernel.type_constraints.get(constraint.type_param_str, ())
        ]
        allowed = constraint.allowed_type_strs
        if HALF in allowed and kernel_types:
            # ONNX Runtime casts to FLOAT and back where a kernel has no FLOAT16.
            kernel_types.append(HALF)
        types[constraint.type_param_str] = tuple(dict.fromkeys(kernel_types or allowed))
    defaults = {}
    for name, attribute in schema.attributes.items():
        default = AttributeProto.FromString(attribute._default_value)
        defaults[name] = default if default.name else None
    return SchemaVersion(
        schema.domain,
        schema.name,
        max(schema.since_version, FIRST[schema.domain]),
        until,
        tuple((one.name, one.typeStr) for one in schema.inputs),
        frozenset(one.name for one in schema.inputs if one.option == SINGLE),
        schema.max_output,
        schema.max_input > len(schema.inputs),
        defaults,
        frozenset(name for name, one in schema.attributes.items() if one.required),
        {name: int(one.type) for name, one in schema.attributes.items()},
        types,
    )
