"""Large graphs: the cost of compilation, pictures and files is linear in their size."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest
from toolchain import later
from work import grows_like_its_size

import directml_py as dml
from directml_py import dxdispatch
from directml_py.graph import Graph
from directml_py.graph.pictures.layered_layout import inversions
from directml_py.text.json_reading import JsonError, members_once, read_json

FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32


class Name(str):
    """Counts comparisons."""

    compared = 0

    def __eq__(self, other):
        Name.compared += 1
        return super().__eq__(other)

    __hash__ = str.__hash__


@pytest.mark.parametrize("place", [0, 1500, 2999])
def test_a_member_that_is_there_twice(place):
    members = [(Name(f"m{number}"), 0) for number in range(3000)]
    Name.compared = 0
    with pytest.raises(ValueError, match=f"the member 'm{place}' is duplicated"):
        members_once([*members, (Name(f"m{place}"), 1)])
    assert Name.compared < 3 * len(members)


def test_of_several_the_first_is_named():
    with pytest.raises(JsonError, match="'b' is duplicated"):
        read_json(b'{"a": 1, "b": 2, "c": 3, "c": 4, "b": 5}')


def grown(count, device):
    """A chain with a branch at every third node."""
    graph = Graph(device)
    before = value = graph.input_tensor("x", FLOAT32, [1, 4])
    for index in range(count):
        before, value = value, (value + before if index % 3 == 0 else graph.activation_relu(value))
    graph.outputs = value
    return graph


def wide(count, device):
    """Many nodes in one row, between an input and sums of neighbours."""
    graph = Graph(device)
    x = graph.input_tensor("x", FLOAT32, [1, 4])
    row = [graph.activation_relu(x) for _ in range(count // 2)]
    graph.outputs = [one + other for one, other in zip(row, reversed(row))]
    return graph


@pytest.mark.parametrize("shape", [grown, wide])
def test_pictures(device, shape):
    assert grows_like_its_size(lambda count: shape(count, device).to_svg, 80)


def in_a_row(count, device):
    """Nodes that run one by one."""
    graph = Graph(device)
    value = graph.input_tensor("x", FLOAT32, [1, 4])
    for _ in range(count):
        value = graph.activation_softmax1(value, axes=[1])
    graph.outputs = value
    return graph


@pytest.mark.parametrize("shape", [grown, wide, in_a_row])
def test_compilation(device, shape):
    assert grows_like_its_size(lambda count: shape(count, device).compile, 300)


SIZES = [1, 1, 2, 2]


def split_and_joined(graph, value):
    return graph.join(graph.split(value, axis=3, sizes=[1, 1])[::-1], axis=3)


def sliced(graph, value):
    return graph.slice(value, offsets=[0] * 4, sizes=SIZES, strides=[1] * 4)


def through_halves(graph, value):
    return graph.cast(graph.cast(value, output_data_type=np.float16), output_data_type=FLOAT32)


def summed(graph, value):
    return graph.cumulative_summation(value, axis=3, axis_direction=0, has_exclusive_sum=True)


def mixed(graph, value):
    for link in (sliced, through_halves, split_and_joined, summed):
        value = link(graph, value)
    return graph.identity(value) + value


LINKS = {
    "ABS": lambda graph, value: graph.abs(value),
    "IDENTITY": lambda graph, value: graph.identity(value),
    "SLICE": sliced,
    "JOIN of one": lambda graph, value: graph.join([value], axis=3),
    "SPLIT and JOIN": split_and_joined,
    "CAST": through_halves,
    "reinterpreted": lambda graph, value: graph.identity(graph.reinterpret(value, strides=[4, 4, 1, 2])),
    "CUMULATIVE_SUMMATION": summed,
    "mixed": mixed,
}


@pytest.mark.parametrize("is_output", [False, *later(True)])
@pytest.mark.parametrize("link", ["mixed", *later(*(link for link in LINKS if link != "mixed"))])
def test_chains(device, link, is_output):
    """Longer than Python's recursion limit, from a node or a graph input to a node or a graph output."""

    def prepared(count):
        graph = Graph(device)
        value = graph.input_tensor("x", FLOAT32, SIZES)
        value = value if is_output else summed(graph, value)
        for _ in range(count // (5 if link == "mixed" else 1)):
            value = LINKS[link](graph, value)
        value = graph.identity(value) if is_output else summed(graph, value)
        return lambda: graph.compile({"y": value}).run([np.ones(SIZES, np.float32)])

    assert grows_like_its_size(prepared, 300)


def test_files(device, tmp_path):
    def prepared(count):
        path = tmp_path / f"{count}.bin"
        dxdispatch.save_graph(path, grown(count, device))
        return lambda: dxdispatch.load_graph(path, device)

    assert grows_like_its_size(prepared, 100)


def test_inversions():
    """Pairs of equal values do not cross."""
    pick = random.Random(0)
    for length in [*range(9), 40]:
        for _ in range(20):
            values = [(pick.randrange(5), pick.randrange(2)) for _ in range(length)]
            assert inversions(values) == sum(later < earlier for earlier, later in combinations(values, 2))
