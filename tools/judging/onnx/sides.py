"""A case on both sides: ONNX Runtime's CPU provider, and this package."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
from clients.dml_provider.tensors import Array
from onnx import ModelProto, TensorProto, TypeProto, ValueInfoProto, helper

from directml_py.onnx.errors import OnnxError

from .drawn_cases import LIMITS, DrawnCase, tensor
from .schemas import KINDS, MICROSOFT

AGREE, TYPES, SIZES, VALUES, REFUSED, FOREIGN = (
    "agree",
    "types differ",
    "sizes differ",
    "values differ",
    "refused",
    "foreign exception",
)
THEIRS, THEIRS_CRASHES, ENDED = "ONNX Runtime refuses", "ONNX Runtime crashes", "process ended"
VERDICTS = (AGREE, TYPES, SIZES, VALUES, REFUSED, FOREIGN, ENDED, THEIRS, THEIRS_CRASHES)
# Of these elements NumPy has none of its own, and ONNX Runtime's Python no arrays: the model itself casts them.
LACKING = frozenset(
    number
    for name, number in TensorProto.DataType.items()
    if name.startswith(("BFLOAT", "FLOAT8", "FLOAT4", "INT4", "UINT4", "INT2", "UINT2", "FLOAT6"))
)
RANDOM = frozenset(
    ["Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"]
)
# How far results may be apart: sums are in another order.
TOLERANCES = {"float16": 4e-3, "bfloat16": 2e-2, "float32": 2e-5, "float64": 1e-6}
LEFT_OPEN = ", all of NaN, infinities and numbers beyond the range"
# Whose results cancel: of these, errors are relative to the largest result.
CANCELLING = frozenset(["DFT", "STFT"])
# ONNX Runtime has kernels for operator sets that are not released yet.
os.environ.setdefault("ALLOW_RELEASED_ONNX_OPSET_ONLY", "0")


class SweepVerdict(NamedTuple):
    """``node`` is the case's node in words, as ``text_of`` has it."""

    case: str
    verdict: str
    why: str = ""
    node: str = ""


def text_of(case: DrawnCase) -> str:
    """The node with the types and sizes of its inputs, and its attributes: ``Relu-14(float32[2, 3]) axis=1``."""
    inputs = ", ".join(
        "" if one is None else _worded(one, case.types[index]) for index, one in enumerate(case.inputs)
    )
    attributes = (
        f"{name}={_valued(helper.get_attribute_value(attribute))}"
        for name, attribute in sorted(case.attributes.items())
    )
    return " ".join([f"{case.version.name}-{case.opset}({inputs})", *attributes])


def _worded(value: Any, kind: TypeProto | None) -> str:
    if kind is None or not kind.HasField("tensor_type"):
        return "" if kind is None else str(kind.WhichOneof("value")).removesuffix("_type")
    name = TensorProto.DataType.Name(kind.tensor_type.elem_type).lower()
    return f"{name}{list(value.shape)}"


def _valued(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, TensorProto):
        return f"{TensorProto.DataType.Name(value.data_type).lower()}{list(value.dims)}"
    return f"{value:g}" if isinstance(value, float) else str(value).replace("\n", " ")


def names_of(case: DrawnCase) -> list[str]:
    return ["" if one is None else f"x{index}" for index, one in enumerate(case.inputs)]


def is_number_of_numpy(kind: TypeProto) -> bool:
    return kind.tensor_type.elem_type not in LACKING


