"""Single-layer recurrent networks: RNN, LSTM and GRU.

The pages print their equations only as images. ONNX Runtime passes the tensors of ONNX's RNN, LSTM and GRU through
unchanged, so where the text is silent ONNX decides, and then the behaviour of ONNX Runtime:

- z, r and h of GRU: ``H = (1 - z) h + z Hprevious``.
- The output gate's peephole of LSTM reads the new cell state, those of the other two gates the previous one. The page,
  like WebNN, can be read to use the previous one for all three; but the ONNX node test that distinguishes the two
  readings is not among those that ONNX Runtime skips with DirectML.
- CoupleInputForget: the forget gate is 1 - i; its own weights are not used.
- After the end of a sequence OutputSequenceTensor is 0.
- BACKWARD starts at the last element of each sequence, and each output has the index of its input. OutputSingleTensor
  is then the result for the first element.

Two points follow Microsoft's library. By the text, LSTM clips the input of activations, of which h's is the cell: the
library does not clip that one, and neither does ONNX Runtime. An empty sequence has no last step: forward,
OutputSingleTensor is 0, unless the input has a single time step, and LSTM's cell is that after one step; backward, both
are the initial states.

All is computed in FLOAT32. In FLOAT16 networks activations and states are rounded after each step, as in Microsoft's
library: beyond 65504 a state is infinite, and the next one may be NaN. So are the terms of GRU's states: two that are
infinite may add up to NaN where their sum is in range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from ..abi.hresult import E_INVALIDARG, E_UNEXPECTED
from ..api.enums import (
    DML_RECURRENT_NETWORK_DIRECTION_BACKWARD,
    DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL,
)
from ..descs.format import braces
from ..descs.operator_desc import OperatorDesc
from ..descs.tensor_size import bytes_for
from ..kernels.elementwise.functions import fmax, fmin, plain
from ..kernels.elementwise.map import store
from ..kernels.elementwise.trace import Symbol
from ..kernels.native_arrays import Array, Run
from ..kernels.recurrent.layer import Cell, Layer, Phase, State, run_steps, turned
from ..kernels.recurrent.native import codes_of, run_natively, scratch_for
from ..validation.report import Report
from .attributes import activated, is_of_elements
from .operator import (
    Compute,
    Inputs,
    Kernel,
    Operator,
    Outputs,
    Shapes,
    Sizes,
    operator,
    own_rule,
    summing_kernel,
)

Function = Callable[[Array], Array]
# The input tensors that are present, by field.
Given = Mapping[str, Array]

PEEPHOLES = ("input peephole", "output peephole", "forget peephole")
LENGTHS = {
    name: own_rule(name, "sequence-lengths", "No sequence is longer than InputTensor.Sizes[1]", debug=True)
    for name in ("RNN", "LSTM", "GRU")
}
UNCOMPILED = {
    name: own_rule(name, "compiled-activations", "No activation is CELU", library=True)
    for name in ("LSTM", "GRU")
}
# The library copies each of these matrices for its kernel of one direction, packed, and without regard to strides.
UNCOMPILED_MATRIX = own_rule(
    "GRU",
    "compiled-matrix-size",
    "With one direction, TotalTensorSizeInBytes of WeightTensor and RecurrenceTensor suffices for packed elements, "
    "unless a stride is 0",
    library=True,
)


class Recurrent(NamedTuple):
    """The parameters that determine every size of a recurrent network."""

    sequence: int
    batch: int
    input: int
    hidden: int
    directions: int

    @property
    def state(self) -> Sizes:
        """The sizes of a state."""
        return (1, self.directions, self.batch, self.hidden)


def recurrent_of(desc: OperatorDesc) -> Recurrent:
    """The parameters read off InputTensor, RecurrenceTensor and Direction."""
    _, sequence, batch, width = desc.InputTensor.sizes
    directions = 2 if desc.Direction == DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL else 1
    return Recurrent(sequence, batch, width, desc.RecurrenceTensor.sizes[3], directions)


def _check_matrices(desc: OperatorDesc, report: Report) -> None:
    """Report matrices of one direction that take fewer bytes than packed ones would."""
    if recurrent_of(desc).directions > 1:
        return
    for field in ("WeightTensor", "RecurrenceTensor"):
        tensor = getattr(desc, field)
        (rows, row_stride), (columns, column_stride) = zip(tensor.sizes[2:], tensor.effective_strides[2:])
        is_broadcast = (rows > 1 and row_stride == 0) or (columns > 1 and column_stride == 0)
        # A matrix that is its own transpose is not copied.
        is_symmetric = (rows, row_stride) == (columns, column_stride)
        packed = bytes_for(tensor.data_type, tensor.element_count)
        if tensor.total_size < packed and not is_broadcast and not is_symmetric:
            text = f"is {tensor.total_size}; its {tensor.element_count} elements, packed, take {packed} bytes"
            report.add(UNCOMPILED_MATRIX, f"{field}.TotalTensorSizeInBytes", text)


class RecurrentNetwork(Operator):
    """Base of the three. ``gates`` is the count of matrices stacked in the weights, ``states`` names the tensors of the
    initial states."""

    gates: ClassVar[int]
    states: ClassVar[tuple[str, ...]] = ("HiddenInitTensor",)

    def cell(self, desc: OperatorDesc, functions: Sequence[Function]) -> Cell:
        """One time step of a direction with these activations."""
        raise NotImplementedError

    def shapes(self, desc: OperatorDesc) -> Shapes:
        sizes = recurrent_of(desc)
        height = self.gates * sizes.hidden
        return {
            "WeightTensor": (1, sizes.directions, height, sizes.input),
            "RecurrenceTensor": (1, sizes.directions, height, sizes.hidden),
            "BiasTensor": (1, 1, sizes.directions, 2 * height),
            "HiddenInitTensor": sizes.state,
            "SequenceLengthsTensor": (1, 1, 1, sizes.batch),
            "OutputSequenceTensor": (sizes.sequence, sizes.directions, sizes.batch, sizes.hidden),
            "OutputSingleTensor": sizes.state,
        }

    def check_compilation(self, desc: OperatorDesc, report: Report) -> int:
        """Microsoft's library accepts CELU, but has no kernel for GRU and LSTM with it, nor one for overlapping rows of
        GRU's matrices: the rule fits what it answered for 4,320 layouts."""
        if desc.name == "GRU":
            _check_matrices(desc, report)
            if report.errors:
                return E_INVALIDARG
        if desc.name in UNCOMPILED:
            for index, activation in enumerate(desc.ActivationDescs):
                if activation.name == "ACTIVATION_CELU":
                    text = f"is {activation.schema.type_name}, with which {desc.name} does not compile"
                    report.add(UNCOMPILED[desc.name], f"ActivationDescs[{index}]", text)
        return E_UNEXPECTED

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        """Reports sequence lengths beyond the input, at whose end such a sequence ends."""
        field, most = "SequenceLengthsTensor", desc.InputTensor.sizes[1]
        (lengths,) = (values for slot, values in zip(desc.inputs, inputs) if slot.field == field)
        if lengths is not None and (lengths > most).any():
            first = np.argwhere(lengths > most)[0]
            text = f"has {lengths[tuple(first)]} at {braces(first)}; the sequences of InputTensor have {most} elements"
            report.add(LENGTHS[desc.name], field, text)

    def cells(self, desc: OperatorDesc) -> list[Cell]:
        """The cell of each direction."""
        directions = recurrent_of(desc).directions
        functions = [per_time_step(activated(activation)) for activation in desc.ActivationDescs]
        per_direction = len(functions) // directions
        cells = [
            self.cell(desc, functions[index * per_direction : (index + 1) * per_direction])
            for index in range(directions)
        ]
        return list(map(in_halves, cells)) if desc.InputTensor.dtype == np.float16 else cells

    def compute(self, desc: OperatorDesc) -> Compute:
        fields, cells = [slot.field for slot in desc.inputs], self.cells(desc)

        def network(*arrays: Array | None) -> tuple[Array | None, ...]:
            outputs = None
            if desc.OutputSequenceTensor is not None:
                outputs = np.empty(desc.OutputSequenceTensor.sizes, np.float32)
            return outputs, *self.results(desc, fields, arrays, cells, outputs, run_steps)

        return network

    def kernel(self, desc: OperatorDesc) -> Kernel:
        sizes, cells, fields = recurrent_of(desc), self.cells(desc), [slot.field for slot in desc.inputs]
        is_native = all(map(is_of_elements, desc.ActivationDescs)) and all(map(codes_of, cells))
        if not is_native:
            return summing_kernel(self.compute(desc))

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            def run() -> None:
                sequence = outputs[0]
                states = sequence
                if sequence is not None and (sequence.dtype != np.float32 or sequence.strides[-1] != 4):
                    states = np.empty(sequence.shape, np.float32)
                run_cell = partial(run_natively, scratch=scratch)
                store(outputs, (states, *self.results(desc, fields, inputs, cells, states, run_cell)))

            return run

        return Kernel(bind, scratch_for(cells[0], sizes.batch, sizes.input, sizes.hidden))

    def results(
        self,
        desc: OperatorDesc,
        fields: Sequence[str],
        arrays: Sequence[Array | None],
        cells: Sequence[Cell],
        outputs: Array | None,
        run: Callable[[Cell, Layer, Array | None], State],
    ) -> Iterator[Array]:
        """Fill in the outputs of all directions, {S, D, B, H}, and return the last states, {1, D, B, H}."""
        given = {name: array for name, array in zip(fields, arrays) if array is not None}
        last = [
            self.directed(desc, given, number, cell, None if outputs is None else outputs[:, number], run)
            for number, cell in enumerate(cells)
        ]
        return (np.stack(states)[np.newaxis] for states in zip(*last))

    def directed(
        self,
        desc: OperatorDesc,
        given: Given,
        direction: int,
        cell: Cell,
        outputs: Array | None,
        run: Callable[[Cell, Layer, Array | None], State],
    ) -> State:
        """Run the time steps of one direction, fill in its outputs, {S, B, H}, and return the last state."""
        sizes = recurrent_of(desc)
        backward = direction == 1 or desc.Direction == DML_RECURRENT_NETWORK_DIRECTION_BACKWARD
        x, lengths = given["InputTensor"][0], lengths_of(sizes, given.get("SequenceLengthsTensor"))
        # If all sequences are as long as the input, negative strides reverse the output.
        is_whole = bool((lengths == sizes.sequence).all())
        target = outputs[::-1] if backward and is_whole and outputs is not None else outputs
        peepholes = part_of(given, "PeepholeTensor", direction, (3, sizes.hidden))
        layer = Layer(
            turned(x, lengths) if backward else x,
            lengths,
            given["WeightTensor"][0, direction],
            given["RecurrenceTensor"][0, direction],
            part_of(given, "BiasTensor", direction, (2, self.gates * sizes.hidden)),
            tuple(part_of(given, field, direction, sizes.state[2:]) for field in self.states),
            dict(zip(PEEPHOLES, peepholes)) if "PeepholeTensor" in given else {},
        )
        last = run(cell, layer, target)
        empty = lengths == 0
        if empty.any():
            last = tuple(np.array(state) for state in last)
            replacements = before(layer, empty) if backward else after_empty_sequence(cell, layer, empty)
            for state, values in zip(last, replacements):
                state[empty] = values
        if backward and not is_whole and outputs is not None:
            outputs[...] = turned(outputs, lengths)
        return last


