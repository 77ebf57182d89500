"""Post-operations: what becomes of a kernel's results before they leave its registers or a cache, as data.

As oneDNN's post-ops, they are a chain that is handed to a kernel when it is bound. A kernel takes the beginning of the
chain, as far as its ``Accepts`` says; the rest runs after it, one call for each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from math import copysign, isnan, prod
from typing import Any, NamedTuple

import numpy as np

from .backend import backend
from .decisions import ABSENT, take
from .elementwise.lower import Code, bound_code, code_of, task_of
from .elementwise.map import map_elements
from .launch import NativeRun, launch_in_order
from .native_arrays import Array, Run, address, readable
from .reorder import Bind, Reorders


class Activation(NamedTuple):
    """A function that kernels have in registers: IDENTITY; RELU, max(x, 0); LEAKY_RELU, x times a slope where x is less
    than 0; and CLIP, max(low, min(x, high))."""

    name: str = "IDENTITY"
    slope: float = 0.0
    low: float = 0.0
    high: float = 0.0

    def set_on(self, post_ops: Any) -> None:
        """Make it the activation of a task."""
        post_ops.activation, post_ops.slope = self.number, self.slope
        post_ops.low, post_ops.high = self.low, self.high

    @property
    def number(self) -> int:
        return int(getattr(backend.native.lib, f"DML_ACTIVATION_{self.name}"))


IDENTITY, RELU = Activation(), Activation("RELU")


def clip(low: float, high: float) -> Activation | None:
    """``max(low, min(x, high))`` in registers, which differs from the element-wise functions for some bounds: these
    say which of two zeros is the larger, and ignore NaN."""
    is_ordered = not (isnan(low) or isnan(high)) and high != 0 and not (low == 0 and copysign(1, low) < 0)
    return Activation("CLIP", low=low, high=high) if is_ordered else None


class Sum(NamedTuple):
    """The results plus a tensor of the same layout, activated."""

    activation: Activation = IDENTITY

    def set_on(self, post_ops: Any, addend: Array) -> None:
        """Let the kernel of a task add a tensor. The program remains: Winograd's method leaves the sum to it."""
        _, _, post_ops.low, post_ops.high = self.activation
        post_ops.residual, post_ops.residual_activation = address(addend), self.activation.number


class Normalization(NamedTuple):
    """``softmax_norm.batch_norm`` with one number for each channel, followed by RELU if ``relu``."""

    epsilon: float
    relu: bool


class Accepts(NamedTuple):
    """The post-operations that a kernel has in registers, in this order: an activation, a normalization, and a sum with
    an activation. All kernels that accept any run element-wise programs over blocks of what they store, too."""

    activations: Collection[str] = ()
    normalizes: bool = False
    sums: Collection[str] = ()


PROGRAMS = Accepts()


class KernelResults(NamedTuple):
    """Where a kernel stores its results: in ``output``, as ``extents``, so many matrices of rows and columns, or of
    columns and rows if ``is_transposed``; or in memory that is copied there afterwards, if not ``is_in_place``."""

    output: Array
    extents: tuple[int, int, int]
    is_in_place: bool
    is_transposed: bool = False
    accepts: Accepts = PROGRAMS

    @classmethod
    def of_images(cls, output: Array, is_in_place: bool, accepts: Accepts = PROGRAMS) -> KernelResults:
        """KernelResults that are a matrix {C, pixels} for each of N images."""
        return cls(
            output, (output.shape[0], output.shape[1], prod(output.shape[2:])), is_in_place, accepts=accepts
        )

    def views(self, arrays: Sequence[Any]) -> list[Array] | None:
        """Arrays, broadcast to the results' sizes, as matrices; None if one does not lie like that."""
        if not self.is_in_place or self.output.size == 0:
            return None
        sizes = self.output.shape
        views = [x if x.shape == sizes else np.broadcast_to(x, sizes) for x in arrays]
        views = [(x.swapaxes(-1, -2) if self.is_transposed else x).reshape(self.extents) for x in views]
        return views if all(map(np.may_share_memory, views, arrays)) else None

    def are(self, x: Array) -> bool:
        """Whether an array is the results."""
        return x is self.output or (is_laid_out_as(x, self.output) and address(x) == address(self.output))


class BatchNorm(NamedTuple):
    """A normalization of each channel of results {N, C, ...} in FLOAT32.

    Mean, variance, scale and bias, the ``statistics``, each have one number for all channels, or one for each. Kernels
    read them before they store results. ``separate`` binds it as a call of its own.
    """

    statistics: Sequence[Array]
    role: Normalization
    separate: Callable[[], Run]

    def join(self, post_ops: Any, results: KernelResults) -> object:
        """Make it a part of a task; returns what must be kept alive, None if the kernel does not take it."""
        is_last = bool(post_ops.normalization.prepared or post_ops.epilogue.programs[0])
        if is_last or not results.accepts.normalizes or not readable(*self.statistics):
            return None
        channels, task = results.output.shape[1], post_ops.normalization
        prepared = np.empty(channels * backend.native.ffi.sizeof("dml_batch_norm_channel"), np.uint8)
        task.channels, task.epsilon, task.relu = channels, self.role.epsilon, self.role.relu
        task.prepared = address(prepared)
        task.memory = list(map(address, self.statistics))
        task.strides = [one.strides[1] if one.shape[1] > 1 else 0 for one in self.statistics]
        return prepared, self.statistics


