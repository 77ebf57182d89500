"""Reading a model: the file, its integrity, its opsets, the sizes of its inputs."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnx.version_converter
from google.protobuf.message import DecodeError
from google.protobuf.message import Error as ProtobufError
from onnx.external_data_helper import uses_external_data

from ..storage import regular_file
from .budget import Budget, Limits, check_calls
from .constants import TensorReader, tensors_in, tensors_of
from .definitions import IMPLIED
from .errors import OnnxError, OpenSizes, Refusal, one_sentence, shown_sizes
from .function_bodies import OLDEST, Functions
from .values import Array, Sizes
from .wire_format import without_weights

# From this version of the format on, initializers need not be inputs.
SCOPED = 4
# Sizes of DirectML are unsigned numbers of 32 bits.
LARGEST_SIZE = (1 << 32) - 1
# What an input is: its sizes, its content, or for a symbolic size the number.
Bindings = Mapping[str, Any]


class Declared(NamedTuple):
    """An input of a model: sizes are numbers, names, or None for unknown ones.

    It is a tensor, a sequence of such tensors, or an optional one or the other. ``source`` is the input that a tensor
    of a sequence is part of.
    """

    name: str
    dtype: np.dtype[Any]
    sizes: tuple[int | str | None, ...] | None
    is_sequence: bool = False
    is_optional: bool = False
    source: str = ""

    @property
    def is_tensor(self) -> bool:
        return not (self.is_sequence or self.is_optional)


def item_name(name: str, index: int) -> str:
    """The name of the tensor at a place of a sequence."""
    return f"{name}[{index}]"


class ModelFile:
    """An ONNX model, of opset 7 or newer; ``functions`` are those of its own.

    ``external_data`` is a folder in which files of external data are looked up first, ``limits`` what may be computed.
    """

    def __init__(
        self, source: Any, external_data: str | Path | None = None, limits: Limits | None = None
    ) -> None:
        self.limits = limits or Limits()
        self.file, model, self._weights, may_have_external = _read(source)
        self.tensors = TensorReader(Path(source) if self.file else None, external_data)
        try:
            if may_have_external:
                model = self._with_embedded(model)
            imports = {
                "" if entry.domain == "ai.onnx" else entry.domain: entry.version
                for entry in model.opset_import
            }
            self.opsets = {**IMPLIED, **imports}
            check_calls(model, self.limits, self.file)
            self._check(model)
            self.functions = Functions(model.functions, self.file)
            if self.opsets[""] < OLDEST:
                model = self._newer(self._whole(model))
        except (ProtobufError, RecursionError):
            raise OnnxError("has subgraphs that are nested too deeply", self.file) from None
        self._model = model
        self.graph = model.graph

    @property
    def proto(self) -> Any:
        """The ModelProto, with its weights."""
        return self._whole(self._model)

    @property
    def embedded(self) -> Any:
        """The ModelProto with all data in it, external data too. Raises ``OnnxError`` for files that cannot be read."""
        return self._with_embedded(self.proto, constants=True)

    def _whole(self, model: Any) -> Any:
        """``model`` with the weights that were left where they are."""
        for tensor, raw in zip(model.graph.initializer, self._weights):
            if raw is not None:
                tensor.raw_data = bytes(raw)
        self._weights = []
        return model

    def _check(self, model: Any) -> None:
        version, newest = self.opsets[""], onnx.defs.onnx_opset_version()
        if not model.HasField("graph") or not model.opset_import:
            raise OnnxError("is not an ONNX model", self.file)
        if not 1 <= version <= newest:
            raise OnnxError(f"operator set {version} is not between 1 and {newest}", self.file)
        if model.ir_version > onnx.IR_VERSION:
            text = f"is of version {model.ir_version} of ONNX's format; the newest known is {onnx.IR_VERSION}"
            raise OnnxError(text, self.file)

    def _newer(self, model: Any) -> Any:
        """A model of an opset before 7, whose operators broadcast differently, converted to opset 7."""
        try:
            light = skeleton(model)
            _hide_external(light)
            onnx.checker.check_model(light)
        except (onnx.checker.ValidationError, ValueError) as error:
            # The converter relies on it.
            reason = " ".join(str(error).split("\n==>")[0].split())
            raise OnnxError(f"is not valid: {reason}", self.file) from None
        try:
            model = onnx.version_converter.convert_version(model, OLDEST)
        except Exception as error:
            version, reason = self.opsets[""], " ".join(str(error).split())
            text = f"operator set {version} cannot be converted to {OLDEST}: {reason}"
            raise OnnxError(text, self.file) from None
        self.opsets[""] = OLDEST
        return model

    def _with_embedded(self, model: Any, constants: bool = False) -> Any:
        """``model`` with external data in it, without that of constants unless asked for, so that whoever evaluates a
        node need not know of files."""
        if not any(
            uses_external_data(tensor)
            for _, is_constant, tensor in _tensors(model)
            if constants or not is_constant
        ):
            return model
        result = onnx.ModelProto()
        result.CopyFrom(model)
        for where, is_constant, tensor in _tensors(result):
            if (constants or not is_constant) and uses_external_data(tensor):
                try:
                    array = self.tensors.array_of(tensor)
                except Refusal as error:
                    raise OnnxError(error.reason, self.file, where) from None
                tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
        return result

    def initializers(self, budget: Budget) -> dict[str, Array]:
        arrays: dict[str, Array] = {}
        for tensor, raw in zip_longest(self.graph.initializer, self._weights):
            name = tensor.name
            try:
                arrays[name] = self.tensors.array_of(tensor, raw)
            except Refusal as error:
                raise OnnxError(error.reason, self.file, f"initializer {name!r}") from None
        for sparse in self.graph.sparse_initializer:
            with one_sentence(self.file, f"initializer {sparse.values.name!r}"):
                arrays[sparse.values.name] = self.tensors.dense(sparse, budget)
        return arrays

    def inputs(self) -> list[Declared]:
        """The inputs without those for which initializers give a default."""
        constants = {tensor.name for tensor in self.graph.initializer}
        declared = [self._declared(item) for item in self.graph.input if item.name not in constants]
        names = Counter(item.name for item in declared)
        for name in names:
            if names[name] > 1:
                raise OnnxError("another input has the same name", self.file, f"input {name!r}")
        return declared

    def _declared(self, item: Any) -> Declared:
        kind = item.type
        is_optional = kind.HasField("optional_type")
        kind = kind.optional_type.elem_type if is_optional else kind
        is_sequence = kind.HasField("sequence_type")
        kind = kind.sequence_type.elem_type if is_sequence else kind
        if not kind.HasField("tensor_type"):
            word = (kind.WhichOneof("value") or "no type").removesuffix("_type")
            text = f"is of the kind {word}, neither tensors nor a sequence of them"
            raise OnnxError(text, self.file, f"input {item.name!r}")
        tensor = kind.tensor_type
        try:
            dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))
        except KeyError:
            text = f"its element type is {tensor.elem_type}, which ONNX does not have"
            raise OnnxError(text, self.file, f"input {item.name!r}") from None
        if not tensor.HasField("shape"):
            return Declared(item.name, dtype, None, is_sequence, is_optional, item.name)
        sizes = tuple(
            size.dim_value if size.HasField("dim_value") and size.dim_value >= 0 else size.dim_param or None
            for size in tensor.shape.dim
        )
        return Declared(item.name, dtype, sizes, is_sequence, is_optional, item.name)


def _read(source: Any) -> tuple[str, Any, list[memoryview | None], bool]:
    """The file, the model, the weights of initializers that are not in it, and whether it may have external data."""
    if isinstance(source, onnx.ModelProto):
        return "", source, [], True
    if isinstance(source, (bytes, bytearray, memoryview)):
        # Weights are read when the model first runs; what may change meanwhile is copied.
        file, data = "", memoryview(bytes(source))
    elif isinstance(source, (str, Path)):
        file = str(source)
        with regular_file(Path(source)) as opened:
            data = memoryview(opened.read())
    else:
        raise TypeError(f"a model is a path, bytes or a ModelProto, not {type(source).__name__}")
    light = without_weights(data) if sys.byteorder == "little" else None
    model = onnx.ModelProto()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.ParseFromString(data if light is None else light[0])
    except DecodeError:
        raise OnnxError("is damaged or not an ONNX model", file) from None
    if light is None:
        return file, model, [], True
    # The key without which no external data has a file.
    return file, model, light[1], b"location" in light[0]


def _tensors(model: Any) -> Iterator[tuple[str, bool, Any]]:
    yield from tensors_of(model.graph)
    for function in model.functions:
        yield from tensors_in(function.node)


def _hide_external(light: Any) -> None:
    """Let no tensor in ``light`` have external data, which the checker looks for in the current directory."""
    is_hidden = False
    for _, is_constant, tensor in _tensors(light):
        # The indices of a sparse tensor, which follow its values, have as many elements.
        is_hidden = uses_external_data(tensor) or (is_hidden and not is_constant)
        if is_hidden:
            tensor.CopyFrom(onnx.TensorProto(name=tensor.name, data_type=tensor.data_type, dims=[0]))


def skeleton(model: Any) -> Any:
    """The part of the model that ONNX's checker examines, which serializes it: all but the data of initializers.

    Outputs need no sizes here, and some models omit them; in the skeleton they have some.
    """
    light = onnx.ModelProto(
        ir_version=max(model.ir_version, SCOPED), opset_import=model.opset_import, functions=model.functions
    )
    graph = light.graph
    graph.name = model.graph.name or "graph"
    for name in ("node", "input", "output", "value_info", "sparse_initializer"):
        getattr(graph, name).extend(getattr(model.graph, name))
    for tensor in model.graph.initializer:
        graph.initializer.add(name=tensor.name, data_type=tensor.data_type, dims=[0])
    for item in graph.output:
        if item.type.HasField("tensor_type") and not item.type.tensor_type.HasField("shape"):
            item.type.tensor_type.shape.SetInParent()
    return light


def tensors_for(
    declared: Sequence[Declared], bindings: Bindings, file: str
) -> tuple[dict[str, list[Declared]], Bindings]:
    """The tensors that each input is or has, and the bindings of these.

    A sequence is bound to a list with sizes or an array for each of its tensors, an optional that has no element to
    None. Raises ``OnnxError`` for one that is bound to something else.
    """
    found: dict[str, list[Declared]] = {}
    bound = dict(bindings)
    for item in declared:
        binding, tensor = bindings.get(item.name), item._replace(is_sequence=False, is_optional=False)
        if item.is_tensor or (item.is_optional and not item.is_sequence and binding is not None):
            found[item.name] = [tensor]
        elif item.is_optional and item.name in bindings and binding is None:
            found[item.name] = []
        elif item.is_sequence and isinstance(binding, (list, tuple)) and not any(map(np.isscalar, binding)):
            names = [item_name(item.name, index) for index in range(len(binding))]
            found[item.name] = [tensor._replace(name=name) for name in names]
            bound.update(zip(names, binding))
        else:
            kind = (
                "a sequence; give the sizes of its tensors"
                if item.is_sequence
                else "optional; give its sizes"
            )
            more = ", or None" if item.is_optional else ""
            expected = "[[...], ...]" if item.is_sequence else "[...]"
            text = f"is {kind}{more}: inputs={{{item.name!r}: {expected}}}"
            raise OnnxError(text, file, f"input {item.name!r}")
    return found, bound


def bound_sizes(declared: Declared, bindings: Bindings, file: str) -> Sizes:
    """The sizes of an input: those declared, with symbolic and unknown ones bound. Raises ``OnnxError``."""
    where = f"input {declared.name!r}"
    binding = bindings.get(declared.name)
    if isinstance(binding, np.ndarray):
        binding = binding.shape
    if binding is not None:
        if isinstance(binding, (str, int)) or not isinstance(binding, Sequence):
            raise OnnxError(f"its sizes must be a list of numbers, not {binding!r}", file, where)
        wanted = _whole(binding, file, where)
        declared_sizes = declared.sizes
        if declared_sizes is not None and (
            len(declared_sizes) != len(wanted)
            or any(isinstance(size, int) and size != want for size, want in zip(declared_sizes, wanted))
        ):
            raise OnnxError(f"has sizes {shown_sizes(declared_sizes)}, not {list(wanted)}", file, where)
        return wanted
    if declared.sizes is None:
        raise OpenSizes(declared.name, None, file)
    sizes = tuple(bindings.get(size, size) if isinstance(size, str) else size for size in declared.sizes)
    if any(size is None or isinstance(size, str) for size in sizes):
        raise OpenSizes(declared.name, declared.sizes, file)
    return _whole(sizes, file, where)


def _whole(sizes: Sequence[Any], file: str, where: str) -> Sizes:
    """``sizes`` as numbers that a tensor may have. Raises ``OnnxError``."""
    for size in sizes:
        if not isinstance(size, (int, np.integer)) or not 0 <= size <= LARGEST_SIZE:
            text = f"its sizes are {list(sizes)}; each must be a whole number from 0 to {LARGEST_SIZE}"
            raise OnnxError(text, file, where)
    return tuple(int(size) for size in sizes)
