"""Native maps against the twin, which takes all elements at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sweeps import swept

from directml_py.kernels.cache_blocks import BLOCK
from directml_py.kernels.elementwise import activations, functions, lower
from directml_py.kernels.elementwise.ir import Untraceable
from directml_py.kernels.elementwise.map import map_whole
from directml_py.kernels.elementwise.trace import traced
from directml_py.testing.ulps import ulps_apart

from .variants import LAYOUTS, guarded

INF, NAN = np.inf, np.nan
TYPES = (*("float16", "float32", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),)
BIG = 3 * BLOCK + 17
SPECIAL = [
    0.0,
    -0.0,
    INF,
    -INF,
    NAN,
    1,
    -1,
    0.5,
    -0.5,
    2.5,
    -2.5,
    3,
    -3,
    127.5,
    255.9,
    300,
    -129,
    1e-7,
    -6e4,
    7e4,
]
SPECIAL += [2.0**31, -(2.0**31), 2.0**32, 3e9, 1e30, -1e30, 1e-42, 88.7, -103.9, 16777217]


def numbers(dtype, size=5000, seed=1):
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            special = np.array(SPECIAL).astype(dtype)
        values = np.concatenate([special, (rng.standard_normal(max(size, 40)) * 8).astype(dtype)])
        return rng.permutation(values)[:size]
    limits = np.iinfo(dtype)
    wide = rng.integers(limits.min, limits.max, size, dtype, endpoint=True)
    return np.where(rng.random(size) < 0.5, wide, rng.integers(0, 6, size).astype(dtype))


def assert_maps(function, inputs, outputs, ulps=0, *, has_signs=False):
    run = lower.mapped(function, inputs, outputs)
    assert run
    expected = [np.empty(output.shape, output.dtype) for output in outputs]
    map_whole(function, inputs, expected)
    for _ in range(2):
        run()
        for one, other in zip(outputs, expected):
            if ulps and one.dtype.kind == "f":
                assert ulps_apart(one, other).max() <= ulps
            else:
                np.testing.assert_array_equal(one, other)
                if has_signs:
                    signs = [np.signbit(array) & (array == array) for array in (one, other)]
                    np.testing.assert_array_equal(*signs)


ARITHMETIC = {
    "add": np.add,
    "choice of constants": lambda x, _: np.where(x > 1, x.dtype.type(3), x.dtype.type(5)),
    "clip": lambda x, _: np.fmax(np.float32(-2), np.fmin(x, np.float32(3))),
    "from a constant": lambda x, _: x.dtype.type(9) - x,
    "less than a constant": lambda x, _: (x < 2).astype(np.uint8),
    "compare": lambda x, y: (x <= y).astype(np.uint8),
    "difference square": functions.difference_square,
    "equal": lambda x, y: np.equal(x, y).astype(np.uint32),
    "is infinite": lambda x, _: np.isinf(x).astype(np.uint8),
    "is nan": lambda x, _: np.isnan(x).astype(np.uint8),
    "leaky relu": lambda x, _: activations.leaky_relu(x, float(np.float32(0.1))),
    "logical": lambda x, y: np.logical_xor(x, y).astype(np.uint8),
    "maximum": np.fmax,
    "mean": functions.mean,
    "multiply": np.multiply,
    "negate": lambda x, _: np.negative(x),
    "quotient": functions.divide,
    "reciprocal": lambda x, _: np.reciprocal(x),
    "round": lambda x, _: functions.round_half_away(x),
    "scale": lambda x, _: functions.scale_bias(x, float(np.float32(1 / 3)), -1.0),
    "sign": lambda x, _: functions.sign(x),
    "square root": lambda x, _: np.sqrt(x),
    "subtract": np.subtract,
    "where": lambda x, y: np.where(x > 0, x, y),
}


# The functions of 64-bit integers that have programs, with the types of their results.
NATIVE_WORDS = {
    **dict.fromkeys(("add", "from a constant", "maximum", "multiply", "negate", "subtract", "where"), ""),
    **dict.fromkeys(("compare", "less than a constant", "logical"), "uint8"),
    "choice of constants": "",
    "equal": "uint32",
}


@pytest.mark.parametrize("dtype", TYPES)
@swept("name", ARITHMETIC)
def test_arithmetic_is_numpys(native, name, dtype):
    size = lower.MOST_WORDS if dtype.endswith("64") else 5000
    x, y = numbers(dtype, size), numbers(dtype, size, seed=2)
    with np.errstate(all="ignore"):
        result = ARITHMETIC[name](*(one.astype("f4") if dtype == "float16" else one for one in (x, y)))
    stored = np.dtype(dtype) if result.dtype.kind == "f" else result.dtype
    output = np.empty(x.shape, stored)
    if not lower.mapped(ARITHMETIC[name], [x, y], [output]):
        pytest.skip("blocks do")
    assert_maps(ARITHMETIC[name], [x, y], [output])


@swept("to", TYPES)
@pytest.mark.parametrize("dtype", TYPES)
def test_casts(native, dtype, to):
    size = lower.MOST_WORDS if "64" in dtype + to else 5000
    x, output = numbers(dtype, size), np.empty(size, to)

    def cast(x):
        return functions.cast(x, np.dtype(to))

    kinds = {x.dtype.kind, output.dtype.kind}
    if "f" in kinds and 8 in (x.itemsize, output.itemsize) and output.dtype != np.float32:
        assert not lower.mapped(cast, [x], [output])
    else:
        assert_maps(cast, [x], [output])


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_words_are_rounded_once(native, dtype):
    """Numbers next to the middle between two of FLOAT32, on either side of it by less than FLOAT64 has room for."""
    rng, count = np.random.default_rng(5), lower.MOST_WORDS
    middles = rng.integers(1 << 23, 1 << 24, count, np.uint64) * 2 + 1 << rng.integers(
        0, 40, count, np.uint64
    )
    x = middles + rng.integers(-1, 2, count).astype(np.uint64)
    for bits in (x, ~x):
        assert_maps(
            lambda x: functions.cast(x, np.dtype(np.float32)), [bits.view(dtype)], [np.empty(count, "f4")]
        )


def test_many_words_are_left_to_numpy(native):
    x = np.zeros(lower.MOST_WORDS + 1, np.int64)
    assert "64-bit" in str(lower.mapped(np.add, [x, x], [x]))


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@swept("name", sorted(NATIVE_WORDS))
def test_what_is_computed_in_words(native, name, dtype):
    """Also of neighbours that differ in one word or in a carry, in place and backwards."""
    limits = np.iinfo(dtype)
    corners = np.array(
        [limits.min, limits.max, 0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**62], dtype
    )
    x, y = (each.ravel() for each in np.meshgrid(corners, corners))
    output = np.empty(x.shape, NATIVE_WORDS[name] or dtype)
    assert_maps(ARITHMETIC[name], [x, y], [output])
    assert_maps(ARITHMETIC[name], [x[::-1], np.broadcast_to(y[3], x.shape)], [output[::-1]])
    if output.dtype == dtype:
        expected, both = np.empty_like(x), x.copy()
        map_whole(ARITHMETIC[name], [x, y], [expected])
        lower.mapped(ARITHMETIC[name], [both, y], [both])()
        np.testing.assert_array_equal(both, expected)


FUNCTIONS = {
    "celu": (lambda x: activations.celu(x, 0.5), 2),
    "cos": (functions.in_float64(np.cos), 2),
    "elu": (lambda x: activations.elu(x, 0.5), 2),
    "erf": (functions.erf, 4),
    "exp": (functions.in_float64(np.exp), 2),
    "gelu": (activations.gelu, 4),
    "log": (functions.in_float64(np.log), 2),
    "sigmoid": (activations.sigmoid, 2),
    "sin": (functions.in_float64(np.sin), 2),
    "softplus": (lambda x: activations.softplus(x, 0.5), 2),
    # The logistic function may be subnormal, and one unit in its last place several in that of the product.
    "swish": (lambda x: activations.swish(x, 0.5), 8),
    "tanh": (functions.in_float64(np.tanh), 2),
    "scaled": (lambda x: functions.in_float64(np.exp)(functions.scale_bias(x, 0.5, 1.0)), 2),
}


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@swept("name", FUNCTIONS)
def test_functions_are_near(native, name, dtype):
    function, ulps = FUNCTIONS[name]
    for size in (1, 3, 1024, 9001):
        x = numbers(dtype, size)
        assert_maps(function, [x], [np.empty_like(x)], 1 if dtype == "float16" else ulps)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_powers(native, dtype):
    special = np.array([0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, INF, -INF, NAN, 2.5], dtype)
    x = np.concatenate([np.repeat(special, 14), numbers(dtype)])
    y = np.concatenate([np.tile(special, 14), numbers(dtype, seed=5)])
    assert_maps(functions.power, [x, y], [np.empty_like(x)], 1 if dtype == "float16" else 4)


def everywhere(dtype):
    """Numbers of every exponent and both signs, and many where functions change from one way to another."""
    rng = np.random.default_rng(3)
    bits = np.arange(0, 1 << 32, 85_991, dtype=np.uint64).astype(np.uint32).view(np.float32)
    near = [one + rng.standard_normal(300) * 1e-3 * abs(one) for one in (0.625, 0.75, 1, 1.5, 4, 14.875)]
    limits = [88.72283, 88.72284, -87.3365, -103.97, -104, 2.0**14, 2.0**20, 3e38, 1e-38, 1e-45, 0, INF, NAN]
    ends = np.float32([*limits, *np.negative(limits)])
    with np.errstate(all="ignore"):
        around = [ends, np.nextafter(ends, np.float32(INF)), np.nextafter(ends, np.float32(-INF))]
        parts = [bits, *near, *np.negative(near), *around, np.linspace(-110, 110, 20_001)]
        return rng.permutation(np.concatenate(parts).astype(dtype))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@swept("name", FUNCTIONS)
def test_functions_are_near_everywhere(native, name, dtype):
    function, ulps = FUNCTIONS[name]
    x = everywhere(dtype)
    assert_maps(function, [x], [np.empty_like(x)], 1 if dtype == "float16" else ulps)


def test_signs_of_zeros_and_of_what_vanishes(native):
    x = np.float32([0, 1e-45, 1e-30, 1e-5])
    x = np.concatenate([x, -x])
    for name in ("erf", "gelu", "sin", "tanh", "elu"):
        output = np.empty_like(x)
        lower.mapped(FUNCTIONS[name][0], [x], [output])()
        assert (np.signbit(output) == np.signbit(x)).all(), name


@pytest.mark.parametrize("name", [*FUNCTIONS, "power"])
def test_an_element_does_not_see_its_neighbours(native, name):
    """Neither those on another path, nor their number."""
    unary = {name: lambda x, _, function=one[0]: function(x) for name, one in FUNCTIONS.items()}
    function = {**unary, "power": functions.power}[name]
    x, y = everywhere(np.float32)[:999], numbers(np.float32, 999)
    together = np.empty_like(x)
    lower.mapped(function, [x, y], [together])()
    for size in (1, 7, 17, 37):
        parts = np.empty_like(x)
        for first in range(0, len(x), size):
            part = slice(first, first + size)
            lower.mapped(function, [x[part], y[part]], [parts[part]])()
        for results in (parts, together):
            # NaNs may have any bits.
            results[np.isnan(results)] = NAN
        np.testing.assert_array_equal(parts.view(np.uint32), together.view(np.uint32))


def test_what_cannot_be_traced():
    kind = np.dtype(np.float32)
    assert isinstance(traced(lambda x: x.sum(), [kind], [kind]), Untraceable)
    assert isinstance(traced(lambda x: np.where(x.any(), x, 0), [kind], [kind]), Untraceable)
    assert isinstance(traced(lambda x: x if x > 0 else -x, [kind], [kind]), Untraceable)
    assert isinstance(traced(lambda x: x + np.arange(3), [kind], [kind]), Untraceable)
    assert isinstance(traced(np.add, [np.dtype(np.int64)] * 2, [np.dtype(np.int64)]), Untraceable)
    assert isinstance(traced(lambda x: x.astype(np.int32), [kind], [np.dtype(np.int32)]), Untraceable)


def product_and_sum(x, scale, bias):
    """In FLOAT64."""
    return x.astype(np.float64) * scale + bias


def test_steps_are_narrow_where_results_are_the_same():
    kind = np.dtype(np.float32)

    def steps(function, source=kind, target=kind):
        program = traced(function, [source], [target])
        names = [program.nodes[place].name for place in program.needed()]
        return [name for name in names if name not in ("input", "constant")]

    assert steps(functions.in_float64(np.exp)) == ["exp_float32"]
    assert steps(lambda x: functions.scale_bias(x, 2.0, 1.0)) == ["multiply_float32", "add_float32"]
    assert steps(lambda x: product_and_sum(x, 2.0, 1.0)) == ["multiply_add_float32"]
    assert steps(lambda x: activations.leaky_relu(x, 0.5))[-1] == "where_bits"
    half = np.dtype(np.float16)
    assert steps(lambda x: product_and_sum(x, 2.0, 1.0), half, half) == ["multiply_add_odd"]
    assert steps(functions.in_float64(np.sqrt), half, half) == ["sqrt_float32"]
    # FLOAT32 that is rounded to FLOAT32 and then to FLOAT16 may end beside the nearest.
    assert steps(functions.in_float64(np.sqrt), kind, half)[-1] == "sqrt_float64"
    assert steps(lambda x: functions.in_float64(np.multiply)(x, np.float32(1 / 3)), half, half)[-1] == (
        "multiply_float64"
    )
    # 0.1 is no FLOAT32.
    assert "multiply_float64" in steps(lambda x: activations.leaky_relu(x, 0.1))


def every_half():
    return np.arange(1 << 16, dtype=np.uint16).view(np.float16)


def in_float64_rounded_once(function, *arrays):
    """What FLOAT64 gives, as FLOAT16: no product of 11 digits by 24 is rounded before."""
    with np.errstate(all="ignore"):
        return function(*(array.astype(np.float64) for array in arrays)).astype(np.float16)


@swept("scale", [2.0, -0.5, 1 / 3, 1 + 2.0**-12, 2.0**-20, 1e-42])
@swept("bias", [1.0, -(1 + 2.0**-11), 2.0**-25, 65519.0, 1e-30, np.inf])
def test_half_is_scaled_and_biased_with_one_rounding(native, scale, bias):
    x, scale, bias = every_half(), float(np.float32(scale)), float(np.float32(bias))
    output = np.empty_like(x)
    lower.mapped(lambda x: product_and_sum(x, scale, bias), [x], [output])()
    np.testing.assert_array_equal(output, in_float64_rounded_once(lambda x: x * scale + bias, x))


def test_half_is_biased_by_what_is_one_number_along_rows(native):
    """Biases of channels, which the kernel reads once a row as it does the scale."""
    scale, bias = float(np.float32(1 / 3)), np.float32([1, -(1 + 2.0**-11), 2.0**-25, 1e-30, 0])
    x = np.tile(every_half(), (len(bias), 1))
    for biases in (bias[:, None], bias[:, None] + np.linspace(0, 1, 2, dtype=np.float32).repeat(1 << 15)):
        output = np.empty_like(x)
        lower.mapped(lambda x, y: product_and_sum(x, scale, y), [x, biases], [output])()
        np.testing.assert_array_equal(output, in_float64_rounded_once(lambda x, y: x * scale + y, x, biases))


def test_half_is_not_rounded_by_way_of_a_tie(native):
    """1 + 2^-11 is halfway to the next FLOAT16, and what is added to it here is lost in FLOAT32."""
    x, y, z = (np.float16([value] * 300) for value in (2.0**-14, 2.0**-14, 1))
    sums = {1.0 + 2.0**-11: 1 + 2.0**-10, -(1.0 + 2.0**-11): -1.0}
    for bias, nearest in sums.items():
        output = np.empty_like(x)
        lower.mapped(lambda x, bias=bias: product_and_sum(x, 2.0**-14, bias), [x], [output])()
        np.testing.assert_array_equal(output, nearest)
    output = np.empty_like(x)
    product = functions.in_float64(lambda x, y, z: x * y + z)
    lower.mapped(lambda x, y, z: product(x, y, z * np.float32(1 + 2.0**-11)), [x, y, z], [output])()
    np.testing.assert_array_equal(output, 1 + 2.0**-10)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_half_by_way_of_float32_is_what_float64_gives(native, name):
    """Quotients and sums of all digits, which come nearest to ties."""
    function = getattr(np, name)
    rng = np.random.default_rng(11)
    x, y = (rng.integers(0, 1 << 16, 400_000, np.uint16).view(np.float16) for _ in range(2))
    output = np.empty_like(x)
    lower.mapped(functions.in_float64(function), [x, y], [output])()
    np.testing.assert_array_equal(output, in_float64_rounded_once(function, x, y))


def test_roots_are_the_nearest_numbers(native):
    """Of mantissas in two binades, which all others repeat, and of numbers of every exponent, sign and kind."""
    rng = np.random.default_rng(7)
    inside = rng.integers(0x3F800000, 0x40800000, 1 << 18).astype(np.uint32)
    anywhere = rng.integers(0, 1 << 32, 1 << 16).astype(np.uint32)
    edges = np.uint32([0x00800000, 0x0D800000, 0x7F800000])[:, np.newaxis] + np.arange(-8, 9)
    x = np.concatenate([inside, anywhere, edges.astype(np.uint32).ravel()]).view(np.float32)
    assert_maps(np.sqrt, [x], [np.empty_like(x)])


def test_half_has_square_roots_as_of_float64(native):
    x = every_half()
    output = np.empty_like(x)
    lower.mapped(functions.in_float64(np.sqrt), [x], [output])()
    np.testing.assert_array_equal(output, in_float64_rounded_once(np.sqrt, x))


FUNCTIONS_OF_HALVES = {
    "exp": (np.exp, np.exp),
    "expm1": (np.expm1, np.expm1),
    "log": (np.log, np.log),
    "sin": (np.sin, np.sin),
    "cos": (np.cos, np.cos),
    "tanh": (activations.tanh, np.tanh),
    "sigmoid": (activations.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
}


@pytest.mark.parametrize("name", FUNCTIONS_OF_HALVES)
@pytest.mark.parametrize("scale", [None, 0.7])
def test_half_has_functions_as_of_float64(native, name, scale):
    """Alone and after a scale, whose results FLOAT16 would round to others, rounded to FLOAT32 first. FLOAT32's results
    are within a few units of its last place, so that FLOAT16's can only differ next to one of few ties."""
    function, reference = FUNCTIONS_OF_HALVES[name]
    x = every_half()

    def scaled(x):
        return x if scale is None else functions.scale_bias(x, scale, 0.0)

    with np.errstate(all="ignore"):
        exact = reference((x.astype(np.float32) * np.float32(scale or 1)).astype(np.float64))
        expected = exact.astype(np.float32).astype(np.float16)
    for size in (1 << 16, 17, 15, 1):
        output = np.empty_like(x[-size:])
        lower.mapped(lambda x: function(scaled(x)), [x[-size:]], [output])()
        apart = ulps_apart(output, expected[-size:])
        assert apart.max() <= 1
        assert np.count_nonzero(apart) <= 64


