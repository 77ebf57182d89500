"""The native moves against NumPy's, byte for byte: also what lies around and between the output's elements."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sweeps import swept

from directml_py.kernels.backend import backend
from directml_py.kernels.move import move, move_all

from .variants import DTYPES, LAYOUTS, STREAM_BYTES, assert_same_bytes, guarded

pytestmark = pytest.mark.usefixtures("native")
# Of tensors that are written with streaming stores.
MANY_BYTES = STREAM_BYTES + STREAM_BYTES // 8


def strides_of(rng, sizes, item, layout):
    """Byte strides for ``sizes``; no two elements share memory unless the layout is broadcast."""
    strides = [0] * len(sizes)
    step = item * (int(rng.integers(2, 4)) if layout == "gapped" else 1)
    order = range(len(sizes))[::-1]
    if layout in ("permuted", "negative"):
        order = rng.permutation(len(sizes))
    for dimension in order:
        strides[dimension] = step
        step *= sizes[dimension]
        if layout in ("padded", "negative"):
            step += item * int(rng.integers(0, 3))
    if layout == "negative":
        strides = [stride * int(rng.choice([-1, 1])) for stride in strides]
    if layout == "broadcast":
        strides = [stride * int(rng.integers(0, 2)) for stride in strides]
    return strides


def view(rng, sizes, strides, item, shift=0):
    """A view with these strides into random bytes, with guards on both sides; and all those bytes."""
    memory, low = guarded(rng, sizes, strides, item, shift)
    return np.ndarray(sizes, DTYPES[item], memory, low, strides), memory


def assert_moves(pairs, memory):
    """Run twice, as a compiled operator is; the second time over other bytes."""
    run = move(pairs)
    for _ in range(2):
        before = memory.copy()
        move_all(pairs)
        expected = memory.copy()
        memory[:] = before
        run()
        assert_same_bytes(memory, expected)
        memory += 1


def assert_move(rng, sizes, output_strides, input_strides, item, shift=0):
    output, memory = view(rng, sizes, output_strides, item, shift)
    x, _ = view(rng, sizes, input_strides, item, shift)
    assert_moves([(output, x)], memory)


def random_sizes(rng, rank, limit=4000):
    while True:
        sizes = [int(rng.choice([1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 33, 64, 67])) for _ in range(rank)]
        if math.prod(sizes) <= limit:
            return sizes


@pytest.mark.slow
@swept("input_layout", LAYOUTS)
@swept("rank", range(9))
@pytest.mark.parametrize("item", DTYPES)
def test_every_item_rank_and_layout(item, rank, input_layout):
    rng = np.random.default_rng([item, rank, LAYOUTS.index(input_layout)])
    for shift, output_layout in enumerate(LAYOUTS[:-1]):
        sizes = random_sizes(rng, rank)
        output_strides = strides_of(rng, sizes, item, output_layout)
        assert_move(rng, sizes, output_strides, strides_of(rng, sizes, item, input_layout), item, shift)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_random_layouts(data):
    item = data.draw(st.sampled_from(sorted(DTYPES)))
    sizes = data.draw(
        st.lists(st.integers(1, 40), max_size=8).filter(lambda sizes: math.prod(sizes) <= 20000)
    )
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    output_strides = strides_of(rng, sizes, item, data.draw(st.sampled_from(LAYOUTS[:-1])))
    input_strides = strides_of(rng, sizes, item, data.draw(st.sampled_from(LAYOUTS)))
    assert_move(rng, sizes, output_strides, input_strides, item, data.draw(st.integers(0, 70)))


@pytest.mark.slow
@pytest.mark.parametrize("item", DTYPES)
@swept("layout", ["rows", "padded", "transposed", "reversed", "every-second", "scalar", "row", "column"])
def test_beyond_the_blocks_and_the_streaming_threshold(layout, item, threads):
    rng = np.random.default_rng(item)
    lines, length = 1031, (9 << 20) // 1031 // item
    for pad, shift in ((0, 0), (3, 5), (64, 32))[: 3 if threads == 1 else 2]:
        output, memory = view(rng, [lines, length], [(length + pad) * item, item], item, shift)
        inputs = {
            "rows": lambda: view(rng, [lines, length], [length * item, item], item)[0],
            "padded": lambda: view(rng, [lines, length], [(length + 5) * item, item], item)[0],
            "transposed": lambda: view(rng, [length, lines], [(lines + 3) * item, item], item)[0].T,
            "reversed": lambda: view(rng, [lines, length], [length * item, -item], item)[0],
            "every-second": lambda: view(rng, [lines, length], [length * 2 * item, 2 * item], item)[0],
            "scalar": lambda: view(rng, [lines, length], [0, 0], item)[0],
            "row": lambda: view(rng, [lines, length], [0, item], item)[0],
            "column": lambda: view(rng, [lines, length], [item, 0], item)[0],
        }
        assert_moves([(output, inputs[layout]())], memory)


@pytest.mark.parametrize("item", DTYPES)
@swept("count", [2, 3, 4, 5, 7, 8, 15, 16, 17])
def test_groups_of_a_few_items(count, item):
    """Taken apart, as a whole or some of them, forwards and backwards; put together; and of one item each."""
    rng = np.random.default_rng([count, item])
    for length in (1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 97):
        groups = np.frombuffer(rng.bytes(length * count * item), DTYPES[item]).reshape(length, count)
        # Memory ends where the last item that is read does.
        for kept in {1, count - 1, count}:
            lines, memory = view(rng, [kept, length], [length * item + 3 * item, item], item, length)
            assert_moves([(lines, groups[:, :kept].T)], memory)
            turned = groups.reshape(-1)[count - kept :].copy()[::-1]
            line, memory = view(rng, [length], [item], item, length)
            assert_moves([(line, turned[::count])], memory)
        together, memory = view(rng, [length, count], [count * item, item], item, length)
        assert_moves([(together, groups.reshape(count, length).T)], memory)
        assert_moves([(together, np.broadcast_to(groups[:, 0].copy()[:, None], groups.shape))], memory)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("item", DTYPES)
@swept("blocks", [(2, 2), (1, 3), (4, 1)])
def test_blocks_of_planes(blocks, item):
    """Rows and columns of blocks become planes, in either order, and go back."""
    rng = np.random.default_rng(item)
    rows, columns = blocks
    channels, height = 5, 33
    width = 1 + MANY_BYTES // item // channels // height // rows // columns
    whole = np.frombuffer(rng.bytes(channels * height * rows * width * columns * item), DTYPES[item])
    whole = whole.reshape(channels, height, rows, width, columns)
    for order in ((2, 4, 0, 1, 3), (0, 2, 4, 1, 3)):
        source = whole.transpose(order)
        planes = np.empty(source.shape, source.dtype)
        assert_moves([(planes, source)], planes.reshape(-1).view(np.uint8))
        back = np.empty_like(whole)
        assert_moves([(back, planes.transpose(np.argsort(order)))], back.reshape(-1).view(np.uint8))


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("item", DTYPES)
@swept("channels", [1, 3, 4, 7, 64])
def test_channels_last_and_back(channels, item):
    rng = np.random.default_rng(channels)
    sizes = [2, channels, 61, 1 + MANY_BYTES // 2 // 61 // channels // item]
    last = np.frombuffer(rng.bytes(math.prod(sizes) * item), DTYPES[item])
    last = last.reshape(sizes[0], *sizes[2:], channels).transpose(0, 3, 1, 2)
    first = np.empty(sizes, last.dtype)
    assert_moves([(first, last)], first.reshape(-1).view(np.uint8))
    back = np.empty_like(last)
    assert_moves([(back, first)], back.transpose(0, 2, 3, 1).reshape(-1).view(np.uint8))


@pytest.mark.usefixtures("threads")
@swept("bytes_", [4, 12, 28, 60, 64, 128, 404, 1024, 5000])
@swept("total", [1 << 16, MANY_BYTES])
def test_parts_side_by_side(bytes_, total):
    """JOIN and SPLIT: several copies in one run, into rows of every length."""
    rng = np.random.default_rng(bytes_)
    widths = [bytes_ // 4, 1, bytes_ // 4 + 3, 16]
    ends = np.cumsum(widths)
    lines = total // 4 // int(ends[-1])
    memory = np.frombuffer(rng.bytes(lines * int(ends[-1]) * 4), np.uint8).copy()
    whole = memory.view(np.uint32).reshape(lines, -1)
    places = [whole[:, end - width : end] for end, width in zip(ends, widths)]
    parts = [place + np.uint32(1) for place in places]
    assert_moves(list(zip(places, parts)), memory)
    one = np.empty(sum(part.size for part in parts), np.uint32)
    pieces = np.split(one, np.cumsum([part.size for part in parts])[:-1])
    outputs = [piece.reshape(part.shape) for piece, part in zip(pieces, parts)]
    assert_moves(list(zip(outputs, places)), one.view(np.uint8))


@pytest.mark.usefixtures("threads")
def test_parts_of_different_sizes():
    rng = np.random.default_rng(0)
    memory = np.frombuffer(rng.bytes(MANY_BYTES + (1 << 20)), np.uint8).copy()
    sizes = [3, 1, MANY_BYTES, 100_000, 65_537, 1 << 18]
    pairs, begin = [], 5
    for size in sizes:
        pairs.append((memory[begin : begin + size], np.frombuffer(rng.bytes(size), np.uint8)))
        begin += size + 7
    assert_moves(pairs, memory)


def test_no_parts():
    move([])()


@pytest.mark.parametrize("sizes", [(), (7,), (300, 40), (1200, 3000)])
def test_in_place(sizes):
    x = np.random.default_rng(0).random(sizes, np.float32)
    before = x.copy()
    move([(x, x)])()
    np.testing.assert_array_equal(x, before)
    turned = x.T
    move([(turned, x.T)])()
    np.testing.assert_array_equal(x, before)


def test_the_call_keeps_its_memory():
    output = np.zeros(1000, np.float32)
    run = move([(output[:], np.arange(1000, dtype=np.float32))])
    np.full(1000, 5, np.float32)
    run()
    np.testing.assert_array_equal(output, np.arange(1000))


def test_without_native_loops(monkeypatch):
    monkeypatch.setattr(backend, "native", None)
    output = np.zeros((3, 4), np.int16)
    move([(output, np.broadcast_to(np.int16(7), (3, 4)))])()
    assert (output == 7).all()
