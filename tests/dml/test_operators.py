"""CreateOperator, CompileOperator, and the binding properties of dispatchables."""

from __future__ import annotations

import ctypes

import pytest

import directml_py as dml
from directml_py.cffi import ffi

from .helpers import OWNED, VOLATILE, Bench, identity, join, log_sum_exp, split, tensor

NONE, HALF, NO_META = (
    dml.DML_EXECUTION_FLAG_NONE,
    dml.DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION,
    dml.DML_EXECUTION_FLAG_DISABLE_META_COMMANDS,
)


class Foreign(ctypes.Structure):
    """DML_OPERATOR_DESC as declared by another package."""

    _fields_ = (("kind", ctypes.c_int), ("pointer", ctypes.c_void_p))


def wrapped(desc):
    return dml.DML_OPERATOR_DESC(dml.DML_OPERATOR_JOIN, desc)


def foreign(desc):
    made = Foreign(dml.DML_OPERATOR_JOIN, ctypes.addressof(desc))
    made.keep = desc
    return made


def cdata(desc):
    return ffi.cast("DML_OPERATOR_DESC *", ctypes.addressof(desc))


FORMS = {
    "typed": lambda desc: desc,
    "typed byref": ctypes.byref,
    "typed pointer": ctypes.pointer,
    "struct": wrapped,
    "byref": lambda desc: ctypes.byref(wrapped(desc)),
    "pointer": lambda desc: ctypes.pointer(wrapped(desc)),
    "foreign": foreign,
}


@pytest.mark.kind_device
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_forms_of_descs(bench, form):
    desc = join(4, 4)
    compiled = bench.dml.CompileOperator(bench.dml.CreateOperator(form(desc)))
    assert compiled.GetBindingProperties().RequiredDescriptorCount == 3


@pytest.mark.kind_device
def test_addresses_and_cffi(bench):
    whole = wrapped(join(4, 4))
    for form in (ctypes.addressof(whole), cdata(whole), ctypes.cast(ctypes.pointer(whole), ctypes.c_void_p)):
        compiled = bench.dml.CompileOperator(bench.dml.CreateOperator(form))
        assert compiled.GetBindingProperties().RequiredDescriptorCount == 3


@pytest.mark.kind_device
def test_descs_are_copied(bench):
    """Later changes to the desc have no effect."""
    desc = split(4, 4)
    op = bench.dml.CreateOperator(desc)
    desc.OutputCount, desc.Axis = 0, 99
    ctypes.memset(ctypes.addressof(desc), 0, ctypes.sizeof(desc))
    del desc
    assert bench.dml.CompileOperator(op).GetBindingProperties().RequiredDescriptorCount == 3


def failure(call):
    with pytest.raises(dml.DMLError) as caught:
        call()
    return caught.value


def test_everything_wrong_is_told_at_once(bench):
    desc = dml.DML_JOIN_OPERATOR_DESC(
        InputTensors=[tensor(4), dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_INT32, [1, 1, 0, 4])],
        OutputTensor=tensor(8, flags=OWNED, total_size=16),
        Axis=4,
    )
    error = failure(lambda: bench.dml.CreateOperator(desc))
    assert error.hresult == dml.E_INVALIDARG
    found = {diagnostic.path for diagnostic in error.diagnostics}
    assert {"InputTensors[1].Sizes[2]", "OutputTensor.Flags", "OutputTensor.TotalTensorSizeInBytes"} <= found
    assert all(diagnostic.severity == dml.Severity.ERROR for diagnostic in error.diagnostics)
    assert all(diagnostic.message in str(error) for diagnostic in error.diagnostics)
    assert bench.dml.GetDeviceRemovedReason() == dml.S_OK


@pytest.mark.parametrize("wrong", [object(), "JOIN", 1.5, [join(4)], True])
def test_no_desc_at_all(bench, wrong):
    with pytest.raises(TypeError, match="desc"):
        bench.dml.CreateOperator(wrong)


def test_other_structs(bench):
    with pytest.raises(TypeError, match="DML_TENSOR_DESC"):
        bench.dml.CreateOperator(tensor(4))


@pytest.mark.parametrize("nothing", [None, 0, ctypes.c_void_p()])
def test_null(bench, nothing):
    error = failure(lambda: bench.dml.CreateOperator(nothing))
    assert error.hresult == dml.E_INVALIDARG
    assert [diagnostic.rule for diagnostic in error.diagnostics] == ["DML-Desc-null"]


@pytest.mark.parametrize("address", [0x10, (1 << 64) - 8, 1 << 47])
def test_wild_pointers(bench, address):
    error = failure(lambda: bench.dml.CreateOperator(address))
    assert [diagnostic.rule for diagnostic in error.diagnostics] == ["DML-Desc-unreadable"]


def test_the_feature_level_decides():
    wide = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_INT64, [1, 1, 1, 4])
    desc = dml.DML_JOIN_OPERATOR_DESC(InputTensors=[wide], OutputTensor=wide, Axis=0)
    Bench(feature_level=0x4100).dml.CreateOperator(desc)
    error = failure(lambda: Bench(feature_level=0x2100).dml.CreateOperator(desc))
    assert "InputTensors[0].DataType" in {diagnostic.path for diagnostic in error.diagnostics}


