"""Windows: counts of steps, what each step sees, folds, compared with loops over single elements."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from directml_py.kernels.windows import Window

# One to three dimensions; strides beyond the window, dilations, windows that see padding alone.
WINDOWS = [
    Window.of((3,)),
    Window.of((2,), (3,), (2,), (1,), (2,)),
    Window.of((1,), (3,), (), (2,), (2,)),
    Window.of((3, 2), (2, 1), (1, 3), (1, 0), (0, 2)),
    Window.of((2, 3), (1, 2), (2, 1), (2, 1), (1, 3)),
    Window.of((2, 1, 3), (1, 2, 1), (1, 1, 2), (1, 0, 1), (0, 1, 1)),
]
SIZES = (7, 6, 5)


def sizes_for(window):
    return SIZES[: len(window.size)]


def seen(window, sizes, step):
    """The coordinates of the elements that one step sees, in order; those of padding left out."""
    for tap in itertools.product(*map(range, window.size)):
        at = tuple(
            one * stride + element * dilation - start
            for one, stride, element, dilation, start in zip(
                step, window.strides, tap, window.dilations, window.start_padding
            )
        )
        if all(0 <= place < size for place, size in zip(at, sizes)):
            yield at


def every_step(steps):
    return itertools.product(*map(range, steps))


def values(window, dtype=np.float32):
    rng = np.random.default_rng(1)
    return rng.integers(-3, 4, (2, *sizes_for(window))).astype(dtype)


@pytest.mark.parametrize("window", WINDOWS)
def test_backward_gives_the_least_sizes_for_so_many_steps(window):
    steps = window.forward(sizes_for(window))
    least = window.backward(steps)
    assert window.forward(least) == steps
    assert all(count < own for count, own in zip(window.forward([size - 1 for size in least]), steps))
    assert window.unseen(least, steps) == (0,) * len(steps)


def test_output_padding_is_added_either_way():
    window = Window.of((3, 3), (2, 2), output_padding=(1, 0))
    assert window.forward((7, 7)) == (4, 3)
    assert window.backward((3, 3)) == (8, 7)
    assert window.without_output_padding((8, 7)) == (7, 7)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("more", [0, 1])
def test_the_view_shows_what_each_step_sees(window, more):
    """``more``: a step that reaches beyond the padding."""
    x = values(window)
    steps = tuple(count + more for count in window.forward(sizes_for(window)))
    padded = window.padded(x, steps, value=9)
    view = window.view(padded, steps)
    assert view.shape == (2, *steps, *window.size)
    assert not view.flags.writeable
    for step in every_step(steps):
        inside = [x[(1, *at)] for at in seen(window, sizes_for(window), step)]
        found = view[(1, *step)].ravel()
        assert sorted(found) == sorted([*inside, *[9] * (found.size - len(inside))])


def test_padded_copies_only_where_it_must():
    x = np.arange(6.0)
    assert Window.of((2,)).padded(x, (5,)) is x
    assert Window.of((2,), (2,)).padded(x, (2,)) is x
    assert Window.of((2,)).padded(x, (6,)).tolist() == [*range(6), 0]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("more", [0, 1])
def test_folds(window, more):
    x = values(window)
    steps = tuple(count + more for count in window.forward(sizes_for(window)))
    total, most = window.fold(x, steps, np.add, 0), window.fold(x, steps, np.fmax, np.nan)
    best, offsets = window.first_largest(x, steps)
    counts = window.counts(sizes_for(window), steps, with_padding=False)
    for step in every_step(steps):
        places = list(seen(window, sizes_for(window), step))
        inside = [x[(1, *at)] for at in places]
        assert np.prod([count[one] for count, one in zip(counts, step)]) == len(places)
        assert total[(1, *step)] == sum(inside)
        np.testing.assert_equal(most[(1, *step)], max(inside, default=np.float32(np.nan)))
        first = -1
        if places:
            first = np.ravel_multi_index(places[int(np.argmax(inside))], sizes_for(window))
            assert best[(1, *step)] == max(inside)
        assert offsets[(1, *step)] == first


@pytest.mark.parametrize(
    ("row", "offset"),
    [
        ([np.nan, 1, 1], 1),
        ([-np.inf, np.nan, -np.inf], 0),
        ([np.nan, np.nan, np.nan], 0),
        ([2, np.nan, 2], 0),
    ],
)
def test_a_number_is_larger_than_nan(row, offset):
    x = np.array(row, np.float32)
    best, offsets = Window.of((3,)).first_largest(x, (1,))
    np.testing.assert_array_equal(best, x[offset : offset + 1])
    assert offsets.tolist() == [offset]


def test_integers_are_compared_as_such():
    x = np.array([[0, (1 << 53) + 1, 1 << 53]], np.int64)
    best, offsets = Window.of((3,)).first_largest(x, (1,))
    assert best.tolist() == [[(1 << 53) + 1]]
    assert offsets.tolist() == [[1]]


def test_counts_may_include_padding_but_not_what_is_behind_it():
    window = Window.of((3,), (2,), (), (1,), (1,))
    assert window.forward((6,)) == (3,)
    (inside,) = window.counts((6,), (4,), with_padding=False)
    (padded,) = window.counts((6,), (4,), with_padding=True)
    assert inside.tolist() == [2, 3, 3, 1]
    assert padded.tolist() == [3, 3, 3, 2]


def test_hits_in_parts_are_those_of_the_whole():
    window = Window.of((3,), (2,), (2,), (3,), (0,))
    for tap in range(3):
        pairs = {(step * 2 + tap * 2 - 3, step) for step in range(6)}
        found = set()
        for elements in (range(4), range(4, 9)):
            for steps in (range(1), range(1, 6)):
                hits = window.hits(0, tap, elements, steps)
                if hits is not None:
                    found |= set(zip(elements[hits[0]], steps[hits[1]], strict=True))
        assert found == {pair for pair in pairs if 0 <= pair[0] < 9}
