"""Rules of DML_BUFFER_TENSOR_DESC, for every tensor of every operator."""

from __future__ import annotations

from functools import lru_cache

from ..abi.rules import LIBRARY, Severity, rule
from ..api.enums import DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT, DML_TENSOR_DATA_TYPE, DML_TENSOR_FLAGS
from ..descs.data_types import data_type_of, type_name
from ..descs.format import braces
from ..descs.tensor import TensorDesc
from .enum_rules import check_flags
from .report import Report

PAGE = "ns-directml-dml_buffer_tensor_desc"
MAX_DIMENSIONS = 8
MAX_ELEMENTS = (1 << 32) - 1

DATA_TYPE = rule(
    "DML-BufferTensor-data-type",
    "DataType is a data type that the feature level has",
    "ne-directml-dml_tensor_data_type",
)
# Below feature level 3_0 the limit is 5 or less, by the operators' tables.
DIMENSION_COUNT = rule("DML-BufferTensor-dimension-count", "DimensionCount is 1 to 8", PAGE)
SIZE_ZERO = rule("DML-BufferTensor-size-zero", "No size is zero", PAGE)
# "Total size" means both the extent of the strides and TotalTensorSizeInBytes, as in the page's example of 16 GB of
# FLOAT32; the number of logical elements of a broadcast has the same limit. Microsoft's library counts the elements
# that fit in TotalTensorSizeInBytes, rounded down, and in the size implied by sizes or strides, rounded up to 4 bytes.
ELEMENT_LIMIT = rule("DML-BufferTensor-element-limit", "A tensor has at most 2^32 - 1 elements", PAGE)
TOTAL_SIZE = rule(
    "DML-BufferTensor-total-size",
    "TotalTensorSizeInBytes is at least what sizes, strides and data type imply",
    PAGE,
)
# The tensor's page does not require it; the helper's page says that all bound buffers have such a size. Microsoft's
# library accepts any.
TOTAL_SIZE_MULTIPLE = rule(
    "DML-BufferTensor-total-size-multiple",
    "TotalTensorSizeInBytes is a multiple of 4, as the size of every bound buffer is",
    "dml-helper-functions",
    Severity.WARNING,
)
# The page allows any power of two that is at least the element size, without effect below 16.
ALIGNMENT = rule(
    "DML-BufferTensor-alignment",
    "GuaranteedBaseOffsetAlignment is 0 or a power of two of at least DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT",
    LIBRARY,
)
# No page forbids it explicitly: broadcasting is described for reads, and the result of two writes to one address is
# undefined.
OUTPUT_OVERLAP = rule(
    "DML-BufferTensor-output-overlap",
    "No two elements of an output tensor share an address",
    "dml-strides",
    Severity.WARNING,
)
# Microsoft's library has this test instead, which some overlapping layouts pass.
OUTPUT_STRIDES = rule(
    "DML-BufferTensor-output-strides",
    "Apart from dimensions of size 1, the strides of an output are nonzero and distinct, and span at least as "
    "many elements as it has",
    LIBRARY,
)
OWNED_OUTPUT = rule(
    "DML-TensorFlags-owned-output",
    "DML_TENSOR_FLAG_OWNED_BY_DML is for input tensors only",
    "ne-directml-dml_tensor_flags",
)


def level_name(level: int) -> str:
    """``DML_FEATURE_LEVEL_4_1`` for 0x4100."""
    return f"DML_FEATURE_LEVEL_{level >> 12}_{level >> 8 & 0xF}"


def check_tensor(tensor: TensorDesc, path: str, is_output: bool, level: int, report: Report) -> bool:
    """Check one tensor; returns False if its shape is too invalid for further checks."""
    check_data_type(tensor, path, level, report)
    if tensor.flags:
        check_flags(DML_TENSOR_FLAGS, tensor.flags, f"{path}.Flags", report)
    if is_output and tensor.is_owned_by_dml:
        report.add(
            OWNED_OUTPUT, f"{path}.Flags", "has DML_TENSOR_FLAG_OWNED_BY_DML, which only inputs may have"
        )
    if tensor.alignment:
        check_alignment(tensor, path, report)
    if not check_shape(tensor, path, report):
        return False
    check_total_size(tensor, path, report)
    if is_output and tensor.overlaps:
        assert tensor.strides is not None
        report.add(
            OUTPUT_STRIDES if has_useless_strides(tensor) else OUTPUT_OVERLAP,
            f"{path}.Strides",
            f"is {braces(tensor.strides)} for sizes {braces(tensor.sizes)}, "
            "so that elements share addresses; an output may not overlap itself",
        )
    return True


