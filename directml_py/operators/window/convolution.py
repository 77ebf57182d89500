"""Convolutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from math import prod

import numpy as np

from ...api.enums import DML_CONVOLUTION_DIRECTION_BACKWARD, DML_CONVOLUTION_MODE_CONVOLUTION
from ...descs.operator_desc import OperatorDesc
from ...kernels import depthwise_pool
from ...kernels.backend import backend
from ...kernels.convolution import (
    ACCEPTS,
    byte_convolution,
    convolution,
    scratch_of,
    transform,
)
from ...kernels.elementwise.functions import centred
from ...kernels.im2col import convolve, convolve_back
from ...kernels.native_arrays import Array, Run
from ...kernels.post_ops import IDENTITY, PROGRAMS, Accepts, Activation, PostOps, followed, of_function
from ...kernels.reorder import over_packed
from ...kernels.transposed_convolution import convolution_back
from ...kernels.transposed_convolution import scratch_of as scratch_of_back
from ...kernels.windows import Window
from ...validation.report import Report
from ..attributes import activated, activation_of, any_output_sizes, is_of_elements
from ..operator import (
    Compute,
    Inputs,
    Kernel,
    Operator,
    Outputs,
    PrepackedKernel,
    Shapes,
    Sizes,
    WeightLayout,
    adding_kernel,
    computing_kernel,
    of_sizes,
    operator,
    operator_rule,
)
from ..quantization_parameters import along, per_channel, single


@lru_cache(maxsize=64)
def filter_window(desc: OperatorDesc) -> Window:
    return Window.of(
        desc.FilterTensor.sizes[2:],
        desc.Strides,
        desc.Dilations,
        desc.StartPadding,
        desc.EndPadding,
        getattr(desc, "OutputPadding", ()),
    )


def is_backward(desc: OperatorDesc) -> bool:
    return getattr(desc, "Direction", None) == DML_CONVOLUTION_DIRECTION_BACKWARD


def convolved_sizes(desc: OperatorDesc) -> Sizes:
    """The sizes of OutputTensor: its own if they are valid, else the inferred ones.

    Inferred are the most window positions forwards and the fewest elements backwards. The page does not exclude
    elements that no window covers. Backwards there may be any number of them, since ONNX Runtime's ConvTranspose takes
    output_shape from the model and pads with 0 where that is larger than the filter reaches. Forwards, programs that
    compute a filter's gradient leave a few in the input: fewer than the larger of the stride and the dilation, which
    is PyTorch's bound.
    """
    window = filter_window(desc)
    batches, _, *spatial = desc.InputTensor.sizes
    features, depth, *_ = desc.FilterTensor.sizes
    follow = window.backward(spatial) if is_backward(desc) else window.forward(spatial)
    channels = depth * desc.GroupCount if is_backward(desc) else features
    # There is no output if the windows cover only padding.
    if min(window.without_output_padding(follow)) < 1:
        follow = window.without_output_padding(follow)
    elif desc.OutputTensor is not None:
        described = desc.OutputTensor.sizes[2:]
        inner = window.without_output_padding(described)
        if is_backward(desc):
            may_be = min(window.unseen(inner, spatial)) >= 0
        else:
            bounds = map(max, window.strides, window.dilations)
            may_be = all(0 <= count < bound for count, bound in zip(window.unseen(spatial, inner), bounds))
        if min(inner) >= 1 and may_be:
            follow = described
    return (batches, channels, *follow)


_OUTPUT_PADDING = operator_rule(
    "CONVOLUTION", "output-padding", "OutputPadding leaves at least one element of OutputTensor"
)


def activation_in_registers(desc: OperatorDesc) -> Activation | None:
    """The fused activation, if native kernels apply it before sums are rounded to the type of the output."""
    activation = activation_of(desc.FusedActivation)
    is_accepted = activation is not None and activation.name in ACCEPTS[desc.OutputTensor.dtype].activations
    return activation if is_accepted else None


@operator("CONVOLUTION")
class Convolution(Operator):
    """``FusedActivation(Input * Filter + Bias)`` (ns-directml-dml_convolution_operator_desc).

    Backwards it is a transposed convolution, which scatters each input element, times the filter, over the output; the
    page speaks of a transposed filter. Hence the filter is flipped if Mode is CONVOLUTION, in either direction. The
    last OutputPadding elements of the output are the activation of 0, even where windows reach them: Microsoft's
    library does not add the bias to them.
    """

    advises_sizes = True

    def accepts(self, desc: OperatorDesc) -> Accepts:
        is_stored = activation_in_registers(desc) is not None and not is_backward(desc)
        return ACCEPTS[desc.OutputTensor.dtype] if is_stored else PROGRAMS

    def attributes(self, desc: OperatorDesc, report: Report) -> None:
        if desc.OutputTensor is None:
            return
        for index, (padding, size) in enumerate(zip(desc.OutputPadding, desc.OutputTensor.sizes[2:])):
            if padding >= size:
                text = f"is {padding}; it must be less than OutputTensor.Sizes[{index + 2}], which is {size}"
                report.add(_OUTPUT_PADDING, f"OutputPadding[{index}]", text)

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: the output's sizes, if not the default."""
        sizes = convolved_sizes(desc)
        return {
            "BiasTensor": (1, sizes[1], *(1,) * len(sizes[2:])),
            "OutputTensor": any_output_sizes(sizes),
            **of_sizes(output_sizes),
        }

    def compute(self, desc: OperatorDesc) -> Compute:
        window, groups = filter_window(desc), desc.GroupCount
        inner = window.without_output_padding(desc.OutputTensor.sizes[2:])
        padding = [(0, 0), (0, 0), *((0, count) for count in window.output_padding)]
        spatial = tuple(range(2, 2 + len(inner)))
        is_flipped = desc.Mode == DML_CONVOLUTION_MODE_CONVOLUTION
        product = convolve_back if is_backward(desc) else convolve
        activation = activated(desc.FusedActivation)

        def convolution(x: Array, weights: Array, bias: Array | None, out: Array | None = None) -> Array:
            rows = np.flip(weights, spatial) if is_flipped else weights
            is_padded = any(window.output_padding)
            result = product(x, rows, window, inner, groups, None if is_padded else out)
            if bias is not None:
                result += bias
            if is_padded:
                result = np.pad(result, padding)
            fused: Array = activation(result)
            return fused

        return convolution

    def kernel(self, desc: OperatorDesc) -> Kernel:
        reference = adding_kernel(self.compute(desc))
        fused, stored = desc.FusedActivation, activation_in_registers(desc)
        if backend.native is None or not (stored or is_of_elements(fused)):
            return reference
        window, activation, backward = filter_window(desc), activated(fused), is_backward(desc)
        options = {
            "is_flipped": desc.Mode == DML_CONVOLUTION_MODE_CONVOLUTION,
            "activation": stored or IDENTITY,
        }
        sizes = desc.OutputTensor.sizes
        memory = 4 * prod(sizes) if not stored and desc.OutputTensor.dtype == np.float16 else 0
        scratch_size = (
            scratch_of_back(desc.FilterTensor.sizes, sizes, window) if backward else transformed_size(desc)
        )

        def bind(
            inputs: Inputs, outputs: Outputs, scratch: Array, post_ops: PostOps = (), is_kept: bool = False
        ) -> Run:
            (x, filters, bias), (output,) = inputs, outputs
            if is_kept:
                scratch, filters = kept_filter(desc, filters)
            sums = scratch[:memory].view(np.float32).reshape(sizes) if memory else output
            mapped = [] if stored else [of_function(activation, [sums], [output])]
            task = (x, filters, bias, sums, window, desc.GroupCount)
            if backward:
                run = convolution_back(*task, scratch[memory:], **options)
                run = run and partial(
                    run_where_finite, filters, followed(run, mapped), reference.bind(inputs, outputs, scratch)
                )
            else:
                chain = [*mapped, *post_ops]
                run = depthwise_pool.products(*task, **options, post_ops=chain) or convolution(
                    *task, **options, post_ops=chain, scratch=scratch[memory:], is_transformed=is_kept
                )
            return run or followed(reference.bind([x, filters, bias], outputs, scratch), post_ops)

        if backward:
            return Kernel(over_packed(bind), memory + scratch_size)
        packed = prepacked_filter(desc, partial(bind, is_kept=True))
        return Kernel(bind, memory + scratch_size, packed=packed, fused=bind)


