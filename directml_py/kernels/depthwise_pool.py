"""Depthwise convolution and pooling in the native kernel: windows that slide over one channel at a time."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from .backend import backend
from .decisions import ABSENT, OVERLAPPING, UNREADABLE, Declined
from .launch import NativeRun
from .native_arrays import Array, Run, address, apart, readable, type_name
from .post_ops import IDENTITY, PROGRAMS, Accepts, Activation, BatchNorm, KernelResults, PostOps, run_with
from .reorder import Reorders, lie_together
from .windows import Window

FLOATS = (np.dtype(np.float32), np.dtype(np.float16))
BYTES = (np.dtype(np.uint8), np.dtype(np.int8))
# What products become in registers, by the type that they are stored in.
ACCEPTS: dict[np.dtype[Any], Accepts] = {
    np.dtype(np.float32): Accepts(("IDENTITY", "RELU", "LEAKY_RELU", "CLIP"), True),
    np.dtype(np.float16): Accepts(("IDENTITY", "RELU")),
}
# With more output channels per input channel, matrix products are faster.
FEW = 4
# The fewest channels next to each other that fill a vector, of the widest ones.
LEAST_CHANNELS = 16


def products(
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
) -> Run | Declined:
    """Depthwise ``convolution.convolution``: each group has one channel of ``x`` and few output channels."""
    reason = unlike_depthwise(x, output, window, groups)
    if reason is not None:
        return Declined("depthwise_pool", reason)
    reorders = Reorders()
    is_normalized = any(isinstance(one, BatchNorm) for one in post_ops)
    is_last = not is_normalized and are_channels_last(x, output)
    is_last = is_last and prod(window.size) <= backend.native.lib.DML_DEPTHWISE_POOL_LAST_TAPS
    x = reorders.read(x, is_last or is_in_order(x))
    filters = reorders.read(filters, is_taken=True)
    bias = None if bias is None else reorders.read(bias, is_taken=True)
    target = reorders.write(output, is_last or is_in_order(output), [x, filters, bias])
    task = task_of("PRODUCTS", x, target, window, [filters, bias])
    if isinstance(task, Declined):
        return task
    if is_flipped:
        filters = np.flip(filters, tuple(range(2, filters.ndim)))
    task.multiplier = output.shape[1] // groups
    activation.set_on(task.post_ops)
    task.weights, task.weight_strides = (
        address(filters),
        [filters.strides[0], *spatial(filters.strides[2:], 0)],
    )
    if bias is not None:
        task.bias, task.bias_stride = address(bias), bias.strides[1]
    return run_of(task, (x, filters, bias, target), output, reorders, post_ops, ACCEPTS[output.dtype])


def in_rows(x: Array) -> bool:
    """Whether the elements of a row lie next to each other."""
    return lie_together(x, x.ndim - 1)


def is_in_order(x: Array) -> bool:
    """Whether products are added up as those of packed tensors; the stride of rows of one element may be any."""
    return in_rows(x) and (x.shape[-1] > 1 or x.flags.c_contiguous)


def are_channels_last(x: Array, output: Array) -> bool:
    """Whether kernels read and write images of FLOAT32 whose channels lie next to each other."""
    images = (x, output)
    return (
        backend.native is not None
        and all(one.dtype == np.float32 and one.ndim <= 4 for one in images)
        and all(one.strides[1] == one.itemsize and one.strides[-1] != one.itemsize for one in images)
        and x.shape[1] == output.shape[1] >= LEAST_CHANNELS
        and readable(*images)
        and apart(output, [x])
    )


def mean(
    x: Array, output: Array, window: Window, counts: Sequence[Array], post_ops: PostOps = ()
) -> Run | Declined:
    """Sums divided by the element count of each window: the product of one count per spatial dimension."""
    reorders = Reorders()
    is_last = are_channels_last(x, output)
    x = reorders.read(x, is_last or in_rows(x))
    target = reorders.write(output, is_last or in_rows(output), [x])
    task = task_of("MEAN", x, target, window)
    if isinstance(task, Declined):
        return task
    factors = divided(task, counts)
    return run_of(task, (x, target, factors), output, reorders, post_ops)


def divided(task: Any, counts: Sequence[Array]) -> list[Array]:
    """Set the divisors of a task, which must be kept alive."""
    factors = [np.ones(1, np.float32)] * (backend.native.lib.DML_SPATIAL_DIMENSIONS - len(counts)) + [
        counted.astype(np.float32) for counted in counts
    ]
    task.counts = list(map(address, factors))
    return factors


def quantized_mean(
    x: Array,
    output: Array,
    window: Window,
    counts: Sequence[Array],
    scales: Sequence[Array],
    zeros: Sequence[Array | None],
) -> Run | Declined:
    """The ``mean`` of dequantized bytes, requantized: exact up to one rounding to FLOAT32.

    ``scales`` and ``zeros``, which may be absent, are those of ``x`` and of ``output``, with one element, or one for
    each channel along the second dimension only.
    """
    reorders = Reorders()
    x = reorders.read(x, in_rows(x))
    scales, zeros = read_as_they_lie(reorders, scales), read_as_they_lie(reorders, zeros)
    output = reorders.write(output, in_rows(output), [x, *scales, *zeros])
    task, memory = quantized_task("MEAN", [x, output], window, scales, zeros)
    if isinstance(task, Declined):
        return task
    return run_of(task, (memory, divided(task, counts)), output, reorders)


def quantized_products(
    x: Array,
    filters: Array,
    bias: Array | None,
    output: Array,
    window: Window,
    groups: int,
    scales: Sequence[Array],
    zeros: Sequence[Array | None],
) -> Run | Declined:
    """``convolution.byte_convolution`` where each group has one channel of ``x`` and few of the output, quantized.

    ``scales`` and ``zeros``, points that may be absent, are those of ``x``, of the filters and of ``output``, and as
    the bias, INT32, have one element or one for each channel along their second dimension and no others.
    """
    reason = unlike_depthwise(x, output, window, groups)
    if reason is not None:
        return Declined("depthwise_pool", reason)
    reorders = Reorders()
    x = reorders.read(x, lie_together(x, 2))
    filters, bias = read_as_they_lie(reorders, [filters, bias])
    scales, zeros = read_as_they_lie(reorders, scales), read_as_they_lie(reorders, zeros)
    output = reorders.write(output, lie_together(output, 2), [x, filters, bias, *scales, *zeros])
    task, memory = quantized_task("PRODUCTS", [x, filters, output], window, scales, zeros, bias)
    if isinstance(task, Declined):
        return task
    if prod(window.size) > backend.native.lib.DML_DEPTHWISE_POOL_BYTE_TAPS:
        return Declined("depthwise_pool", f"{prod(window.size)} products of bytes may be beyond FLOAT32")
    task.multiplier = output.shape[1] // groups
    task.weights = address(filters)
    task.weight_strides = [filters.strides[0], *spatial(filters.strides[2:], 0)]
    if bias is not None:
        task.bias, task.bias_stride = address(bias), channel_stride(bias)
    task.bytes.weighs_signed = filters.dtype.kind == "i"
    return run_of(task, memory, output, reorders)


def read_as_they_lie(reorders: Reorders, arrays: Sequence[Any]) -> list[Any]:
    """The arrays, of any layout; None for an absent one."""
    return [None if array is None else reorders.read(array, is_taken=True) for array in arrays]


def unlike_depthwise(x: Array, output: Array, window: Window, groups: int) -> str | None:
    """Why this is no depthwise convolution, or one that matrix products are faster for."""
    if x.shape[1] != groups:
        return f"a group has {x.shape[1] // groups} channels, not 1"
    if output.shape[1] > FEW * groups:
        return f"{output.shape[1]} features are more than {FEW} for each group"
    return "the output is padded" if any(window.output_padding) else None


def quantized_task(
    function: str,
    tensors: Sequence[Array],
    window: Window,
    scales: Sequence[Array],
    zeros: Sequence[Array | None],
    bias: Array | None = None,
) -> tuple[Any, Sequence[Array]]:
    """A task over bytes, or ``Declined``, and the arrays that must be kept alive.

    ``tensors`` are the input, the filters of products, and the output; each has a scale and may have a zero point.
    """
    x, output = tensors[0], tensors[-1]
    parameters = [*scales, *(one for one in (bias, *zeros) if one is not None)]
    task, memory = task_of(function, x, output, window, types=BYTES), [*tensors, *parameters]
    if not isinstance(task, Declined):
        reason = unlike_quantized(tensors, scales, zeros, bias)
        if reason is not None:
            return Declined("depthwise_pool", reason), memory
        fill_bytes(task.bytes, tensors, scales, zeros)
    return task, memory


def unlike_quantized(
    tensors: Sequence[Array], scales: Sequence[Array], zeros: Sequence[Array | None], bias: Array | None
) -> str | None:
    """Why there is no native kernel for tensors or parameters of these types."""
    for tensor in tensors:
        if tensor.dtype not in BYTES:
            return f"{type_name(tensor)} has no native kernel"
    for scale in scales:
        if scale.dtype != np.float32:
            return f"scales of {type_name(scale)} have no native kernel"
    if bias is not None and bias.dtype != np.int32:
        return f"a bias of {type_name(bias)} has no native kernel"
    if any(zero is not None and zero.dtype != tensor.dtype for zero, tensor in zip(zeros, tensors)):
        return "a zero point and its tensor have different data types"
    return None


def fill_bytes(
    quantization: Any, tensors: Sequence[Array], scales: Sequence[Array], zeros: Sequence[Array | None]
) -> None:
    """Say what bytes stand for: of the input, first, of the output, last, and of the filters between them."""
    prefixes = ("", "stored_") if len(tensors) == 2 else ("", "weight_", "stored_")
    quantization.is_there = True
    quantization.is_signed, quantization.stores_signed = (
        tensor.dtype.kind == "i" for tensor in (tensors[0], tensors[-1])
    )
    for prefix, scale, zero in zip(prefixes, scales, zeros):
        setattr(quantization, f"{prefix}scale", address(scale))
        setattr(quantization, f"{prefix}scale_stride", channel_stride(scale))
        if zero is not None:
            setattr(quantization, f"{prefix}zero", address(zero))
            setattr(quantization, f"{prefix}zero_stride", channel_stride(zero))


def channel_stride(array: Array) -> int:
    return array.strides[1] if array.shape[1] > 1 else 0


def maximum(
    x: Array, output: Array, indices: Array | None, window: Window, post_ops: PostOps = ()
) -> Run | Declined:
    """Max pooling, with the index of the first maximum in each window. A number is larger than NaN, and the result is
    at least the lowest finite FLOAT32, also for an empty window, whose index is 0."""
    reorders = Reorders()
    is_last = indices is None and are_channels_last(x, output)
    x = reorders.read(x, is_last or in_rows(x))
    target = reorders.write(output, is_last or in_rows(output), [x])
    task = task_of("MAXIMUM", x, target, window)
    if isinstance(task, Declined):
        return task
    if indices is not None:
        if indices.itemsize not in (4, 8):
            return Declined("depthwise_pool", f"indices of {type_name(indices)} have no native kernel")
        if np.may_share_memory(x, indices):
            return Declined("depthwise_pool", OVERLAPPING)
        task.indices, task.index_item, task.index_strides = (
            address(indices),
            indices.itemsize,
            strides_of(indices),
        )
    return run_of(task, (x, target, indices), output, reorders, post_ops)


def put_back(gradients: Array, indices: Array, sums: Array, output: Array) -> Run | Declined:
    """The gradient of max pooling: each step's gradient is added to the element of ``output`` with the step's index;
    indices run on from one channel to the next.

    ``indices``, of 64 bits, and ``sums``, which has a FLOAT64 for each element of ``output``, are packed.
    """
    reason = unsupported(gradients, output, [], FLOATS)
    if reason is None and gradients.dtype != output.dtype:
        reason = f"the output is {type_name(output)}, the gradients {type_name(gradients)}"
    if reason is None and not apart(output, [indices, sums]):
        reason = OVERLAPPING
    if reason is not None:
        return Declined("depthwise_pool_add", reason)
    task = backend.native.ffi.new("dml_depthwise_pool_gradients *")
    task.is_half = output.dtype == np.float16
    task.batches, task.channels = output.shape[:2]
    task.sizes, task.output_sizes = spatial(output.shape[2:], 1), spatial(gradients.shape[2:], 1)
    task.gradient_strides, task.output_strides = strides_of(gradients), strides_of(output)
    task.gradients, task.indices = address(gradients), address(indices)
    task.sums, task.output = address(sums), address(output)
    return NativeRun("dml_depthwise_pool_add", task, keepalive=(gradients, indices, sums, output))


def task_of(
    function: str,
    x: Array,
    output: Array,
    window: Window,
    more: Sequence[Array | None] = (),
    types: Sequence[np.dtype[Any]] = FLOATS,
) -> Any:
    """A task, or ``Declined``."""
    reason = unsupported(x, output, [array for array in more if array is not None], types)
    if reason is not None:
        return Declined("depthwise_pool", reason)
    task = backend.native.ffi.new("dml_depthwise_pool *")
    task.function = getattr(backend.native.lib, f"DML_DEPTHWISE_POOL_{function}")
    task.is_half, task.stores_half = (tensor.dtype == np.float16 for tensor in (x, output))
    task.batches, task.channels = output.shape[:2]
    task.multiplier = 1
    task.sizes, task.output_sizes = spatial(x.shape[2:], 1), spatial(output.shape[2:], 1)
    task.window, task.strides = spatial(window.size, 1), spatial(window.strides, 1)
    task.dilations, task.padding = spatial(window.dilations, 1), spatial(window.start_padding, 0)
    task.x, task.x_strides = address(x), strides_of(x)
    task.output, task.output_strides = address(output), strides_of(output)
    return task


def unsupported(x: Array, output: Array, more: Sequence[Array], types: Sequence[np.dtype[Any]]) -> str | None:
    """Why the native kernel does not accept these arguments."""
    read = [x, *more]
    if backend.native is None:
        return ABSENT
    for array in (*read, output):
        if array.dtype not in types:
            return f"{type_name(array)} has no native kernel"
    if any(array.dtype != x.dtype for array in more):
        return "the inputs have different data types"
    most = backend.native.lib.DML_IMAGE_DIMENSIONS
    if not 3 <= x.ndim <= most:
        return f"{x.ndim - 2} spatial dimensions are not 1 to {most - 2}"
    if not readable(output, *read):
        return UNREADABLE
    return None if apart(output, read) else OVERLAPPING


def run_of(
    task: Any,
    memory: object,
    output: Array,
    reorders: Reorders,
    post_ops: PostOps = (),
    accepts: Accepts = PROGRAMS,
) -> Run | Declined:
    """The call of a task that stores ``output``, or what is copied there."""
    if not backend.native.lib.dml_depthwise_pool_check(task):
        return Declined("depthwise_pool", "the window is too large")
    run = NativeRun("dml_depthwise_pool_run", task, keepalive=memory)
    return run_with(run, post_ops, KernelResults.of_images(output, not reorders.after, accepts), reorders)


def spatial(numbers: Sequence[int], missing: int) -> list[int]:
    return [missing] * (backend.native.lib.DML_SPATIAL_DIMENSIONS - len(numbers)) + list(numbers)


def strides_of(array: Array) -> list[int]:
    """In bytes. Rows of one element count as contiguous: whether +0 or -0 is the maximum of both depends on the loop,
    which must not depend on a stride that no element is found by."""
    innermost = array.itemsize if array.shape[-1] == 1 else array.strides[-1]
    return [*array.strides[:2], *spatial([*array.strides[2:-1], innermost], 0)]
