"""Lowering: element-wise programs run by the native kernel, over arrays of any layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...late import lazy
from ..backend import backend
from ..cache_blocks import joined, nearest
from ..decisions import ABSENT, Declined
from ..launch import Fixed, NativeRun
from ..native_arrays import Array, Run, address
from .ir import FUNCTIONS, Node, Program, Untraceable
from .trace import HIGH_WORDS, Words, is_wide, traced, words_of

MAX_LAYOUTS = 256
# The cost of a function of an element, as the bytes that could be copied in the same time.
FUNCTION_BYTES = 16
# Of more 64-bit integers, reading and writing words takes longer than NumPy's call costs.
MOST_WORDS = 2048
# FLOAT32 steps whose operands commute, as long as these are numbers and none is 0.
COMMUTATIVE = ("fmin_float32", "fmax_float32", "add_float32", "multiply_float32")


class Vocabulary:
    """The native kernel's opcodes and types, by name."""

    @lazy
    def opcodes(self) -> dict[str, int]:
        return self.names("dml_elementwise_opcode_name")

    @lazy
    def types(self) -> dict[str, int]:
        return self.names("dml_elementwise_type_name")

    def names(self, function: str) -> dict[str, int]:
        ffi, lib = backend.native.ffi, backend.native.lib
        numbers: dict[str, int] = {}
        while (name := getattr(lib, function)(len(numbers))) != ffi.NULL:
            numbers[ffi.string(name).decode()] = len(numbers)
        return numbers


vocabulary = Vocabulary()


# NumPy makes the name of a type anew whenever it is asked for it.
@cache
def type_number(dtype: np.dtype[Any]) -> int:
    """The native kernel's number of a type."""
    return vocabulary.types["uint8" if dtype == np.bool_ else dtype.name]


class Layout(NamedTuple):
    """A task for arrays of given sizes, strides and types at any address: ``offsets`` are in bytes, from an array's
    address to the address that the task uses."""

    task: Any
    tensors: Any
    offsets: Sequence[int]


class Code(Fixed):
    """A program as the native kernel takes it: values share memory once their last reader has run."""

    def __init__(self, program: Program) -> None:
        nodes, needed = program.nodes, program.needed()
        self.wide: list[bool] = []
        self.values: dict[int, int] = {}
        self.inputs: list[tuple[int, int]] = []
        self.functions = 0
        self.instructions: list[tuple[int, int, list[int]]] = []
        self.constants: list[tuple[int, int, int]] = []
        last = {operand: number for number in needed for operand in nodes[number].operands}
        free: dict[bool, list[int]] = {False: [], True: []}
        for number in needed:
            node = nodes[number]
            is_wide = node.lane == "float64"
            if node.name == "input":
                self.inputs.append((node.bits, self.new(number, False)))
            elif node.name == "constant":
                self.constants.append((self.new(number, is_wide), 8 if is_wide else 4, node.bits))
            else:
                operands = [self.values[operand] for operand in constant_last(nodes, node)]
                # Freed already: the result of a step may lie where its operands do.
                for operand in set(node.operands):
                    kept = operand in program.outputs or nodes[operand].name in ("input", "constant")
                    if last[operand] == number and not kept:
                        free[self.wide[self.values[operand]]].append(self.values[operand])
                if free[is_wide]:
                    self.values[number] = free[is_wide].pop()
                else:
                    self.new(number, is_wide)
                self.instructions.append((vocabulary.opcodes[node.name], self.values[number], operands))
                self.functions += node.name.rpartition("_")[0] in FUNCTIONS
        self.outputs = [self.values[number] for number in program.outputs]
        self._layouts: dict[tuple[Any, ...], Layout | str] = {}

    def layout(self, arrays: Sequence[Array]) -> Layout | str:
        """``layout_of``, cached for the last few layouts: it takes several times as long as the work on a few KiB."""
        key = tuple([(x.shape, x.strides, x.dtype.char) for x in arrays])
        layout = self._layouts.get(key)
        if layout is None:
            if len(self._layouts) >= MAX_LAYOUTS:
                self._layouts.clear()
            layout = self._layouts[key] = layout_of(self, arrays)
        return layout

    def new(self, number: int, is_wide: bool) -> int:
        self.values[number] = len(self.wide)
        self.wide.append(is_wide)
        return self.values[number]

    @lazy
    def tables(self) -> tuple[Any, ...]:
        """The memory of steps, constants, flags for wide values and value slots; and the number of slots."""
        ffi = backend.native.ffi
        instructions = ffi.new("dml_elementwise_instruction[]", max(1, len(self.instructions)))
        fixed = {value for value, _, _ in self.constants}
        for number, (code, result, operands) in enumerate(self.instructions):
            uniform = sum(1 << position for position, operand in enumerate(operands) if operand in fixed)
            instructions[number] = code, result, [*operands, 0, 0][:3], uniform
        constants = ffi.new("dml_elementwise_constant[]", max(1, len(self.constants)))
        for number, constant in enumerate(self.constants):
            constants[number] = constant
        block = backend.native.lib.DML_ELEMENTWISE_BLOCK
        sizes = [block * (8 if is_wide else 4) for is_wide in self.wide]
        offsets = [sum(sizes[:number]) for number in range(len(sizes))]
        return (
            instructions,
            constants,
            ffi.new("uint8_t[]", bytes(self.wide)),
            ffi.new("int64_t[]", offsets),
            sum(sizes),
        )


