"""Convolution in the native kernel: im2col and Winograd, for floats and 8-bit integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .backend import backend
from .decisions import ABSENT, Declined
from .launch import NativeRun
from .native_arrays import Array, Run, address, type_name
from .post_ops import IDENTITY, Accepts, Activation, KernelResults, PostOps, run_with
from .reorder import Reorders, lie_together
from .windows import Window

FLOATS: dict[np.dtype[Any], str] = {np.dtype(np.float32): "FLOATS", np.dtype(np.float16): "HALVES"}
BYTES: dict[np.dtype[Any], str] = {np.dtype(np.uint8): "UINT8", np.dtype(np.int8): "INT8"}
# What sums become in registers, by the type that they are stored in. Winograd's method leaves the sum to a program.
ACCEPTS: dict[np.dtype[Any], Accepts] = {
    np.dtype(np.float32): Accepts(
        ("IDENTITY", "RELU", "LEAKY_RELU", "CLIP"), True, ("IDENTITY", "RELU", "CLIP")
    ),
    np.dtype(np.float16): Accepts(("IDENTITY", "RELU")),
}
# Of the widest vectors, so that all variants choose alike.
LANES = 16


# When 3 x 3 filters are transformed: if they are applied to so many pixels, take at most so many bytes then, and the
# windows, which save 20 of 36 products where each has 4 pixels, take at most so many lanes of whole vectors per pixel.
# The same holds for filters that are prepacked, which it pays for earlier, so that both give the same bits.
LEAST_PIXELS, MOST_BYTES, MOST_LANES = 196, 8 << 20, 0.38


def convolution(
    x: Array,
    filters: Array,
    bias: Array | None,
    output: Array,
    window: Window,
    groups: int,
    *,
    is_flipped: bool = False,
    activation: Activation = IDENTITY,
    post_ops: PostOps = (),
    scratch: Array | None = None,
    is_transformed: bool = False,
) -> Run | Declined:
    """The call that stores the result of ``im2col.convolve`` plus the bias {1, M, ...}, activated, with ``post_ops``.
    ``scratch`` has the size that ``scratch_of`` returns, and holds the result of ``transform`` if ``is_transformed``.

    Sums are accumulated in FLOAT32 and rounded once more if the output is FLOAT16. ``is_flipped`` flips the filters.
    ``activation`` is one that ``ACCEPTS`` has for the type of the output. The native kernel takes FLOAT32 and FLOAT16,
    up to three spatial dimensions and no output padding.
    """
    inputs = [array for array in (x, filters, bias) if array is not None]
    reason = unsupported(inputs, [x, filters, output], window, FLOATS)
    if reason is None and any(array.dtype != x.dtype for array in inputs):
        reason = "the inputs have different data types"
    if reason is not None:
        return Declined("conv", reason)
    reorders = Reorders()
    x, filters, bias = reordered_inputs(reorders, x, filters, bias)
    inputs = [array for array in (x, filters, bias) if array is not None]
    target = reorders.write(output, lie_together(output, 2), inputs)
    run = bound_task(
        x,
        filters,
        target,
        window,
        groups,
        [*inputs, target, *([] if scratch is None else [scratch])],
        {
            "type": code(FLOATS[x.dtype]),
            "output_type": code(FLOATS[target.dtype]),
            "is_rotated": is_flipped,
            "bias_stride": 0 if bias is None else elements(bias)[1],
            "bias": 0 if bias is None else address(bias),
        },
        scratch={
            "is_transformed": is_transformed,
            "transformed": 0 if scratch is None or scratch.size == 0 else address(scratch),
        },
    )
    activation.set_on(run.task.post_ops)
    results = KernelResults.of_images(output, not reorders.after, ACCEPTS[output.dtype])
    return run_with(run, post_ops, results, reorders)


def reordered_inputs(
    reorders: Reorders, x: Array, filters: Array, bias: Array | None
) -> tuple[Array, Array, Array | None]:
    """Inputs as the native kernel takes them: planes and filters one by one contiguous, a bias in any layout."""
    return (
        reorders.read(x, lie_together(x, 2)),
        reorders.read(filters, lie_together(filters, 1)),
        None if bias is None else reorders.read(bias, is_taken=True),
    )


def scratch_of(filters: Sequence[int], output: Sequence[int], window: Window, groups: int) -> int:
    """The bytes for Winograd-transformed 3 x 3 filters, FLOAT32 like the output. 0 if the method does not pay: it takes
    many channels, many output channels and many pixels."""
    if backend.native is None or window != Window.of((3, 3), (1, 1), (1, 1), *window[3:5]):
        return 0
    lib, outputs = backend.native.lib, filters[0] // groups
    size = 16 * 4 * filters[0] * filters[1]
    few, many = lib.DML_CONV_LEAST_TRANSFORMED, lib.DML_CONV_MOST_TRANSFORMED
    pixels, windows = prod(output[2:]), prod(-(-size // 2) for size in output[2:])
    is_wide = few <= filters[1] <= many and outputs >= few
    fills_vectors = -(-windows // LANES) * LANES <= MOST_LANES * pixels
    return size if is_wide and fills_vectors and pixels >= LEAST_PIXELS and size <= MOST_BYTES else 0


def transform(filters: Array, groups: int, memory: Array, is_flipped: bool) -> None:
    """Fill ``memory``, of the size that ``scratch_of`` returns, with the transform of contiguous 3 x 3 filters."""
    task = backend.native.ffi.new(
        "dml_conv *",
        {
            "params": {
                "groups": groups,
                "m": filters.shape[0] // groups,
                "channels": filters.shape[1],
                "filter_stride": 9 * filters.shape[1],
                "filters": address(filters),
                "is_rotated": is_flipped,
            },
            "scratch": {"transformed": address(memory)},
        },
    )
    backend.native.lib.dml_conv_transform(task)


class Quantization(NamedTuple):
    """The requantization of sums to bytes: scales in FLOAT32, a bias in INT32 and a zero point. Each is a single
    element, except that the filters' scales and the bias may have one for each filter, along any dimension."""

    input_scale: Array
    filter_scales: Array
    bias: Array | None
    output_scale: Array
    output_zero: Array | None


