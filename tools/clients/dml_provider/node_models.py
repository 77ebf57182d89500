"""ONNX's own test cases, from the wheels of several of its releases: those that are distinct."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from typing import NamedTuple

import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto

from .wheels import wheel

# Operators change from release to release; each release tests their newest versions only. The first is the one that
# ONNX Runtime 1.24 was built with.
RELEASES = ("1.20.1", "1.19.1", "1.16.2", "1.13.1")
FOLDER = "onnx/backend/test/data"
SETS = {"node": ("node",), "converted": ("simple", "pytorch-operator", "pytorch-converted")}


class ProviderCase(NamedTuple):
    """A model and its inputs. ``expected`` are ONNX's own outputs; None if there are none."""

    group: str
    name: str
    model: ModelProto
    inputs: list[TensorProto]
    expected: list[TensorProto] | None = None

    @property
    def title(self) -> str:
        return f"{self.group}/{self.name}"


def cases(group: str) -> Iterator[ProviderCase]:
    """The distinct cases of all releases whose inputs and outputs are tensors of numbers."""
    keys: set[bytes] = set()
    for release in RELEASES:
        with zipfile.ZipFile(wheel(f"onnx=={release}")) as content:
            names = set(content.namelist())
            folders = sorted({name.rpartition("/")[0] for name in names if name.endswith("/model.onnx")})
            for folder in folders:
                kind, name = folder.removeprefix(FOLDER + "/").split("/")
                if kind not in SETS[group]:
                    continue
                case = _case(
                    content, names, folder, group, name if release == RELEASES[0] else f"{name}@{release}"
                )
                if case is not None and (key := _key(case)) not in keys:
                    keys.add(key)
                    yield case


def _case(
    content: zipfile.ZipFile, names: set[str], folder: str, group: str, name: str
) -> ProviderCase | None:
    model = ModelProto.FromString(content.read(f"{folder}/model.onnx"))
    if not all(map(_is_tensor_of_numbers, (*model.graph.input, *model.graph.output))):
        return None
    tensors: dict[str, list[TensorProto]] = {"input": [], "output": []}
    for kind, found in tensors.items():
        pattern = re.compile(rf"{re.escape(folder)}/test_data_set_0/{kind}_(\d+)\.pb")
        members = sorted((int(match[1]), match[0]) for file in names if (match := pattern.fullmatch(file)))
        found += [TensorProto.FromString(content.read(file)) for _, file in members]
    initialized = {value.name for value in model.graph.initializer}
    wanted = [value.name for value in model.graph.input if value.name not in initialized]
    if len(wanted) != len(tensors["input"]):
        wanted = [value.name for value in model.graph.input]
    for tensor, label in zip(tensors["input"], wanted):
        tensor.name = label
    return ProviderCase(group, name, model, tensors["input"], tensors["output"])


def _is_tensor_of_numbers(value: onnx.ValueInfoProto) -> bool:
    kind: TypeProto = value.type
    return kind.HasField("tensor_type") and kind.tensor_type.elem_type not in (
        TensorProto.STRING, TensorProto.COMPLEX64, TensorProto.COMPLEX128,
    )  # fmt: skip


def _key(case: ProviderCase) -> bytes:
    """What makes a case distinct: the graph, the versions of its operators, and the inputs."""
    opsets = {opset.domain: opset.version for opset in case.model.opset_import}
    versions = sorted(
        {(node.domain, node.op_type, _since(node, opsets)) for node in _nodes(case.model.graph)}
    )
    inputs = [tensor.SerializeToString(deterministic=True) for tensor in case.inputs]
    return b"\0".join(
        (case.model.graph.SerializeToString(deterministic=True), repr(versions).encode(), *inputs)
    )


def _since(node: NodeProto, opsets: dict[str, int]) -> int:
    version = opsets.get(node.domain, 1)
    try:
        return int(onnx.defs.get_schema(node.op_type, version, node.domain).since_version)
    except onnx.defs.SchemaError:
        return version


def _nodes(graph: GraphProto) -> Iterator[NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                yield from _nodes(attribute.g)
