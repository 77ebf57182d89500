"""Cases of a version of an operator, drawn by number from its samples: in other types, sizes and attributes."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from clients.dml_provider.tensors import Array
from onnx import AttributeProto, TensorProto, TypeProto, helper, numpy_helper

from .samples import OperatorSample, samples, type_of
from .schemas import KINDS, SchemaVersion, versions_of

ATTRIBUTE = AttributeProto
# Attributes that hold the number of an element type.
TYPE_ATTRIBUTES = ("to", "dtype", "output_dtype", "stash_type", "output_datatype")
# What a word may be; of ``mode`` it depends on the operator.
WORDS = {
    "auto_pad": ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"),
    "padding_mode": ("zeros", "border", "reflection"),
    "coordinate_transformation_mode": (
        "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric", "tf_crop_and_resize",
        "output_half_pixel",
    ),
    "nearest_mode": ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
    "keep_aspect_ratio_policy": ("stretch", "not_larger", "not_smaller"),
    "reduction": ("none", "add", "mul", "max", "min", "sum", "mean"),
    "direction": ("forward", "reverse", "bidirectional"),
    "approximate": ("none", "tanh"),
    "activation": ("Relu", "Sigmoid", "Tanh", "LeakyRelu", "Clip", "HardSigmoid"),
}  # fmt: skip
MODES = {
    "Resize": ("nearest", "linear", "cubic"),
    "Upsample": ("nearest", "linear"),
    "Pad": ("constant", "reflect", "edge", "wrap"),
    "DepthToSpace": ("DCR", "CRD"),
    "GridSample": ("linear", "nearest", "cubic", "bilinear", "bicubic"),
    "RoiAlign": ("avg", "max"),
    "CropAndResize": ("bilinear", "nearest"),
}
# Products of bytes and signed bytes, of which ONNX Runtime adds pairs in 16 bits on processors without VNNI: signed
# ones are halved, so that no sum overflows.
OF_PRODUCTS = {
    "ConvInteger", "DynamicQuantizeLSTM", "DynamicQuantizeMatMul", "MatMulInteger", "MatMulIntegerToFloat",
    "QAttention", "QGemm", "QLinearConv", "QLinearMatMul",
}  # fmt: skip
NUMBERS = (0.0, 0.5, 1.0, 2.0, -1.0)
LARGEST_RANK = 6
# What stands for a required input that the sample leaves out, as Resize's region of interest.
EMPTY = np.empty(0, np.float32)
# How many cases are drawn freely for each version of an operator, and for each type of a type constraint.
FREE, TYPED = 16, 2


class DrawnCase(NamedTuple):
    """A model of one node. ``constants`` are the places of inputs that are initializers."""

    title: str
    version: SchemaVersion
    opset: int
    inputs: tuple[Any, ...]
    types: tuple[TypeProto | None, ...]
    attributes: Mapping[str, AttributeProto]
    outputs: tuple[bool, ...]
    constants: frozenset[int]


def cases(version: SchemaVersion, seed: int) -> Iterator[DrawnCase]:
    """Each sample as it is, then each type of each type constraint, then everything at will."""
    operator_samples = samples().get((version.domain, version.name), [])
    for sample in operator_samples:
        yield case_of(version, sample, seed)
    if not operator_samples:
        return
    for constraint, types in version.types.items():
        for kind in types:
            for number in range(TYPED):
                drawing = _Drawing.of(version, operator_samples, seed, f"{constraint}={kind} {number}")
                if drawing.retype(constraint, kind):
                    yield drawing.case()
    for number in range(FREE * (1 + bool(version.attributes))):
        drawing = _Drawing.of(version, operator_samples, seed, f"free {number}")
        drawing.change()
        yield drawing.case()


def case_of(version: SchemaVersion, sample: OperatorSample, seed: int = 1) -> DrawnCase:
    """The sample as it is, as far as the version has it."""
    return _Drawing(version, sample, seed, f"sample {sample.name}").case()


class _Drawing:
    """A sample that is changed step by step. The same title gives the same case, whatever else is drawn."""

    def __init__(self, version: SchemaVersion, sample: OperatorSample, seed: int, title: str) -> None:
        self.version = version
        self.title = f"{version.domain or 'ai.onnx'}.{version.name}-{version.since}: {title}"
        self.random = _random(seed, self.title)
        self.inputs: list[Any] = []
        self.types: list[TypeProto | None] = []
        self.attributes: dict[str, AttributeProto] = {}
        self.outputs = sample.outputs[: max(1, version.output_count)]
        self._adapt(sample)

    @classmethod
    def of(
        cls, version: SchemaVersion, operator_samples: list[OperatorSample], seed: int, title: str
    ) -> _Drawing:
        name = f"{version.domain}{version.name}{version.since}{title}"
        return cls(version, _random(seed, name).choice(operator_samples), seed, title)

    def case(self) -> DrawnCase:
        version = self.version
        until = min(version.until, 26) if not version.domain else version.since
        opset = self.random.randint(version.since, max(version.since, until))
        if version.name in OF_PRODUCTS:
            self.inputs = [_halved(one) for one in self.inputs]
        tensors = self._tensors()
        constants = self.random.choice(((), tensors[1:], tensors[1:], tensors))
        return DrawnCase(
            self.title,
            version,
            opset,
            tuple(self.inputs),
            tuple(self.types),
            self.attributes,
            self.outputs,
            frozenset(constants),
        )

    def _adapt(self, sample: OperatorSample) -> None:
        """What other versions have as inputs becomes attributes, and the other way around."""
        names = [name for name, _ in self.version.inputs]
        theirs = _input_names(sample)
        known = {name.lower(): name for name in self.version.attributes}
        for index, (value, kind) in enumerate(zip(sample.inputs, sample.types)):
            name = theirs[min(index, len(theirs) - 1)] if theirs else ""
            attribute = known.get({"constant_value": "value"}.get(name, name.lower()))
            if index >= len(theirs) - 1 and self.version.is_variadic:
                self._put(index, value, kind)
            elif name in names:
                self._put(names.index(name), value, kind)
            elif attribute and isinstance(value, np.ndarray):
                self._set(attribute, value)
            elif index < len(names) and names[index] not in theirs:
                self._put(index, value, kind)
        for name, proto in sample.attributes.items():
            if name in self.version.attributes:
                self.attributes[name] = proto
            elif name in names and proto.type in (ATTRIBUTE.INTS, ATTRIBUTE.INT, ATTRIBUTE.FLOAT):
                array = np.array(helper.get_attribute_value(proto))
                array = array.astype(np.float32) if array.dtype.kind == "f" else array
                self._put(names.index(name), array, type_of(array))
        for index, name in enumerate(names[: len(self.inputs)]):
            if self.inputs[index] is None and name in self.version.required_inputs:
                self._put(index, EMPTY, type_of(EMPTY))

    def _put(self, index: int, value: Any, kind: TypeProto | None) -> None:
        while len(self.inputs) <= index:
            self.inputs.append(None)
            self.types.append(None)
        self.inputs[index], self.types[index] = value, kind

    def _set(self, name: str, value: Array) -> None:
        kind = self.version.attribute_kinds[name]
        numbers: Any = value.reshape(-1).tolist()
        if kind in (ATTRIBUTE.INT, ATTRIBUTE.FLOAT):
            numbers = (float if kind == ATTRIBUTE.FLOAT else int)(numbers[0]) if numbers else 0
        self.attributes[name] = helper.make_attribute(name, numbers, attr_type=kind)

    def retype(self, constraint: str, kind: str) -> bool:
        """``kind`` for all inputs of a type constraint, and for attributes that are the type of its outputs.

        Returns whether there is anything of the constraint.
        """
        number = KINDS.get(kind)
        if number is None:
            return False
        indices = [index for index in self._tensors() if self.version.constraint(index) == constraint]
        for index in indices:
            self._replace(index, converted(self.inputs[index], number), number)
        if any(kind_of_input == constraint for _, kind_of_input in self.version.inputs):
            return bool(indices)
        names = [name for name in TYPE_ATTRIBUTES if name in self.version.attributes]
        for name in names:
            self.attributes[name] = helper.make_attribute(name, number)
        value = self.attributes.get("value")
        if value is None or value.type != ATTRIBUTE.TENSOR:
            return bool(names)
        array = converted(numpy_helper.to_array(value.t), number)
        self.attributes["value"] = helper.make_attribute("value", tensor(array, number))
        return True

    def _replace(self, index: int, value: Array, number: int | None = None) -> None:
        kind = self.types[index]
        assert kind is not None
        number = kind.tensor_type.elem_type if number is None else number
        self.inputs[index] = value
        self.types[index] = helper.make_tensor_type_proto(number, value.shape)

    def change(self) -> None:
        """One to three changes of types, sizes and attributes."""
        changes: list[Callable[[], None]] = [
            self._change_sizes,
            self._change_attribute,
            self._change_attribute,
        ]
        if self.version.types:
            changes.append(self._change_types)
        for change in self.random.sample(changes, self.random.randint(1, len(changes))):
            change()

    def _tensors(self) -> list[int]:
        """The places of inputs that are tensors; an optional or a sequence is changed in nothing."""
        return [index for index, kind in enumerate(self.types) if kind and kind.HasField("tensor_type")]

    def _change_types(self) -> None:
        constraint = self.random.choice(list(self.version.types))
        self.retype(constraint, self.random.choice(self.version.types[constraint]))

    def _change_sizes(self) -> None:
        indices = self._tensors()
        if not indices:
            return
        rank = max(self.inputs[index].ndim for index in indices)
        largest = [index for index in indices if self.inputs[index].ndim == rank]
        if self.random.random() < 0.3:
            largest = [self.random.choice(indices)]
        change = self.random.choice(SIZES)
        sizes = [self.random.randint(1, 3) for _ in range(self.random.randint(0, 5))]
        for index in largest:
            old = self.inputs[index]
            array = np.asarray(change(old, sizes), old.dtype)
            if array.ndim <= LARGEST_RANK:
                self._replace(index, array.copy())

    def _change_attribute(self) -> None:
        if not self.version.attributes or self.version.name == "Constant":
            return
        name = self.random.choice(list(self.version.attributes))
        if self.random.random() < 0.2 and name not in self.version.required:
            self.attributes.pop(name, None)
            return
        current = self.attributes.get(name) or self.version.attributes[name]
        value = None if current is None else helper.get_attribute_value(current)
        drawn = self._drawn(name, self.version.attribute_kinds[name], value)
        if drawn is not None:
            self.attributes[name] = helper.make_attribute(
                name, drawn, attr_type=self.version.attribute_kinds[name]
            )

    def _drawn(self, name: str, kind: int, value: Any) -> Any:
        """Another value of an attribute; None if nothing is known of it."""
        rank = max((one.ndim for one in self.inputs if isinstance(one, np.ndarray)), default=0)
        if kind == ATTRIBUTE.STRING:
            words = MODES.get(self.version.name) if name == "mode" else WORDS.get(name)
            return None if words is None else self.random.choice(words)
        if kind == ATTRIBUTE.FLOAT:
            return self.random.choice((*NUMBERS, value or 0.1))
        if kind == ATTRIBUTE.INT:
            if name in TYPE_ATTRIBUTES:
                return self.random.choice(list(KINDS.values()))
            if "axis" in name or name.endswith("_dim"):
                return self.random.randint(-rank, max(rank - 1, 0))
            return self.random.choice((0, 1) if value in (None, 0, 1) else (value, value + 1, 1))
        if kind == ATTRIBUTE.INTS:
            if "axes" in name:
                return self.random.sample(range(-rank, rank), self.random.randint(0, rank)) if rank else []
            if name == "perm":
                return self.random.sample(range(rank), rank)
            low, count = (0, 2 * (rank - 2)) if "pad" in name else (1, rank - 2)
            return [self.random.randint(low, 2 + low) for _ in (value or range(max(count, 0)))]
        return None


def _halved(value: Any) -> Any:
    is_signed = isinstance(value, np.ndarray) and value.dtype == np.int8
    return value // np.int8(2) if is_signed else value


def _input_names(sample: OperatorSample) -> list[str]:
    """The names of a sample's inputs in its own version of the operator."""
    sample_versions = [
        one for one in versions_of(sample.domain, sample.operator) if one.since <= max(sample.opset, 7)
    ]
    return [name for name, _ in sample_versions[-1].inputs] if sample_versions else []


