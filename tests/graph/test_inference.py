"""Inference agrees with validation."""

from __future__ import annotations

import inspect
import random

import pytest

import directml_py as dml
from directml_py.descs.operator_desc import OperatorDesc
from directml_py.graph import Graph
from directml_py.graph.inference import output_shapes
from directml_py.operators import check, operator_of
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.valid_descs import HIGHEST, valid_desc

CASES = 150
SEVEN = ("ARGMAX", "ARGMIN", "ELEMENT_WISE_IDENTITY", "GATHER", "JOIN", "REDUCE", "SPLIT")
SUM = dml.DML_REDUCE_FUNCTION_SUM


def without_outputs(desc):
    """The desc without its outputs."""
    counts = {entry.counted_by for entry in desc.struct.fields if entry.role == "output"}
    values = []
    for entry, (name, value) in zip(desc.struct.fields, desc):
        if entry.role == "output":
            value = () if entry.kind == "array" else None
        values.append(0 if name in counts else value)
    return OperatorDesc(desc.schema, tuple(values))


def choices(desc):
    """Choices that a desc expresses only through its outputs."""
    outputs = [slot.tensor for slot in desc.outputs]
    known = {
        "sizes": lambda: [tensor.sizes[desc.Axis] for tensor in desc.OutputTensors],
        "output_length": lambda: outputs[0].sizes[desc.Axis],
        "output_sizes": lambda: outputs[0].sizes,
    }
    parameters = inspect.signature(operator_of(desc.name).shapes).parameters.values()
    names = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    return {name: known[name]() for name in names if name in known}


@pytest.mark.parametrize("operator", SEVEN)
def test_valid_descs_are_what_is_inferred(operator):
    """For descs built independently, from the support tables."""
    for seed in range(CASES):
        desc = valid_desc(RandomSource(seed), operator)
        expected = [(slot.tensor.data_type, slot.tensor.sizes) for slot in desc.outputs]
        shapes = output_shapes(
            without_outputs(desc), HIGHEST, choices(desc), desc.outputs[0].tensor.data_type
        )
        assert [one for shape in shapes.values() for one in shape] == expected, desc


@pytest.mark.parametrize("operator", SEVEN)
def test_validation_refuses_anything_else(operator):
    """One size of one output off by one. If the size is only advised, that breaks the page's rule alone."""
    rng = random.Random(operator)
    for seed in range(40):
        desc = valid_desc(RandomSource(seed), operator)
        outputs = [slot.tensor for slot in desc.outputs]
        index = rng.randrange(len(outputs))
        sizes = list(outputs[index].sizes)
        dimension = rng.randrange(len(sizes))
        sizes[dimension] += 1
        outputs[index] = dml.TensorDesc(outputs[index].data_type, tuple(sizes))
        values = iter(outputs)
        fields = {
            entry.name: (
                tuple(next(values) for _ in getattr(desc, entry.name))
                if entry.kind == "array"
                else next(values)
            )
            for entry in desc.struct.fields
            if entry.role == "output"
        }
        changed = OperatorDesc(desc.schema, tuple(fields.get(name, value) for name, value in desc))
        report = check(changed, HIGHEST)[1]
        if operator == "GATHER" and desc.IndexDimensions == 0 and dimension == 0:
            assert not report.errors, changed
            assert [found.rule for found in report.diagnostics] == ["DML-GATHER-page-sizes"], changed
        else:
            assert report.errors, changed


@pytest.mark.kind_device
def test_sizes_by_hand():
    """GATHER's third printed example: {3,2} and {1,2} give {3,2}; and leading ones that nothing crops stay."""
    graph = Graph()
    table = graph.input_tensor("table", dml.DML_TENSOR_DATA_TYPE_FLOAT32, [3, 2])
    indices = graph.input_tensor("indices", dml.DML_TENSOR_DATA_TYPE_UINT32, [1, 2])
    assert graph.gather(table, indices, axis=1, index_dimensions=1).desc.sizes == (3, 2)
    assert graph.gather(table, indices, axis=1, index_dimensions=2).desc.sizes == (1, 2)
    assert graph.gather(table, indices, axis=0, index_dimensions=1).desc.sizes == (2, 2)


