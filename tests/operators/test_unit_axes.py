"""The stride of an axis of size 1 is irrelevant: results are the same for any.

Except for indices out of range, which follow the strides into other rows.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml
from directml_py.api.schema_data import OPERATORS
from directml_py.operators.program import OperatorProgram
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.valid_descs import valid_desc

from .helpers import tensor

STRIDES = (0, 1, 2, 1 << 20, 0xFFFFFFFF)
DESCS = 12


def with_other_strides(desc, chance):
    """None if no tensor has an axis of size 1."""
    own, changed = dict(desc), {}
    for slot in (*desc.inputs, *desc.outputs):
        one = slot.tensor
        if one is None or 1 not in one.sizes or own.get(slot.field) is not one:
            continue
        strides = [
            chance.choice(STRIDES) if size == 1 else step
            for size, step in zip(one.sizes, one.effective_strides)
        ]
        changed[slot.field] = dml.TensorDesc(
            one.data_type, one.sizes, tuple(strides), one.flags, one.total_size, one.alignment
        )
    return desc.replace(**changed) if changed else None


def keep_within(desc, indices, memory):
    """Make indices of ``memory`` less than every dimension that they may index."""
    x = desc.InputTensor.sizes
    size = min(x) if desc.name.startswith("GATHER_ND") else x[desc.Axis]
    indices.store(memory, indices.load(memory) % indices.dtype.type(size))


def run(desc, seed):
    chance, program = np.random.default_rng(seed), OperatorProgram(desc)
    inputs = [slot.tensor and chance.integers(0, 4, slot.tensor.total_size, np.uint8) for slot in desc.inputs]
    if desc.name.startswith("GATHER"):
        keep_within(desc, desc.IndicesTensor, inputs[1])
    outputs = [slot.tensor and np.full(slot.tensor.total_size, 170, np.uint8) for slot in desc.outputs]
    for position, packing in program.packed.items():
        plain, inputs[position] = inputs[position], np.empty(packing.size, np.uint8)
        packing.store(desc.inputs[position].tensor.view(plain), inputs[position])
    with np.errstate(all="ignore"):
        program.bind(inputs, outputs, np.empty(program.temporary_size, np.uint8))()
    return [slot.tensor and bits(slot.tensor.view(memory)) for slot, memory in zip(desc.outputs, outputs)]


def bits(elements):
    """Unsigned numbers, which tell zeros and NaNs apart."""
    return np.array(elements).view(f"u{elements.itemsize}")


@pytest.mark.slow
@swept("name", sorted(schema.name for schema in OPERATORS.values()))
def test_results_are_the_same(name):
    compared = 0
    for seed in range(DESCS):
        desc = valid_desc(RandomSource(seed), name, max_elements=4096)
        other = with_other_strides(desc, random.Random(seed))
        if other is not None:
            compared += 1
            np.testing.assert_equal(run(other, seed), run(desc, seed))
    assert compared


@pytest.mark.parametrize("stride", STRIDES)
@pytest.mark.parametrize("operator", ["RNN", "LSTM", "GRU"])
def test_several_steps_of_one_sequence(operator, stride):
    """Time steps of a batch of one are multiplied together, as consecutive rows."""
    gates = {"RNN": 1, "LSTM": 4, "GRU": 3}[operator]
    functions = {"RNN": 1, "LSTM": 3, "GRU": 2}[operator]
    x = tensor("FLOAT32", [1, 5, 1, 3], [15, 3, stride, 1])
    packed = tensor("FLOAT32", [1, 5, 1, 3])
    descs = []
    for one in (x, packed):
        fields = {
            "InputTensor": one,
            "WeightTensor": tensor("FLOAT32", [1, 1, gates * 4, 3]),
            "RecurrenceTensor": tensor("FLOAT32", [1, 1, gates * 4, 4]),
            "OutputSequenceTensor": tensor("FLOAT32", [5, 1, 1, 4]),
            "ActivationDescs": [dml.DML_ACTIVATION_TANH_OPERATOR_DESC()] * functions,
            "Direction": dml.DML_RECURRENT_NETWORK_DIRECTION_FORWARD,
        }
        descs.append(getattr(dml, f"DML_{operator}_OPERATOR_DESC")(**fields))
    chance = np.random.default_rng(0)
    arrays = [
        chance.normal(size=sizes).astype(np.float32)
        for sizes in ((1, 5, 1, 3), (1, 1, gates * 4, 3), (1, 1, gates * 4, 4))
    ]
    absent = [None] * {"RNN": 3, "LSTM": 5, "GRU": 3}[operator]
    first, second = (dml.evaluate(desc, [*arrays, *absent])[0] for desc in descs)
    np.testing.assert_array_equal(first, second)
