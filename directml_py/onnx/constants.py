"""Constants of a model: the location of their bytes, and the graph inputs that they become."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.external_data_helper import ExternalDataInfo, uses_external_data

from ..graph import Expression
from .budget import Budget
from .errors import Refusal
from .protobuf import NodeMessage, subgraphs_of
from .values import Array

# Types of which several elements share a byte, and their bits.
SUBBYTE = {"int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2}


class Constants:
    """The constants that a graph reads, by the index of their graph input; most are OWNED_BY_DML.

    ``tensors`` reads those that are in attributes of nodes, ``budget`` accounts for those that are computed.
    """

    def __init__(self, first: int, tensors: TensorReader | None = None, budget: Budget | None = None) -> None:
        self.first = first
        self.tensors = TensorReader() if tensors is None else tensors
        self.budget = Budget() if budget is None else budget
        self._arrays: list[Array | None] = []
        # Reads them again, if they are dropped once they are in device memory.
        self.again: Callable[[], list[Array]] | None = None
        # The graph inputs of arrays, which several nodes may read, while the graph is built. Arrays are told apart by
        # their identities, so that they are kept.
        self.made: dict[Hashable, tuple[Array, Expression]] = {}
        self._names: set[str] = set()
        self._counts: Counter[str] = Counter()

    def add(self, name: str, array: Array) -> int:
        """The index of a new graph input for ``array``."""
        self._arrays.append(array)
        return self.first + len(self._arrays) - 1

    @property
    def arrays(self) -> list[Array]:
        arrays = [array for array in self._arrays if array is not None]
        return self.again() if self.again and len(arrays) < len(self._arrays) else arrays

    def uploading(self) -> Iterator[Array]:
        """The arrays one by one; those that can be read again are not kept."""
        if any(array is None for array in self._arrays):
            yield from self.arrays
            return
        for index, array in enumerate(self._arrays):
            assert array is not None
            yield array
            if self.again:
                self._arrays[index] = None

    def name(self, wanted: str) -> str:
        """``wanted``, or ``wanted`` with a number appended if it is taken."""
        name = wanted
        while name in self._names:
            self._counts[wanted] += 1
            name = f"{wanted}_{self._counts[wanted]}"
        self._names.add(name)
        return name

    def reserve(self, name: str) -> None:
        self._names.add(name)


class TensorReader:
    """Reads the TensorProtos of a model, whatever holds them.

    External data is mapped, not read. It is looked up in ``folder``, if one is given, and beside the model's file;
    links and ``..`` must not lead out of these. A file that is itself a link, as caches of downloads keep them, may
    have its data beside what it leads to, too.
    """

    def __init__(self, file: Path | None = None, folder: str | Path | None = None) -> None:
        folders = [] if file is None else [file.absolute().parent]
        self._folders = [Path(folder).absolute(), *folders] if folder is not None else folders
        self._roots = [os.path.realpath(item) for item in self._folders]
        self._roots += [] if file is None else [os.path.dirname(os.path.realpath(file))]

    def array_of(self, tensor: Any, raw: memoryview | None = None) -> Array:
        """The content of a TensorProto, whose ``raw_data`` may be elsewhere. Raises ``Refusal``."""
        sizes = tuple(tensor.dims)
        if sizes and min(sizes) < 0:
            raise Refusal(f"has sizes {list(sizes)}")
        try:
            if uses_external_data(tensor):
                raw = self._mapped(tensor)
            elif raw is None and sys.byteorder == "little" and tensor.HasField("raw_data"):
                raw = memoryview(tensor.raw_data)
            if raw is not None:
                return _viewed(tensor, raw)
            return np.asarray(numpy_helper.to_array(tensor))
        except (ValueError, TypeError, KeyError, NotImplementedError) as error:
            raise Refusal(f"its data is damaged ({error})") from None

    def dense(self, sparse: Any, budget: Budget) -> Array:
        """The content of a SparseTensorProto. Raises ``Refusal``."""
        values, indices = self.array_of(sparse.values), self.array_of(sparse.indices)
        sizes = tuple(sparse.dims)
        if sizes and min(sizes) < 0:
            raise Refusal(f"has sizes {list(sizes)}")
        budget.take_bytes(math.prod(sizes) * values.dtype.itemsize)
        dense = np.zeros(sizes, values.dtype)
        try:
            if indices.ndim == 1:
                dense.reshape(-1)[indices] = values
            else:
                dense[tuple(indices.T)] = values
        except (IndexError, ValueError) as error:
            raise Refusal(f"its data is damaged ({error})") from None
        return dense

    def _mapped(self, tensor: Any) -> memoryview:
        """External data in memory of the file. Raises ``Refusal``, and ``ValueError`` for numbers that are none."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            info = ExternalDataInfo(tensor)
        if not info.location:
            raise Refusal("its data is in a file that is not named")
        dtype, is_subbyte = _element(tensor.data_type)
        if dtype.hasobject:
            raise Refusal("is of strings, which no external data holds")
        needed, start = dtype.itemsize * math.prod(tensor.dims), int(info.offset or 0)
        if is_subbyte:
            needed = -(-math.prod(tensor.dims) * SUBBYTE[dtype.name] // 8)
        if info.length is not None and int(info.length) != needed:
            raise Refusal(f"its data has {info.length} bytes; its sizes need {needed}")
        try:
            path = self._found(info.location)
            there = path.stat().st_size
            if needed and there < start + needed:
                raise Refusal(
                    f"{info.location!r} has {there} bytes; its data is from {start} to {start + needed}"
                )
            return np.memmap(path, np.uint8, "r", start, (needed,)).data if needed else memoryview(b"")
        except OSError as error:
            raise Refusal(f"cannot read its data from {info.location!r}: {error.strerror or error}") from None

    def _found(self, location: str) -> Path:
        """The file of external data, without links. Raises ``Refusal``."""
        if not self._folders:
            raise Refusal(
                f"its data is in {location!r}, beside a file; load the file, or name the folder as external_data"
            )
        # A folder that a link in the location leads to must lie inside, too, so that all links are resolved.
        paths = [Path(os.path.realpath(folder / location)) for folder in self._folders]
        inside = [path for path in paths if any(path.is_relative_to(root) for root in self._roots)]
        if not inside:
            raise Refusal(
                f"its data is in {location!r}, outside the folder of the model; external_data may name another folder"
            )
        return next((path for path in inside if path.exists()), inside[0])


def tensors_in(nodes: Sequence[Any]) -> Iterator[tuple[str, bool, Any]]:
    """The TensorProtos in attributes of nodes and in their subgraphs: where each is, and whether it is a constant."""
    kinds = onnx.AttributeProto
    for node in nodes:
        where = f"node {node.name!r} ({node.op_type})"
        is_constant = node.op_type == "Constant" and node.domain in ("", "ai.onnx")
        for entry in node.attribute:
            if entry.type in (kinds.TENSOR, kinds.TENSORS):
                for tensor in [entry.t] if entry.type == kinds.TENSOR else entry.tensors:
                    yield where, is_constant, tensor
            elif entry.type == kinds.SPARSE_TENSOR:
                yield where, is_constant, entry.sparse_tensor.values
                yield where, False, entry.sparse_tensor.indices
            for graph in subgraphs_of(entry):
                yield from tensors_of(graph)


def tensors_of(graph: Any) -> Iterator[tuple[str, bool, Any]]:
    """As ``tensors_in``, for a graph with its initializers."""
    for tensor in graph.initializer:
        yield f"initializer {tensor.name!r}", True, tensor
    for sparse in graph.sparse_initializer:
        yield f"initializer {sparse.values.name!r}", True, sparse.values
        yield f"initializer {sparse.values.name!r}", False, sparse.indices
    yield from tensors_in(graph.node)


@cache
def _element(kind: int) -> tuple[np.dtype[Any], bool]:
    """The type of an element, and whether it has less than a byte. Raises ``KeyError`` for unknown types."""
    dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind))
    return dtype, dtype.name in SUBBYTE


