"""Types and sizes of outputs, for every operator and operator set, as ONNX Runtime has them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
pytest.importorskip("onnxruntime", reason="needs the package onnxruntime")
import onnx

import directml_py as dml
from directml_py.onnx.definitions import element_name
from directml_py.onnx.every_operator import OPERATORS
from directml_py.onnx.model_file import ModelFile
from directml_py.onnx.onnx_model import built_for, device_of

from .onnx_runtime import session_of
from .small_nodes import small_nodes, versions_of, with_constants
from .special_nodes import SPECIAL

KINDS = sorted(kind for domain, kind in OPERATORS if not domain and onnx.defs.has(kind, ""))
# Messages that say that a type or sizes are missing or wrong, and not that a node is refused.
UNKNOWN = ("do not follow from", "by the attributes and inputs it is", "do not fit together")


def by_onnx_runtime(small):
    """The types and sizes of the outputs; None for what ONNX Runtime refuses, and for sequences."""
    try:
        session = session_of(small.model)
        results = session.run(None, small.arrays)
    except Exception:
        return None
    if any(isinstance(result, list) for result in results):
        return None
    return [(item.type, np.shape(result)) for item, result in zip(session.get_outputs(), results)]


def of_graph(model):
    return [(f"tensor({element_name(value.dtype)})", value.shape) for value in model.outputs.values()]


def compare(small, device, expected):
    """Both where the graph computes the outputs, and where the host does; how many of the two are not refused."""
    texts = []
    for make in (
        lambda: built_for(ModelFile(small.model), device, small.arrays)[0],
        lambda: dml.onnx.load(with_constants(small), device=device),
    ):
        try:
            found = of_graph(make())
        except dml.onnx.OnnxError as error:
            texts.append(str(error))
        else:
            assert found == expected, small.name
    assert not [text for text in texts if any(part in text for part in UNKNOWN)], small.name
    return 2 - len(texts)


@pytest.mark.parametrize("small", SPECIAL, ids=lambda small: small.name)
def test_what_inference_leaves_open(small):
    expected = by_onnx_runtime(small)
    assert expected is not None
    assert compare(small, device_of(None), expected)


# Cases whose last window begins in the padding, which ONNX Runtime leaves out at every operator set.
OTHER_SIZES = ("last_window_starts_on_pad", "output_size_reduce_by_one")
# ONNX Runtime runs none of ONNX's cases at these operator sets, which SPECIAL has or only sequences are for.
NOT_COMPARED = {
    ("DequantizeLinear", 28), ("OptionalGetElement", 15), ("OptionalGetElement", 18), ("OptionalGetElement", 28),
    ("OptionalHasElement", 15), ("OptionalHasElement", 28), ("QuantizeLinear", 28), ("Resize", 10), ("Resize", 11),
    ("RoiAlign", 22), ("Scatter", 11), ("Upsample", 10), ("GlobalLpPool", 7), ("GlobalLpPool", 22),
    ("MaxRoiPool", 7), ("MaxRoiPool", 22),
}  # fmt: skip
SEQUENCES = ("Optional", "Sequence", "ConcatFromSequence", "SplitToSequence")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_operator_at_every_operator_set(kind):
    device = device_of(None)
    for version in versions_of(kind):
        compared = 0
        for small in small_nodes(kind, version):
            expected = by_onnx_runtime(small)
            if expected is not None and not any(part in small.name for part in OTHER_SIZES):
                compared += compare(small, device, expected)
        assert compared or (kind, version) in NOT_COMPARED or kind.startswith(SEQUENCES), (kind, version)
