"""Properties of all operators: samples are valid, violations are rejected, and all interfaces agree."""

from __future__ import annotations

import inspect
import json
from functools import lru_cache
from itertools import product

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml
from directml_py.api.enums import DML_FEATURE_LEVEL
from directml_py.descs import decode_operator_desc, encode
from directml_py.descs.desc_json import read_operator, write_record
from directml_py.graph import Graph
from directml_py.graph.inference import ambiguous_outputs
from directml_py.graph.operator_functions import argument_name, snake_case
from directml_py.operators import SCHEMAS, kernel_of, operator_of
from directml_py.operators.program import OperatorProgram
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.valid_descs import valid_desc
from directml_py.text.json_reading import Item
from directml_py.validation import RULES as KNOWN

from ..rules.derived import DERIVED, invalid_desc_of
from ..rules.message_check import check_message
from . import twins
from .helpers import arrays_for

OPERATORS = sorted(SCHEMAS)
LEVELS = sorted(DML_FEATURE_LEVEL)
# The seeds of samples, and those of the slow test.
FEW, MORE = range(2), range(2, 4)
MOST_IN_PLACE = range(40)
RULES = [
    pytest.param(rule, id=rule, marks=pytest.mark.operator(name)) for rule, name in sorted(DERIVED.items())
]


@pytest.fixture(scope="module")
def seeds():
    return FEW


@pytest.fixture(scope="module")
def all_samples():
    """Or as many as there must be until each place was tried."""
    return False


def levels_of(operator):
    return [level for level in LEVELS if level >= SCHEMAS[operator].level]


@lru_cache(maxsize=4096)
def sample(operator, seed, level=LEVELS[-1]):
    return valid_desc(RandomSource(seed), operator, level)


@pytest.mark.parametrize("operator", OPERATORS)
def test_samples_are_valid(operator, seeds):
    """At every level from the first that has the operator on, and at those above it, also through memory."""
    levels = levels_of(operator)
    for first, level in enumerate(levels):
        for seed in seeds:
            desc = sample(operator, seed, level)
            for later in levels[first:] if seed == 0 else (level,):
                assert dml.validate(desc, feature_level=later) == [], (level.name, later.name, seed)
    assert decode_operator_desc(encode(desc)) == (desc, ())


@pytest.mark.parametrize("operator", OPERATORS)
def test_no_level_has_the_operator_before_its_first(operator):
    desc = sample(operator, 0, levels_of(operator)[0])
    for level in LEVELS:
        if level < SCHEMAS[operator].level:
            rules = {found.rule for found in dml.validate(desc, feature_level=level)}
            assert "DML-Operator-feature-level" in rules


@pytest.mark.parametrize("rule", RULES)
def test_a_broken_desc_is_refused_by_its_rule(rule):
    """One change makes a valid desc violate the rule, and only that rule, at the changed field."""
    breach = invalid_desc_of(rule)
    assert dml.validate(breach.valid_desc, feature_level=breach.level) == []
    assert breach.desc != breach.valid_desc
    assert {found.rule for found in breach.diagnostics} == {rule}
    assert breach.path in {found.path for found in breach.diagnostics}
    for found in breach.diagnostics:
        assert found.severity is KNOWN[rule].severity
        check_message(found)


@pytest.mark.parametrize("operator", OPERATORS)
def test_json_round_trip(operator, seeds):
    for seed in seeds:
        desc = sample(operator, seed)
        text = json.dumps(write_record(desc))
        assert read_operator(desc.schema, Item("sample", "desc", json.loads(text))) == desc


def arguments_of(graph, desc):
    """The arguments of the graph method for a desc: graph inputs for its tensors, and its attributes."""
    counts = {entry.counted_by for entry in desc.struct.fields}
    arguments = {}
    for entry in desc.struct.fields:
        value = getattr(desc, entry.name)
        if entry.role == "input" and value is not None:
            many = isinstance(value, tuple)
            inputs = [graph.input_tensor(len(graph.inputs), one) for one in (value if many else [value])]
            arguments[argument_name(entry)] = inputs if many else inputs[0]
        elif entry.role == "attribute" and entry.name not in counts:
            arguments[argument_name(entry)] = value
    return arguments


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_builder_agrees_with_the_desc(operator, seeds):
    """From a desc's inputs, attributes and outputs, a graph builds an equal node."""
    for seed in seeds:
        desc = sample(operator, seed)
        graph = Graph()
        outputs = [slot.tensor for slot in desc.outputs]
        getattr(graph, snake_case(operator))(**arguments_of(graph, desc), outputs=outputs)
        assert graph.nodes[-1].desc == desc


# Choices that a desc expresses only through its outputs, by the builder's keyword.
CHOICES = {
    "sizes": lambda desc: [one.sizes[desc.Axis] for one in desc.OutputTensors],
    "output_length": lambda desc: desc.OutputTensor.sizes[desc.Axis],
    "output_sizes": lambda desc: next(slot.tensor.sizes for slot in desc.outputs if slot.tensor),
    "present_length": lambda desc: desc.OutputPresentKeyTensor and desc.OutputPresentKeyTensor.sizes[-2],
}


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_builder_infers_the_outputs(operator, seeds):
    """The sizes of the desc's outputs are inferred from inputs and attributes."""
    for seed in seeds:
        desc = sample(operator, seed)
        graph = Graph()
        function = getattr(graph, snake_case(operator))
        choices = inspect.signature(operator_of(operator).shapes).parameters
        arguments = arguments_of(graph, desc)
        arguments.update((name, choice(desc)) for name, choice in CHOICES.items() if name in choices)
        for entry in desc.struct.tensors:
            if entry.role == "output" and entry.optional:
                arguments[argument_name(entry)] = getattr(desc, entry.name) is not None
        open_outputs = [getattr(desc, name) for name in ambiguous_outputs(desc.schema)]
        if any(open_outputs):
            arguments["output_data_type"] = next(filter(None, open_outputs)).data_type
        function(**arguments)
        made = graph.nodes[-1].desc
        assert [effective(slot.tensor) for slot in made.outputs] == [
            effective(slot.tensor) for slot in desc.outputs
        ]