@pytest.mark.parametrize("flags", [NONE, HALF, NO_META, VOLATILE, HALF | NO_META | VOLATILE, 7])
def test_execution_flags(bench, flags):
    assert isinstance(bench.compile(identity(), flags), dml.IDMLCompiledOperator)


def test_wrong_execution_flags(bench):
    op = bench.dml.CreateOperator(identity())
    for flags in (8, 0x80000000, -1):
        error = failure(lambda: bench.dml.CompileOperator(op, flags))  # noqa: B023
        assert error.hresult == dml.E_INVALIDARG
        assert "flags" in str(error)
    with pytest.raises(TypeError, match="flags"):
        bench.dml.CompileOperator(op, None)


def test_wrong_objects(bench):
    compiled = bench.compile(identity())
    op = bench.dml.CreateOperator(identity())
    for wrong in (None, compiled, identity(), bench.queue, 1):
        with pytest.raises(TypeError, match="op must be an IDMLOperator"):
            bench.dml.CompileOperator(wrong)
    for wrong in (None, op, bench.recorder):
        with pytest.raises(TypeError, match=r"operators\[1\] must be an IDMLCompiledOperator"):
            bench.dml.CreateOperatorInitializer(2, [compiled, wrong])
        with pytest.raises(TypeError, match=r"operators\[0\]"):
            bench.dml.CreateOperatorInitializer().Reset(1, [wrong])
    table = bench.table(compiled)
    for wrong in (None, op, table):
        with pytest.raises(TypeError, match="dispatchable must be an IDMLDispatchable"):
            bench.recorder.RecordDispatch(bench.commands, wrong, table)
    with pytest.raises(TypeError, match="bindings must be an IDMLBindingTable"):
        bench.recorder.RecordDispatch(bench.commands, compiled, compiled)
    with pytest.raises(TypeError, match="commandList must be an ID3D12GraphicsCommandList"):
        bench.recorder.RecordDispatch(None, compiled, table)
    for method in (table.BindInputs, table.BindOutputs, table.BindTemporaryResource):
        for wrong in ("buffer", bench.buffer(16), [bench.buffer(16)], object()):
            with pytest.raises(TypeError, match="binding"):
                method(wrong)
    assert not bench.removed


def properties(dispatchable):
    found = dispatchable.GetBindingProperties()
    return found.RequiredDescriptorCount, found.TemporaryResourceSize, found.PersistentResourceSize


@pytest.mark.kind_device
def test_one_descriptor_per_binding(bench):
    """One for each bound tensor; and one for each resource that is needed."""
    assert properties(bench.compile(join(4, 8, 4))) == (4, 0, 0)
    assert properties(bench.compile(split(4, 8, 4))) == (4, 0, 0)
    assert properties(bench.compile(join(4, 8, 4, owned=[1]))) == (4, 0, 32)
    count, temporary, persistent = properties(bench.compile(log_sum_exp(100)))
    assert (count, persistent) == (3, 0)
    assert temporary >= 100 * 4
    assert temporary % 4 == 0
    count, more, persistent = properties(bench.compile(log_sum_exp(200, flags=OWNED)))
    assert (count, persistent) == (3, 800)
    assert more > temporary


@pytest.mark.kind_device
def test_persistent_resources_hold_all_owned_inputs(bench):
    """Each at a multiple of 16 bytes: 12 bytes are followed by 4 of padding."""
    assert properties(bench.compile(join(3, 4, owned=[0, 1])))[2] == 32
    assert properties(bench.compile(join(3, owned=[0])))[2] == 12
    padded = dml.DML_JOIN_OPERATOR_DESC(
        InputTensors=[tensor(4, flags=OWNED, total_size=64)], OutputTensor=tensor(4), Axis=3
    )
    assert properties(bench.compile(padded))[2] == 64


@pytest.mark.kind_device
def test_initializers(bench):
    """A binding for each owned input, and for each persistent resource; no memory of their own."""
    plain, owned = bench.compile(identity()), bench.compile(join(4, 4, 4, owned=[0, 2]))
    initializer = bench.dml.CreateOperatorInitializer(2, [plain, owned])
    assert properties(initializer) == (3, 0, 0)
    initializer.Reset(3, [owned, plain, owned])
    assert properties(initializer) == (6, 0, 0)
    initializer.Reset([owned])
    assert properties(initializer) == (3, 0, 0)
    with pytest.raises(TypeError):
        initializer.Reset(1, [None])
    assert properties(initializer) == (3, 0, 0)
    initializer.Reset(0, None)
    assert properties(initializer)[1:] == (0, 0)
    assert properties(bench.dml.CreateOperatorInitializer())[1:] == (0, 0)


@pytest.mark.kind_device
def test_counts_of_operators(bench):
    op = bench.compile(join(4, owned=[0]))
    assert properties(bench.dml.CreateOperatorInitializer(1, [op, op])) == (2, 0, 0)
    assert failure(lambda: bench.dml.CreateOperatorInitializer(1, None)).hresult == dml.E_INVALIDARG
    assert failure(lambda: bench.dml.CreateOperatorInitializer(3, [op, op])).hresult == dml.E_INVALIDARG