def attempt(call):
    """Whether ``call`` succeeded; an exception must be of a documented type."""
    try:
        call()
    except (dml.DMLError, TypeError, ValueError):
        return False
    return True


@pytest.mark.kind_device
def test_wrong_arguments_are_refused_not_stumbled_over():
    """Any small numbers as attributes: accepted if valid by a formula written here, else a documented error."""
    rng = random.Random(1)
    graph = Graph()
    taken = 0
    for index in range(300):
        rank = rng.randint(1, 4)
        sizes = [rng.randint(1, 3) for _ in range(rank)]
        x = graph.input_tensor(index, dml.DML_TENSOR_DATA_TYPE_FLOAT32, sizes)
        axis, axes = rng.randint(0, 5), [rng.randint(0, 4) for _ in range(rng.randint(0, 3))]
        parts = [rng.randint(0, 3) for _ in range(rng.randint(0, 3))]
        legal = max(axes, default=0) < rank
        assert attempt(lambda x=x, axes=axes: graph.reduce(x, function=SUM, axes=axes)) == legal
        legal = axis < rank and parts != [] and 0 not in parts and sum(parts) == sizes[axis]
        assert attempt(lambda x=x, axis=axis, parts=parts: graph.split(x, axis=axis, sizes=parts)) == legal
        taken += legal
        assert attempt(lambda x=x, axis=axis: graph.join([x, x, x], axis=axis)) == (axis < rank)
        indices = graph.reinterpret(x, dml.DML_TENSOR_DATA_TYPE_UINT32)
        dimensions = rng.randint(0, 5)
        attempt(
            lambda x=x, indices=indices, axis=axis, n=dimensions: graph.gather(
                x, indices, axis=axis, index_dimensions=n
            )
        )
    assert taken > 10


def test_a_join_of_different_tensors():
    graph = Graph()
    one = graph.input_tensor(0, dml.DML_TENSOR_DATA_TYPE_FLOAT32, [2, 3])
    for index, desc in enumerate(
        [
            one.desc.replace(data_type=dml.DML_TENSOR_DATA_TYPE_INT32),
            dml.TensorDesc(one.desc.data_type, (3, 3)),
            dml.TensorDesc(one.desc.data_type, (2, 3, 1)),
            dml.TensorDesc(one.desc.data_type, (2,)),
        ]
    ):
        other = graph.input_tensor(index + 1, desc)
        for parts in ([one, other], [other, one]):
            assert not attempt(lambda parts=parts: graph.join(parts, axis=1))


@pytest.mark.kind_device
@pytest.mark.parametrize("data_type", [dml.DML_TENSOR_DATA_TYPE_FLOAT16, dml.DML_TENSOR_DATA_TYPE_FLOAT32])
@pytest.mark.parametrize("is_stacked", [False, True])
def test_attention_needs_no_data_type(data_type, is_stacked):
    """Nothing but rules for each field ties present keys and values to a query, and none ties them to a stacked one."""
    graph = Graph()
    sizes = [(2, 5, 4, 3, 8)] if is_stacked else [(2, 5, 32)] * 3
    names = ["stacked_query_key_value"] if is_stacked else ["query", "key", "value"]
    inputs = {name: graph.input_tensor(name, data_type, size) for name, size in zip(names, sizes)}
    arguments = {**inputs, "scale": 0.5, "mask_filter_value": -1e4, "head_count": 4}
    arguments["mask_type"] = dml.DML_MULTIHEAD_ATTENTION_MASK_TYPE_NONE
    alone = graph.multihead_attention(**arguments)
    assert (alone.output.desc.data_type, alone.output_present_key) == (data_type, None)
    found = graph.multihead_attention(**arguments, output_present_key=True, output_present_value=True)
    assert [each.desc.data_type for each in found] == [data_type] * 3