def model_of(case: DrawnCase, constants: frozenset[int], outputs: Sequence[TypeProto | None]) -> ModelProto:
    """The case as a model, with the inputs of the places ``constants`` as initializers."""
    version, names = case.version, names_of(case)
    asked = [f"y{index}" if wanted else "" for index, wanted in enumerate(case.outputs)]
    node = helper.make_node(version.name, names, asked, name="node", domain=version.domain)
    node.attribute.extend(case.attributes.values())
    inputs, initializers = [], []
    for index, (name, value, kind) in enumerate(zip(names, case.inputs, case.types)):
        if not name or kind is None:
            continue
        if index in constants:
            initializers.append(tensor(value, kind.tensor_type.elem_type, name))
        else:
            inputs.append(helper.make_value_info(name, kind))
    made = [ValueInfoProto(name=name, type=kind) for name, kind in zip(filter(None, asked), outputs)]
    graph = helper.make_graph([node], "sweep", inputs, made, initializers)
    imports = [helper.make_opsetid("", 21 if version.domain else case.opset)]
    if version.domain:
        imports.append(helper.make_opsetid(MICROSOFT, 1))
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def verdict_of(case: DrawnCase, stage: Callable[[str], None]) -> SweepVerdict:
    """``stage`` is told who runs: a process that ends did so there."""
    stage(THEIRS_CRASHES)
    expected: Sequence[Any] | str
    try:
        kinds, expected = theirs(case)
    except Exception as error:
        kinds, expected = [None] * sum(case.outputs), " ".join(str(error).split())
    stage(ENDED)
    try:
        found = ours(case, kinds)
    except OnnxError as error:
        if isinstance(expected, str):
            return SweepVerdict(case.title, THEIRS, expected)
        return SweepVerdict(case.title, REFUSED, " ".join(str(error).split()))
    except Exception as error:
        words = " ".join(f"{type(error).__module__}.{type(error).__name__}: {error}".split())
        return SweepVerdict(case.title, FOREIGN, words)
    if isinstance(expected, str):
        return SweepVerdict(case.title, THEIRS, expected)
    for index, (one, two) in enumerate(zip(_ordered(case, found), _ordered(case, expected))):
        verdict, why = difference(one, two, case.version.name)
        if verdict != AGREE:
            why += LEFT_OPEN if verdict == VALUES and _is_left_open(case, one, two) else ""
            return SweepVerdict(case.title, verdict, f"output {index}: {why}")
    return SweepVerdict(case.title, AGREE)


def _ordered(case: DrawnCase, results: Sequence[Any]) -> Sequence[Any]:
    """Elements and places of TopK in ascending order, where the operator leaves theirs open."""
    attributes = {name: helper.get_attribute_value(attribute) for name, attribute in case.attributes.items()}
    if case.version.name != "TopK" or attributes.get("sorted", 1):
        return results
    return [np.sort(one, axis=attributes.get("axis", -1)) for one in results]


def _is_left_open(case: DrawnCase, found: Any, expected: Any) -> bool:
    """Whether only such elements differ as ONNX does not say the casts of: NaN, infinities, what is out of range."""
    if case.version.name not in ("Cast", "CastLike"):
        return False
    source, number = np.asarray(case.inputs[0]), int(helper.np_dtype_to_tensor_dtype(found.dtype))
    if source.dtype == object or (number not in LIMITS and found.dtype.kind not in "iu"):
        return False
    low, high = LIMITS.get(number) or (np.iinfo(found.dtype).min, np.iinfo(found.dtype).max)
    whole = np.trunc(source.astype(np.float64))
    return not (_wrong(found, np.asarray(expected), 1.0) & (whole >= low) & (whole <= high)).any()


def _fed(case: DrawnCase, constants: frozenset[int]) -> dict[str, Any]:
    return {
        name: value
        for index, (name, value) in enumerate(zip(names_of(case), case.inputs))
        if name and index not in constants
    }


def theirs(case: DrawnCase) -> tuple[list[TypeProto | None], list[Any]]:
    """The types of the outputs, and these. Raises what ONNX Runtime raises."""
    constants = case.constants | {
        index for index, kind in enumerate(case.types) if kind is not None and not is_number_of_numpy(kind)
    }
    model = model_of(case, constants, [None] * sum(case.outputs))
    session = _session(model)
    kinds = [_type_of(output.type) for output in session.get_outputs()]
    names = [output.name for output in session.get_outputs()]
    if not all(map(is_number_of_numpy, kinds)):
        model = model_of(case, constants, kinds)
        names = _add_casts(model, kinds)
        session = _session(model)
    return [*kinds], session.run(names, _fed(case, constants))