class Elementwise(NamedTuple):
    """A function of each element of what stands before it in the chain, and of other arrays.

    ``code`` is its program, or why there is none; ``separate`` binds it as a call of its own. ``role`` says what it is
    to a kernel that need not run the program: then it reads the results and, for a sum, one other array.
    """

    code: Code | str
    inputs: Sequence[Array | None]
    outputs: Sequence[Array]
    separate: Callable[[], Run]
    role: Activation | Sum | None = None

    def join(self, post_ops: Any, results: KernelResults) -> object:
        """Make it a part of a task; returns what must be kept alive, None if the kernel does not take it."""
        others = [x for x in self.inputs if x is not None and not results.are(x)]
        is_in_registers = self._is_in_registers(post_ops, results, others)
        if isinstance(self.role, Activation) and is_in_registers:
            self.role.set_on(post_ops)
            return ()
        programs = post_ops.epilogue.programs
        free = next((number for number, other in enumerate(programs) if not other), None)
        if isinstance(self.code, str) or free is None:
            return None
        arrays = [*(self.inputs[number] for number, _ in self.code.inputs), *self.outputs]
        views = results.views(arrays)
        if views is None:
            return None
        if isinstance(self.role, Sum) and is_in_registers:
            self.role.set_on(post_ops, *others)
        tensors, program = task_of(self.code, views, len(self.code.inputs), False)
        for tensor, view in zip(tensors, views):
            tensor.memory = address(view)
        programs[free] = program
        take("elementwise")
        return tensors, program, self.code, arrays

    def _is_in_registers(self, post_ops: Any, results: KernelResults, others: Sequence[Array]) -> bool:
        """Whether the kernel of a task has it in registers, after what that does already."""
        if self.role is None or post_ops.activation or post_ops.epilogue.programs[0]:
            return False
        if len(self.outputs) > 1 or not results.are(self.outputs[0]):
            return False
        accepts, normalization = results.accepts, post_ops.normalization
        if isinstance(self.role, Activation):
            return self.role.name in accepts.activations and not others and not normalization.prepared
        is_accepted = self.role.activation.name in accepts.sums and not normalization.relu
        return is_accepted and len(others) == 1 and is_laid_out_as(others[0], results.output)


def is_laid_out_as(x: Array, output: Array) -> bool:
    """Whether elements of the same type lie at the same distances."""
    is_same = x.strides == output.strides and x.shape == output.shape
    return x.dtype == output.dtype and (is_same or layout(x) == layout(output))


def layout(x: Array) -> list[tuple[int, int]]:
    """The sizes and strides of the dimensions that have more than one element."""
    return [(size, stride) for size, stride in zip(x.shape, x.strides) if size > 1]


PostOps = Sequence["BatchNorm | Elementwise"]


def of_function(
    function: Callable[..., Any], inputs: Sequence[Array | None], outputs: Sequence[Array]
) -> Elementwise:
    """The post-operation that stores ``function`` of some arrays in others; it must be pure and element-wise."""
    types = tuple(None if x is None else x.dtype for x in inputs), tuple(x.dtype for x in outputs)
    code = ABSENT if backend.native is None else code_of(function, *types)
    return Elementwise(code, inputs, outputs, partial(map_elements, function, inputs, outputs))


def of_kernel(bind: Bind, x: Array, output: Array) -> Elementwise:
    """The same of a kernel that must see all elements of an array, which is no program; it has no scratch."""
    separate = partial(bind, [x], [output], np.empty(0, np.uint8))
    return Elementwise("it is not element-wise", [x], [output], separate)


def of_code(
    code: Code, inputs: Sequence[Array], outputs: Sequence[Array], role: Activation | Sum | None
) -> Elementwise:
    """The post-operation that runs a program over arrays that the native kernel takes."""

    def separate() -> Run:
        call = bound_code(code, inputs, outputs)
        assert call
        return call

    return Elementwise(code, inputs, outputs, separate, role)


def run_with(run: NativeRun, post_ops: PostOps, results: KernelResults, reorders: Reorders) -> Run:
    """``run``, with as many post-operations as its kernel takes, between its reorders; and then the others."""
    kept: list[object] = []
    for one in post_ops:
        keepalive = one.join(run.task.post_ops, results)
        if keepalive is None:
            break
        kept.append(keepalive)
    run.keepalive = (run.keepalive, kept)
    return followed(reorders.around(run), post_ops[len(kept) :])


def followed(run: Run, post_ops: PostOps) -> Run:
    """``run``, and then post-operations by themselves."""
    return launch_in_order([run, *(one.separate() for one in post_ops)])