def constant_last(nodes: Sequence[Node], node: Node) -> tuple[int, ...]:
    """The operands, with a constant after the operand that it is compared with or added to: steps read a single element
    there.

    The first operand decides between two zeros, so zeros stay in place, and so does NaN.
    """
    if node.name in COMMUTATIVE and nodes[node.operands[0]].name == "constant":
        magnitude = nodes[node.operands[0]].bits & 0x7FFFFFFF
        if 0 < magnitude <= 0x7F800000:
            return node.operands[::-1]
    return node.operands


@lru_cache(maxsize=1024)
def program_of(
    function: Callable[..., Any], inputs: tuple[np.dtype[Any] | None, ...], outputs: tuple[np.dtype[Any], ...]
) -> Program | Untraceable:
    """The result of ``trace.traced``, cached."""
    return traced(function, inputs, outputs)


def code_for(program: Program) -> Code | str:
    """The code of a program, or why the native kernel does not take it. Programs that are alike share one."""
    return _code_for(tuple(program.nodes), tuple(program.outputs))


@lru_cache(maxsize=512)
def _code_for(nodes: tuple[Node, ...], outputs: tuple[int, ...]) -> Code | str:
    code = Code(Program(nodes, outputs))
    lib, tensors = backend.native.lib, len(code.inputs) + len(code.outputs)
    if len(code.wide) > lib.DML_ELEMENTWISE_MAX_VALUES:
        return f"{len(code.wide)} values are more than {lib.DML_ELEMENTWISE_MAX_VALUES}"
    if tensors > lib.DML_ELEMENTWISE_MAX_TENSORS:
        return f"{tensors} tensors are more than {lib.DML_ELEMENTWISE_MAX_TENSORS}"
    return code if code.inputs else "the function has no inputs"


@lru_cache(maxsize=512)
def code_of(
    function: Callable[..., Any], inputs: tuple[np.dtype[Any] | None, ...], outputs: tuple[np.dtype[Any], ...]
) -> Code | str:
    program = program_of(function, inputs, outputs)
    return str(program) if isinstance(program, Untraceable) else code_for(program)


