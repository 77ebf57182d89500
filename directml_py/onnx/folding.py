"""Constant folding: nodes whose inputs are known on the host, computed by ONNX's reference evaluator."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from .protobuf import NodeMessage
from .shape_inference import COMPARED, MOST_LAYERS, layer_of
from .values import Array, OnnxValue, Sizes, known, unique_slices

# Above this number of elements the host only runs nodes that move elements.
LARGE = 1 << 16
# Above this one it does not run those that the evaluator computes element by element.
SMALL = 1 << 10
# The same memory with other sizes.
VIEWS = {"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"}
# Of any size, and with no more elements than one of the inputs: what exceeds the budget is left to the graph.
NOT_GROWING = VIEWS | {
    "Cast", "CastLike", "Constant", "DequantizeLinear", "Slice", "Split", "Transpose",
}  # fmt: skip
CHEAP = NOT_GROWING | {"Concat", "ConstantOfShape", "Expand", "Gather", "Range", "Tile"}
# What no graph computes, whatever the count of elements.
HOST_ALONE = {"NonMaxSuppression", "NonZero", "Unique"}
# Operators for which the evaluator makes arrays larger than inputs and outputs, or whose work grows faster than these.
UNBOUNDED = {
    "AveragePool", "Col2Im", "Conv", "ConvInteger", "ConvTranspose", "DeformConv", "DFT", "Einsum", "GridSample",
    "ImageDecoder", "LpPool", "LRN", "MaxPool", "MaxRoiPool", "MaxUnpool", "QLinearConv", "Resize", "RoiAlign",
    "STFT", "Upsample",
}  # fmt: skip
# Those for which it runs Python for each element.
SLOW = {
    "AffineGrid", "Attention", "CenterCropPad", "Det", "GatherElements", "GatherND", "GRU", "LSTM", "LinearAttention",
    "MelWeightMatrix", "NegativeLogLikelihoodLoss", "RegexFullMatch", "ReverseSequence", "RNN", "ScatterElements",
    "ScatterND", "SoftmaxCrossEntropyLoss", "StringConcat", "StringNormalizer", "StringSplit", "TensorScatter",
    "TfIdfVectorizer",
}  # fmt: skip
# Those whose work is a product of sizes.
PRODUCTS = {"Gemm", "MatMul", "MatMulInteger", "QLinearMatMul"}
RANDOM = {
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Bernoulli",
    "Multinomial",
}
IR_VERSION = 10
ALL = 1 << 30
# Before these operator sets, the evaluator computes operators otherwise than they define them: by their newest
# definitions, or without what some attributes and inputs say. Translators and DirectML's operators do better.
UNFAITHFUL = {
    "BatchNormalization": 14,
    "Dropout": ALL,
    "GRU": ALL,
    "Hardmax": 13,
    "LSTM": ALL,
    "LayerNormalization": ALL,
    "LogSoftmax": 13,
    "RNN": ALL,
    "ReduceLogSumExp": ALL,
    "Slice": ALL,
    "Softmax": 13,
}
# Attributes that it does not count from the end.
REVERSED = ("batch_axis", "time_axis")
# Types of outputs that it rounds or clips otherwise than ONNX Runtime.
ROUNDED_OTHERWISE = {
    "Cast": {"int4", "uint4"},
    "CastLike": {"int4", "uint4"},
    "QuantizeLinear": {"int16", "uint16"},
}
# The work of a step: elements that NumPy handles, elements that Python handles.
ELEMENTS, OBJECTS = 1 << 16, 1 << 4
# The outputs of layers that are alike, by all that the evaluator looks at.
_folded: dict[Hashable, list[Array]] = {}
# Bytes of a string beside its characters, and of a number as text.
STRING, NUMERAL = 64, 64


class HostWork(NamedTuple):
    """What the host would do for a node: the bytes of its outputs at most, and steps."""

    bytes: int
    steps: int


def work_of(
    node: NodeMessage, inputs: Mapping[str, OnnxValue], outputs: Mapping[str, tuple[np.dtype[Any], Sizes]]
) -> HostWork | None:
    """The work of computing the node; None if the host should not."""
    kind = node.op_type
    if any(value.array is None for value in inputs.values()) or kind in RANDOM or kind in UNBOUNDED:
        return None
    if not node.domain and node.version < UNFAITHFUL.get(kind, 0):
        return None
    if kind == "ReverseSequence" and min(node.attributes.get(name, 0) for name in REVERSED) < 0:
        return None
    if any(dtype.name in ROUNDED_OTHERWISE.get(kind, ()) for dtype, _ in outputs.values()):
        return None
    counts = [value.size for value in inputs.values()]
    counts += [math.prod(shape) for _, shape in outputs.values()]
    is_slow = bool(node.domain) or kind in SLOW
    is_any = kind in CHEAP or kind in HOST_ALONE
    if not is_any and max(counts, default=0) > (SMALL if is_slow else LARGE):
        return None
    size = _bytes_of(node, inputs, outputs)
    if size is None:
        return None
    further = _steps_of(node, inputs)
    return HostWork(size, 1 + further + sum(counts) // (OBJECTS if is_slow else ELEMENTS))


def _bytes_of(
    node: NodeMessage, inputs: Mapping[str, OnnxValue], outputs: Mapping[str, tuple[np.dtype[Any], Sizes]]
) -> int | None:
    """The most bytes that the outputs have; None if nothing says."""
    values = [inputs[name] for name in node.input if name]
    # NumPy stores the strings of an array in as many characters as the longest has, some operators join two.
    longest = sum(longest_string(value) for value in values)
    if node.op_type == "StringSplit":
        return values[0].size * (longest + 1) * (STRING + 8)
    if outputs.keys() >= set(filter(None, node.output)):
        text = STRING + 4 * max(longest, NUMERAL)
        return sum(
            math.prod(shape) * (text if dtype.kind in "OTU" else dtype.itemsize)
            for dtype, shape in outputs.values()
        )
    if node.op_type in DATA_SIZED:
        return DATA_SIZED[node.op_type](values)
    size = sum(value.size for value in values)
    if node.op_type in NOT_GROWING:
        return size * (8 + STRING + 4 * longest if longest else 8)
    # Such outputs are broadcast at most.
    return 8 * size**2 if node.op_type not in CHEAP and size <= SMALL and not longest else None


def longest_string(value: OnnxValue) -> int:
    """The characters of the longest string; 0 for numbers."""
    if value.array is None or value.dtype.kind not in "OTU":
        return 0
    return max(
        (len(item) for item in value.array.reshape(-1).tolist() if isinstance(item, (str, bytes))), default=0
    )


def _range_bytes(values: Sequence[OnnxValue]) -> int:
    start, limit, delta = (float(np.asarray(value.array).reshape(-1)[0]) for value in values)
    count = (limit - start) / delta if delta else 0.0
    return values[0].dtype.itemsize * (math.ceil(max(0.0, count)) if math.isfinite(count) else 0)


# For operators whose output sizes depend on data, or are not inferred for inputs that the evaluator takes: the bytes
# that they have at most.
DATA_SIZED: dict[str, Callable[[Sequence[OnnxValue]], int]] = {
    "Range": _range_bytes,
    "Compress": lambda values: values[0].size * values[0].dtype.itemsize,
    "NonMaxSuppression": lambda values: 3 * 8 * values[1].size,
    "NonZero": lambda values: 8 * values[0].size * len(values[0].shape),
    "Unique": lambda values: values[0].size * (values[0].dtype.itemsize + 3 * 8),
}


def _steps_of(node: NodeMessage, inputs: Mapping[str, OnnxValue]) -> int:
    """The steps of work that does not grow with the number of elements alone."""
    values = [inputs[name] for name in node.input if name]
    if node.op_type == "NonMaxSuppression" and len(values) > 1:
        # Each box may be compared with all others.
        return values[1].size * (values[1].shape[-1] if values[1].shape else 1) // OBJECTS
    if node.op_type in PRODUCTS:
        return (
            max(value.size * (other.shape or (1,))[-1] for value, other in permutations(values, 2))
            // ELEMENTS
        )
    if node.op_type == "Unique":
        return values[0].size // OBJECTS
    longest = sum(longest_string(value) for value in values)
    if node.op_type == "RegexFullMatch":
        return values[0].size * paths(str(node.attributes.get("pattern", "")), longest) // ELEMENTS
    return longest * values[0].size // ELEMENTS if longest else 0


def paths(pattern: str, length: int) -> int:
    """The most steps that Python takes to match ``length`` characters, which it does by trying all ways.

    ONNX's operator has a syntax whose matching never does, but Python's module does.
    """
    if re.search(r"\)[*+?{]|\\\d|\(\?P=", pattern):
        # What is repeated may repeat something itself.
        return (length + 1) << min(length, 64)
    repeats, choices = len(re.findall(r"[*+?{]", pattern)), pattern.count("|")
    return int((length + 1) ** (repeats + 1)) << choices


def prepared(node: NodeMessage, inputs: Mapping[str, OnnxValue]) -> Mapping[str, OnnxValue]:
    """The inputs as the evaluator takes them, which wants contents where a type alone matters, and lists of limits."""
    if node.op_type == "CastLike" and node.input[0] != node.input[1]:
        name = node.input[1]
        return {**inputs, name: known(name, np.empty(0, inputs[name].dtype))}
    if node.op_type == "QuantizeLinear" and all(inputs[name].dtype.kind == "f" for name in node.input[:2]):
        # The quotient is one of the type of the scale.
        array, dtype = inputs[node.input[0]].array, inputs[node.input[1]].dtype
        return (
            inputs if array is None else {**inputs, node.input[0]: known(node.input[0], array.astype(dtype))}
        )
    if node.op_type == "NonZero":
        # A scalar is a list of one.
        array = inputs[node.input[0]].array
        return (
            inputs if array is None else {**inputs, node.input[0]: known(node.input[0], np.atleast_1d(array))}
        )
    if node.op_type == "NonMaxSuppression":
        limits = {name: inputs[name].array for name in node.input[2:] if name}
        lists = {name: known(name, array.reshape(-1)) for name, array in limits.items() if array is not None}
        return {**inputs, **lists}
    return inputs


def view_of(
    node: NodeMessage, inputs: Mapping[str, OnnxValue], outputs: Mapping[str, tuple[Any, Sizes]]
) -> Array | None:
    """The output of a node that changes sizes alone, without a copy; None for other nodes."""
    if node.op_type not in VIEWS or node.domain or len(node.output) != 1:
        return None
    array = inputs[node.input[0]].array
    if array is None or node.output[0] not in outputs:
        return None
    dtype, shape = outputs[node.output[0]]
    if dtype != array.dtype or math.prod(shape) != array.size:
        return None
    return array if array.shape == shape else array.reshape(shape)


class Unique(OpRun):
    """ONNX's evaluator takes what it does not sort from the first axis, whichever is asked for."""

    op_domain = ""

    def _run(self, x: Array, axis: int | None = None, sorted: int = 1) -> tuple[Array, ...]:
        first, inverse, counts = unique_slices(x, axis, bool(sorted))
        found = np.take(x, first) if axis is None else np.take(x, first, axis=axis)
        numbers = (array.astype(np.int64, copy=False) for array in (first, inverse, counts))
        return (found, *numbers)[: len(self.onnx_node.output)]