def has_useless_strides(tensor: TensorDesc) -> bool:
    """Whether elements obviously share addresses: a stride is 0, two are equal, or all together span fewer elements
    than there are."""
    strides = [stride for stride, size in zip(tensor.effective_strides, tensor.sizes) if size > 1]
    is_plain = 0 in strides or len(set(strides)) < len(strides)
    return is_plain or tensor.last_element_offset + 1 < tensor.element_count


@lru_cache(maxsize=4096)
def is_sound(tensor: TensorDesc, is_output: bool, level: int) -> bool:
    """Whether ``check_tensor`` reports nothing."""
    report = Report()
    return check_tensor(tensor, "", is_output, level, report) and not report.diagnostics


def check_data_type(tensor: TensorDesc, path: str, level: int, report: Report) -> None:
    where = f"{path}.DataType"
    if not tensor.element_bits:
        name = (
            tensor.data_type.name if isinstance(tensor.data_type, DML_TENSOR_DATA_TYPE) else tensor.data_type
        )
        report.add(DATA_TYPE, where, f"is {name}, which is not a data type of an element")
        return
    needed = data_type_of(tensor.data_type).level
    if needed > level:
        report.add(
            DATA_TYPE,
            where,
            f"is {type_name(tensor.data_type)}, which needs {level_name(needed)}; this is {level_name(level)}",
        )


def check_alignment(tensor: TensorDesc, path: str, report: Report) -> None:
    alignment = tensor.alignment
    if alignment & (alignment - 1) or 0 < alignment < DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT:
        report.add(
            ALIGNMENT,
            f"{path}.GuaranteedBaseOffsetAlignment",
            f"is {alignment}; it must be 0 or a power of two of at least {DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT} "
            "bytes, DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT",
        )


def check_shape(tensor: TensorDesc, path: str, report: Report) -> bool:
    if not 1 <= tensor.dimension_count <= MAX_DIMENSIONS:
        report.add(
            DIMENSION_COUNT,
            f"{path}.DimensionCount",
            f"is {tensor.dimension_count}; a tensor has 1 to {MAX_DIMENSIONS} dimensions",
        )
        return False
    zeros = [index for index, size in enumerate(tensor.sizes) if size == 0]
    for index in zeros:
        report.add(SIZE_ZERO, f"{path}.Sizes[{index}]", "is 0; every size must be at least 1")
    return not zeros


def check_total_size(tensor: TensorDesc, path: str, report: Report) -> None:
    extent = tensor.last_element_offset + 1
    bits = tensor.element_bits
    implied = max(extent, tensor.element_count)
    largest = elements_in(implied * bits, bits) if bits else implied
    if largest > MAX_ELEMENTS:
        what = f"is {braces(tensor.sizes)}, which makes"
        if tensor.strides is not None and extent > tensor.element_count:
            what = f"is {braces(tensor.sizes)} with strides {braces(tensor.strides)}, which reach over"
        rounded = "" if largest == implied else f", {largest} with the size rounded up to 4 bytes"
        text = f"{what} {implied} elements{rounded}; the limit is {MAX_ELEMENTS}"
        report.add(ELEMENT_LIMIT, f"{path}.Sizes", text)
    if not bits:
        return
    where = f"{path}.TotalTensorSizeInBytes"
    fitting = tensor.total_size * 8 // bits
    if fitting > MAX_ELEMENTS and largest <= MAX_ELEMENTS:
        text = f"is {tensor.total_size}, in which {fitting} elements fit; the limit is {MAX_ELEMENTS}"
        report.add(ELEMENT_LIMIT, where, text)
    if tensor.total_size < tensor.minimum_size:
        report.add(
            TOTAL_SIZE,
            where,
            f"is {tensor.total_size}, less than sizes, strides and data type imply; "
            f"DMLCalcBufferTensorSize gives {tensor.minimum_size}",
        )
    elif tensor.total_size % 4:
        report.add(
            TOTAL_SIZE_MULTIPLE,
            where,
            f"is {tensor.total_size}; it must be a multiple of 4 (the next is {(tensor.total_size + 3) // 4 * 4})",
        )


def elements_in(bits: int, element_bits: int) -> int:
    """The count of elements that fit in ``bits``, rounded up to 4 bytes like tensor sizes."""
    return (bits + 31) // 32 * 32 // element_bits
