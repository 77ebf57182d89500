"""Descs that are decoded again and again, whose memory changes in between."""

from __future__ import annotations

import ctypes
import gc
import mmap
import weakref

import pytest

import directml_py as dml
from directml_py.abi.keepalive import note_extent
from directml_py.abi.memory import MemorySnapshot
from directml_py.descs import decode_operator_desc, repeated
from directml_py.descs.repeated import OwnedSnapshot

TIMES = 3
FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32


@pytest.fixture(params=[True, False], ids=["probed", "unprobed"])
def probing(request):
    dml.set_memory_probing(request.param)
    yield request.param
    dml.set_memory_probing(True)


def identity(sizes):
    return dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(
        dml.tensor_desc(FLOAT32, sizes), dml.tensor_desc(FLOAT32, sizes)
    )


def decoded_often(desc):
    for _ in range(TIMES):
        found = decode_operator_desc(desc)
    return found


def buffer_of(tensor):
    """The DML_BUFFER_TENSOR_DESC behind a pointer to a DML_TENSOR_DESC."""
    return ctypes.cast(tensor.contents.Desc, ctypes.POINTER(dml.DML_BUFFER_TENSOR_DESC)).contents


def test_unchanged_descs_decode_to_the_same(probing):
    desc = identity([2, 3])
    first = decode_operator_desc(desc)
    assert decoded_often(desc) == first
    assert decode_operator_desc(desc).desc is decode_operator_desc(desc).desc


def test_changed_numbers_behind_pointers(probing):
    desc = identity([2, 3])
    decoded_often(desc)
    buffer = buffer_of(desc.InputTensor)
    ctypes.cast(buffer.Sizes, ctypes.POINTER(ctypes.c_uint32))[1] = 5
    assert decode_operator_desc(desc).desc.InputTensor.sizes == (2, 5)
    assert decode_operator_desc(desc).desc.OutputTensor.sizes == (2, 3)


def test_changed_pointers(probing):
    desc = identity([2, 3])
    decoded_often(desc)
    desc.InputTensor = dml.tensor_desc(FLOAT32, [4])
    assert decode_operator_desc(desc).desc.InputTensor.sizes == (4,)
    desc.InputTensor = None
    assert [fault.path for fault in decode_operator_desc(desc).faults] == ["InputTensor"]


def test_a_pointer_to_memory_that_is_gone():
    """It is not followed once the struct does not hold it any more, and a fault if it still does."""
    desc, other = identity([2, 3]), identity([4])
    memory = mmap.mmap(-1, mmap.PAGESIZE)
    view = (ctypes.c_uint32 * 2).from_buffer(memory)
    view[:] = [2, 3]
    address = ctypes.addressof(view)
    buffer_of(desc.InputTensor).Sizes = address
    assert decoded_often(desc).desc.InputTensor.sizes == (2, 3)
    del view
    memory.close()
    assert [fault.kind for fault in decode_operator_desc(desc).faults] == ["unreadable"]
    dml.set_memory_probing(False)
    try:
        desc.InputTensor = other.InputTensor
        assert decode_operator_desc(desc).desc.InputTensor.sizes == (4,)
    finally:
        dml.set_memory_probing(True)


def test_a_count_beyond_a_shorter_list(probing):
    """The memory is the same, but the list that lies there now is shorter."""
    desc = identity([2, 3])
    decoded_often(desc)
    address = ctypes.cast(buffer_of(desc.InputTensor).Sizes, ctypes.c_void_p).value
    owner = ctypes.create_string_buffer(4)
    note_extent(owner, address, 4)
    assert [fault.kind for fault in decode_operator_desc(desc).faults] == ["count"]


def test_faults_are_found_each_time(probing):
    desc = dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC()
    assert decoded_often(desc).faults == decode_operator_desc(desc).faults != ()