def in_halves(cell: Cell) -> Cell:
    """``cell`` with the results of every phase rounded to FLOAT16."""

    def rounded(function: Callable[..., Array | tuple[Array, ...]]) -> Callable[..., tuple[Array, ...]]:
        def step(*values: Array) -> tuple[Array, ...]:
            results = function(*values)
            return tuple(map(as_half, results if isinstance(results, tuple) else (results,)))

        return step

    return cell._replace(phases=[phase._replace(function=rounded(phase.function)) for phase in cell.phases])


def as_half(x: Array) -> Array:
    if isinstance(x, Symbol):
        return plain(x.as_half())
    return x.astype(np.float16).astype(np.float32)


def before(layer: Layer, rows: Array) -> State:
    """The initial states of the sequences ``rows``."""
    return tuple(state[rows] for state in layer.states)


def after_empty_sequence(cell: Cell, layer: Layer, rows: Array) -> State:
    """The last states of empty sequences in Microsoft's library: it runs the first step and zeroes the hidden state,
    unless that is the only step.

    That was seen of RNN; GRU and LSTM, which are like it in all else, are taken to be like it there.
    """
    first = layer._replace(
        x=layer.x[:1, rows], lengths=np.ones(np.count_nonzero(rows), np.intp), states=before(layer, rows)
    )
    with np.errstate(all="ignore"):
        hidden, *others = run_steps(cell, first)
    return (hidden if len(layer.x) == 1 else np.zeros_like(hidden), *others)