def byte_convolution(
    x: Array,
    x_zero: Array | None,
    filters: Array,
    filter_zeros: Array | None,
    output: Array,
    window: Window,
    groups: int,
    quantization: Quantization | None = None,
) -> Run | Declined:
    """The call that stores sums of ``(x - x_zero) * (filters - filter_zeros)``, which wrap, in INT32; or bytes,
    ``functions.quantize`` of the sums, if none can exceed INT32.

    Zero points have the type of their tensor: ``x`` has a single one, the filters one or one for each filter, along any
    dimension. All parameters are read when the call runs. The native kernel takes INT8 and UINT8 under the same
    conditions as ``convolution`` takes floats.
    """
    reason = unsupported([x, filters], [x, filters, output], window, BYTES)
    if reason is not None:
        return Declined("conv", reason)
    zeros = [(x, x_zero), (filters, filter_zeros)]
    output_type = "INT32" if output.dtype == np.int32 else None
    parameters = {"input_zero": x_zero, "filter_zero": filter_zeros}
    if quantization is not None:
        zeros.append((output, quantization.output_zero))
        output_type = BYTES.get(output.dtype)
        parameters.update(
            input_scale=quantization.input_scale,
            filter_scale=quantization.filter_scales,
            bias=quantization.bias,
            output_scale=quantization.output_scale,
            output_zero=quantization.output_zero,
        )
        scales = (quantization.input_scale, quantization.filter_scales, quantization.output_scale)
        for scale in scales:
            if scale.dtype != np.float32:
                return Declined("conv", f"scales of {type_name(scale)} have no native kernel")
        if quantization.bias is not None and quantization.bias.dtype != np.int32:
            return Declined("conv", f"a bias of {type_name(quantization.bias)} has no native kernel")
    if output_type is None:
        return Declined("conv", f"an output of {type_name(output)} has no native kernel")
    if any(zero is not None and zero.dtype != tensor.dtype for tensor, zero in zeros):
        return Declined("conv", "a zero point and its tensor have different data types")
    reorders = Reorders()
    x, filters, _ = reordered_inputs(reorders, x, filters, None)
    flat = {
        name: reorders.read(array.reshape(-1), is_taken=True)
        for name, array in parameters.items()
        if array is not None
    }
    output = reorders.write(output, lie_together(output, 2), [x, filters, *flat.values()])
    fields = {name: address(array) for name, array in flat.items()}
    fields |= {
        f"{name}_stride": elements(flat[name])[0]
        for name in ("filter_zero", "filter_scale", "bias")
        if name in flat
    }
    params: dict[str, Any] = {name: fields.pop(name) for name in ("bias", "bias_stride") if name in fields}
    run = bound_task(
        x,
        filters,
        output,
        window,
        groups,
        [x, filters, output, *flat.values()],
        {
            "type": code(BYTES[x.dtype]),
            "filter_type": code(BYTES[filters.dtype]),
            "output_type": code(output_type),
            **params,
        },
        is_signed=True,
        quantization=fields,
    )
    return reorders.around(run)


