"""Representations of objects in the interpreter and in notebooks."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import directml_py as dml
from directml_py.abi.interface import IUnknown
from directml_py.descs import decode_operator_desc
from directml_py.graph import Graph
from directml_py.kernels.backend import backend
from directml_py.session import Session
from directml_py.text.html import element, table

UPLOAD = dml.D3D12_HEAP_TYPE_UPLOAD


@pytest.fixture
def session():
    return Session()


def tensor(*sizes, **rest):
    return dml.tensor_desc(np.float32, sizes, **rest)


def join(axis=1):
    return dml.DML_JOIN_OPERATOR_DESC(
        InputTensors=[tensor(1, 2), tensor(1, 3)], OutputTensor=tensor(1, 5), Axis=axis
    )


class TestObjects:
    def test_direct3d(self, session):
        device, buffer = session.d3d12, session.buffer(1 << 20, UPLOAD)
        assert repr(device) == f"<{type(device).__name__}: directml-py>"
        assert repr(buffer) == "<ID3D12Resource2: buffer of 1,048,576 bytes, UPLOAD heap>"
        buffer.SetName("weights")
        assert repr(buffer) == "<ID3D12Resource2 'weights': buffer of 1,048,576 bytes, UPLOAD heap>"
        assert repr(session.heap) == "<ID3D12DescriptorHeap: 256 descriptors, CBV_SRV_UAV, shader visible>"
        assert repr(session.queue) == "<ID3D12CommandQueue: DIRECT>"
        assert repr(session.allocator) == "<ID3D12CommandAllocator: DIRECT>"
        fence = device.CreateFence(0)
        session.queue.Signal(fence, 7)
        assert repr(fence) == "<ID3D12Fence1: value 7>"
        queries = device.CreateQueryHeap(dml.D3D12_QUERY_HEAP_DESC(dml.D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 4, 0))
        assert repr(queries) == "<ID3D12QueryHeap: 4 timestamps>"
        heap = device.CreateHeap(dml.CD3DX12_HEAP_DESC(65536, UPLOAD))
        assert repr(heap) == "<ID3D12Heap1: 65,536 bytes, UPLOAD>"
        assert repr(dml.CreateDXGIFactory1().EnumAdapters1(0)) == "<IDXGIAdapter4: directml-py>"

    def test_a_command_list(self, session):
        commands, buffer = session.commands, session.buffer(64)
        name = type(commands).__name__
        assert repr(commands) == f"<{name}: DIRECT, open, 1 command>"
        commands.CopyResource(buffer, session.buffer(64))
        assert repr(commands) == f"<{name}: DIRECT, open, 2 commands>"
        commands.CopyResource(buffer, session.buffer(32))
        assert repr(commands) == f"<{name}: DIRECT, open, 2 commands, 1 problem>"
        other = session.d3d12.CreateCommandList(
            0, dml.D3D12_COMMAND_LIST_TYPE_COPY, session.d3d12.CreateCommandAllocator(3)
        )
        other.Close()
        assert repr(other) == f"<{name}: COPY, closed, 0 commands>"

    def test_a_removed_device(self, session):
        session.commands.CopyResource(session.buffer(64), session.buffer(32))
        with pytest.raises(dml.DMLError):
            session.commands.Close()
        session.queue.ExecuteCommandLists([session.commands])
        assert "removed: DXGI_ERROR_" in repr(session.d3d12)
        assert repr(session.dml).endswith(", removed>")

    def test_directml(self, session):
        assert repr(session.dml) == "<IDMLDevice1: DML_FEATURE_LEVEL_6_4>"
        old = dml.DMLCreateDevice(
            session.d3d12, dml.DML_CREATE_DEVICE_FLAG_DEBUG, feature_level=0x1000, profile="strict"
        )
        assert repr(old) == "<IDMLDevice: DML_FEATURE_LEVEL_1_0, debug layer, profile strict>"
        operator = session.dml.CreateOperator(join())
        assert repr(operator) == "<IDMLOperator: JOIN FLOAT32 {1,2}, FLOAT32 {1,3} -> FLOAT32 {1,5}>"
        compiled = session.dml.CompileOperator(operator)
        assert repr(compiled) == f"<IDMLCompiledOperator: {repr(operator)[15:-1]}; not initialized>"
        session.initialize(compiled)
        assert repr(compiled).endswith("; initialized>")
        assert (
            repr(session.dml.CreateOperatorInitializer([compiled]))
            == "<IDMLOperatorInitializer: of 1 operator>"
        )
        table = session.table(compiled, outputs=[session.buffer(20)])
        assert repr(table) == "<IDMLBindingTable: 1 of 3 bound, for DML_OPERATOR_JOIN>"
        owned = session.compile(
            dml.DML_ELEMENT_WISE_ABS_OPERATOR_DESC(
                tensor(8, flags=dml.DML_TENSOR_FLAG_OWNED_BY_DML), tensor(8)
            )
        )
        assert "; 32 bytes of persistent memory; not initialized>" in repr(owned)

    def test_what_was_never_made(self):
        """A debugger may show objects whose construction failed."""
        for name in (
            "ID3D12Resource",
            "IDMLCompiledOperator",
            "IDMLBindingTable",
            "ID3D12GraphicsCommandList",
        ):
            kind = getattr(dml, name)
            assert repr(kind.__new__(kind)) == f"<{name}>"
        assert repr(IUnknown()) == "<IUnknown>"


@pytest.fixture
def graph():
    graph = Graph()
    rows = graph.input_tensor("rows", np.float32, [1, 1, 3, 6])
    left, right = graph.split(rows, axis=3, sizes=[2, 4])
    largest = graph.reduce(right, function=dml.DML_REDUCE_FUNCTION_MAX, axes=[3])
    graph.outputs = {"joined": graph.join([graph.tile(left, repeats=[1, 1, 1, 2]), largest], axis=3)}
    return graph


class TestGraphs:
    def test_graphs(self, graph):
        assert repr(Graph()) == "<Graph: no inputs -> no outputs yet; 0 nodes>"
        assert repr(graph) == "<Graph: rows FLOAT32 {1,1,3,6} -> joined FLOAT32 {1,1,3,5}; 4 nodes>"
        compiled = graph.compile()
        text = "4 steps (2 run, 2 folded away), 0 bytes of temporary memory"
        assert repr(compiled) == f"<CompiledGraph: {repr(graph)[8:-10]}; {text}>"
        assert repr(compiled.plan) == f"<Plan: {text}>"

    def test_a_plan(self, graph):
        assert str(graph.compile().plan).splitlines() == [
            "4 steps (2 run, 2 folded away), 0 bytes of temporary memory",
            "step 0, folded away: SPLIT 'split0'",
            "    OutputTensors[0] FLOAT32 {1,1,3,2} is a view into the input of SPLIT 'split0'",
            "    OutputTensors[1] FLOAT32 {1,1,3,4} is a view into the input of SPLIT 'split0'",
            "step 1, run: REDUCE 'reduce0'",
            "    OutputTensor FLOAT32 {1,1,3,1} lies in JOIN 'join0'",
            "step 2, run: TILE 'tile0'",
            "    OutputTensor FLOAT32 {1,1,3,4} lies in JOIN 'join0'",
            "step 3, folded away: JOIN 'join0'",
            "    OutputTensor FLOAT32 {1,1,3,5} is graph output 0",
        ]

    @pytest.mark.skipif(backend.native is None, reason="nodes run together in the loops alone")
    def test_nodes_that_run_together(self):
        graph = Graph()
        x = graph.input_tensor("x", np.float32, [4])
        assert str(graph.compile(graph.sqrt(x * 10)).plan).splitlines() == [
            "1 step (1 fused), 0 bytes of temporary memory",
            "step 0, fused: IDENTITY 'identity0' + SQRT 'sqrt0'",
            "    OutputTensor FLOAT32 {4} is graph output 0",
        ]

    def test_temporary_memory_in_a_plan(self):
        graph = Graph()
        x = graph.input_tensor("x", np.float32, [1, 1, 4, 4])
        plan = graph.compile(graph.tile(graph.tile(x, repeats=[1, 1, 2, 1]), repeats=[1, 1, 1, 2])).plan
        lines = str(plan).splitlines()
        assert lines[0] == "2 steps (2 run), 128 bytes of temporary memory"
        assert "    OutputTensor FLOAT32 {1,1,8,4} is block 0" in lines
        assert lines[-1] == "block 0, bytes 0 to 128, steps 0 to 1: DML_OPERATOR_TILE 'tile0'.OutputTensor"

    def test_pictures(self, graph):
        for item in (graph, graph.compile(), Graph()):
            assert ElementTree.fromstring(item._repr_svg_()).tag == "{http://www.w3.org/2000/svg}svg"


def cells(html):
    """The texts of a table's rows, one level deep; the markup must be sound."""
    rows = ElementTree.fromstring(f"<div>{html}</div>").findall("./table/tr")
    return [["".join(cell.itertext()) for cell in row] for row in rows]