def per_time_step(function: Function) -> Function:
    """An activation of a gate's values, {B, H}, which it receives as { 1, 1, B, H }; the type stays FLOAT32.

    The Axes of an activation refer to these four dimensions; traced activations have none.
    """

    def step(x: Array) -> Array:
        if isinstance(x, Symbol):
            return plain(function(x).astype(x.dtype))
        return np.asarray(np.asarray(function(x[np.newaxis, np.newaxis]), x.dtype)[0, 0])

    return step


def lengths_of(sizes: Recurrent, lengths: Array | None) -> Array:
    """The length of each sequence, {B}."""
    if lengths is None:
        return np.full(sizes.batch, sizes.sequence)
    return np.minimum(lengths.reshape(-1), sizes.sequence).astype(np.intp)


def part_of(given: Given, field: str, direction: int, sizes: Sizes) -> Array:
    """One direction's slice of a tensor; zeros if the tensor is absent.

    Directions are the second dimension of a state, and the third of biases and peepholes, whose second is 1.
    """
    part: Array = (
        given[field].reshape(-1, *sizes)[direction] if field in given else np.zeros(sizes, np.float32)
    )
    return part


@operator("RNN")
class Rnn(RecurrentNetwork):
    """One gate: ``H = f(X W + Hprevious R + biases)`` (ns-directml-dml_rnn_operator_desc)."""

    gates = 1

    def cell(self, desc: OperatorDesc, functions: Sequence[Function]) -> Cell:
        return Cell(1, 1, [Phase(range(1), (0,), (0,), ("hidden",), functions[0])])