def _session(model: ModelProto) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def _add_casts(model: ModelProto, kinds: Sequence[TypeProto]) -> list[str]:
    """Outputs of FLOAT for those whose elements NumPy lacks; the names of all outputs."""
    outputs = list(model.graph.output)
    del model.graph.output[:]
    for output, kind in zip(outputs, kinds):
        if is_number_of_numpy(kind):
            model.graph.output.append(output)
        else:
            model.graph.node.append(
                helper.make_node("Cast", [output.name], [f"{output.name}.cast"], to=TensorProto.FLOAT)
            )
            model.graph.output.append(
                helper.make_tensor_value_info(f"{output.name}.cast", TensorProto.FLOAT, None)
            )
    return [output.name for output in model.graph.output]


def _type_of(name: str) -> TypeProto:
    if name.startswith("tensor("):
        return helper.make_tensor_type_proto(KINDS[name], None)
    kind, _, inner = name.partition("(")
    made = _type_of(inner.removesuffix(")"))
    if kind == "seq":
        return helper.make_sequence_type_proto(made)
    return helper.make_optional_type_proto(made)


def ours(case: DrawnCase, kinds: Sequence[TypeProto | None]) -> list[Any]:
    """The outputs of this package. Raises ``OnnxError``, and what should not leave it."""
    from directml_py.onnx.model_file import ModelFile
    from directml_py.onnx.onnx_model import built_for, device_of

    model = model_of(case, case.constants, kinds)
    fed = _fed(case, case.constants)
    made, fixed = built_for(ModelFile(model), device_of(None), fed)
    results: Mapping[str, Any] = made.run({name: value for name, value in fed.items() if name not in fixed})
    return [results[output.name] for output in model.graph.output]


def difference(found: Any, expected: Any, operator: str = "") -> tuple[str, str]:
    """A verdict, and how one output of an operator differs."""
    if isinstance(expected, list) or isinstance(found, list):
        if not isinstance(expected, list) or not isinstance(found, list):
            return TYPES, f"{type(found).__name__}, not {type(expected).__name__}"
        if len(found) != len(expected):
            return SIZES, f"{len(found)} tensors, not {len(expected)}"
        verdicts = (difference(one, two, operator) for one, two in zip(found, expected))
        return next((one for one in verdicts if one[0] != AGREE), (AGREE, ""))
    if expected is None:
        return (AGREE, "") if found is None else (TYPES, "a tensor, not an empty optional")
    return _tensor_difference(np.asarray(found), np.asarray(expected), operator)


def _tensor_difference(found: Array, expected: Array, operator: str) -> tuple[str, str]:
    is_cast = found.dtype != expected.dtype and expected.dtype == np.float32 and _is_lacking(found.dtype)
    if found.dtype != expected.dtype and not is_cast:
        return TYPES, f"{found.dtype}, not {expected.dtype}"
    if found.shape != expected.shape:
        return SIZES, f"{list(found.shape)}, not {list(expected.shape)}"
    if operator in RANDOM:
        return AGREE, ""
    wrong = _wrong(found, expected, np.inf if operator in CANCELLING else 1.0)
    if not wrong.any():
        return AGREE, ""
    at = tuple(map(int, np.argwhere(wrong)[0]))
    return VALUES, (
        f"{np.count_nonzero(wrong)} of {wrong.size} elements, at {list(at)} {found[at]}, not {expected[at]}"
    )


def _is_lacking(dtype: np.dtype[Any]) -> bool:
    return int(helper.np_dtype_to_tensor_dtype(dtype)) in LACKING


def _wrong(found: Array, expected: Array, most: float) -> Array:
    """Where results are further apart than the type's tolerance, of each or of the largest up to ``most``."""
    if found.dtype.kind not in "fcV" or found.dtype.name not in TOLERANCES:
        if found.dtype != expected.dtype:
            found = found.astype(np.float32)
        both_nan = (found != found) & (expected != expected)
        return np.asarray((found != expected) & ~both_nan)
    tolerance = TOLERANCES[found.dtype.name]
    one, two = found.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        finite = np.abs(two[np.isfinite(two)])
        # The magnitudes that were added are not known; the largest result stands for them.
        near = np.isclose(one, two, tolerance, tolerance * min(most, finite.max(initial=0)), equal_nan=True)
    return ~near