class TestTables:
    def test_tensors(self):
        rows = [
            ["Field", "Value"],
            ["DataType", "FLOAT32"],
            ["Sizes", "{2,3}: 6 elements"],
            ["Strides", "{8,1}"],
            ["Flags", "DML_TENSOR_FLAG_OWNED_BY_DML"],
            ["TotalTensorSizeInBytes", "64 (at least 44 are needed)"],
            ["GuaranteedBaseOffsetAlignment", "0"],
        ]
        struct = tensor(2, 3, strides=[8, 1], flags=dml.DML_TENSOR_FLAG_OWNED_BY_DML, total_size=64)
        assert cells(struct._repr_html_()) == rows
        desc = decode_operator_desc(dml.DML_ELEMENT_WISE_ABS_OPERATOR_DESC(struct, struct)).desc
        assert cells(desc.InputTensor._repr_html_()) == rows

    def test_descs(self):
        rows = [
            ["Field", "Value"],
            ["InputTensors[0]", "FLOAT32 {1,2}"],
            ["InputTensors[1]", "FLOAT32 {1,3}"],
            ["OutputTensor", "FLOAT32 {1,5}"],
            ["Axis", "1"],
        ]
        for desc in (
            join(),
            dml.DML_OPERATOR_DESC(dml.DML_OPERATOR_JOIN, join()),
            decode_operator_desc(join()).desc,
        ):
            assert cells(desc._repr_html_()) == rows

    def test_nested_descs_and_what_cannot_be_read(self):
        gemm = dml.DML_GEMM_OPERATOR_DESC(
            FusedActivation=dml.DML_ACTIVATION_ELU_OPERATOR_DESC(Alpha=0.5), ATensor=16
        )
        rows = cells(gemm._repr_html_())
        assert ["TransA", "DML_MATRIX_TRANSFORM_NONE"] in rows
        (fused,) = (row for row in rows if row[0] == "FusedActivation")
        assert "DML_ACTIVATION_ELU_OPERATOR_DESC" in fused[1]
        assert "Alpha0.5" in fused[1]
        assert rows[-2] == ["BTensor", "is null; DML_TENSOR_DESC is required"]
        assert dml.DML_TENSOR_DESC(7)._repr_html_().startswith("&lt;DML_TENSOR_DESC&gt; &lt;")

    def test_diagnostics(self):
        found = dml.validate(join(axis=0))
        assert len(found) == 2
        assert isinstance(found, list)
        assert str(found).splitlines() == [str(one) for one in found]
        rows = cells(found._repr_html_())
        assert rows[0] == ["Severity", "Path", "Message", "Rule"]
        assert rows[1] == ["error", found[0].path, found[0].message, "DML-JOIN-sizes"]
        assert cells(found[1]._repr_html_()) == [rows[0], rows[2]]
        assert dml.validate(join()) == []
        assert str(dml.validate(join())) == "[]"
        assert dml.validate(join())._repr_html_() == "nothing is wrong"

    def test_text_is_no_markup(self):
        name = "<script>&\"'"
        html = table(name, [(name, element("b", name))], [name])
        assert ElementTree.fromstring(html).findtext("caption") == name
        assert cells(html) == [[name], [name, name]]
        edge = dml.DML_INPUT_GRAPH_EDGE_DESC(Name=name)
        assert ["Name", repr(name)] in cells(edge._repr_html_())