def effective(tensor):
    """The sizes without leading ones: where the page leaves the dimension count of an output open, so does the desc."""
    if tensor is None:
        return None
    sizes = list(tensor.sizes)
    while len(sizes) > 1 and sizes[0] == 1:
        del sizes[0]
    return sizes


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_kernel_agrees_with_its_twin(operator, seeds):
    """Native kernels agree with the NumPy reference bit by bit, functions within their tolerances."""
    if not twins.has_twin(operator):
        pytest.skip("there is one way to compute it")
    for seed in seeds:
        desc = sample(operator, seed)
        twins.check(desc, arrays_for(desc, seed))


@pytest.mark.parametrize("operator", OPERATORS)
def test_nothing_outside_the_outputs_is_written(operator, seeds):
    """Inputs are unchanged, and so are the gaps of an output and the bytes after it."""
    for seed in seeds:
        desc = sample(operator, seed)
        program, inputs, outputs = bound(desc, arrays_for(desc, seed))
        before = [None if one is None else one.copy() for one in inputs]
        marked = [None if one is None else one.copy() for one in outputs]
        temporary = np.empty(program.temporary_size, np.uint8) if program.temporary_size else None
        program.bind(inputs, outputs, temporary)()
        for one, other in zip(inputs, before):
            np.testing.assert_array_equal(one, other)
        for slot, memory, mark in zip(desc.outputs, outputs, marked):
            if slot.tensor is not None:
                slot.tensor.store(mark, slot.tensor.load(memory))
                np.testing.assert_array_equal(memory, mark)


IN_PLACE = [name for name in OPERATORS if SCHEMAS[name].in_place]


@pytest.mark.parametrize("operator", IN_PLACE)
def test_in_place(operator, all_samples):
    """An output in place of an input with the same layout gives the same result as a separate one."""
    tried, listed = set(), set(product(SCHEMAS[operator].in_place, range(len(sample(operator, 0).outputs))))
    for seed in MOST_IN_PLACE:
        if tried == listed and not all_samples:
            break
        desc = sample(operator, seed)
        values = arrays_for(desc, seed)
        program, inputs, outputs = bound(desc, values)
        program.bind(inputs, outputs, None)()
        for position, to in product(sorted(program.in_place), range(len(outputs))):
            slot, output = desc.inputs[position], desc.outputs[to].tensor
            if not program.is_in_place_listed(position, to) or not alike(slot.tensor, output):
                continue
            _, again, others = bound(desc, values)
            others[to] = again[position]
            program.bind(again, others, None)()
            for one, memory, expected in zip(desc.outputs, others, outputs):
                np.testing.assert_array_equal(one.tensor.load(memory), one.tensor.load(expected))
            tried.add((slot.field, to))
    assert tried == listed


def alike(one, other):
    return (one.data_type, one.sizes, one.effective_strides) == (
        other.data_type,
        other.sizes,
        other.effective_strides,
    ) and one.total_size >= other.total_size


def bound(desc, values):
    """The program of a desc and the memory of its tensors, outputs and gaps filled with a pattern."""
    inputs = []
    for slot, value in zip(desc.inputs, values):
        memory = None if slot.tensor is None else np.full(slot.tensor.total_size, 0xA5, np.uint8)
        if memory is not None:
            slot.tensor.store(memory, value)
        inputs.append(memory)
    outputs = [
        None if slot.tensor is None else np.full(slot.tensor.total_size, 0x5A, np.uint8)
        for slot in desc.outputs
    ]
    return OperatorProgram(desc), inputs, outputs


@pytest.mark.parametrize("operator", OPERATORS)
def test_inputs_may_lie_backwards(operator, seeds):
    """The elements are the same, the last one first in memory, as in views of graphs with reversed slices."""
    for seed in seeds:
        desc = sample(operator, seed)
        inputs = [None if x is None else exact(x) for x in arrays_for(desc, seed)]
        backward = [None if x is None else np.flip(np.flip(x).copy()) for x in inputs]
        for one, other in zip(results(desc, inputs), results(desc, backward)):
            np.testing.assert_array_equal(one, other)


def exact(x):
    """Floats whose products have exact sums: BLAS sums in another order where it must copy a matrix."""
    return (np.round(x * 8) / 8).astype(x.dtype) if x.dtype.kind == "f" else x


def results(desc, inputs):
    kernel = kernel_of(desc)
    outputs = [
        None if slot.tensor is None else np.zeros(slot.tensor.sizes, slot.tensor.dtype)
        for slot in desc.outputs
    ]
    kernel.bind(inputs, outputs, np.empty(kernel.scratch, np.uint8))()
    return outputs


@pytest.mark.slow
@swept("operator", OPERATORS)
@swept(
    "test, seeds",
    [
        (test_samples_are_valid, MORE),
        (test_json_round_trip, MORE),
        (test_the_builder_agrees_with_the_desc, MORE),
        (test_the_builder_infers_the_outputs, MORE),
        (test_the_kernel_agrees_with_its_twin, MORE),
        (test_nothing_outside_the_outputs_is_written, MORE),
        (test_inputs_may_lie_backwards, range(2, 6)),
    ],
)
def test_more_samples(test, seeds, operator):
    test(operator, seeds)


@pytest.mark.slow
@swept("operator", IN_PLACE)
def test_in_place_in_more_samples(operator):
    test_in_place(operator, all_samples=True)
