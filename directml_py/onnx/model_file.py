"""Reading a model: the file, its damage, its operator sets, the sizes of its inputs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnx.inliner
import onnx.version_converter
from google.protobuf.message import DecodeError
from onnx.external_data_helper import uses_external_data

from .constants import array_of, check_is_whole
from .errors import OnnxError
from .values import Array, Sizes

# Operator sets from here on are translated as they are.
OLDEST = 7
# What an input is: its sizes, its content, or for a symbolic size the number.
Bindings = Mapping[str, Any]


class Declared(NamedTuple):
    """An input of a model: sizes are numbers, names, or None for unknown ones."""

    name: str
    dtype: np.dtype[Any]
    sizes: tuple[int | str | None, ...] | None


class ModelFile:
    """A model as ONNX has it, checked, with local functions inlined."""

    def __init__(self, source: Any) -> None:
        self.file, self.folder, model = _read(source)
        self.opsets = {
            "" if entry.domain == "ai.onnx" else entry.domain: entry.version for entry in model.opset_import
        }
        self._check(model, source)
        if self.opsets.get("", OLDEST) < OLDEST:
            model = self._newer(model)
        if model.functions:
            model = onnx.inliner.inline_local_functions(model)
        self.proto = model
        self.graph = model.graph

    def _check(self, model: Any, source: Any) -> None:
        version, newest = self.opsets.get(""), onnx.defs.onnx_opset_version()
        if not model.HasField("graph") or not model.opset_import:
            raise OnnxError("is no ONNX model", self.file)
        if version is not None and not 1 <= version <= newest:
            raise OnnxError(f"operator set {version} is not between 1 and {newest}", self.file)
        if self.folder is None:
            check_is_whole(model, self.file)
        is_whole = not any(uses_external_data(tensor) for tensor in model.graph.initializer)
        # Outputs need no sizes here, and models are written without.
        unsized = [item for item in model.graph.output if not item.type.tensor_type.HasField("shape")]
        unsized = [item for item in unsized if item.type.HasField("tensor_type")]
        try:
            for item in unsized:
                item.type.tensor_type.shape.SetInParent()
            onnx.checker.check_model(model if is_whole else str(source))
        except (onnx.checker.ValidationError, ValueError) as error:
            reason = " ".join(str(error).split("\n==>")[0].split())
            raise OnnxError(f"is not valid: {reason}", self.file) from None
        finally:
            for item in unsized:
                item.type.tensor_type.ClearField("shape")

    def _newer(self, model: Any) -> Any:
        """A model of operator sets before 7, whose operators broadcast otherwise, in 7."""
        try:
            model = onnx.version_converter.convert_version(model, OLDEST)
        except Exception as error:
            version, reason = self.opsets[""], " ".join(str(error).split())
            text = f"operator set {version} cannot be converted to {OLDEST}: {reason}"
            raise OnnxError(text, self.file) from None
        self.opsets[""] = OLDEST
        return model

    def initializers(self) -> dict[str, Array]:
        arrays = {tensor.name: array_of(tensor, self.file, self.folder) for tensor in self.graph.initializer}
        for sparse in self.graph.sparse_initializer:
            arrays[sparse.values.name] = _dense(sparse)
        return arrays

    def inputs(self) -> list[Declared]:
        """The inputs without those that initializers give a default."""
        constants = {tensor.name for tensor in self.graph.initializer}
        return [self._declared(item) for item in self.graph.input if item.name not in constants]

    def _declared(self, item: Any) -> Declared:
        if not item.type.HasField("tensor_type"):
            kind = item.type.WhichOneof("value") or "no type"
            raise OnnxError(
                f"is of the kind {kind.removesuffix('_type')}, not a tensor",
                self.file,
                f"input {item.name!r}",
            )
        tensor = item.type.tensor_type
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))
        if not tensor.HasField("shape"):
            return Declared(item.name, dtype, None)
        sizes = tuple(
            size.dim_value if size.HasField("dim_value") and size.dim_value >= 0 else size.dim_param or None
            for size in tensor.shape.dim
        )
        return Declared(item.name, dtype, sizes)


def _read(source: Any) -> tuple[str, Path | None, Any]:
    if isinstance(source, onnx.ModelProto):
        return "", None, source
    if isinstance(source, (bytes, bytearray, memoryview)):
        file, folder, data = "", None, bytes(source)
    elif isinstance(source, (str, Path)):
        file, folder = str(source), Path(source).resolve().parent
        data = Path(source).read_bytes()
    else:
        raise TypeError(f"a model is a path, bytes or a ModelProto, not {type(source).__name__}")
    model = onnx.ModelProto()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.ParseFromString(data)
    except DecodeError:
        raise OnnxError("is damaged, or no ONNX model", file) from None
    return file, folder, model


def _dense(sparse: Any) -> Array:
    values, indices = (onnx.numpy_helper.to_array(part) for part in (sparse.values, sparse.indices))
    dense = np.zeros(tuple(sparse.dims), values.dtype)
    if indices.ndim == 1:
        dense.reshape(-1)[indices] = values
    else:
        dense[tuple(indices.T)] = values
    return dense


def bound_sizes(declared: Declared, bindings: Bindings, file: str) -> Sizes:
    """The sizes of an input: those declared, with names and unknown ones bound. Raises ``OnnxError``."""
    where = f"input {declared.name!r}"
    given = bindings.get(declared.name)
    if isinstance(given, np.ndarray):
        given = given.shape
    if given is not None:
        if isinstance(given, (str, int)) or not isinstance(given, Sequence):
            raise OnnxError(f"its sizes must be a list of numbers, not {given!r}", file, where)
        wanted = tuple(int(size) for size in given)
        own = declared.sizes
        if own is not None and (
            len(own) != len(wanted)
            or any(isinstance(size, int) and size != want for size, want in zip(own, wanted))
        ):
            raise OnnxError(f"has sizes {_shown(own)}, not {list(wanted)}", file, where)
        return wanted
    if declared.sizes is None:
        raise OnnxError(f"has no sizes; give them: inputs={{{declared.name!r}: [...]}}", file, where)
    sizes = tuple(bindings.get(size, size) if isinstance(size, str) else size for size in declared.sizes)
    unbound = [place for place, size in enumerate(sizes) if not isinstance(size, int)]
    if unbound:
        raise OnnxError(
            f"has sizes {_shown(declared.sizes)}; give numbers: inputs={{{declared.name!r}: [...]}}",
            file,
            where,
        )
    return tuple(int(size) for size in sizes if size is not None)


def _shown(sizes: Sequence[int | str | None]) -> str:
    return f"[{', '.join('?' if size is None else str(size) for size in sizes)}]"
