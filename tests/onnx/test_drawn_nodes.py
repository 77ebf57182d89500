"""Nodes drawn at random beside ONNX Runtime's CPU provider: types, sizes and values."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
from onnx.reference import ReferenceEvaluator

from directml_py.onnx.errors import OnnxError
from directml_py.onnx.every_operator import OPERATORS
from directml_py.onnx.model_file import ModelFile
from directml_py.onnx.onnx_model import built_for, device_of
from directml_py.onnx.semantics import DEVIATIONS
from directml_py.onnx.translators import MICROSOFT, OUTPUTS

from . import axis_draws, movement_draws, product_draws, window_draws  # noqa: F401 - they fill the table
from .drawn_nodes import MAKERS, node
from .onnx_runtime import results_if_accepted

pytest.importorskip("onnxruntime", reason="needs the package onnxruntime")
PAGE = Path(__file__).parents[2] / "docs" / "onnx.md"
# Operators of com.microsoft have the sizes that their rows say.
NAMES = [name for name in MAKERS if ":" not in name or (MICROSOFT, name.rpartition(":")[2]) in OUTPUTS]
# Results that are rounded, or interpolated and truncated, where the last digit of a float decides.
ROUNDED = ("QLinear", "QuantizeLinear", "Resize")


def is_dilated(draw):
    return draw.attributes.get("auto_pad", "").startswith("SAME") and set(
        draw.attributes.get("dilations", [1])
    ) != {1}


def has_nan(draw):
    return bool(np.isnan(draw.inputs[0]).any())


def is_cropped_otherwise(draw):
    x, roi, scales, *_ = (*draw.inputs, None, None)
    is_cropped = draw.attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize"
    if draw.attributes.get("antialias"):
        return is_cropped or x.dtype == np.int8
    if not is_cropped or draw.attributes.get("mode") != "cubic" or scales is None:
        return is_cropped and draw.attributes.get("mode") == "cubic"
    starts, ends = np.split(roi, 2)
    return bool(((scales == 1) & ((starts != 0) | (ends != 1))).any())


# By the operators in the table of deviations: whether a node is one of those that deviate.
DEVIATES = {
    "AveragePool": is_dilated,
    "Clip": lambda draw: has_nan(draw) or draw.inputs[0].dtype == np.float64,
    "GridSample": lambda draw: (
        "cubic" in draw.attributes["mode"] and draw.attributes.get("padding_mode") == "border"
    ),
    "LpPool": is_dilated,
    "MaxPool": is_dilated,
    "MaxUnpool": lambda draw: len(draw.inputs) > 2,
    "Resize": is_cropped_otherwise,
}
# What ONNX's reference evaluator computes otherwise than ONNX says, or than ONNX Runtime for what it does not refuse.
NO_REFERENCE = {"AveragePool", "Clip", "Conv", "ConvTranspose", "LRN", "MaxPool", "Resize", "RoiAlign"}


def of_reference(model, feeds):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return ReferenceEvaluator(model).run(None, feeds)
        except Exception:
            return None


def of_package(model, feeds):
    """The outputs; what determines sizes is made constant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded, fixed = built_for(ModelFile(model), device_of(None), feeds)
        return list(loaded.run({name: feeds[name] for name in feeds if name not in fixed}).values())


def check(name, number):
    """What ONNX Runtime computes is computed, and what it refuses is refused, or as in ONNX's reference.

    Returns whether ONNX Runtime and the package computed the node.
    """
    drawn = node(name, number)
    model, feeds, where = drawn.model(), drawn.feeds, f"{name} {number}: {drawn}"
    deviates = drawn.kind in DEVIATES and DEVIATES[drawn.kind](drawn)
    expected = None if deviates else results_if_accepted(model, feeds)
    was_run = expected is not None
    try:
        found = of_package(model, feeds)
    except OnnxError as error:
        if was_run and (drawn.must_run or " supports " not in str(error)):
            raise AssertionError(f"{where}: {error}") from None
        return False
    if not was_run and not deviates and drawn.must_run and drawn.kind not in NO_REFERENCE:
        expected = of_reference(model, feeds)
    for own, want in zip(found, expected or ()):
        assert (own.dtype, own.shape) == (want.dtype, want.shape), where
        half = want.dtype == np.float16
        is_rounded = want.dtype.kind in "iu" and any(word in name for word in ROUNDED)
        np.testing.assert_allclose(
            own.astype(np.float64),
            want.astype(np.float64),
            rtol=2e-3 if half else 1e-4,
            atol=1 if is_rounded else 1e-2 if half else 1e-5,
            err_msg=where,
        )
    return was_run


@pytest.mark.parametrize("name", NAMES)
def test_a_few_nodes(name):
    for number in range(3 * len(MAKERS[name])):
        check(name, number)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_nodes(name):
    """Several must run: the others compare nothing."""
    count = len(MAKERS[name])
    assert sum(check(name, number) for number in range(3 * count, 100 * count)) > 3


def test_most_draws_run_in_onnx_runtime():
    """Otherwise the draws compare nothing."""
    for name, makers in MAKERS.items():
        for place in range(len(makers)):
            nodes = [node(name, place + turn * len(makers)) for turn in range(6)]
            if nodes[0].must_run:
                assert any(results_if_accepted(own.model(), own.feeds) is not None for own in nodes), name


def test_the_draws_have_translators():
    own = {tuple(name.rpartition(":")[::2]) for name in NAMES}
    assert len(own & set(OPERATORS)) > 0.9 * len(own)


def test_the_page_has_the_tables():
    """The page prints them from the package; every deviation is one that draws are tested for."""
    text = PAGE.read_text(encoding="utf-8")
    assert re.search(r"import DEVIATIONS, DIFFERENCES", text)
    assert set(DEVIATES) <= {row.operator for row in DEVIATIONS}