@swept("scale", [2.0, -0.25, 2.0**-30, 2.0**-126, 2.0**100, 0.0, 3.0, 0.1])
@swept("bias", [0.0, 1.0, -1e-38, 2.0**-149, 3e38, np.inf])
def test_multiples_are_those_of_float32(native, scale, bias):
    x, scale, bias = everywhere(np.float32), float(np.float32(scale)), float(np.float32(bias))
    output = np.empty_like(x)
    lower.mapped(lambda x: functions.scale_bias(x, scale, bias), [x], [output])()
    with np.errstate(all="ignore"):
        expected = x * np.float32(scale) + np.float32(bias)
    np.testing.assert_array_equal(output, expected)


@pytest.mark.parametrize(
    ("dtype", "lane"), [("uint8", "float32"), ("int16", "float32"), ("int32", "float64")]
)
def test_integers_become_halves_by_way_of_floats_that_have_their_digits(dtype, lane):
    half = np.dtype(np.float16)
    for function in (lambda x: x, lambda x: x.astype(half)):
        program = traced(function, [np.dtype(dtype)], [half])
        assert program.nodes[program.outputs[0]].lane == lane


def view_of(rng, sizes, layout, dtype):
    item, order = dtype.itemsize, list(range(len(sizes)))
    if layout == "permuted":
        order = list(rng.permutation(len(sizes)))
    strides, step = [0] * len(sizes), item * (2 if layout == "gapped" else 1)
    for axis in reversed(order):
        strides[axis] = step
        step *= sizes[axis] + (layout == "padded")
    if layout == "negative":
        strides = [-stride if rng.random() < 0.5 else stride for stride in strides]
    if layout == "broadcast":
        strides = [0 if rng.random() < 0.5 else stride for stride in strides]
    memory, low = guarded(rng, sizes, strides, item)
    array = np.ndarray(sizes, dtype, memory, low, strides)
    if layout != "broadcast":
        array[...] = rng.integers(0, 100, sizes)
    else:
        memory.view(np.uint8)[...] = 1
    return array, memory


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_layouts(native, data):
    """Nothing is written outside the output, whatever the layouts."""
    sizes = data.draw(st.lists(st.sampled_from([1, 2, 3, 17, 64, 130, 300]), min_size=1, max_size=4))
    while np.prod(sizes) > 300_000:
        sizes.pop()
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    kinds = [np.dtype(data.draw(st.sampled_from(["float32", "float16", "int8", "int32"]))) for _ in range(2)]
    inputs = [view_of(rng, sizes, data.draw(st.sampled_from(LAYOUTS)), kind)[0] for kind in kinds]
    layout = data.draw(st.sampled_from(LAYOUTS[:-1]))
    output, memory = view_of(rng, sizes, layout, np.dtype(data.draw(st.sampled_from(["float32", "float16"]))))
    before = memory.copy()
    wanted = np.empty(sizes, output.dtype)

    def function(x, y):
        return np.fmax(x.astype(np.float32), y.astype(np.float32))

    map_whole(function, inputs, [wanted])
    run = lower.mapped(function, inputs, [output])
    assert run
    run()
    np.testing.assert_array_equal(output, wanted)
    output[...] = 0
    place = output.ctypes.data - memory.ctypes.data
    np.ndarray(output.shape, output.dtype, before, place, output.strides)[...] = 0
    np.testing.assert_array_equal(memory, before)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_large_in_place_and_streamed(native, threads, dtype):
    x, y = (np.resize(numbers(dtype, 99_991, seed), (2300, 2311)) for seed in (1, 2))
    assert_maps(np.add, [x, y], [np.empty_like(x)])
    assert_maps(np.add, [x, y.T.copy().T], [np.empty_like(x)])
    assert_maps(np.add, [x, y[:1]], [np.empty_like(x)])
    assert_maps(np.add, [x, y[:, :1]], [np.empty_like(x)[:, ::-1]])
    # Neither begins with a line of the cache, and results are made of others that they take the place of.
    between = np.empty(x.size + 8, dtype)[3:-5].reshape(x.shape)
    assert_maps(lambda x, y: activations.relu(functions.scale_bias(x, 0.5, 1.0) * y), [x, y], [between])
    pair = [np.empty_like(x), between]
    assert_maps(lambda x, y: (np.negative(x), np.fmax(x, y)), [x, y], pair)
    wanted = np.empty_like(x)
    map_whole(np.subtract, [x, y], [wanted])
    lower.mapped(np.subtract, [x, y], [x])()
    np.testing.assert_array_equal(x, wanted)


def test_a_single_element(native):
    for sizes in ((), (1,), (1, 1, 1)):
        assert_maps(
            np.add,
            [np.full(sizes, 2, np.float32), np.full(sizes, 3, np.float16)],
            [np.zeros(sizes, np.float32)],
        )
