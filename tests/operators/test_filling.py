"""Fill operators: large outputs, special floats, NaN payloads."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import directml_py as dml
from directml_py.kernels import philox
from directml_py.operators import kernel_of

from .dispatch import Dispatch
from .helpers import data_type, numpy_type, tensor

# For every float type the bits of an unusual NaN; the first is signalling.
NANS = {"FLOAT16": 0xFD55, "FLOAT32": 0xFFA12345, "FLOAT64": 0xFFF123456789ABCD}
STATE = np.array([[2**32 - 2, 1, 2, 3, 4, 5]], np.uint32)


def bits(name, number):
    kind = numpy_type(name)
    return np.array(number, f"u{kind.itemsize}").view(kind)


def union(element):
    return dml.DML_SCALAR_UNION.from_buffer_copy(element.tobytes().ljust(8, b"\0"))


def scalar(name, number):
    return union(np.array(number, numpy_type(name)))


def constant(name, sizes, value):
    return dml.DML_FILL_VALUE_CONSTANT_OPERATOR_DESC(tensor(name, sizes), data_type(name), value)


def sequence(name, sizes, start, delta, strides=None):
    output = tensor(name, sizes, strides)
    return dml.DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC(
        output, data_type(name), scalar(name, start), scalar(name, delta)
    )


def random(sizes, strides=None, state_sizes=(1, 6)):
    state = tensor("UINT32", state_sizes)
    return dml.DML_RANDOM_GENERATOR_OPERATOR_DESC(state, tensor("UINT32", sizes, strides), state)


def encodings(array):
    return array.view(f"u{array.dtype.itemsize}").ravel().tolist()


@pytest.mark.parametrize("name", NANS)
def test_constants_keep_the_bits_of_nan(name):
    value = union(bits(name, NANS[name]))
    (output,) = dml.evaluate(constant(name, [2], value), [])
    assert encodings(output) == [NANS[name]] * 2


@pytest.mark.parametrize("name", NANS)
def test_diagonals_keep_the_bits_of_nan(name):
    """Those of Value and those of the input."""
    value = union(bits(name, NANS[name]))
    x = np.broadcast_to(bits(name, NANS[name] - 1), (2, 2)).copy()
    desc = dml.DML_DIAGONAL_MATRIX1_OPERATOR_DESC(
        tensor(name, (2, 2)), tensor(name, (2, 2)), data_type(name), value, 0, 1
    )
    (output,) = dml.evaluate(desc, [x])
    assert encodings(output) == [NANS[name], NANS[name] - 1, NANS[name] - 1, NANS[name]]


@pytest.mark.parametrize(
    ("name", "value", "cast"),
    [
        ("INT32", np.nan, -(2**31)),
        ("INT32", np.inf, -(2**31)),
        ("INT32", -3e9, -(2**31)),
        ("INT32", -0.9, 0),
        # As in Microsoft's library: truncated, then wrapped, through INT32 if that is wide enough.
        ("INT32", 3e9, -(2**31)),
        ("UINT32", 3e9, 3_000_000_000),
        ("UINT32", -86.5, 2**32 - 86),
        ("UINT16", 70000.7, 4464),
        ("UINT16", 3e9, 0),
        ("INT8", 244.125, -12),
        ("UINT8", -1.5, 255),
        ("INT64", 3e9, 3_000_000_000),
    ],
)
def test_diagonals_of_integers_wrap(name, value, cast):
    (output,) = dml.evaluate(dml.DML_DIAGONAL_MATRIX_OPERATOR_DESC(tensor(name, (1, 2)), 0, value), [])
    assert output.tolist() == [[cast, 0]]


def test_sequences_follow_the_formula_at_infinity():
    """0 steps of an infinite size are NaN."""
    assert_sequence([np.nan, np.inf, np.inf], 1.0, np.inf)
    assert_sequence([-np.inf, -np.inf], -np.inf, 1.0)
    assert_sequence([np.nan], np.nan, 1.0)
    assert_sequence([60000, np.inf], 60000, 60000, name="FLOAT16")


def assert_sequence(expected, start, delta, name="FLOAT32"):
    (output,) = dml.evaluate(sequence(name, [len(expected)], start, delta), [])
    np.testing.assert_array_equal(output, np.array(expected, output.dtype))


@pytest.mark.parametrize("strides", [None, [1, 500]])
def test_long_sequences_do_not_drift(strides):
    """In many blocks. Sums of a thousand 0.1 are not 100 in FLOAT32; products are, except for the last bit."""
    sizes = [500, 4000]
    (output,) = dml.evaluate(sequence("FLOAT32", sizes, -0.5, 0.1, strides), [])
    numbers = np.arange(2_000_000).reshape(sizes)
    expected = np.float32(-0.5) + numbers.astype(np.float32) * np.float32(0.1)
    np.testing.assert_array_equal(output, expected)
    (output,) = dml.evaluate(sequence("INT8", sizes, 3, 5, strides), [])
    np.testing.assert_array_equal(output, (3 + 5 * numbers).astype(np.int8))


@pytest.mark.parametrize("strides", [None, [1, 401], [2000, 3]])
def test_random_numbers_in_many_blocks(strides):
    """In coordinate order; the counter's words carry."""
    sizes = [401, 509]
    output, state = dml.evaluate(random(sizes, strides), [STATE])
    np.testing.assert_array_equal(output.ravel(), philox.words(STATE, 0, 401 * 509))
    assert state.tolist() == [[51026, 2, 2, 3, 4, 5]]


def test_parts_of_a_random_sequence():
    """Several calls, each with the state of the previous one, give the same sequence as one call."""
    whole, last = dml.evaluate(random([24]), [STATE])
    first, state = dml.evaluate(random([8]), [STATE])
    second, state = dml.evaluate(random([16]), [state])
    np.testing.assert_array_equal(np.concatenate([first, second]), whole)
    np.testing.assert_array_equal(state, last)


def test_a_state_with_gaps():
    state = tensor("UINT32", [1, 1, 1, 6], [99, 99, 99, 2])
    desc = dml.DML_RANDOM_GENERATOR_OPERATOR_DESC(state, tensor("UINT32", [1, 1, 1, 5]), state)
    run = Dispatch(desc, [STATE.reshape(1, 1, 1, 6)])
    np.testing.assert_array_equal(run.outputs[0].array.ravel(), philox.words(STATE, 0, 5))
    assert run.outputs[1].array.ravel().tolist() == [0, 2, 2, 3, 4, 5]


def test_fills_take_no_memory_of_their_own():
    """Only for some blocks, whatever the size of the output."""
    sizes = [4096, 4096]
    output = np.zeros(sizes, np.uint32)
    descs = [sequence("UINT32", sizes, 1, 2), constant("UINT32", sizes, scalar("UINT32", 3))]
    descs.append(dml.DML_DIAGONAL_MATRIX_OPERATOR_DESC(tensor("UINT32", sizes), 5, 1))
    for desc in descs:
        assert peak(desc, [], [output]) < output.nbytes / 4
    assert peak(random(sizes), [STATE], [output, None]) < output.nbytes / 4


def peak(desc, inputs, outputs):
    decoded, _ = dml.decode_operator_desc(desc)
    run = kernel_of(decoded).bind(inputs, outputs, np.empty(0, np.uint8))
    tracemalloc.start()
    run()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most