def test_an_address_is_decoded_as_what_it_is_taken_for(probing):
    desc = identity([2, 3])
    wrapped = dml.DML_OPERATOR_DESC(dml.DML_OPERATOR_ELEMENT_WISE_IDENTITY, desc)
    assert decoded_often(desc) == decoded_often(wrapped)
    assert decode_operator_desc(ctypes.addressof(desc)).faults


def test_nothing_of_the_program_is_kept(probing):
    desc = identity([2, 3])
    decoded_often(desc)
    gone = weakref.ref(desc)
    del desc
    gc.collect()
    assert gone() is None


def test_the_number_of_descs_is_limited():
    descs = [identity([2, size]) for size in range(1, 2 * repeated.SLOTS)]
    for _ in range(TIMES):
        sizes = [decode_operator_desc(desc).desc.InputTensor.sizes[1] for desc in descs]
    assert sizes == list(range(1, 2 * repeated.SLOTS))
    assert len(repeated._slots) == repeated.SLOTS


def owned(desc):
    """Whether what is remembered of ``desc`` is compared without the kernel."""
    found = [
        one
        for one in repeated._slots
        if one is not None and one.key[0] == ctypes.addressof(desc) and one.memory is not None
    ]
    return isinstance(found[0].memory, OwnedSnapshot)


def test_memory_of_structs_is_compared_without_the_kernel(monkeypatch):
    desc = identity([2, 3])
    first = decoded_often(desc)
    assert owned(desc)

    def read(*_):
        raise AssertionError

    monkeypatch.setattr("directml_py.descs.decode.read", read)
    monkeypatch.setattr(MemorySnapshot, "are_unchanged", read)
    assert decode_operator_desc(desc) is first


def test_a_struct_over_memory_that_is_gone():
    """A ctypes object of ``from_address`` lives on; the memory that it names does not."""
    desc, other = identity([2, 3]), identity([4])
    held = dml.tensor_desc(FLOAT32, [2, 3])
    memory = mmap.mmap(-1, mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    tensor = dml.DML_TENSOR_DESC.from_address(start)
    ctypes.memmove(start, ctypes.addressof(held), ctypes.sizeof(tensor))
    desc.InputTensor = tensor
    assert decoded_often(desc).desc.InputTensor.sizes == (2, 3)
    assert not owned(desc)
    gc.collect()
    memory.close()
    assert [fault.kind for fault in decode_operator_desc(desc).faults] == ["unreadable"]
    desc.InputTensor = other.InputTensor
    assert decoded_often(desc).desc.InputTensor.sizes == (4,)


def test_sizes_in_a_large_array():
    """It is not compared as a whole."""
    desc, other = identity([2, 3]), identity([2, 3])
    array = (ctypes.c_uint32 * 100_000)(2, 3)
    buffer_of(desc.InputTensor).Sizes = array
    assert decoded_often(desc) == decoded_often(other)
    assert not owned(desc)
    array[1] = 5
    assert decode_operator_desc(desc).desc.InputTensor.sizes == (2, 5)


def test_another_struct_at_the_address_of_one_that_is_gone():
    address, sizes = None, []
    for size in range(1, 200):
        desc = identity([size])
        if address in (None, ctypes.addressof(desc)):
            address = ctypes.addressof(desc)
            sizes.append((decoded_often(desc).desc.InputTensor.sizes, (size,)))
        del desc
    assert len(sizes) > 1
    assert all(found == expected for found, expected in sizes)


def test_a_struct_in_an_array_of_structs(probing):
    """The array owns its memory."""
    tensors = (dml.DML_TENSOR_DESC * 2)(
        *(dml.tensor_desc(FLOAT32, [size]) for size in (2, 3)),
    )
    desc = dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(tensors[1], tensors[1])
    assert decoded_often(desc).desc.InputTensor.sizes == (3,)
    assert owned(desc)
    ctypes.memmove(ctypes.addressof(tensors) + ctypes.sizeof(tensors[0]), tensors, ctypes.sizeof(tensors[0]))
    assert decode_operator_desc(desc).desc.InputTensor.sizes == (2,)
