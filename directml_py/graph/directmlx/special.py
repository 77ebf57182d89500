"""DirectMLX's functions that choose between operators, or do not map to one."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from ...descs.data_types import DataTypeLike
from ..expression import Expression
from ..graph import Graph
from .fused_activations import FusedActivation
from .objects import AnyTensorDesc, input_value
from .operators import STRUCT_TYPES, OperatorFunction, fused

_add = OperatorFunction("Add add: a b")
_add_fused = OperatorFunction("Add add1: a b fusedActivation")
_pow = OperatorFunction("Pow pow: input exponent scaleBias=None")
_constant_pow = OperatorFunction("Pow constant_pow: input exponent scaleBias=None")
_softmax = OperatorFunction("ActivationSoftmax activation_softmax: input")
_softmax_of_axes = OperatorFunction("ActivationSoftmax activation_softmax1: input axes")


class GRUOutputOptions(Enum):
    """The outputs of GRU."""

    Both = 0
    Sequence = 1
    Single = 2


def InputTensor(graph: Graph, inputIndex: int, desc: AnyTensorDesc) -> Expression:
    """``Graph.input_tensor`` by index."""
    return graph.input_tensor(inputIndex, input_value(desc))


def ConstantData(graph: Graph, data: Any, desc: AnyTensorDesc) -> Expression:
    """``Graph.constant`` from bytes laid out as ``desc``. Raises ``ValueError`` if there are too few."""
    return graph.constant(input_value(desc).load(np.frombuffer(data, np.uint8)))


def Add(a: Expression, b: Expression, fusedActivation: FusedActivation | None = None) -> Expression:
    """ADD, or ADD1 with an activation."""
    activation = fused(fusedActivation)
    result: Expression = _add(a, b) if activation is None else _add_fused(a, b, activation)
    return result


def Pow(input: Expression, exponent: Expression | float, scaleBias: Any = None) -> Expression:
    """POW for an expression, CONSTANT_POW for a number."""
    choice = _pow if isinstance(exponent, Expression) else _constant_pow
    result: Expression = choice(input, exponent, scaleBias)
    return result


def ActivationSoftmax(input: Expression, axes: Sequence[int] | None = None) -> Expression:
    """ACTIVATION_SOFTMAX, or ACTIVATION_SOFTMAX1 along ``axes``."""
    result: Expression = _softmax(input) if axes is None else _softmax_of_axes(input, axes)
    return result


def GRU(
    input: Expression,
    weight: Expression,
    recurrence: Expression,
    bias: Expression | None,
    hiddenInit: Expression | None,
    sequenceLengths: Expression | None,
    activationDescs: Sequence[FusedActivation],
    direction: int,
    linearBeforeReset: bool,
    outputOptions: GRUOutputOptions,
) -> Any:
    """``Graph.gru``; ``sequence`` or ``single`` is None if not requested."""
    results = input.graph.gru(
        input,
        weight,
        recurrence,
        bias,
        hiddenInit,
        sequenceLengths,
        activation_descs=fused(activationDescs),
        direction=direction,
        linear_before_reset=linearBeforeReset,
        output_sequence=outputOptions is not GRUOutputOptions.Single,
        output_single=outputOptions is not GRUOutputOptions.Sequence,
    )
    return STRUCT_TYPES["GRUOutputs"](*results)


def RoiAlign(
    input: Expression,
    roi: Expression,
    batchIndices: Expression,
    reductionFunction: int,
    interpolationMode: int,
    spatialScaleX: float,
    spatialScaleY: float,
    inputPixelOffset: float,
    outputPixelOffset: float,
    outOfBoundsInputValue: float,
    minimumSamplesPerOutput: int,
    maximumSamplesPerOutput: int,
    alignRegionsToCorners: bool,
    outputHeight: int,
    outputWidth: int,
) -> Expression:
    """``Graph.roi_align1``."""
    sizes = roi.desc.sizes
    regions = sizes[-2] if len(sizes) > 1 else 1
    result: Expression = input.graph.roi_align1(
        input,
        roi,
        batchIndices,
        reduction_function=reductionFunction,
        interpolation_mode=interpolationMode,
        spatial_scale_x=spatialScaleX,
        spatial_scale_y=spatialScaleY,
        input_pixel_offset=inputPixelOffset,
        output_pixel_offset=outputPixelOffset,
        out_of_bounds_input_value=outOfBoundsInputValue,
        minimum_samples_per_output=minimumSamplesPerOutput,
        maximum_samples_per_output=maximumSamplesPerOutput,
        align_regions_to_corners=alignRegionsToCorners,
        output_sizes=[regions, input.desc.sizes[1], outputHeight, outputWidth],
    )
    return result


def RoiAlignGrad(
    input: Expression | None,
    inputGradient: Expression,
    roi: Expression,
    batchIndices: Expression,
    reductionFunction: int,
    interpolationMode: int,
    spatialScaleX: float,
    spatialScaleY: float,
    inputPixelOffset: float,
    outputPixelOffset: float,
    minimumSamplesPerOutput: int,
    maximumSamplesPerOutput: int,
    alignRegionsToCorners: bool,
    batchSize: int,
    imageHeight: int,
    imageWidth: int,
    computeOutputGradient: bool,
    computeOutputROIGradient: bool,
) -> Any:
    """``Graph.roi_align_grad``; outputs that are not computed are None."""
    results = inputGradient.graph.roi_align_grad(
        inputGradient,
        roi,
        batchIndices,
        input,
        reduction_function=reductionFunction,
        interpolation_mode=interpolationMode,
        spatial_scale_x=spatialScaleX,
        spatial_scale_y=spatialScaleY,
        input_pixel_offset=inputPixelOffset,
        output_pixel_offset=outputPixelOffset,
        minimum_samples_per_output=minimumSamplesPerOutput,
        maximum_samples_per_output=maximumSamplesPerOutput,
        align_regions_to_corners=alignRegionsToCorners,
        output_sizes=[batchSize, inputGradient.desc.sizes[1], imageHeight, imageWidth],
        output_gradient=computeOutputGradient,
        output_roi_gradient=computeOutputROIGradient,
    )
    return STRUCT_TYPES["RoiAlignGradOutputs"](*results)


def Reinterpret(
    input: Expression,
    newType: DataTypeLike | Sequence[int] | None = None,
    newSizes: Sequence[int] | None = None,
    newStrides: Sequence[int] | None = None,
) -> Expression:
    """``Graph.reinterpret`` with a type, with a type, sizes and strides, or with sizes and strides only."""
    if isinstance(newType, Sequence):
        newType, newSizes, newStrides = None, newType, newSizes
    return input.graph.reinterpret(input, newType, newSizes, newStrides)
