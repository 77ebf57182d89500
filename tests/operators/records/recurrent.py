"""RNN, LSTM and GRU by ONNX's equations, one sequence, direction and time step at a time.

``onnx_recurrent`` is the same in ONNX Runtime, for the cases that it supports.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from releases import has

import directml_py as dml

from .activation import RECORDS as ACTIVATIONS
from .library import OF_EXPONENTIALS, OfLargest
from .onnx_node import run
from .record import Record, Twins, Values

FORWARD = dml.DML_RECURRENT_NETWORK_DIRECTION_FORWARD
BACKWARD = dml.DML_RECURRENT_NETWORK_DIRECTION_BACKWARD
ORDER = {"RNN": "i", "GRU": "zrh", "LSTM": "iofc"}
DIRECTIONS = {FORWARD: "forward", BACKWARD: "reverse"}


class Direction:
    """One direction's slices of the tensors and activations, by ONNX's names."""

    def __init__(self, desc: Any, given: dict[str, Any], way: int) -> None:
        self.desc = desc
        self.hidden = given["RecurrenceTensor"].shape[3]
        self.backward = way == 1 or desc.Direction == BACKWARD
        ways = given["RecurrenceTensor"].shape[1]
        each = len(desc.ActivationDescs) // ways
        self.activations = desc.ActivationDescs[way * each : (way + 1) * each]
        self.gates = ORDER[desc.name]
        bias, peepholes = given["BiasTensor"], given.get("PeepholeTensor")
        biases = None if bias is None else bias[0, 0, way].reshape(2, -1)
        self.w, self.r, self.wb, self.rb, self.p = {}, {}, {}, {}, {}
        for place, gate in enumerate(self.gates):
            rows = slice(place * self.hidden, (place + 1) * self.hidden)
            self.w[gate] = given["WeightTensor"][0, way, rows]
            self.r[gate] = given["RecurrenceTensor"][0, way, rows]
            self.wb[gate] = 0.0 if biases is None else biases[0, rows]
            self.rb[gate] = 0.0 if biases is None else biases[1, rows]
            if gate in "iof":
                self.p[gate] = 0.0 if peepholes is None else peepholes[0, 0, way, rows]

    def apply(self, name: str, x: Any) -> Any:
        """The activation f, g or h."""
        if name != "h" and getattr(self.desc, "UseClipThreshold", False):
            x = np.clip(x, -self.desc.ClipThreshold, self.desc.ClipThreshold)
        activation = self.activations["fgh".index(name)]
        return ACTIVATIONS[activation.name].reference(activation, x)

    def inputs(self, gate: str, x: Any, h: Any) -> Any:
        return self.w[gate] @ x + self.wb[gate] + self.r[gate] @ h + self.rb[gate]

    def kept(self, values: Any) -> Any:
        """A step's results, rounded to the tensors' type."""
        return values.astype(self.desc.InputTensor.dtype).astype(np.float64)

    def rnn(self, x: Any, h: Any, c: Any) -> Any:
        return self.kept(self.apply("f", self.inputs("i", x, h))), c

    def gru(self, x: Any, h: Any, c: Any) -> Any:
        """Results of element-wise operations are rounded to the tensors' type, if that is FLOAT16."""
        kept = self.kept if self.desc.InputTensor.dtype == np.float16 else np.asarray
        z, r = (kept(self.apply("f", self.inputs(gate, x, h))) for gate in "zr")
        if self.desc.LinearBeforeReset:
            recurrent = kept(r * (self.r["h"] @ h + self.rb["h"]))
        else:
            recurrent = self.r["h"] @ kept(r * h) + self.rb["h"]
        candidate = kept(self.apply("g", self.w["h"] @ x + self.wb["h"] + recurrent))
        return self.kept(kept(kept(1 - z) * candidate) + kept(z * h)), c

    def lstm(self, x: Any, h: Any, c: Any) -> Any:
        i = self.apply("f", self.inputs("i", x, h) + self.p["i"] * c)
        f = 1 - i
        if not self.desc.CoupleInputForget:
            f = self.apply("f", self.inputs("f", x, h) + self.p["f"] * c)
        c = f * c + i * self.apply("g", self.inputs("c", x, h))
        o = self.apply("f", self.inputs("o", x, h) + self.p["o"] * c)
        return self.kept(o * self.apply("h", c)), self.kept(c)


