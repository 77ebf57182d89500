"""Tensor arithmetic, against hand-computed numbers and brute force."""

from __future__ import annotations

import itertools
import math
import random
import time

import numpy as np
import pytest
from toolchain import later

from directml_py.api.enums import DML_TENSOR_DATA_TYPE, DML_TENSOR_FLAG_OWNED_BY_DML
from directml_py.descs import DMLCalcBufferTensorSize, TensorDesc, tensor_desc
from directml_py.descs.tensor import elements_overlap

TYPES = {member.name.removeprefix("DML_TENSOR_DATA_TYPE_"): member for member in DML_TENSOR_DATA_TYPE}
FLOAT32, FLOAT16, UINT8, FLOAT64 = (TYPES[name] for name in ("FLOAT32", "FLOAT16", "UINT8", "FLOAT64"))
UINT4, INT4, UNKNOWN = (TYPES[name] for name in ("UINT4", "INT4", "UNKNOWN"))
MOST = (1 << 32) - 1


def offsets(sizes, strides):
    """The offset of every element, one by one."""
    return [
        sum(i * stride for i, stride in zip(place, strides))
        for place in itertools.product(*map(range, sizes))
    ]


class TestSizes:
    @pytest.mark.parametrize(
        ("data_type", "sizes", "strides", "expected"),
        [
            # roundup((dot(sizes - 1, strides) + 1) * element size, 4)
            ("FLOAT32", [1, 1, 2, 3], None, 24),
            ("FLOAT32", [1, 1, 2, 3], [6, 6, 3, 1], 24),
            ("FLOAT32", [1, 1, 2, 4], [16, 16, 8, 1], 48),
            ("FLOAT32", [1], None, 4),
            ("FLOAT16", [3], None, 8),
            ("FLOAT16", [2, 2], None, 8),
            ("FLOAT16", [1, 1, 1, 1], None, 4),
            ("UINT8", [5], None, 8),
            ("UINT8", [1], None, 4),
            ("INT8", [2, 3], [8, 1], 12),
            ("UINT16", [2, 2], [3, 1], 12),
            ("INT16", [7], None, 16),
            ("INT32", [2, 3, 4], [0, 0, 1], 16),
            ("UINT32", [5, 5], [0, 0], 4),
            ("FLOAT64", [3], None, 24),
            ("UINT64", [2], [5], 48),
            ("INT64", [1, 2, 2], [100, 1, 10], 96),
            ("UINT4", [1], None, 4),
            ("UINT4", [8], None, 4),
            ("UINT4", [9], None, 8),
            ("INT4", [3, 5], None, 8),
            ("INT4", [3, 5], [8, 1], 12),
            ("INT4", [2], [0], 4),
            ("UNKNOWN", [3], None, 0),
            ("FLOAT32", [2, 0, 3], None, 0),
            ("FLOAT32", [2, 0, 3], [3, 3, 1], 0),
            # More than 2^32 elements, bytes, or both; the C helper wraps the strided ones.
            ("FLOAT32", [65536, 65536], None, 1 << 34),
            ("FLOAT32", [65536, 65535], None, 17179607040),
            ("FLOAT64", [MOST], None, 34359738360),
            ("UINT8", [MOST], None, 1 << 32),
            ("UINT4", [MOST], None, 1 << 31),
            ("UINT8", [2, 2], [MOST, MOST], (1 << 33)),
            ("FLOAT64", [MOST, MOST], [MOST, 1], 8 * ((1 << 32) - 2) * (1 << 32) + 8),
            ("FLOAT64", [MOST] * 8, [MOST] * 8, 8 * (8 * ((1 << 32) - 2) * ((1 << 32) - 1) + 1)),
        ],
    )
    def test_by_hand(self, data_type, sizes, strides, expected):
        kind = TYPES[data_type]
        assert DMLCalcBufferTensorSize(kind, len(sizes), sizes, strides) == expected
        tensor = TensorDesc(kind, tuple(sizes), None if strides is None else tuple(strides))
        assert tensor.minimum_size == expected
        assert tensor.total_size == expected

    def test_against_the_formula(self):
        """With NumPy's own notion of an element's size."""
        rng = random.Random(1)
        for _ in range(300):
            name = rng.choice([name for name in TYPES if name not in ("UNKNOWN", "UINT4", "INT4")])
            rank = rng.randint(1, 8)
            sizes = [rng.randint(1, 9) for _ in range(rank)]
            strides = [rng.randint(0, 70) for _ in range(rank)]
            item = np.dtype(name.lower()).itemsize
            packed = -(-math.prod(sizes) * item // 4) * 4
            assert DMLCalcBufferTensorSize(TYPES[name], rank, sizes) == packed
            last = sum((size - 1) * stride for size, stride in zip(sizes, strides))
            strided = -(-(last + 1) * item // 4) * 4
            assert DMLCalcBufferTensorSize(TYPES[name], rank, sizes, strides) == strided

    def test_dimension_count_cuts(self):
        assert DMLCalcBufferTensorSize(FLOAT32, 2, [2, 3, 4, 5], [10, 1, 7, 7]) == 52
        assert DMLCalcBufferTensorSize(FLOAT32, 2, np.array([2, 3, 4])) == 24

    @pytest.mark.parametrize("count", [3, 9, MOST])
    def test_short_arrays(self, count):
        with pytest.raises(ValueError, match=f"sizes has 2 elements; dimension_count is {count}"):
            DMLCalcBufferTensorSize(FLOAT32, count, [1, 2])
        with pytest.raises(ValueError, match="strides has 1 element; dimension_count is 2"):
            DMLCalcBufferTensorSize(FLOAT32, 2, [1, 2], [1])

    @pytest.mark.parametrize(
        ("arguments", "error", "name"),
        [
            ((1.0, 1, [1]), TypeError, "data_type"),
            ((FLOAT32, 1.0, [1]), TypeError, "dimension_count"),
            ((FLOAT32, None, [1]), TypeError, "dimension_count"),
            ((FLOAT32, -1, [1]), ValueError, "dimension_count"),
            ((FLOAT32, 1, None), TypeError, "sizes"),
            ((FLOAT32, 1, 5), TypeError, "sizes"),
            ((FLOAT32, 1, "5"), TypeError, "sizes"),
            ((FLOAT32, 2, [1, 2.0]), TypeError, r"sizes\[1\]"),
            ((FLOAT32, 2, [1, -2]), ValueError, r"sizes\[1\]"),
            ((FLOAT32, 2, [1, 1 << 32]), ValueError, r"sizes\[1\]"),
            ((FLOAT32, 1, [1], 5), TypeError, "strides"),
            ((FLOAT32, 1, [1], [-1]), ValueError, r"strides\[0\]"),
            ((FLOAT32, 1, [1], [0.5]), TypeError, r"strides\[0\]"),
        ],
    )
    def test_wrong_arguments(self, arguments, error, name):
        with pytest.raises(error, match=f"^{name} "):
            DMLCalcBufferTensorSize(*arguments)

    def test_unknown_data_types(self):
        assert DMLCalcBufferTensorSize(UNKNOWN, 1, [4]) == 0
        assert DMLCalcBufferTensorSize(99, 1, [4]) == 0
        assert TensorDesc(99, (4,)).element_bits == 0


class TestHelper:
    """The shortcut tensor_desc."""

    def test_fields(self):
        desc = tensor_desc(FLOAT16, [2, 3], strides=[4, 1], flags=1, total_size=64, alignment=256)
        assert desc.Type == 1
        assert (
            repr(desc)
            == "FLOAT16 {2,3} strides {4,1} DML_TENSOR_FLAG_OWNED_BY_DML in 64 bytes aligned to 256"
        )
        assert repr(tensor_desc(FLOAT16, [2, 3], strides=[4, 1])) == "FLOAT16 {2,3} strides {4,1}"

    @pytest.mark.parametrize(
        ("sizes", "strides", "error", "name"),
        [
            ([1, 2], [1], ValueError, "strides has 1 element and sizes 2"),
            ([1, 2], [], ValueError, "strides has 0 elements and sizes 2"),
            ([1.5], None, TypeError, r"sizes\[0\] must be an integer, not float"),
            (5, None, TypeError, "sizes must be a sequence"),
            ("5", None, TypeError, "sizes must be a sequence"),
            ([-1], None, ValueError, r"sizes\[0\]"),
            ([1 << 32], None, ValueError, r"sizes\[0\]"),
            ([1], ["1"], TypeError, r"strides\[0\]"),
        ],
    )
    def test_wrong_arguments(self, sizes, strides, error, name):
        with pytest.raises(error, match=f"^{name}"):
            tensor_desc(FLOAT32, sizes, strides)


class TestValue:
    def test_counts(self):
        tensor = TensorDesc(FLOAT32, (1, 2, 3, 4))
        assert tensor.dimension_count == 4
        assert tensor.element_count == 24
        assert tensor.element_bits == 32
        assert tensor.effective_strides == (24, 12, 4, 1)
        assert tensor.last_element_offset == 23
        assert TensorDesc(UINT4, (3,)).element_bits == TensorDesc(INT4, (3,)).element_bits == 4

    def test_exact_integers(self):
        tensor = TensorDesc(FLOAT64, (MOST,) * 8, (MOST,) * 8)
        assert tensor.element_count == MOST**8
        assert tensor.last_element_offset == 8 * (MOST - 1) * MOST
        packed = TensorDesc(FLOAT64, (MOST,) * 8)
        assert packed.effective_strides[0] == MOST**7
        assert packed.last_element_offset == MOST**8 - 1

    def test_last_element_offset(self):
        assert TensorDesc(FLOAT32, (2, 3), (10, 2)).last_element_offset == 14
        assert TensorDesc(FLOAT32, (2, 3), (0, 0)).last_element_offset == 0
        assert TensorDesc(FLOAT32, (1, 1), (999, 999)).last_element_offset == 0

    def test_immutable_and_comparable(self):
        tensor = TensorDesc(FLOAT32, (2, 3))
        with pytest.raises(AttributeError, match="immutable"):
            tensor.sizes = (1,)
        assert tensor == TensorDesc(FLOAT32, (2, 3), total_size=24)
        assert hash(tensor) == hash(TensorDesc(FLOAT32, (2, 3)))
        for other in (
            TensorDesc(FLOAT32, (3, 2)),
            TensorDesc(FLOAT16, (2, 3)),
            TensorDesc(FLOAT32, (2, 3), (3, 1)),
            TensorDesc(FLOAT32, (2, 3), total_size=28),
            TensorDesc(FLOAT32, (2, 3), alignment=4),
            TensorDesc(FLOAT32, (2, 3), flags=DML_TENSOR_FLAG_OWNED_BY_DML),
        ):
            assert tensor != other

    @pytest.mark.parametrize(
        ("sizes", "strides", "packed"),
        [
            ((2, 3), None, True),
            ((2, 3), (3, 1), True),
            ((2, 3), (4, 1), False),
            ((2, 3), (1, 2), False),
            ((2, 1, 3), (3, 77, 1), True),
            ((1, 1, 1), (0, 9, 5), True),
            ((2, 3), (0, 1), False),
            ((2, 3, 4), (12, 4, 1), True),
            ((2, 3, 4), (12, 4, 2), False),
        ],
    )
    def test_is_packed(self, sizes, strides, packed):
        assert TensorDesc(FLOAT32, sizes, strides).is_packed is packed

    def test_owned(self):
        assert TensorDesc(FLOAT32, (1,), flags=DML_TENSOR_FLAG_OWNED_BY_DML).is_owned_by_dml
        assert not TensorDesc(FLOAT32, (1,)).is_owned_by_dml

    @pytest.mark.parametrize("name", [name for name in TYPES if name not in ("UNKNOWN", "UINT4", "INT4")])
    def test_dtypes(self, name):
        tensor = TensorDesc(TYPES[name], (1,))
        assert tensor.dtype == np.dtype(name.lower())
        assert tensor.element_bits == 8 * tensor.dtype.itemsize

    def test_dtypes_of_nibbles(self):
        """A byte for each element."""
        assert TensorDesc(UINT4, (1,)).dtype == np.uint8
        assert TensorDesc(INT4, (1,)).dtype == np.int8
        assert TensorDesc(UINT4, (1,)).element_bits == TensorDesc(INT4, (1,)).element_bits == 4

    @pytest.mark.parametrize(("data_type", "text"), [(UNKNOWN, "UNKNOWN"), (99, "99")])
    def test_no_dtype(self, data_type, text):
        with pytest.raises(TypeError, match=f"NumPy has no type for {text} elements"):
            _ = TensorDesc(data_type, (1,)).dtype
        with pytest.raises(TypeError, match=text):
            TensorDesc(data_type, (1,)).view(np.zeros(16, np.uint8))


class TestOverlap:
    @pytest.mark.parametrize("count", [3_000, *later(20_000)])
    def test_against_brute_force(self, count):
        """Every offset of many small tensors; with this seed both results are frequent."""
        rng = random.Random(2)
        answers = []
        for _ in range(count):
            rank = rng.randint(1, 5)
            sizes = [rng.choice((1, 2, 2, 3, 4, 5)) for _ in range(rank)]
            strides = [rng.randint(0, rng.choice((2, 8, 30, 90))) for _ in range(rank)]
            found = offsets(sizes, strides)
            expected = len(set(found)) != len(found)
            assert elements_overlap(sizes, strides) is expected, (sizes, strides)
            answers.append(expected)
        assert count // 5 < sum(answers) < 4 * count // 5

    def test_interleaved_dimensions(self):
        """No overlap, though no dimension's stride spans the inner ones: where simple tests fail."""
        rng = random.Random(3)
        interleaved = 0
        for _ in range(4000):
            sizes = [rng.randint(2, 7), rng.randint(2, 7), rng.randint(2, 3)]
            strides = [rng.randint(1, 40) for _ in sizes]
            found = offsets(sizes, strides)
            overlaps = len(set(found)) != len(found)
            order = sorted(zip(strides, sizes))
            reach = 0
            nested = True
            for stride, size in order:
                nested &= stride > reach
                reach += stride * (size - 1)
            if not overlaps and not nested:
                interleaved += 1
            assert elements_overlap(sizes, strides) is overlaps
        assert interleaved > 100

    @pytest.mark.parametrize(
        ("sizes", "strides", "overlaps"),
        [
            ([2, 3], [3, 2], False),  # 0 2 4 3 5 7
            ([3, 3], [3, 2], False),
            ([3, 4], [3, 2], True),  # 2 * 3 == 3 * 2
            ([1, 5], [0, 1], False),
            ([2, 5], [0, 1], True),
            ([MOST], [1], False),
            ([MOST], [0], True),
            ([65536, 65535], [65535, 1], False),
            ([65536, 65535], [65534, 1], True),
            ([65535, 65536], [1, 65535], False),
            # i * 65537 == j * 65536 needs i of at least 65536: one more element, and there is one.
            ([65536, 65535], [65537, 65536], False),
            ([65537, 65538], [65537, 65536], True),
            # Multiples of 6, 10, 15: 6 * 5 == 10 * 3 == 15 * 2.
            ([5, 3, 2], [6, 10, 15], False),
            ([6, 4, 2], [6, 10, 15], True),
            ([5, 3, 3], [6, 10, 15], False),
            ([5, 4, 3], [6, 10, 15], True),
            ([2] * 8, [1, 2, 4, 8, 16, 32, 64, 128], False),
            ([2] * 8, [1, 2, 4, 8, 16, 32, 64, 127], True),
            # The Conway-Guy set: all sums of subsets differ, though no number spans the smaller ones.
            ([2] * 8, [40, 60, 71, 77, 80, 82, 83, 84], False),
            ([2] * 8, [40, 60, 71, 77, 80, 82, 83, 85], True),
            ([2] * 7, [20, 31, 37, 40, 42, 43, 44], False),
        ],
    )
    def test_known_answers(self, sizes, strides, overlaps):
        if math.prod(sizes) < 100_000:
            found = offsets(sizes, strides)
            assert overlaps == (len(set(found)) != len(found)), "the expectation itself"
        assert elements_overlap(sizes, strides) is overlaps
        assert elements_overlap(sizes[::-1], strides[::-1]) is overlaps

    @pytest.mark.parametrize(
        ("sizes", "strides"),
        [
            ([MOST] * 2, [MOST, MOST - 1]),
            ([MOST] * 8, [MOST - n for n in range(8)]),
            ([1 << 20, 1 << 11], [(1 << 31) + 1, 1 << 31]),
            ([13] * 8, [4_000_000_007 - 97 * n * n for n in range(8)]),
            ([3] * 16, [1_000_003 + 7919 * n * n for n in range(16)]),
        ],
    )
    def test_contrived_strides_do_not_hang(self, sizes, strides):
        start = time.monotonic()
        elements_overlap(sizes, strides)
        assert time.monotonic() - start < 5

    def test_of_tensors(self):
        assert not TensorDesc(FLOAT32, (2, 3)).overlaps
        assert TensorDesc(FLOAT32, (2, 3), (0, 1)).overlaps
        assert not TensorDesc(FLOAT32, (2, 3), (8, 1)).overlaps


class TestView:
    @pytest.mark.parametrize("strides", [(12, 4, 1), (0, 1, 3), (1, 0, 0), (20, 6, 1), (1, 2, 8)])
    def test_elements(self, strides):
        """Element by element, at the offset that the strides say."""
        tensor = TensorDesc(TYPES["INT16"], (2, 3, 4), strides)
        memory = np.arange(tensor.total_size // 2, dtype=np.int16)
        view = tensor.view(memory.view(np.uint8))
        assert view.shape == (2, 3, 4)
        assert view.dtype == np.int16
        assert view.strides == tuple(2 * stride for stride in strides)
        assert view.ravel().tolist() == offsets((2, 3, 4), strides)

    def test_no_copy(self):
        memory = np.zeros(48, np.uint8)
        view = TensorDesc(FLOAT32, (2, 4), (8, 1)).view(memory)
        view[1, 0] = 1.0
        assert memory[32:36].tolist() == [0, 0, 0x80, 0x3F]
        assert not memory[:32].any()
        assert not memory[36:].any()

    def test_read_only_memory(self):
        memory = np.zeros(16, np.uint8)
        memory.flags.writeable = False
        assert not TensorDesc(FLOAT32, (4,)).view(memory).flags.writeable

    def test_misaligned_memory(self):
        memory = np.zeros(20, np.uint8)
        TensorDesc(FLOAT32, (4,)).view(memory[1:17])[...] = 1.0
        assert memory.tolist() == [0, *([0, 0, 0x80, 0x3F] * 4), 0, 0, 0]

    def test_rounded_sizes_need_no_memory_beyond_the_last_element(self):
        tensor = TensorDesc(UINT8, (5,))
        assert tensor.total_size == 8
        assert tensor.view(np.arange(5, dtype=np.uint8)).tolist() == [0, 1, 2, 3, 4]

    @pytest.mark.parametrize(
        ("sizes", "strides", "needed"),
        [((2, 3), None, 24), ((2, 3), (8, 1), 44), ((MOST, MOST), None, 4 * MOST * MOST)],
    )
    def test_too_little_memory(self, sizes, strides, needed):
        with pytest.raises(ValueError, match=f"the tensor needs {needed} bytes; the buffer has 20"):
            TensorDesc(FLOAT32, sizes, strides).view(np.zeros(20, np.uint8))


class TorchLike:
    """What ``directml_py`` sees of a ``torch.dtype``."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"torch.{self.name}"


TorchLike.__module__, TorchLike.__name__ = "torch", "dtype"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("float32", "FLOAT32"),
        ("FLOAT16", "FLOAT16"),
        ("UINT4", "UINT4"),
        ("DML_TENSOR_DATA_TYPE_INT8", "INT8"),
        (TorchLike("int64"), "INT64"),
        (np.dtype("uint16"), "UINT16"),
        (np.float64, "FLOAT64"),
    ],
)
def test_data_types_by_other_names(given, meant):
    own = tensor_desc(DML_TENSOR_DATA_TYPE[f"DML_TENSOR_DATA_TYPE_{meant}"], [2, 3])
    assert tensor_desc(given, [2, 3]) == own
    assert TensorDesc(given, (2, 3)) == TensorDesc(
        DML_TENSOR_DATA_TYPE[f"DML_TENSOR_DATA_TYPE_{meant}"], (2, 3)
    )


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("flaot32", r"no data type 'flaot32'; did you mean FLOAT32\?"),
        (TorchLike("bfloat16"), "no data type 'bfloat16'"),
        (np.complex64, "no data type for complex64 elements"),
        (
            None,
            "data_type must be a DML_TENSOR_DATA_TYPE, a type of NumPy or PyTorch, or a name of one, not NoneType",
        ),
        (float, "data_type must be .*, not the class float"),
        (np.zeros(1), "data_type must be .*, not ndarray"),
    ],
)
def test_data_types_that_there_are_not(given, text):
    with pytest.raises(TypeError, match=text):
        tensor_desc(given, [1])
    with pytest.raises(TypeError, match=text):
        TensorDesc(given, (1,))
