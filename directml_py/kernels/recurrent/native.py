"""Recurrent layers in the native kernel: weights are prepacked, each thread keeps its units of the state, and the
cell's functions are compiled programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..backend import backend
from ..decisions import ABSENT, Declined
from ..elementwise.functions import plain
from ..elementwise.lower import Code, code_of, unsized_task, vocabulary
from ..elementwise.map import map_elements
from ..launch import NativeRun
from ..matmul import ALIGNMENT, aligned, panels_runs, panels_size
from ..move import move
from ..native_arrays import Array, Run, address, apart, readable
from .layer import STATES, Cell, Layer, Phase, State

FLOAT32 = np.dtype(np.float32)


def codes_of(cell: Cell) -> list[Code] | Declined:
    """The programs of the phases."""
    if backend.native is None:
        return Declined("recurrent", ABSENT)
    codes, most = [], backend.native.lib.DML_ELEMENTWISE_MAX_TENSORS
    for phase in cell.phases:
        code = code_of(phase.function, (FLOAT32,) * len(phase.inputs), (FLOAT32,) * len(phase.outputs))
        if isinstance(code, str):
            return Declined("recurrent", code)
        if len(phase.inputs) + len(phase.outputs) > most:
            return Declined("recurrent", f"a phase has more than {most} tensors")
        codes.append(code)
    return codes


def scratch_for(cell: Cell, batch: int, width: int, hidden: int) -> int:
    """The bytes that ``run_natively`` needs for inputs of ``width``."""
    return sum(parts_of(cell, batch, width, hidden)) + 3 * ALIGNMENT


def parts_of(cell: Cell, batch: int, width: int, hidden: int) -> tuple[int, int, int]:
    """The bytes of the slots, and of the panels of weights and recurrence."""
    slots = int(backend.native.lib.dml_recurrent_scratch(batch, hidden, cell.slots))
    return slots, panels_size(cell.gates, hidden, width), panels_size(cell.gates, hidden, hidden)


def run_natively(cell: Cell, layer: Layer, outputs: Array | None, scratch: Array) -> State:
    """``run_layer`` for a cell that has ``codes_of``; ``outputs`` (FLOAT32 with contiguous rows) and x may run
    backward."""
    longest = int(layer.lengths.max())
    last = tuple(np.zeros(state.shape, np.float32) for state in layer.states)
    if outputs is not None:
        outputs[longest:] = 0
    if longest:
        begun, states = layer._replace(x=layer.x[:longest]), None if outputs is None else outputs[:longest]
        for run in layer_runs(cell, begun, states, last, scratch):
            run()
    return last


def layer_runs(cell: Cell, layer: Layer, outputs: Array | None, last: State, scratch: Array) -> Sequence[Run]:
    """The calls, in order, that run the time steps of x and store the ``last`` states, packed FLOAT32, of the sequences
    that have any.

    Tensors are read when the calls are made, and so are the lengths if they are packed INT64. ``outputs`` and ``last``
    are apart from them.
    """
    time_steps, batch, width = layer.x.shape
    copies: list[Run] = []
    # Steps are processed in memory order, and so are the rows of the product.
    is_backward = time_steps > 1 and layer.x.strides[0] < 0
    x = float32_input(layer.x[::-1] if is_backward else layer.x, copies)
    states = np.empty((2, batch, layer.hidden), np.float32) if outputs is None else outputs
    held = {name: float32_input(value, copies) for name, value in layer.constants.items()}
    # The kernel updates the states in place.
    held.update((name, float32_copy(state, copies)) for name, state in zip(STATES, layer.states))
    bias, lengths = slot_bias(cell, layer, copies), np.ascontiguousarray(layer.lengths, np.int64)
    task = backend.native.ffi.new("dml_recurrent *")
    task.time_steps, task.batch, task.input, task.hidden = time_steps, batch, width, layer.hidden
    task.gates, task.slots, task.phases = cell.gates, cell.slots, len(cell.phases)
    # Computed rather than taken from NumPy, whose strides along an axis of size 1 may be anything.
    task.x, task.x_stride, task.x_row, task.backward = address(x), 4 * batch * width, 4 * width, is_backward
    task.before, task.before_row = address(held[STATES[0]]), 4 * layer.hidden
    task.states, task.state_stride, task.state_row = address(states), *states.strides[:2]
    task.period, task.bias, task.lengths = len(states), address(bias), address(lengths)
    for number, array in enumerate(last):
        task.last[number] = address(array)
    if STATES[1] in held:
        task.cell = address(held[STATES[1]])
    memory = []
    for size in parts_of(cell, batch, width, layer.hidden):
        part, scratch = aligned(scratch, size)
        memory.append(part)
    task.scratch, task.weights, task.recurrence = map(address, memory)
    for phase in cell.phases:
        for name in phase.outputs:
            held.setdefault(name, np.empty((batch, layer.hidden), np.float32))
    codes = codes_of(cell) or []
    programs = [
        fill(task.phase[number], phase, code, held)
        for number, (phase, code) in enumerate(zip(cell.phases, codes))
    ]
    packs = [
        run
        for matrix, panels in zip((layer.weights, layer.recurrence), memory[1:])
        for run in panels_runs(matrix[np.newaxis], cell.gates, panels)
    ]
    keepalive = (x, states, last, bias, lengths, held, memory, programs)
    return [*copies, *packs, NativeRun("dml_recurrent_run", task, keepalive=keepalive)]


def float32_input(x: Array, copies: list[Run]) -> Array:
    """``x``, if it is packed FLOAT32, or memory that ``copies`` fill with it."""
    if x.dtype == FLOAT32 and x.flags.c_contiguous and readable(x):
        return x
    return float32_copy(x, copies)


def float32_copy(x: Array, copies: list[Run]) -> Array:
    values = np.empty(x.shape, np.float32)
    copies.append(convert(x, values))
    return values


def float32_output(output: Array, is_taken: bool, inputs: Sequence[Array], copies: list[Run]) -> Array:
    """``output``, if it is FLOAT32 in a layout that is taken, apart from the inputs, or memory that ``copies`` store
    in it."""
    if output.dtype == FLOAT32 and is_taken and readable(output) and apart(output, inputs):
        return output
    values = np.empty(output.shape, np.float32)
    copies.append(convert(values, output))
    return values


def convert(x: Array, output: Array) -> Run:
    return move([(output, x)]) if x.dtype == output.dtype else map_elements(plain, [x], [output])


def slot_bias(cell: Cell, layer: Layer, copies: list[Run]) -> Array:
    """The initial values of the slots, {slots, H}, which ``copies`` compute: the input bias, plus the recurrent bias of
    the gate whose product is added there."""
    bias = np.zeros((cell.slots, layer.hidden), np.float32)
    of_inputs, of_gates = (part.reshape(cell.gates, -1) for part in layer.bias)
    added = {slot: gate for phase in cell.phases for gate, slot in zip(phase.gates, phase.into)}
    # The slots in the order of gates, which are all of most cells, take one call.
    count = next((slot for slot in range(cell.slots) if added.get(slot) != slot), cell.slots)
    copies.append(map_elements(np.add, [of_inputs[:count], of_gates[:count]], [bias[:count]]))
    zeros = np.zeros(layer.hidden, np.float32)
    for slot in range(count, cell.slots):
        values = of_inputs[slot] if slot < cell.gates else zeros
        if slot in added:
            copies.append(map_elements(np.add, [values, of_gates[added[slot]]], [bias[slot]]))
        else:
            copies.append(convert(values, bias[slot]))
    return bias


def fill(target: Any, phase: Phase, code: Code, held: Mapping[str, Array]) -> Any:
    """Fill in a phase struct; the arguments must outlive it."""
    ffi = backend.native.ffi
    tensors = ffi.new("dml_elementwise_tensor[]", backend.native.lib.DML_ELEMENTWISE_MAX_TENSORS)
    program = unsized_task(code, tensors)
    program.rank = 2
    names = [*(phase.inputs[number] for number, _ in code.inputs), *phase.outputs]
    for number, name in enumerate(names):
        operand = target.tensors[number]
        if isinstance(name, int):
            operand.kind, operand.slot = lib_kind("SLOT"), name
        elif name == STATES[0]:
            operand.kind = lib_kind("BEFORE" if number < len(code.inputs) else "AFTER")
        else:
            operand.kind, operand.memory = lib_kind("MEMORY"), address(held[name])
            operand.row = held[name].strides[0] if held[name].ndim > 1 else 0
    for number, value in enumerate([*(value for _, value in code.inputs), *code.outputs]):
        tensors[number].type, tensors[number].value = vocabulary.types["float32"], value
    target.operand = 0 if phase.by == STATES[0] else address(held[phase.by])
    target.first_gate, target.gates = phase.gates.start, len(phase.gates)
    target.slots[0 : len(phase.into)] = list(phase.into)
    target.program = program
    return tensors, program


def lib_kind(name: str) -> int:
    return int(getattr(backend.native.lib, f"DML_RECURRENT_{name}"))
