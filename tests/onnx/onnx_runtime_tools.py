"""What ONNX Runtime's tools make of a model: its optimizer, its quantizers, its converter to 16-bit floats."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Callable

import onnx
import onnx.version_converter
import onnxruntime
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)
from toolchain import need_package

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


def static(form, activations, weights, per_channel=False):
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
        need_package("sympy")
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


def few_bits(bits, symmetric=False, block=16, form=QuantFormat.QOperator, kinds=("MatMul",)):
    """The weights of products, and of Gather, in blocks of a column."""

    def tool(network, folder):
        need_package("onnx_ir")
        from onnxruntime.quantization.matmul_nbits_quantizer import (
            DefaultWeightOnlyQuantConfig,
            MatMulNBitsQuantizer,
        )

        config = DefaultWeightOnlyQuantConfig(
            block, symmetric, None, form, op_types_to_quantize=kinds, bits=bits
        )
        made = MatMulNBitsQuantizer(network.model, algo_config=config)
        made.process()
        return made.model.model

    return tool


def four_bit_floats(kind):
    def tool(network, folder):
        from onnxruntime.quantization.matmul_bnb4_quantizer import MatMulBnb4Quantizer

        made = MatMulBnb4Quantizer(network.model, kind, 16)
        made.process()
        return made.model.model

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


def newest(network, folder):
    """The model in the operator set that has integers of 4 bits."""
    return onnx.version_converter.convert_version(network.model, 21)


U8, S8, U16, S16, U4, S4 = (
    getattr(QuantType, f"Q{sign}Int{bits}") for bits in (8, 16, 4) for sign in ("U", "")
)
QDQ, QOPERATOR, EXTENDED = QuantFormat.QDQ, QuantFormat.QOperator, optimized(LEVELS.ORT_ENABLE_EXTENDED)
TOOLS: dict[str, Callable] = {
    "basic": optimized(LEVELS.ORT_ENABLE_BASIC),
    "extended": EXTENDED,
    "dynamic, unsigned": dynamic(U8),
    "dynamic, by channel": dynamic(S8, per_channel=True),
    "dynamic, extended": followed(dynamic(U8), EXTENDED),
    "dynamic, by channel, extended": followed(dynamic(S8, per_channel=True), EXTENDED),
    "QDQ, unsigned": static(QDQ, U8, U8),
    "QDQ, signed, by channel": static(QDQ, S8, S8, True),
    "QDQ, extended": followed(static(QDQ, U8, S8, True), EXTENDED),
    "QDQ, all": followed(static(QDQ, U8, S8), optimized(LEVELS.ORT_ENABLE_ALL)),
    "QDQ, 16 bits": static(QDQ, U16, S8, True),
    "QDQ, 16 bits, signed": static(QDQ, S16, S16),
    "QDQ, 16 bits, extended": followed(static(QDQ, U16, U8), EXTENDED),
    "QDQ, 4 bits": static(QDQ, U8, S4, True),
    "QDQ, 4 bits, unsigned": static(QDQ, U16, U4),
    "QDQ, 4 bits, extended": followed(static(QDQ, U8, U4), EXTENDED),
    "QOperator, unsigned": static(QOPERATOR, U8, U8),
    "QOperator, signed": static(QOPERATOR, S8, S8),
    "QOperator, signed, by channel": static(QOPERATOR, S8, S8, True),
    "QOperator, by channel": static(QOPERATOR, U8, S8, True),
    "QOperator, extended": followed(static(QOPERATOR, U8, U8), EXTENDED),
    "2 bits": few_bits(2),
    "4 bits": few_bits(4, block=32),
    "4 bits, symmetric": few_bits(4, True),
    "4 bits, QDQ": followed(newest, few_bits(4, form=QDQ)),
    "4 bits, QDQ, symmetric": followed(newest, few_bits(4, True, form=QDQ)),
    "4 bits, QDQ, extended": followed(followed(newest, few_bits(4, form=QDQ)), EXTENDED),
    "4 bits, Gather": followed(newest, few_bits(4, kinds=("MatMul", "Gather"))),
    "4 bits, Gather, symmetric": followed(newest, few_bits(4, True, kinds=("Gather",))),
    "4 bits, float16": followed(few_bits(4), halves(False)),
    "8 bits": few_bits(8),
    "FP4": four_bit_floats(0),
    "NF4": four_bit_floats(1),
    "bert": transformers("bert", 4, 32),
    "bert, dynamic": followed(transformers("bert", 4, 32), dynamic(U8)),
    "bert, dynamic, extended": followed(followed(transformers("bert", 4, 32), dynamic(S8)), EXTENDED),
    "bert, QDQ": followed(transformers("bert", 4, 32), static(QDQ, U8, S8)),
    "bert, QOperator": followed(transformers("bert", 4, 32), static(QOPERATOR, U8, U8)),
    "bert, float16": followed(transformers("bert", 4, 32), halves(False)),
    "gpt2": transformers("gpt2", 2, 16),
    "gpt2, dynamic": followed(transformers("gpt2", 2, 16), dynamic(U8)),
    "gpt2, 4 bits": followed(transformers("gpt2", 2, 16), few_bits(4)),
    "float16": halves(False),
    "float16, inputs and outputs kept": halves(True),
    "float16, extended": followed(halves(False), EXTENDED),
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