def folded(node: NodeMessage, inputs: Mapping[str, OnnxValue]) -> list[Array] | None:
    """The outputs of a node, read-only if they are small; None if the evaluator cannot compute them."""
    layer = layer_of(node, inputs) if _are_small(value.size for value in inputs.values()) else None
    kept = _folded.get(layer)
    if kept is not None:
        return kept
    results = _evaluated(node, inputs)
    if layer is None or results is None or not _are_small(array.size for array in results):
        return results
    results = list(map(_copied, results))
    if len(_folded) >= MOST_LAYERS:
        _folded.clear()
    _folded[layer] = results
    return results


def _are_small(sizes: Iterable[int]) -> bool:
    return max(sizes, default=0) <= COMPARED


def _copied(array: Array) -> Array:
    """A copy: the evaluator may return the memory of an input."""
    copy: Array = array.copy()
    copy.flags.writeable = False
    return copy


def _evaluated(node: NodeMessage, inputs: Mapping[str, OnnxValue]) -> list[Array] | None:
    needed = [*dict.fromkeys((*node.present_inputs, *sorted(node.captured)))]
    declared = [
        onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(inputs[name].dtype), None
        )
        for name in needed
    ]
    wanted = [onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name]
    graph = onnx.helper.make_graph([node.proto], "folded", declared, wanted)
    imports = [onnx.helper.make_opsetid(domain, version) for domain, version in node.opsets.items()]
    model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=IR_VERSION)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            results = ReferenceEvaluator(model, new_ops=[Unique]).run(
                None, {name: inputs[name].array for name in needed}
            )
    except Exception:
        # Nodes that the evaluator cannot compute are left to DirectML's operators, which refuse them if they cannot
        # either.
        return None
    if not all(isinstance(result, (np.ndarray, np.generic)) for result in results):
        return None
    return [np.asarray(result) for result in results]