def _random(seed: int, title: str) -> random.Random:
    return random.Random(zlib.crc32(f"{seed} {title}".encode()))


def _resized(array: Array, sizes: list[int]) -> Array:
    return np.resize(array, sizes) if array.size else np.empty([0, *sizes[1:]], array.dtype)


SIZES: tuple[Callable[[Array, list[int]], Array], ...] = (
    _resized,
    lambda array, sizes: array[None],
    lambda array, sizes: np.stack([array, array]),
    lambda array, sizes: array[..., None],
    lambda array, sizes: array[0] if array.ndim and array.shape[0] else array,
    lambda array, sizes: array[..., 0] if array.ndim and array.shape[-1] else array,
    lambda array, sizes: array[:0] if array.ndim else array,
    lambda array, sizes: array[..., :0] if array.ndim else array,
    lambda array, sizes: array[:1] if array.ndim else array,
    lambda array, sizes: array[..., :1] if array.ndim else array,
    lambda array, sizes: array.reshape(-1)[:1].reshape(()) if array.size else array,
    lambda array, sizes: array.reshape(-1)[:1],
    lambda array, sizes: array.reshape(-1),
)


def converted(array: Array, number: int) -> Array:
    """An array in another type: numbers of fractions become small integers, without a sign where the type has none."""
    dtype = helper.tensor_dtype_to_np_dtype(number)
    if number == TensorProto.STRING:
        words = np.array([str(one) for one in array.reshape(-1).tolist()], object)
        return np.asarray(words.reshape(array.shape))
    if array.dtype == object:
        array = np.resize(np.arange(-3, 4), array.shape)
    if array.dtype.kind in "fc" or array.dtype.kind == "V":
        array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    with np.errstate(all="ignore"):
        if np.dtype(dtype).kind in "fc" or _is_small_float(number):
            return np.asarray(array).astype(dtype)
        if array.dtype.kind in "fc":
            array = np.nan_to_num(array.real, nan=0.0, posinf=100.0, neginf=-100.0)
            array = np.rint(array * (3 if array.ndim else 1))
        if dtype == np.bool_:
            return np.asarray(array % 2 == 1)
        low, high = LIMITS.get(number, (0, 100) if np.dtype(dtype).kind == "u" else (-100, 100))
        whole = np.asarray(array).astype(np.int64)
        return np.asarray(np.clip(np.abs(whole) if low == 0 else whole, low, high)).astype(dtype)


LIMITS: dict[int, tuple[int, int]] = {
    TensorProto.INT4: (-8, 7),
    TensorProto.UINT4: (0, 15),
    TensorProto.INT2: (-2, 1),
    TensorProto.UINT2: (0, 3),
}


def _is_small_float(number: int) -> bool:
    return "FLOAT" in TensorProto.DataType.Name(number)


def tensor(array: Array, number: int, name: str = "") -> TensorProto:
    """An array as a tensor of an element type, of which NumPy may lack an own one."""
    if number == TensorProto.STRING:
        words: Any = [str(one).encode() for one in array.reshape(-1)]
        return helper.make_tensor(name, number, array.shape, words)
    made: TensorProto = numpy_helper.from_array(array.astype(helper.tensor_dtype_to_np_dtype(number)), name)
    return made
