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
from ..kernels.launch import launch_in_order
from ..kernels.native_arrays import Array, Run
from ..kernels.recurrent.layer import Cell, Layer, Phase, State, reversed_sequences, run_layer
from ..kernels.recurrent.native import codes_of, float32_output, layer_runs, run_natively, scratch_for
from ..kernels.reorder import lie_together, packed
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
    operator_rule,
    summing_kernel,
)

Function = Callable[[Array], Array]
# The input tensors that are present, by field.
Tensors = Mapping[str, Array]

PEEPHOLES = ("input peephole", "output peephole", "forget peephole")
LENGTHS = {
    name: operator_rule(
        name, "sequence-lengths", "No sequence is longer than InputTensor.Sizes[1]", debug=True
    )
    for name in ("RNN", "LSTM", "GRU")
}
UNCOMPILED = {
    name: operator_rule(name, "compiled-activations", "No activation is CELU", library=True)
    for name in ("LSTM", "GRU")
}
# The library copies each of these matrices for its kernel of one direction, packed, and without regard to strides.
UNCOMPILED_MATRIX = operator_rule(
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
            return outputs, *self.results(desc, fields, arrays, cells, outputs, run_layer)

        return network

    def kernel(self, desc: OperatorDesc) -> Kernel:
        sizes, cells, fields = recurrent_of(desc), self.cells(desc), [slot.field for slot in desc.inputs]
        is_native = all(map(is_of_elements, desc.ActivationDescs)) and all(map(codes_of, cells))
        if not is_native:
            return summing_kernel(self.compute(desc))

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            tensors = present(fields, inputs)
            if "SequenceLengthsTensor" not in tensors or not is_backward(desc, sizes.directions - 1):
                return launch_in_order(self.bound_runs(desc, tensors, outputs, cells, scratch))

            def run() -> None:
                sequence = outputs[0]
                states = sequence
                if sequence is not None and (sequence.dtype != np.float32 or sequence.strides[-1] != 4):
                    states = np.empty(sequence.shape, np.float32)
                run_cell = partial(run_natively, scratch=scratch)
                store(outputs, (states, *self.results(desc, fields, inputs, cells, states, run_cell)))

            return run

        return Kernel(bind, scratch_for(cells[0], sizes.batch, sizes.input, sizes.hidden))

    def bound_runs(
        self, desc: OperatorDesc, tensors: Tensors, outputs: Outputs, cells: Sequence[Cell], scratch: Array
    ) -> Sequence[Run]:
        """The calls, in order, for sequences that are all as long as the input or run forward. Then the kernel takes as
        many steps whatever the lengths are, which are all that is left to read in Python."""
        sizes, inputs = recurrent_of(desc), list(tensors.values())
        sequence_lengths = tensors.get("SequenceLengthsTensor")
        lengths = lengths_of(sizes, None).astype(np.int64)
        copies: list[Run] = []
        sequence, *last = outputs
        if sequence is not None:
            sequence = float32_output(sequence, sequence.strides[-1] == 4, inputs, copies)
        last = [
            np.empty(sizes.state, np.float32)
            if output is None
            else float32_output(output, lie_together(output), inputs, copies)
            for output in last
        ]
        runs: list[Run] = []
        if sequence_lengths is not None:
            runs.append(lambda: np.copyto(lengths, lengths_of(sizes, sequence_lengths)))
        for direction, cell in enumerate(cells):
            layer = self.layer(desc, tensors, direction, lengths)
            target = None
            if sequence is not None:
                target = sequence[:: -1 if is_backward(desc, direction) else 1, direction]
            states = tuple(state[0, direction] for state in last)
            runs += layer_runs(cell, layer, target, states, scratch)
            if sequence_lengths is not None:
                runs.append(partial(store_empty, cell, layer, states))
        return [*runs, *copies]

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
        tensors = present(fields, arrays)
        last = [
            self.directed(desc, tensors, number, cell, None if outputs is None else outputs[:, number], run)
            for number, cell in enumerate(cells)
        ]
        return (np.stack(states)[np.newaxis] for states in zip(*last))

    def directed(
        self,
        desc: OperatorDesc,
        tensors: Tensors,
        direction: int,
        cell: Cell,
        outputs: Array | None,
        run: Callable[[Cell, Layer, Array | None], State],
    ) -> State:
        """Run the time steps of one direction, fill in its outputs, {S, B, H}, and return the last state."""
        sizes, backward = recurrent_of(desc), is_backward(desc, direction)
        lengths = lengths_of(sizes, tensors.get("SequenceLengthsTensor"))
        # If all sequences are as long as the input, negative strides reverse the output.
        is_whole = bool((lengths == sizes.sequence).all())
        target = outputs[::-1] if backward and is_whole and outputs is not None else outputs
        layer = self.layer(desc, tensors, direction, lengths)
        last = run(cell, layer, target)
        empty = lengths == 0
        if empty.any():
            last = tuple(np.array(state) for state in last)
            replacements = before(layer, empty) if backward else after_empty_sequence(cell, layer, empty)
            for state, values in zip(last, replacements):
                state[empty] = values
        if backward and not is_whole and outputs is not None:
            outputs[...] = reversed_sequences(outputs, lengths)
        return last

    def layer(self, desc: OperatorDesc, tensors: Tensors, direction: int, lengths: Array) -> Layer:
        """One direction's tensors: views, except for the elements of sequences of several lengths that run backward."""
        sizes, x = recurrent_of(desc), tensors["InputTensor"][0]
        peepholes = part_of(tensors, "PeepholeTensor", direction, (3, sizes.hidden))
        return Layer(
            reversed_sequences(x, lengths) if is_backward(desc, direction) else x,
            lengths,
            tensors["WeightTensor"][0, direction],
            tensors["RecurrenceTensor"][0, direction],
            part_of(tensors, "BiasTensor", direction, (2, self.gates * sizes.hidden)),
            tuple(part_of(tensors, field, direction, sizes.state[2:]) for field in self.states),
            dict(zip(PEEPHOLES, peepholes)) if "PeepholeTensor" in tensors else {},
        )


def is_backward(desc: OperatorDesc, direction: int) -> bool:
    return direction == 1 or bool(desc.Direction == DML_RECURRENT_NETWORK_DIRECTION_BACKWARD)


def present(fields: Sequence[str], arrays: Sequence[Array | None]) -> Tensors:
    return {name: array for name, array in zip(fields, arrays) if array is not None}


def in_halves(cell: Cell) -> Cell:
    """``cell`` with the results of every phase rounded to FLOAT16."""

    def rounded(function: Callable[..., Array | tuple[Array, ...]]) -> Callable[..., tuple[Array, ...]]:
        def rounded_function(*values: Array) -> tuple[Array, ...]:
            results = function(*values)
            return tuple(map(as_half, results if isinstance(results, tuple) else (results,)))

        return rounded_function

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
    # Tensors of a native kernel have any layout, on which the order depends in which BLAS adds up.
    first = layer._replace(
        x=layer.x[:1, rows],
        lengths=np.ones(np.count_nonzero(rows), np.intp),
        weights=packed(layer.weights),
        recurrence=packed(layer.recurrence),
        states=tuple(map(packed, before(layer, rows))),
    )
    with np.errstate(all="ignore"):
        hidden, *others = run_layer(cell, first)
    return (hidden if len(layer.x) == 1 else np.zeros_like(hidden), *others)


def store_empty(cell: Cell, layer: Layer, last: State) -> None:
    """Store the last states of empty sequences that run forward."""
    empty = layer.lengths == 0
    if empty.any():
        for state, values in zip(last, after_empty_sequence(cell, layer, empty)):
            state[empty] = values


def per_time_step(function: Function) -> Function:
    """An activation of a gate's values, {B, H}, which it receives as { 1, 1, B, H }; the type stays FLOAT32.

    The Axes of an activation refer to these four dimensions; traced activations have none.
    """

    def at_one_time_step(x: Array) -> Array:
        if isinstance(x, Symbol):
            return plain(function(x).astype(x.dtype))
        return np.asarray(np.asarray(function(x[np.newaxis, np.newaxis]), x.dtype)[0, 0])

    return at_one_time_step


def lengths_of(sizes: Recurrent, lengths: Array | None) -> Array:
    """The length of each sequence, {B}."""
    if lengths is None:
        return np.full(sizes.batch, sizes.sequence)
    return np.minimum(lengths.reshape(-1), sizes.sequence).astype(np.intp)


def part_of(tensors: Tensors, field: str, direction: int, sizes: Sizes) -> Array:
    """One direction's slice of a tensor; zeros if the tensor is absent.

    Directions are the second dimension of a state, and the third of biases and peepholes, whose second is 1.
    """
    part: Array = (
        tensors[field].reshape(-1, *sizes)[direction] if field in tensors else np.zeros(sizes, np.float32)
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

        def gates(
            i: Array, o: Array, forget: Array, c: Array, cell: Array, *peephole_weights: Array
        ) -> tuple[Array, Array]:
            def gate(sums: Array, index: int, cell: Array) -> Array:
                return f(sums + peephole_weights[index] * cell if peephole_weights else sums)

            let_in = gate(i, 0, cell)
            kept = 1 - let_in if desc.CoupleInputForget else gate(forget, 2, cell)
            cell = kept * cell + let_in * g(c)
            return gate(o, 1, cell) * h(cell), cell

        inputs = (0, 1, 2, 3, "cell", *peepholes)
        return Cell(4, 4, [Phase(range(4), range(4), inputs, ("hidden", "cell"), gates)])


def clipped(function: Function, threshold: float) -> Function:
    """``function`` of clipped input; NaN clips to the threshold, as in ELEMENT_WISE_CLIP."""
    return lambda x: function(fmax(-threshold, fmin(x, threshold)))
