"""What ONNX Runtime's tools make of a model: its optimizer, its quantizers, its converter to 16-bit floats."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Callable

import onnx
import onnxruntime
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)

from .onnx_runtime import session_of

LEVELS = onnxruntime.GraphOptimizationLevel
# Weights of 7 bits: ONNX Runtime adds pairs of products in 16 bits on processors without VNNI, which overflow with 8.
REDUCED = {"reduce_range": True}


def optimized(level):
    def tool(network, folder):
        path = folder / "optimized.onnx"
        session_of(network.model, graph_optimization_level=level, optimized_model_filepath=str(path))
        return onnx.load(path)

    return tool


def dynamic(kind, **choices):
    def tool(network, folder):
        path = folder / "quantized.onnx"
        quantize_dynamic(network.model, path, weight_type=kind, **REDUCED, **choices)
        return onnx.load(path)

    return tool


class Samples(CalibrationDataReader):
    """The network's inputs alone."""

    def __init__(self, inputs):
        self.left = [inputs]

    def get_next(self):
        return self.left.pop() if self.left else None


def static(form, activations, weights, per_channel):
    def tool(network, folder):
        prepared, path = folder / "prepared.onnx", folder / "quantized.onnx"
        # What quant_pre_process does beside inference of sizes.
        session_of(
            network.model,
            graph_optimization_level=LEVELS.ORT_ENABLE_BASIC,
            optimized_model_filepath=str(prepared),
        )
        quantize_static(
            str(prepared),
            str(path),
            Samples(network.inputs),
            quant_format=form,
            activation_type=activations,
            weight_type=weights,
            per_channel=per_channel,
            **REDUCED,
        )
        return onnx.load(path)

    return tool


def transformers(kind, heads, width):
    def tool(network, folder):
        from onnxruntime.transformers import optimizer
        from onnxruntime.transformers.fusion_options import FusionOptions

        path = folder / "model.onnx"
        onnx.save(network.model, path)
        made = optimizer.optimize_model(
            str(path), kind, heads, width, optimization_options=FusionOptions(kind), opt_level=0
        )
        made.save_model_to_file(str(path))
        return onnx.load(path)

    return tool


def halves(keep):
    def tool(network, folder):
        from onnxruntime.transformers.float16 import convert_float_to_float16

        return convert_float_to_float16(network.model, keep_io_types=keep)

    return tool


def followed(first, second):
    """One tool after another."""

    def tool(network, folder):
        return second(network._replace(model=first(network, folder)), folder)

    return tool


U8, S8, QDQ, QOPERATOR = QuantType.QUInt8, QuantType.QInt8, QuantFormat.QDQ, QuantFormat.QOperator
TOOLS: dict[str, Callable] = {
    "basic": optimized(LEVELS.ORT_ENABLE_BASIC),
    "extended": optimized(LEVELS.ORT_ENABLE_EXTENDED),
    "dynamic, unsigned": dynamic(U8),
    "dynamic, by channel": dynamic(S8, per_channel=True),
    "dynamic, extended": followed(dynamic(U8), optimized(LEVELS.ORT_ENABLE_EXTENDED)),
    "QDQ, unsigned": static(QDQ, U8, U8, False),
    "QDQ, signed, by channel": static(QDQ, S8, S8, True),
    "QDQ, extended": followed(static(QDQ, U8, S8, True), optimized(LEVELS.ORT_ENABLE_EXTENDED)),
    "QDQ, all": followed(static(QDQ, U8, S8, False), optimized(LEVELS.ORT_ENABLE_ALL)),
    "QOperator, unsigned": static(QOPERATOR, U8, U8, False),
    "QOperator, signed": static(QOPERATOR, S8, S8, False),
    "QOperator, by channel": static(QOPERATOR, U8, S8, True),
    "bert": transformers("bert", 4, 32),
    "bert, dynamic": followed(transformers("bert", 4, 32), dynamic(U8)),
    "bert, float16": followed(transformers("bert", 4, 32), halves(False)),
    "gpt2": transformers("gpt2", 2, 16),
    "float16": halves(False),
    "float16, inputs and outputs kept": halves(True),
}


def made_by(tool, network, folder):
    """The model that a tool makes, without what it prints."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        logging.disable(logging.CRITICAL)
        try:
            # Some tools change the model that they are given.
            own = onnx.ModelProto.FromString(network.model.SerializeToString())
            return TOOLS[tool](network._replace(model=own), folder)
        finally:
            logging.disable(logging.NOTSET)
