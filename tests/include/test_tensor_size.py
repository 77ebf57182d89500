"""The inline DMLCalcBufferTensorSize."""

from __future__ import annotations

import pytest
from toolchain import later

# (data type, sizes, strides, bytes), the bytes by hand
CASES = [
    ("FLOAT32", [1, 2, 3, 4], None, 24 * 4),
    ("FLOAT16", [3], None, 8),  # 6 rounded up
    ("FLOAT64", [3], None, 24),
    ("INT64", [1], None, 8),
    ("UINT64", [2, 2], None, 32),
    ("INT32", [5], None, 20),
    ("UINT32", [7], None, 28),
    ("INT16", [5], None, 12),  # 10 rounded up
    ("UINT16", [2], None, 4),
    ("INT8", [1], None, 4),
    ("UINT8", [4], None, 4),
    ("UINT8", [5], None, 8),
    ("INT8", [2, 3], None, 8),  # 6 rounded up
    ("UINT4", [1], None, 4),
    ("UINT4", [8], None, 4),
    ("INT4", [9], None, 8),  # 4 1/2 bytes
    ("INT4", [3, 5], None, 8),  # 15 nibbles, 7 1/2 bytes
    ("UINT4", [17], None, 12),  # 8 1/2 bytes
    # strided: one past the last element
    ("FLOAT32", [1, 1, 2, 4], [16, 16, 8, 1], (1 * 8 + 3 * 1 + 1) * 4),
    ("FLOAT16", [2, 3], [5, 1], 16),  # 5 + 2 + 1 = 8 elements
    ("UINT8", [2, 3], [7, 2], 12),  # 7 + 4 + 1 = 12
    ("UINT8", [2, 2], [1, 2], 4),  # column-major
    ("UINT4", [2, 3], [4, 1], 4),  # 7 nibbles
    ("UINT4", [2, 3], [6, 1], 8),  # 9 nibbles
    # broadcast
    ("FLOAT32", [4, 3], [0, 1], 12),
    ("FLOAT32", [4, 3], [0, 0], 4),
    ("INT8", [100], [0], 4),
    # beyond 32 bits: elements, then bytes, then products of two sizes
    ("FLOAT32", [65536, 65536], None, 2**34),
    ("FLOAT32", [2**31], None, 2**33),
    ("UINT8", [2**32 - 1], None, 2**32),
    ("UINT8", [2**32 - 1, 2], None, 2**33),  # 2^33 - 2 rounded up
    ("FLOAT64", [2**20, 2**20, 2**18], None, 2**61),
    ("FLOAT32", [65537, 65536], [65536, 1], 65537 * 65536 * 4),
    ("FLOAT32", [3, 2], [2**31, 1], (2 * 2**31 + 1 + 1) * 4),
    ("UINT8", [2**32 - 1], [2**32 - 1], 2**64 - 3 * 2**32 + 4),  # (2^32 - 2)(2^32 - 1) + 1
    ("UINT4", [2**32 - 1, 3], None, 6442450944),  # 3 * 2^32 - 3 nibbles, 3 * 2^31 - 1 1/2 bytes
    # eight dimensions
    ("FLOAT16", [2, 1, 2, 1, 2, 1, 2, 3], None, 96),
    ("FLOAT16", [2] * 8, [128, 64, 32, 16, 8, 4, 2, 1], 512),
    # nothing to store, or no such type
    ("FLOAT32", [2, 0, 3], None, 0),
    ("FLOAT32", [2, 0], [1, 1], 0),
    ("UNKNOWN", [4], None, 0),
    ("UNKNOWN", [4], [1], 0),
]


def program(cases):
    """Prints one size a line. Arrays are declared first: C++ has no compound literals."""
    lines = []
    for index, (data_type, sizes, strides, _) in enumerate(cases):
        lines.append(f"const UINT sizes{index}[] = {{{', '.join(f'{value}u' for value in sizes)}}};")
        given = "NULL"
        if strides is not None:
            given = f"strides{index}"
            lines.append(f"const UINT {given}[] = {{{', '.join(f'{value}u' for value in strides)}}};")
        call = f"DMLCalcBufferTensorSize({data_type}, {len(sizes)}, sizes{index}, {given})"
        lines.append(f'printf("%llu\\n", (unsigned long long){call});')
    body = "\n".join(lines)
    return f"#include <DirectML.h>\n#include <stdio.h>\nint main(void)\n{{\n{body}\nreturn 0;\n}}\n"


@pytest.mark.parametrize("compiler", ["gcc", "g++", *later("clang", "clang++")])
def test_sizes(toolchain, compiler):
    cases = [(f"DML_TENSOR_DATA_TYPE_{data_type}", *rest) for data_type, *rest in CASES]
    printed = toolchain.run(compiler, toolchain.object(compiler, program(cases), "-O1", name="sizes"))
    found = [int(line) for line in printed.split()]
    assert [(*case[:3], size) for case, size in zip(cases, found, strict=True)] == cases


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
@pytest.mark.parametrize(("version", "bytes_"), [("0x6200", 0), ("0x6300", 4)])
def test_four_bit_types_come_with_6_3(toolchain, compiler, version, bytes_):
    cases = [("(DML_TENSOR_DATA_TYPE)12", [8], None, bytes_), ("(DML_TENSOR_DATA_TYPE)13", [8], None, bytes_)]
    target = f"-DDML_TARGET_VERSION={version}"
    printed = toolchain.run(compiler, toolchain.object(compiler, program(cases), target, name="sizes"))
    assert printed.split() == [str(bytes_)] * 2


@pytest.mark.parametrize("value", ["(DML_TENSOR_DATA_TYPE)14", "(DML_TENSOR_DATA_TYPE)-1"])
def test_unknown_values_have_no_size(toolchain, value):
    for compiler in ("gcc", "g++"):
        text = program([(value, [8], None, 0)])
        assert toolchain.run(compiler, toolchain.object(compiler, text, name="sizes")) == "0\n"
