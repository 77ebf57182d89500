"""Epilogues: element-wise programs that native kernels run over blocks of their results while these are in a cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import copysign, isnan, prod
from typing import Any

import numpy as np

from .backend import backend
from .decisions import take
from .elementwise.lower import Code, bound_code, code_of, task_of, vocabulary
from .elementwise.map import map_elements
from .launch import NativeRun, launch_in_order
from .native_arrays import Array, Run, address

# The results of the kernels that have epilogues, by the type of their task: where they are, and how many matrices,
# rows and columns of them.
RESULTS: Mapping[str, Callable[[Any], tuple[int, tuple[int, int, int]]]] = {
    "dml_conv": lambda task: (
        task.params.output,
        (task.params.batches, task.params.groups * task.params.m, prod(task.params.output_sizes)),
    ),
    "dml_depthwise_pool": lambda task: (task.output, (task.batches, task.channels, prod(task.output_sizes))),
    "dml_matmul_products": lambda task: (
        task.out.memory,
        (prod(task.sizes[0 : task.rank]), task.m, task.n),
    ),
}
CLIPS = (["fmax_float32"], ["fmin_float32", "fmax_float32"])


def map_results(run: Run, function: Callable[..., Any], inputs: Sequence[Array | None], output: Array) -> Run:
    """``run``, which stores some of ``inputs``, and then ``function`` of these in ``output``."""
    present = tuple(None if x is None else x.dtype for x in inputs)
    code = code_of(function, present, (output.dtype,)) if backend.native is not None else ""
    if not isinstance(code, str) and add_epilogue(run, code, inputs, [output]):
        return run
    return launch_in_order([run, map_elements(function, inputs, [output])])


def run_with_code(run: Run, code: Code, inputs: Sequence[Array | None], outputs: Sequence[Array]) -> Run:
    """``run``, which stores some of ``inputs``, and then a program over arrays that the native kernel takes."""
    if add_epilogue(run, code, inputs, outputs):
        return run
    call = bound_code(code, inputs, outputs)
    assert call
    return launch_in_order([run, call])


def add_epilogue(run: Run, code: Code, inputs: Sequence[Array | None], outputs: Sequence[Array]) -> bool:
    """Make a program over the results of ``run`` a part of its task; False if they are not as it takes them."""
    if not isinstance(run, NativeRun):
        return False
    ffi = backend.native.ffi
    find_results = RESULTS.get(ffi.typeof(run.task).item.cname)
    if find_results is None:
        return False
    place, extents = find_results(run.task)
    task, arrays = run.task, [*[inputs[number] for number, _ in code.inputs], *outputs]
    if set_activation(task, code, arrays, place, extents):
        return True
    programs = post_ops_of(task).epilogue.programs
    number = next((number for number, other in enumerate(programs) if other == ffi.NULL), None)
    views = views_of(arrays, outputs[0].shape, extents)
    if number is None or views is None or place not in map(address, views[: len(code.inputs)]):
        return False
    set_residual(task, code, views)
    tensors, program = task_of(code, views, len(code.inputs), False)
    for tensor, view in zip(tensors, views):
        tensor.memory = address(view)
    programs[number] = program
    run.keepalive = (run.keepalive, tensors, program, code, arrays)
    take("elementwise")
    return True


def post_ops_of(task: Any) -> Any:
    """The struct of a task, or the task itself, that says what its results become."""
    return getattr(task, "post_ops", task)


def views_of(arrays: Sequence[Any], sizes: Sequence[int], extents: Sequence[int]) -> list[Array] | None:
    """Arrays, broadcast to ``sizes``, as so many matrices of rows and columns; None if one does not lie like that."""
    if prod(sizes) != prod(extents) or 0 in sizes:
        return None
    views = [(x if x.shape == sizes else np.broadcast_to(x, sizes)).reshape(extents) for x in arrays]
    return views if all(map(np.may_share_memory, views, arrays)) else None


def set_activation(
    task: Any, code: Code, arrays: Sequence[Any], place: int, extents: tuple[int, int, int]
) -> bool:
    """Let a kernel itself clip what it stores, if it does so and that is what a program does."""
    bounds, post_ops, lib = clip_bounds(code), post_ops_of(task), backend.native.lib
    if bounds is None or not hasattr(post_ops, "activation"):
        return False
    is_plain = post_ops.activation == lib.DML_ACTIVATION_IDENTITY and post_ops.normalization.prepared == 0
    is_stored = getattr(task, "function", 0) == lib.DML_DEPTHWISE_POOL_PRODUCTS
    if not is_plain or not is_stored or post_ops.epilogue.programs[0] != backend.native.ffi.NULL:
        return False
    stored, result = arrays
    is_whole = stored.shape == result.shape and prod(stored.shape) == prod(extents)
    if not is_whole or stored.dtype != np.float32 or stored.strides != result.strides:
        return False
    if not address(stored) == address(result) == place:
        return False
    low, high = bounds
    post_ops.activation = lib.DML_ACTIVATION_RELU if high is None else lib.DML_ACTIVATION_CLIP
    post_ops.low, post_ops.high = low, high or 0.0
    return True


def set_residual(task: Any, code: Code, views: Sequence[Array]) -> None:
    """Let a convolution itself add what is laid out as its output, if its first program does that to its sums, with or
    without a clip. The program remains: Winograd's method leaves the sum to it."""
    lib, ffi = backend.native.lib, backend.native.ffi
    if ffi.typeof(task).item.cname != "dml_conv" or len(views) != 3 or len(code.outputs) != 1:
        return
    params, post_ops = task.params, task.post_ops
    others = [view for view in views if address(view) != params.output]
    is_plain = post_ops.activation == lib.DML_ACTIVATION_IDENTITY and not post_ops.normalization.relu
    if len(others) != 1 or others[0] is views[2]:
        return
    is_first = post_ops.epilogue.programs[0] == ffi.NULL
    if not (is_plain and is_first and params.type == params.output_type == lib.DML_CONV_FLOATS):
        return
    if any(view.dtype != np.float32 or layout(view) != layout(views[-1]) for view in views):
        return
    (step, value, operands), *rest = code.instructions
    if step != vocabulary.opcodes["add_float32"] or set(operands) != {number for _, number in code.inputs}:
        return
    bounds = clip_of(code, rest, value)
    if rest and bounds is None:
        return
    post_ops.residual = address(others[0])
    if bounds is not None:
        low, high = bounds
        post_ops.residual_activation = lib.DML_ACTIVATION_RELU if high is None else lib.DML_ACTIVATION_CLIP
        post_ops.low, post_ops.high = low, high or 0.0


