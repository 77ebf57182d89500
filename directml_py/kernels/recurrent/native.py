"""Recurrent layers in the native kernel: weights are prepacked, each thread keeps its units of the state, and the
cell's functions are compiled programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..backend import backend
from ..decisions import ABSENT, Declined
from ..elementwise.lower import Code, code_of, unsized_task, vocabulary
from ..half import widened
from ..launch import NativeRun
from ..matmul import ALIGNMENT, aligned, pack_panels, panels_size
from ..native_arrays import Array, address
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
    """``run_steps`` for a cell that has ``codes_of``; ``outputs`` (FLOAT32 with contiguous rows) and x may run
    backward."""
    steps, batch, width = layer.x.shape
    longest = int(layer.lengths.max())
    if outputs is not None:
        outputs[longest:] = 0
    last = tuple(np.zeros((batch, layer.hidden), np.float32) for _ in layer.states)
    if longest == 0:
        return last
    # Steps are processed in memory order, and so are the rows of the product.
    is_backward = longest == steps and steps > 1 and layer.x.strides[0] < 0
    x = widened(np.ascontiguousarray(layer.x[::-1] if is_backward else layer.x[:longest]))
    states = np.empty((2, batch, layer.hidden), np.float32) if outputs is None else outputs[:longest]
    values = {**layer.constants, **dict(zip(STATES, layer.states))}
    held = {name: np.array(value, np.float32, order="C") for name, value in values.items()}
    bias, lengths = slot_bias(cell, layer), np.ascontiguousarray(layer.lengths, np.int64)
    task = backend.native.ffi.new("dml_recurrent *")
    task.time_steps, task.batch, task.input, task.hidden = longest, batch, width, layer.hidden
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
    for matrix, panels in zip((layer.weights, layer.recurrence), memory[1:]):
        pack_panels(matrix[np.newaxis], cell.gates, panels)
    with np.errstate(all="ignore"):
        NativeRun("dml_recurrent_run", task, keepalive=(x, states, bias, lengths, held, memory, programs))()
    return last


def slot_bias(cell: Cell, layer: Layer) -> Array:
    """The initial values of the slots, {slots, H}: the input bias, plus the recurrent bias of the gates whose products
    are added there."""
    bias = np.zeros((cell.slots, layer.hidden), np.float32)
    bias[: cell.gates] = layer.bias[0].reshape(cell.gates, -1)
    of_gates = layer.bias[1].reshape(cell.gates, -1)
    for phase in cell.phases:
        for gate, slot in zip(phase.gates, phase.into):
            with np.errstate(all="ignore"):
                bias[slot] += of_gates[gate]
    return bias


def fill(target: Any, phase: Phase, code: Code, held: Mapping[str, Array]) -> Any:
    """Fill in a phase struct; the arguments must outlive it."""
    ffi = backend.native.ffi
    tensors = ffi.new("dml_elementwise_tensor[]", backend.native.lib.DML_ELEMENTWISE_MAX_TENSORS)
    program = unsized_task(code, tensors)
    program.rank = 2
    names = [*(phase.inputs[number] for number, _ in code.inputs), *phase.outputs]
    for number, name in enumerate(names):
        place = target.tensors[number]
        if isinstance(name, int):
            place.kind, place.slot = lib_kind("SLOT"), name
        elif name == STATES[0]:
            place.kind = lib_kind("BEFORE" if number < len(code.inputs) else "AFTER")
        else:
            place.kind, place.memory = lib_kind("MEMORY"), address(held[name])
            place.row = held[name].strides[0] if held[name].ndim > 1 else 0
    for number, value in enumerate([*(value for _, value in code.inputs), *code.outputs]):
        tensors[number].type, tensors[number].value = vocabulary.types["float32"], value
    target.operand = 0 if phase.by == STATES[0] else address(held[phase.by])
    target.first_gate, target.gates = phase.gates.start, len(phase.gates)
    target.slots[0 : len(phase.into)] = list(phase.into)
    target.program = program
    return tensors, program


def lib_kind(name: str) -> int:
    return int(getattr(backend.native.lib, f"DML_RECURRENT_{name}"))