def prepacked_filter(desc: OperatorDesc, bind: Callable[..., Run]) -> PrepackedKernel | None:
    """``bind`` over a prepacked Winograd-transformed filter, followed by the original, for non-finite values."""
    if not desc.FilterTensor.is_owned_by_dml or is_backward(desc):
        return None
    size = transformed_size(desc)
    if size == 0:
        return None

    def store(filters: Array, memory: Array) -> None:
        transformed, memory_of_filter = kept_filter(desc, memory)
        memory_of_filter[...] = filters
        transform(
            memory_of_filter, desc.GroupCount, transformed, desc.Mode == DML_CONVOLUTION_MODE_CONVOLUTION
        )

    return PrepackedKernel(
        Kernel(bind, fused=bind), {1: WeightLayout(size + 4 * prod(desc.FilterTensor.sizes), store)}
    )


def kept_filter(desc: OperatorDesc, memory: Array) -> tuple[Array, Array]:
    """The transformed filter and the original in prepacked memory."""
    size, sizes = transformed_size(desc), desc.FilterTensor.sizes
    return memory[:size], memory[size : size + 4 * prod(sizes)].view(np.float32).reshape(sizes)


def transformed_size(desc: OperatorDesc) -> int:
    """The bytes of the Winograd-transformed filter; 0 where that method is not used."""
    if any(
        slot.tensor is not None and slot.tensor.dtype != np.float32 for slot in (*desc.inputs, *desc.outputs)
    ):
        return 0
    sizes = desc.FilterTensor.sizes, desc.OutputTensor.sizes
    return scratch_of(*sizes, filter_window(desc), desc.GroupCount)