def _viewed(tensor: Any, raw: memoryview) -> Array:
    """The elements in ``raw``; those of less than a byte are unpacked. Raises as ``to_array`` does."""
    dtype, is_subbyte = _element(tensor.data_type)
    if is_subbyte:
        whole = onnx.TensorProto(data_type=tensor.data_type, dims=tensor.dims, raw_data=bytes(raw))
        return np.asarray(numpy_helper.to_array(whole))
    return np.frombuffer(raw, dtype).reshape(tuple(tensor.dims))


def constant_of(node: NodeMessage, constants: Constants) -> Array | None:
    """The content of a Constant node, read once; None for text. Raises ``Refusal``."""
    if node.constant is None:
        node.constant = _constant_of(node, constants)
    return node.constant


def _constant_of(node: NodeMessage, constants: Constants) -> Array | None:
    if len(node.proto.attribute) != 1:
        raise Refusal(f"has {len(node.proto.attribute)} attributes; one must be its value")
    (entry,) = node.proto.attribute
    value = onnx.helper.get_attribute_value(entry)
    if entry.name == "value":
        return constants.tensors.array_of(value)
    if entry.name == "sparse_value":
        return constants.tensors.dense(value, constants.budget)
    dtypes: dict[str, Any] = {
        "value_float": np.float32,
        "value_floats": np.float32,
        "value_int": np.int64,
        "value_ints": np.int64,
    }
    return np.array(value, dtypes[entry.name]) if entry.name in dtypes else None