@operator("GRU")
class Gru(RecurrentNetwork):
    """The gates z (update), r (reset) and h (hidden) (ns-directml-dml_gru_operator_desc)."""

    gates = 3

    def cell(self, desc: OperatorDesc, functions: Sequence[Function]) -> Cell:
        rounded = as_half if desc.InputTensor.dtype == np.float16 else plain

        def f(x: Array) -> Array:
            return rounded(functions[0](x))

        def g(x: Array) -> Array:
            return rounded(functions[1](x))

        def linear(z: Array, r: Array, h: Array, before: Array, hidden: Array) -> Array:
            return mixed(f(z), g(h + rounded(f(r) * before)), hidden)

        def reset(z: Array, r: Array, hidden: Array) -> tuple[Array, Array]:
            return f(z), f(r) * hidden

        def mixed(update: Array, candidate: Array, hidden: Array) -> Array:
            return plain(rounded(rounded(1 - update) * candidate) + rounded(update * hidden))

        def last(h: Array, update: Array, hidden: Array) -> Array:
            return mixed(update, g(h), hidden)

        if desc.LinearBeforeReset:
            return Cell(3, 4, [Phase(range(3), (0, 1, 3), (0, 1, 2, 3, "hidden"), ("hidden",), linear)])
        first = Phase(range(2), (0, 1), (0, 1, "hidden"), ("update", "reset"), reset)
        second = Phase(range(2, 3), (2,), (2, "update", "hidden"), ("hidden",), last, by="reset")
        return Cell(3, 3, [first, second])


@operator("LSTM")
class Lstm(RecurrentNetwork):
    """The gates i (input), o (output), f (forget) and c (cell) (ns-directml-dml_lstm_operator_desc)."""

    gates = 4
    states = ("HiddenInitTensor", "CellMemInitTensor")

    def shapes(self, desc: OperatorDesc) -> Shapes:
        sizes = recurrent_of(desc)
        return {
            **super().shapes(desc),
            "CellMemInitTensor": sizes.state,
            "PeepholeTensor": (1, 1, sizes.directions, 3 * sizes.hidden),
            "OutputCellSingleTensor": sizes.state,
        }

    def cell(self, desc: OperatorDesc, functions: Sequence[Function]) -> Cell:
        if desc.UseClipThreshold:
            functions = [*(clipped(function, desc.ClipThreshold) for function in functions[:2]), functions[2]]
        f, g, h = functions
        peepholes = PEEPHOLES if desc.PeepholeTensor is not None else ()

        def step(
            i: Array, o: Array, forget: Array, c: Array, cell: Array, *seen: Array
        ) -> tuple[Array, Array]:
            def gate(sums: Array, index: int, cell: Array) -> Array:
                return f(sums + seen[index] * cell if seen else sums)

            let_in = gate(i, 0, cell)
            kept = 1 - let_in if desc.CoupleInputForget else gate(forget, 2, cell)
            cell = kept * cell + let_in * g(c)
            return gate(o, 1, cell) * h(cell), cell

        inputs = (0, 1, 2, 3, "cell", *peepholes)
        return Cell(4, 4, [Phase(range(4), range(4), inputs, ("hidden", "cell"), step)])


def clipped(function: Function, threshold: float) -> Function:
    """``function`` of clipped input; NaN clips to the threshold, as in ELEMENT_WISE_CLIP."""
    return lambda x: function(fmax(-threshold, fmin(x, threshold)))