def run_where_finite(filters: Array, run: Run, other: Run) -> None:
    """Run ``run`` if the filter is finite, else ``other``: the forward kernel, used for a backward convolution,
    multiplies by zero padding, which would turn infinity into NaN."""
    if np.isfinite(filters).all():
        run()
    else:
        other()


@operator("CONVOLUTION_INTEGER")
class ConvolutionInteger(Operator):
    """``(Input - InputZeroPoint) * (Filter - FilterZeroPoint)`` as INT32
    (ns-directml-dml_convolution_integer_operator_desc).

    Padding has the value of the zero point, so that it contributes nothing, as in ONNX Runtime. Sums wrap.
    """

    advises_sizes = True

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: the output's sizes, if not the default."""
        sizes = convolved_sizes(desc)
        return {
            "InputZeroPointTensor": single(desc.InputZeroPointTensor),
            "FilterZeroPointTensor": per_channel(desc.FilterZeroPointTensor, sizes[1]),
            "OutputTensor": any_output_sizes(sizes),
            **of_sizes(output_sizes),
        }

    def compute(self, desc: OperatorDesc) -> Compute:
        return integer_convolution(desc)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        reference, window = computing_kernel(self.compute(desc)), filter_window(desc)

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            (x, x_zero, filters, filter_zero), (output,) = inputs, outputs
            run = byte_convolution(x, x_zero, filters, filter_zero, output, window, desc.GroupCount)
            return run or reference.bind(inputs, outputs, scratch)

        return Kernel(bind)


def integer_convolution(desc: OperatorDesc) -> Compute:
    """Convolution of 8-bit input and filter, each with a zero point, with exact INT64 sums."""
    window, groups, rank = filter_window(desc), desc.GroupCount, desc.InputTensor.dimension_count
    output_sizes = desc.OutputTensor.sizes[2:]

    def convolution(x: Array, x_zero: Array | None, weights: Array, weights_zero: Array | None) -> Array:
        values = centred(x, along(x_zero, 1, rank))
        # Output channels are the filter's first dimension.
        return convolve(values, centred(weights, along(weights_zero, 0, rank)), window, output_sizes, groups)

    return convolution
