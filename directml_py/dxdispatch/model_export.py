"""Export of operator descs and graphs as DxDispatch models and serialized graphs, to run them on Windows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..api.enums import DML_EXECUTION_FLAGS
from ..descs.data_types import data_type_of
from ..descs.decode import decode_operator_desc
from ..descs.operator_desc import OperatorDesc, TensorSlot
from ..descs.tensor import TensorDesc
from ..dml import IDMLCompiledOperator, IDMLDevice, IDMLOperator
from ..graph import Graph
from ..shortcuts import input_array
from .graph_reading import read_graph
from .graph_values import graph_of, graph_of_operator, owned_as_constants, serialized
from .graph_writing import write_graph
from .json_writing import flag_names, write_operator
from .model_files import SUFFIX, read_file, write_file, write_npy
from .serialized_graph import SerializedGraph

Files = dict[str, bytes]


def save(
    path: str | Path,
    work: Any,
    inputs: Sequence[Any],
    *,
    name: str | None = None,
    execution_flags: int = 0,
    as_graph: bool = False,
    write_outputs: bool = False,
) -> list[Path]:
    """Write ``work`` as a model that DxDispatch runs: initialize, dispatch, print every output.

    ``work`` is an operator (anything convertible to a DML_OPERATOR_DESC, an IDMLOperator, an IDMLCompiledOperator)
    or a graph (a Graph, a CompiledGraph, a DML_GRAPH_DESC, an IDMLCompiledOperator of one). ``inputs`` has one item
    per input tensor, in desc order or by graph input: an array with the tensor's sizes and type, as ``evaluate`` takes
    it; or ``bytes``, the tensor's buffer; or None for an absent tensor.

    The JSON goes to ``path``; inputs become ``.npy`` files beside it, a graph a serialized graph (``save_graph``),
    in files whose names begin with the stem of ``path``. The dispatchable is named ``name``. An operator is compiled
    with ``execution_flags``, by CompileGraph if ``as_graph``; serialized graphs are compiled without flags. With
    ``write_outputs`` the outputs are also written to ``.npy`` files. One-byte elements are printed verbosely, with
    their bits, since DxDispatch prints them as characters; 4-bit elements as the bytes that contain them.

    Returns the paths written, the JSON last; each file is written atomically. Reading the model gives an equal desc.
    What no program can observe is not preserved: the payload of a NaN, bytes of a DML_SCALAR_UNION beyond its value.

    Raises ``TypeError`` and ``ValueError`` naming the field for inputs that do not fit and for what DxDispatch cannot
    express, ``OSError`` for a file that cannot be written.
    """
    path = Path(path)
    graph = graph_of(work)
    if graph is not None:
        content = serialized(graph)
        return _write(path, _graph_model(path.stem, content, inputs, name or path.stem, write_outputs))
    desc = _operator_desc(work)
    writer = _OperatorModel(path.stem, desc, inputs, name or desc.name.lower(), write_outputs)
    return _write(path, writer.model(execution_flags, as_graph))


def save_graph(path: str | Path, work: Any, inputs: Sequence[Any] | None = None) -> list[Path]:
    """Write ``work``, as ``save`` takes it, as a serialized graph, the FlatBuffer of a ``dmlSerializedGraph``.

    Inputs that are OWNED_BY_DML become constants in files beside it; ``inputs`` provides their bytes and is needed
    only for them. GuaranteedBaseOffsetAlignment is left out, since the format has no such field. Returns and raises
    as ``save`` does.
    """
    path = Path(path)
    graph = graph_of(work)
    content = graph_of_operator(_operator_desc(work)) if graph is None else serialized(graph)
    contents = dict(zip(content.inputs, inputs)) if graph is not None and inputs is not None else {}
    if graph is None and inputs is not None:
        slots = _operator_desc(work).inputs
        _check_count(inputs, [slot.path for slot in slots])
        contents = {slot.path: value for slot, value in zip(slots, inputs)}
    elif inputs is not None:
        _check_count(inputs, content.inputs)
    files: Files = {}
    _graph_files(path.stem, path.name, content, contents, files)
    return _write(path.with_name(path.name), (files, files.pop(path.name)))


def load_graph(path: str | Path, device: IDMLDevice | None = None) -> Graph:
    """Load a serialized graph for ``device`` (None creates one). Constants in files become its last inputs.

    Raises ``ModelError`` for a malformed file, and for what the device rejects.
    """
    return read_graph(read_file(Path(path))).to_graph(device)


def _operator_desc(work: Any) -> OperatorDesc:
    if isinstance(work, IDMLCompiledOperator) and work.op is not None:
        work = work.op
    if isinstance(work, IDMLOperator):
        return work.desc
    desc, faults = decode_operator_desc(work, "work")
    if faults or not isinstance(desc, OperatorDesc):
        raise ValueError("; ".join(map(str, faults)))
    return desc


def _check_count(inputs: Sequence[Any], names: Sequence[str]) -> None:
    if len(inputs) != len(names):
        raise ValueError(
            f"inputs has {len(inputs)} items; the work has {len(names)} inputs: {', '.join(names)}"
        )


def _write(path: Path, model: tuple[Files, bytes]) -> list[Path]:
    files, main = model
    paths = []
    for name, content in (*files.items(), (path.name, main)):
        paths.append(path.with_name(name))
        write_file(paths[-1], content)
    return paths


def _memory(slot: TensorSlot, value: Any) -> bytes | None:
    """The contents of the buffer bound to a tensor; None if it is absent."""
    tensor = slot.tensor
    if tensor is not None and isinstance(value, (bytes, bytearray, memoryview)):
        content = bytes(value)
        if len(content) < tensor.total_size:
            raise ValueError(f"{slot.path} needs {tensor.total_size} bytes, not {len(content)}")
        return content[: tensor.total_size]
    array = input_array(slot, value)
    if array is None or tensor is None:
        return None
    memory = np.zeros(tensor.total_size, np.uint8)
    tensor.store(memory, array)
    return memory.tobytes()


def _resource(tensor: TensorDesc) -> tuple[np.dtype[Any], int, dict[str, Any]]:
    """The dtype and count of the elements in a tensor's buffer, and the JSON of its resource.

    The count covers every element that the tensor addresses; 4-bit elements are stored as bytes, since DxDispatch has
    no buffers of such types.
    """
    if tensor.total_size < tensor.minimum_size:
        raise ValueError(f"a tensor has {tensor.total_size} bytes; its elements need {tensor.minimum_size}")
    element_type = data_type_of(tensor.data_type)
    dtype = np.dtype(np.uint8) if element_type.bits < 8 else element_type.dtype
    count = ((tensor.last_element_offset + 1) * element_type.bits + 7) // 8 // dtype.itemsize
    written: dict[str, Any] = {
        "initialValuesDataType": "UINT8" if element_type.bits < 8 else element_type.name
    }
    if -(-count * dtype.itemsize // 4) * 4 != tensor.total_size:
        written["sizeInBytes"] = tensor.total_size
    return dtype, count, written


class _Model:
    """Resources and commands under construction, for one dispatchable."""

    def __init__(self, stem: str, name: str, write_outputs: bool) -> None:
        self.stem = stem
        self.name = name
        self.write_outputs = write_outputs
        self.resources: dict[str, Any] = {}
        self.files: Files = {}
        self.prints: list[dict[str, Any]] = []

    def input(self, resource: str, file: str, tensor: TensorDesc, memory: bytes) -> None:
        dtype, count, written = _resource(tensor)
        source = f"{self.stem}.{file}.npy"
        self.files[source] = write_npy(np.frombuffer(memory, dtype, count))
        self.resources[resource] = {**written, "initialValues": {"sourcePath": source}}

    def output(self, resource: str, file: str, tensor: TensorDesc) -> None:
        dtype, count, written = _resource(tensor)
        self.resources[resource] = {**written, "initialValues": {"valueCount": count, "value": 0}}
        self.prints.append({"type": "print", "resource": resource})
        if dtype.itemsize == 1:
            self.prints[-1]["verbose"] = True
        if self.write_outputs:
            target = f"{self.stem}.{file}.npy"
            self.prints.append(
                {"type": "writeFile", "resource": resource, "targetPath": target, "dimensions": [count]}
            )

    def text(self, dispatchable: dict[str, Any], bindings: dict[str, Any]) -> bytes:
        dispatch = {"type": "dispatch", "dispatchable": self.name, "bindings": bindings}
        model = {
            "resources": self.resources,
            "dispatchables": {self.name: dispatchable},
            "commands": [dispatch, *self.prints],
        }
        return (json.dumps(model, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


class _OperatorModel(_Model):
    def __init__(
        self, stem: str, desc: OperatorDesc, inputs: Sequence[Any], name: str, write_outputs: bool
    ) -> None:
        super().__init__(stem, name, write_outputs)
        _check_count(inputs, [slot.path for slot in desc.inputs])
        self.written = write_operator(desc)
        self.initial: dict[str, Any] = {}
        self.bindings: dict[str, Any] = {}
        for slot, value in zip(desc.inputs, inputs):
            memory = _memory(slot, value)
            if memory is not None and slot.tensor is not None:
                self.input(slot.path, _file_part(slot), slot.tensor, memory)
                self._bind(self.initial if slot.tensor.is_owned_by_dml else self.bindings, slot)
        for slot in desc.outputs:
            if slot.tensor is not None:
                self.output(slot.path, _file_part(slot), slot.tensor)
                self._bind(self.bindings, slot)
        for field in self.initial.keys() & self.bindings.keys():
            raise ValueError(
                f"{field} has tensors with and without OWNED_BY_DML; DxDispatch binds an array as a whole. "
                "Save it as a graph: save(path, graph, inputs)"
            )

    def _bind(self, bindings: dict[str, Any], slot: TensorSlot) -> None:
        if slot.path == slot.field:
            bindings[slot.field] = slot.path
        else:
            bindings.setdefault(slot.field, []).append(slot.path)

    def model(self, execution_flags: int, as_graph: bool) -> tuple[Files, bytes]:
        written = self.written
        if as_graph:
            written["dmlCompileType"] = "DmlCompileGraph"
        if execution_flags:
            written["executionFlags"] = flag_names("execution_flags", DML_EXECUTION_FLAGS(execution_flags))
        if self.initial:
            written["bindings"] = self.initial
        return self.files, self.text(written, self.bindings)


def _file_part(slot: TensorSlot) -> str:
    return slot.path.replace("[", ".").replace("]", "")


def _graph_files(
    stem: str, file: str, graph: SerializedGraph, inputs: dict[str, Any], files: Files
) -> SerializedGraph:
    """Add the FlatBuffer ``file`` and its constants to ``files``; returns the graph it contains."""
    content = owned_as_constants(graph, stem)
    readers = graph.readers()
    for node in content.constants:
        if inputs.get(node.name) is None:
            raise ValueError(
                f"{node.name} is OWNED_BY_DML: its bytes become a file, so inputs must contain them"
            )
        memory = _memory(TensorSlot(node.name, node.name, readers[node.name]), inputs[node.name])
        assert memory is not None
        files[f"{node.constant}{SUFFIX}"] = memory
    files[file] = write_graph(content)
    return content


def _graph_model(
    stem: str, graph: SerializedGraph, inputs: Sequence[Any], name: str, write_outputs: bool
) -> tuple[Files, bytes]:
    _check_count(inputs, graph.inputs)
    model = _Model(stem, name, write_outputs)
    source = stem + SUFFIX
    content = _graph_files(stem, source, graph, dict(zip(graph.inputs, inputs)), model.files)
    readers = graph.readers()
    bindings = {}
    for index, (edge, value) in enumerate(zip(graph.inputs, inputs)):
        tensor = readers.get(edge)
        memory = _memory(TensorSlot(edge, edge, tensor), value)
        if edge in content.inputs and tensor is not None and memory is not None:
            bindings[edge] = f"input {edge}"
            model.input(bindings[edge], f"input{index}", tensor, memory)
    written = {
        edge: slot for node in graph.nodes if node.desc for edge, slot in zip(node.outputs, node.desc.outputs)
    }
    for index, edge in enumerate(graph.outputs):
        tensor = written[edge].tensor
        assert tensor is not None
        bindings[edge] = f"output {edge}"
        model.output(bindings[edge], f"output{index}", tensor)
    return model.files, model.text({"type": "dmlSerializedGraph", "sourcePath": source}, bindings)