def unsupported(
    inputs: Sequence[Array], tensors: Sequence[Array], window: Window, types: Mapping[np.dtype[Any], str]
) -> str | None:
    """Why the native kernel does not take ``tensors``: the input, the filters and the output; ``inputs`` have these
    types."""
    if backend.native is None:
        return ABSENT
    for array in inputs:
        if array.dtype not in types:
            return f"{type_name(array)} has no native kernel"
    output = tensors[-1]
    # 8-bit inputs may give INT32.
    if types is FLOATS and output.dtype not in types:
        return f"an output of {type_name(output)} has no native kernel"
    if len(window.size) > (most := backend.native.lib.DML_SPATIAL_DIMENSIONS):
        return f"{len(window.size)} spatial dimensions are more than {most}"
    if any(window.output_padding):
        return "the output is padded"
    if any(array.size == 0 for array in tensors):
        return "a tensor is empty"
    return None


def elements(array: Array) -> tuple[int, ...]:
    """Strides in elements; those of dimensions of size 1 are irrelevant."""
    itemsize = array.itemsize
    return tuple([0 if size == 1 else stride // itemsize for size, stride in zip(array.shape, array.strides)])


def code(name: str) -> int:
    number: int = getattr(backend.native.lib, f"DML_CONV_{name}")
    return number


def bound_task(
    x: Array,
    filters: Array,
    output: Array,
    window: Window,
    groups: int,
    memory: Sequence[Array],
    params: Mapping[str, Any],
    is_signed: bool = False,
    **structs: Mapping[str, Any],
) -> NativeRun:
    """The call of a task; ``memory``: the arrays that it reads and writes, ``params``: what shapes and addresses do not
    say, ``structs``: the task's others.

    With ``is_signed`` the call allocates memory for the filters as signed bytes, and fills it.
    """
    lib, ffi = backend.native.lib, backend.native.ffi
    missing = backend.native.lib.DML_SPATIAL_DIMENSIONS - len(window.size)
    ones, zeros, strides = (1,) * missing, (0,) * missing, elements(x)
    geometry = {
        "batches": x.shape[0],
        "groups": groups,
        "channels": x.shape[1] // groups,
        "m": output.shape[1] // groups,
        "sizes": ones + x.shape[2:],
        "output_sizes": ones + output.shape[2:],
        "window": ones + window.size,
        "strides": ones + window.strides,
        "dilations": ones + window.dilations,
        "padding": zeros + window.start_padding,
        "input_strides": strides[:2] + zeros + strides[2:],
        "output_strides": elements(output)[:2],
        "filter_stride": elements(filters)[0],
        "input": address(x),
        "filters": address(filters),
        "output": address(output),
    }
    task = ffi.new("dml_conv *", {"params": {**geometry, **params}, **structs})
    filters_signed = np.empty(lib.dml_conv_signed_size(task), np.uint8) if is_signed else None
    task.scratch.signed_filters = 0 if filters_signed is None else address(filters_signed)
    return NativeRun("dml_conv_run", task, keepalive=(memory, filters_signed))
