"""Comparison of results with ONNX Runtime on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx

from ..late import loading
from .budget import Limits
from .model_file import ModelFile
from .onnx_model import built_for, device_of
from .semantics import ONNX
from .values import Array


class Difference(NamedTuple):
    """How far a value is from ONNX Runtime's: the largest difference, also relative to the largest magnitude."""

    name: str
    absolute: float
    relative: float

    def __str__(self) -> str:
        return (
            f"{self.name}: differs by at most {self.absolute:.3g}, {self.relative:.3g} of the largest element"
        )


def differences(
    source: Any,
    inputs: Mapping[str, Array],
    feature_level: int | None = None,
    every_node: bool = False,
    *,
    semantics: str = ONNX,
    external_data: str | Path | None = None,
    limits: Limits | None = None,
) -> list[Difference]:
    """The differences of the outputs or, with ``every_node``, of all values that nodes compute, in order.

    The other arguments are those of ``load``. Raises ``OnnxError`` as ``load`` does, ``ImportError`` without the
    package onnxruntime, ``ValueError`` for what ONNX Runtime refuses.
    """
    model = ModelFile(source, external_data, limits)
    proto = _with_every_value(model) if every_node else model.embedded
    expected = _by_onnx_runtime(proto, inputs)
    file = ModelFile(proto, limits=limits) if every_node else model
    made, fixed = built_for(file, device_of(feature_level), inputs, semantics)
    found = made.run({name: array for name, array in inputs.items() if name not in fixed})
    return [_difference(name, found[name], values) for name, values in expected.items() if name in found]


def _by_onnx_runtime(model: Any, inputs: Mapping[str, Array]) -> dict[str, Array]:
    try:
        with loading:
            import onnxruntime
    except ImportError as error:
        raise ImportError("the comparison needs ONNX Runtime: pip install onnxruntime") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        results = session.run(None, dict(inputs))
    except Exception as error:
        raise ValueError(f"ONNX Runtime refuses the model: {' '.join(str(error).split())}") from None
    return dict(zip((item.name for item in session.get_outputs()), results))


def _with_every_value(model: ModelFile) -> Any:
    """The model with every value as an output whose type shape inference can determine."""
    whole = onnx.shape_inference.infer_shapes(model.embedded, data_prop=True)
    present = {item.name for item in whole.graph.output}
    known = {item.name: item for item in whole.graph.value_info if item.type.HasField("tensor_type")}
    names = [name for node in whole.graph.node for name in node.output]
    before = list(whole.graph.output)
    del whole.graph.output[:]
    for name in names:
        if name in known and name not in present:
            whole.graph.output.add().CopyFrom(known[name])
        whole.graph.output.extend(item for item in before if item.name == name)
    return whole


def _difference(name: str, ours: Array, theirs: Array) -> Difference:
    if ours.shape != theirs.shape:
        return Difference(name, np.inf, np.inf)
    both_nan = np.logical_and(ours != ours, theirs != theirs)
    with np.errstate(all="ignore"):
        apart = np.where((ours == theirs) | both_nan, 0, np.abs(ours.astype(np.float64) - theirs))
        apart = np.where(np.isnan(apart), np.inf, apart)
        largest = float(np.max(np.abs(theirs.astype(np.float64)), initial=0))
    most = float(np.max(apart, initial=0))
    return Difference(name, most, most / largest if largest else most)