def mapped(
    function: Callable[..., Any], inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Run | Declined:
    """The call that stores ``function`` of the inputs in the outputs."""
    targets = [output for output in outputs if output is not None]
    if backend.native is None:
        return Declined("elementwise", ABSENT)
    if len(targets) < len(outputs):
        return Declined("elementwise", "an output is absent")
    if any(x is not None and is_wide(x.dtype) for x in (*inputs, *targets)):
        if targets[0].size > MOST_WORDS:
            return Declined("elementwise", f"more than {MOST_WORDS} 64-bit integers are faster in NumPy")
        words: Any = OverWords(function, types_of(inputs), types_of(targets))
        function, inputs, targets = words, in_words(inputs), in_words(targets)
    code = code_of(function, types_of(inputs), types_of(targets))
    if isinstance(code, str):
        return Declined("elementwise", code)
    return bound_code(code, inputs, targets)


def types_of(arrays: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(None if x is None else x.dtype for x in arrays)


class OverWords(NamedTuple):
    """A function of arrays in which 64-bit integers are two arrays, of their low and of their high words."""

    function: Callable[..., Any]
    inputs: tuple[np.dtype[Any] | None, ...]
    outputs: tuple[np.dtype[Any], ...]

    def __call__(self, *symbols: Any) -> Any:
        left = iter(symbols)
        results = self.function(
            *(
                Words(next(left), next(left), dtype) if dtype is not None and is_wide(dtype) else next(left)
                for dtype in self.inputs
            )
        )
        results = results if isinstance(results, tuple) else (results,)
        pairs = (
            words_of(result, dtype) if is_wide(dtype) else (result,)
            for result, dtype in zip(results, self.outputs)
        )
        return tuple(symbol for pair in pairs for symbol in pair)


def in_words(arrays: Sequence[Any]) -> list[Any]:
    """The arrays, with those of 64-bit integers as views of their low and of their high words."""
    views: list[Any] = []
    for array in arrays:
        if array is None or not is_wide(array.dtype):
            views.append(array)
            continue
        words = array.view(np.dtype([("low", np.uint32), ("high", HIGH_WORDS[array.dtype])]))
        views += words["low"], words["high"]
    return views


def bound_code(code: Code, inputs: Sequence[Array | None], outputs: Sequence[Array]) -> Run | Declined:
    """The call that runs a program over arrays; inputs have equal sizes or broadcast."""
    arrays: list[Any] = [*[inputs[number] for number, _ in code.inputs], *outputs]
    layout = code.layout(arrays)
    if isinstance(layout, str):
        return Declined("elementwise", layout)
    ffi = backend.native.ffi
    tensors = ffi.new("dml_elementwise_tensor[]", len(arrays))
    ffi.memmove(tensors, layout.tensors, ffi.sizeof(tensors))
    for tensor, array, offset in zip(tensors, arrays, layout.offsets):
        tensor.memory = address(array) + offset
    task = ffi.new("dml_elementwise *", layout.task[0])
    task.tensors = tensors
    return NativeRun("dml_elementwise_run", task, keepalive=(tensors, code, arrays))


def layout_of(code: Code, arrays: Sequence[Array]) -> Layout | str:
    """The layout for a program over arrays, inputs first, or why the native kernel does not take them."""
    count = len(code.inputs)
    outputs = arrays[count:]
    sources = [np.broadcast_to(x, outputs[0].shape) for x in arrays[:count]]
    views, across = laid_out([*outputs, *sources])
    if views[0].ndim > (most := backend.native.lib.DML_MAX_DIMENSIONS):
        return f"{views[0].ndim} dimensions are more than {most}"
    views = [*views[len(outputs) :], *views[: len(outputs)]]
    tensors, task = task_of(code, views, count, across)
    return Layout(task, tensors, [address(view) - address(x) for view, x in zip(views, arrays)])


def laid_out(arrays: Sequence[Array]) -> tuple[list[Array], bool]:
    """Views with as few dimensions as possible, at least two, the last of which is that along which the first array is
    written; and whether other arrays are read across it, along the second to last dimension."""
    # Without the ellipsis a 0-d array would become a scalar.
    flipped: Any = (*(slice(None, None, -1 if stride < 0 else 1) for stride in arrays[0].strides), ...)
    views = joined([array[flipped] for array in arrays])
    if views[0].ndim < 2:
        return [x.reshape((1,) * (2 - x.ndim) + x.shape) for x in views], False
    last = views[0].ndim - 1
    along = next((axis for axis in (nearest(x, last) for x in views[1:]) if axis != last), None)
    if along is None:
        return views, False
    return [np.moveaxis(x, along, last - 1) for x in views], True


def task_of(code: Code, views: Sequence[Array], inputs: int, across: bool) -> tuple[Any, Any]:
    """The tensors of views, without addresses, and the task over them."""
    ffi, lib = backend.native.ffi, backend.native.lib
    tensors = ffi.new("dml_elementwise_tensor[]", len(views))
    for number, (view, value) in enumerate(zip(views, [*(value for _, value in code.inputs), *code.outputs])):
        tensors[number].strides = view.strides
        tensors[number].type = type_number(view.dtype)
        tensors[number].value = value
    sizes = views[0].shape
    count = prod(sizes)
    written = sum(view.itemsize for view in views[inputs:]) * count
    read = sum(view.itemsize for view in views[:inputs]) * count
    task = unsized_task(code, tensors)
    task.rank, task.sizes = len(sizes), sizes
    task.work, task.output_bytes = written + read + code.functions * FUNCTION_BYTES * count, written
    task.across = across
    lib.dml_elementwise_prepare(task)
    return tensors, task


def unsized_task(code: Code, tensors: Any) -> Any:
    """A task whose sizes are not set yet."""
    instructions, constants, wide, offsets, memory = code.tables
    task = backend.native.ffi.new("dml_elementwise *")
    task.inputs, task.outputs, task.values = len(code.inputs), len(code.outputs), len(code.wide)
    task.constants, task.instructions = len(code.constants), len(code.instructions)
    task.tensors, task.first_constant, task.first_instruction = tensors, constants, instructions
    task.wide, task.value_offsets, task.memory = wide, offsets, memory
    return task