def recurrent(desc: Any, *inputs: Any) -> Any:
    given = {slot.field: array for slot, array in zip(desc.inputs, inputs)}
    x = given["InputTensor"][0]
    steps, batch, _ = x.shape
    ways, hidden = given["RecurrenceTensor"].shape[1], given["RecurrenceTensor"].shape[3]
    lengths = given["SequenceLengthsTensor"]
    sequence = np.zeros((steps, ways, batch, hidden))
    last = np.zeros((2, 1, ways, batch, hidden))
    for way in range(ways):
        direction = Direction(desc, given, way)
        step = getattr(direction, desc.name.lower())
        for one in range(batch):
            length = steps if lengths is None else min(int(lengths[0, 0, 0, one]), steps)
            state = [
                np.zeros(hidden) if given.get(name) is None else given[name][0, way, one]
                for name in ("HiddenInitTensor", "CellMemInitTensor")
            ]
            if length == 0:
                # Forward, the library keeps the cell after one step, and the hidden state if there is no other step;
                # backward, it keeps the initial states.
                first = state
                if not direction.backward:
                    hidden_after, cell_after = step(x[0, one], *state)
                    first = (hidden_after if steps == 1 else 0, cell_after)
                for target, value in zip(last, first):
                    target[0, way, one] = value
            for place in range(length)[:: -1 if direction.backward else 1]:
                state = step(x[place, one], *state)
                sequence[place, way, one] = state[0]
                last[:, 0, way, one] = state
    results = [sequence, *last][: len(desc.outputs)]
    return [None if slot.tensor is None else one for slot, one in zip(desc.outputs, results)]


# What ONNX calls activations, and which of their attributes it has.
NAMES = {
    "ACTIVATION_ELU": ("Elu", "Alpha"),
    "ACTIVATION_HARD_SIGMOID": ("HardSigmoid", "Alpha", "Beta"),
    "ACTIVATION_LEAKY_RELU": ("LeakyRelu", "Alpha"),
    "ACTIVATION_LINEAR": ("Affine", "Alpha", "Beta"),
    "ACTIVATION_RELU": ("Relu",),
    "ACTIVATION_SCALED_TANH": ("ScaledTanh", "Alpha", "Beta"),
    "ACTIVATION_SIGMOID": ("Sigmoid",),
    "ACTIVATION_SOFTSIGN": ("Softsign",),
    "ACTIVATION_TANH": ("Tanh",),
}
# The tensors in ONNX's order, and how many leading dimensions of size 1 it does not have.
TENSORS = {
    "InputTensor": 1,
    "WeightTensor": 1,
    "RecurrenceTensor": 1,
    "BiasTensor": 2,
    "SequenceLengthsTensor": 3,
    "HiddenInitTensor": 1,
    "CellMemInitTensor": 1,
    "PeepholeTensor": 2,
}


def onnx_recurrent(desc: Any, *inputs: Any) -> list[Any]:
    """The outputs of ONNX Runtime, FLOAT32, present or not."""
    given = {slot.field: array for slot, array in zip(desc.inputs, inputs)}
    arrays = [
        None if given[name] is None else given[name].reshape(given[name].shape[ones:])
        for name, ones in TENSORS.items()
        if name in given
    ]
    if arrays[4] is not None:
        arrays[4] = arrays[4].astype(np.int32)
    attributes: dict[str, Any] = {
        "hidden_size": desc.RecurrenceTensor.sizes[3],
        "direction": DIRECTIONS.get(desc.Direction, "bidirectional"),
        "activations": tuple(NAMES[one.name][0] for one in desc.ActivationDescs),
    }
    by_direction = desc.name == "RNN" and not has("RNN takes attributes in the order of its activations")
    for name in ("Alpha", "Beta"):
        values = [
            getattr(one, name) if name in NAMES[one.name] else 0.0
            for one in desc.ActivationDescs
            if name in NAMES[one.name] or by_direction
        ]
        if values:
            attributes[f"activation_{name.lower()}"] = tuple(values)
    if getattr(desc, "UseClipThreshold", False):
        attributes["clip"] = desc.ClipThreshold
    if desc.name == "LSTM":
        attributes["input_forget"] = int(desc.CoupleInputForget)
    if desc.name == "GRU":
        attributes["linear_before_reset"] = int(desc.LinearBeforeReset)
    results = run(desc.name, arrays, ["float32"] * len(desc.outputs), **attributes)
    return [results[0], *(one[np.newaxis] for one in results[1:])]


def values(desc: Any) -> Any:
    """Lengths, some of which are 0 and some beyond the input."""
    lengths = Values(0, desc.InputTensor.sizes[1] + 1, limited=True)
    small = Values(-0.5, 0.5, step=0.125)
    return {slot.field: small for slot in desc.inputs} | {"SequenceLengthsTensor": lengths}


# Each step rounds in FLOAT32, sums may cancel, and sums of many steps lose what is small.
ULPS = {"float32": 1 << 13, "float16": 1}
TWINS = Twins(dyadic=True, ulps=64, largest=128)
# In exponentials: one for each function of a step, and for GRU's mean of two states.
FUNCTIONS = {"GRU": 4, "LSTM": 5, "RNN": 1}
RECORDS = {
    name: Record(
        recurrent,
        values,
        samples=72,
        ulps=ULPS,
        library=OfLargest(count * OF_EXPONENTIALS.ulps, each_step=True),
        twins=TWINS,
    )
    for name, count in FUNCTIONS.items()
}