def layout(view: Array) -> list[tuple[int, int]]:
    """The sizes and strides of the dimensions that have more than one element."""
    return [(size, stride) for size, stride in zip(view.shape, view.strides) if size > 1]


@lru_cache(maxsize=256)
def clip_bounds(code: Code) -> tuple[float, float | None] | None:
    """The bounds if a program is ``max(low, min(x, high))``, or ``max(0, x)``, which has no upper one; else None."""
    if len(code.inputs) + len(code.outputs) != 2:
        return None
    return clip_of(code, code.instructions, code.inputs[0][1])


def clip_of(
    code: Code, steps: Sequence[tuple[int, int, list[int]]], value: int
) -> tuple[float, float | None] | None:
    """The same of the last ``steps`` of a program, from ``value`` to its output.

    Bounds are as kernels take them: which zero is left of two, and what NaN becomes, is the same as in the program."""
    names = {number: name for name, number in vocabulary.opcodes.items()}
    if [names[step] for step, _, _ in steps] not in CLIPS:
        return None
    constants = {value: float(np.uint32(bits).view(np.float32)) for value, _, bits in code.constants}
    bounds = list[float]()
    for _, result, operands in steps:
        bounds += [constants[operand] for operand in operands if operand in constants]
        if value not in operands:
            return None
        value = result
    if value != code.outputs[0] or len(bounds) != len(steps) or any(map(isnan, bounds)):
        return None
    *high, low = bounds
    if copysign(1, low) < 0 and low == 0:
        return None
    if not high:
        return (low, None) if low == 0 else None
    return (low, high[0]) if high[0] != 0 else None
