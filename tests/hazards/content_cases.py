"""Reads of unwritten elements, and out-of-range indices."""

from __future__ import annotations

import numpy as np

import directml_py as dml

from ..dml.graphs import graph
from ..dml.helpers import UPLOAD, Bench, identity, join, log_sum_exp, spans, tensor
from .hazard import COMMON, COPY_DEST, COPY_SOURCE, READBACK, UNORDERED_ACCESS, binding, hazard

UNDEFINED = "D3D12-Contents-undefined"
UNWRITTEN = "was never written"
UNWRITTEN_RULE = "D3D12-Contents-unwritten"
UINT32 = dml.DML_TENSOR_DATA_TYPE_UINT32


@hazard(UNDEFINED, "InputTensor", "'fresh'", "element {0,0,0,0}", UNWRITTEN, ways=["committed", "placed"])
def memory_as_it_was_found(bench, wrong):
    op = bench.ready(identity())
    x = bench.undefined(16, placed=wrong == "placed") if wrong else bench.buffer(16)
    bench.dispatch(op, [x], [bench.buffer(16)])
    bench.execute()


@hazard(UNDEFINED, "element {0,0,0,2}", UNWRITTEN)
def memory_written_in_part(bench, wrong):
    op, x = bench.ready(identity()), bench.undefined(32)
    bench.fill(x, np.ones(2 if wrong else 4, np.float32))
    bench.dispatch(op, [binding(x, 0, 16)], [bench.buffer(16)])
    bench.execute()


@hazard(UNDEFINED, "'places'", "element {0,0,2,0}", UNWRITTEN)
def coordinates_of_elements_that_are_zero(bench, wrong):
    """Two of four elements are nonzero: two rows of NONZERO_COORDINATES are defined, whatever was there before."""
    one, column = (dml.tensor_desc(UINT32, [1, 1, rows, 1]) for rows in (1, 4))
    search = bench.ready(dml.DML_NONZERO_COORDINATES_OPERATOR_DESC(tensor(4), one, column))
    seen = dml.tensor_desc(UINT32, [1, 1, 3 if wrong else 2, 1])
    copy = bench.ready(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(seen, seen, None))
    x = bench.buffer(16, data=np.array([5, 0, 0, 7], np.float32))
    count, places = bench.buffer(4), bench.buffer(16, data=np.ones(4, np.uint32), name="places")
    bench.dispatch(search, [x], [count, places])
    bench.barrier()
    bench.dispatch(copy, [places], [bench.buffer(16)])
    bench.execute()


@hazard(UNDEFINED, "'places'", "element {0,0,2,0}", UNWRITTEN)
def coordinates_that_a_graph_leaves(bench, wrong):
    """The graph's outputs are the operator's, in another order."""
    one, column = (dml.tensor_desc(UINT32, [1, 1, rows, 1]) for rows in (1, 4))
    search = bench.dml.CreateOperator(dml.DML_NONZERO_COORDINATES_OPERATOR_DESC(tensor(4), one, column))
    op = bench.keep(bench.dml.CompileGraph(graph([search], [(0, 0, 0)], [(0, 0, 1), (0, 1, 0)])))
    bench.initialize(op)
    seen = dml.tensor_desc(UINT32, [1, 1, 3 if wrong else 2, 1])
    copy = bench.ready(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(seen, seen, None))
    x = bench.buffer(16, data=np.array([5, 0, 0, 7], np.float32))
    count, places = bench.buffer(4), bench.buffer(16, data=np.ones(4, np.uint32), name="places")
    bench.dispatch(op, [x], [places, count])
    bench.barrier()
    bench.dispatch(copy, [places], [bench.buffer(16)])
    bench.execute()


@hazard(UNDEFINED, "'copy'", "element {0,0,0,1}", "a copy of unwritten bytes of ID3D12Resource 'fresh'")
def undefined_memory_that_was_copied(bench, wrong):
    """Copying undefined bytes is valid; computing with them is not."""
    op, x, copy = bench.ready(identity()), bench.undefined(32), bench.buffer(32, name="copy")
    bench.fill(x, np.ones(1 if wrong else 4, np.float32))
    bench.commands.CopyResource(copy, x)
    bench.transition(copy, COPY_DEST, UNORDERED_ACCESS)
    bench.dispatch(op, [copy], [bench.buffer(16)])
    bench.execute()


@hazard(
    UNDEFINED,
    "Map: ID3D12Resource 'result' is read, whose bytes 16 to 32 are a copy of unwritten bytes",
    ways=["Map"],
)
@hazard(UNDEFINED, "Map: ID3D12Resource 'result'", "'fresh'", ways=["range"])
@hazard(UNDEFINED, "array: ID3D12Resource 'result'", "'fresh'", ways=["array"])
def undefined_memory_that_the_cpu_reads(bench, wrong):
    """Reported if all bytes that it reads are undefined; undefined bytes among defined ones may be padding."""
    x, result = bench.undefined(32), bench.buffer(64, READBACK, name="result")
    bench.fill(x, np.ones(1, np.float32))
    bench.commands.CopyBufferRegion(result, 0, x, 0, 8)
    bench.commands.CopyBufferRegion(result, 16, x, 16, 16)
    bench.execute()
    result.Map()
    result.Map(0, dml.D3D12_RANGE(4, 20))
    result.Map(0, dml.D3D12_RANGE(8, 16))
    result.Map(0, dml.D3D12_RANGE(0, 0))
    result.array()
    if not wrong:
        bench.commands.CopyBufferRegion(result, 16, x, 0, 8)
        bench.execute()
        result.array(offset=16)
    elif wrong == "Map":
        result.Map(0, dml.D3D12_RANGE(16, 64))
    elif wrong == "range":
        result.Map(0, dml.D3D12_RANGE(31, 40))
    else:
        result.array(offset=8)


@hazard(UNWRITTEN_RULE, "InputTensor", "'x'", "which nothing has written", ways=["upload"])
@hazard(UNWRITTEN_RULE, "ID3D12Resource 'result' was mapped for reading, but nothing", ways=["copy"])
@hazard(UNWRITTEN_RULE, "'result'", "mapped", ways=["execution", "array", "no end"])
@hazard(
    UNWRITTEN_RULE, "Map: ID3D12Resource 'result'", "a copy of bytes of ID3D12Resource 'y'", ways=["dispatch"]
)
@hazard(UNWRITTEN_RULE, "ReadFromSubresource: ID3D12Resource 'result' is read, but nothing", ways=["box"])
def a_step_left_out(bench, wrong):
    """Of upload, dispatch and readback; what is read is zeros."""
    bench.minds_zeros()
    op, values = bench.ready(identity()), np.zeros(4, np.float32)
    x, y = bench.buffer(16, name="x"), bench.buffer(16, name="y")
    result = bench.buffer(16, READBACK, name="result")
    early = result.Map(0, dml.D3D12_RANGE(0, 16)) if not wrong or wrong == "execution" else None
    if wrong != "upload":
        bench.fill(x, values)
    if wrong != "dispatch":
        bench.dispatch(op, [x], [y])
    if not wrong or wrong in ("upload", "dispatch"):
        bench.transition(y, UNORDERED_ACCESS if wrong != "dispatch" else COMMON, COPY_SOURCE)
        bench.commands.CopyResource(result, y)
    if wrong != "execution":
        bench.execute()
    if wrong == "array":
        assert not result.array().any()
    elif wrong == "box":
        result.ReadFromSubresource(np.empty(16, np.uint8))
    elif early is None:
        result.Map()
    if wrong not in ("array", "no end", "box"):
        result.Unmap(0, dml.D3D12_RANGE(0, 0))
    # Each resource is reported once.
    bench.dispatch(op, [x], [bench.buffer(16)])
    bench.execute()
    bench.d3d12.flush()


@hazard(
    UNWRITTEN_RULE,
    "reads InputTensor",
    "'x'",
    "holds only a copy of bytes of ID3D12Resource 'upload' that nothing",
    ways=["no map", "nothing written"],
)
@hazard(
    UNDEFINED, "'x'", "element {0,0,0,0}", "unwritten bytes of ID3D12Resource 'upload'", ways=["not zeroed"]
)
def an_upload_buffer_that_nothing_fills(bench, wrong):
    """Zeros that the CPU writes are told from those that it does not write by the range of Unmap alone. The message
    names where they come from, over another buffer too."""
    bench.minds_zeros()
    flags = dml.D3D12_HEAP_FLAG_CREATE_NOT_ZEROED if wrong == "not zeroed" else dml.D3D12_HEAP_FLAG_NONE
    upload = bench.keep(Bench.buffer(bench, 16, UPLOAD, heap_flags=flags))
    upload.SetName("upload")
    if wrong in (None, "nothing written"):
        upload.Map()[:] = 0
        upload.Unmap(0, dml.D3D12_RANGE(0, 0) if wrong else None)
    op, x, between = bench.ready(identity()), bench.buffer(16, name="x"), bench.buffer(16, name="between")
    bench.commands.CopyResource(between, upload)
    bench.transition(between, COPY_DEST, COPY_SOURCE)
    bench.commands.CopyResource(x, between)
    bench.transition(x, COPY_DEST, UNORDERED_ACCESS)
    bench.dispatch(op, [x], [bench.buffer(16)])
    bench.execute()


@hazard(UNWRITTEN_RULE, "InputTensors[0]", "'upload'", "which nothing has written")
def weights_that_nothing_uploads(bench, wrong):
    """An initializer reads them where they lie."""
    bench.minds_zeros()
    op = bench.keep(bench.compile(join(4, owned=[0])))
    initializer = bench.keep(bench.dml.CreateOperatorInitializer([op]))
    upload = bench.buffer(16, UPLOAD, name="upload")
    if not wrong:
        # A view may be written at any time.
        upload.array()
    bench.dispatch(initializer, [spans(upload)], [bench.buffer(256)])
    bench.execute()


@hazard(UNDEFINED, "InputTensors[0]", "operators[0]")
def undefined_weights(bench, wrong):
    op = bench.keep(bench.compile(join(4, owned=[0])))
    initializer = bench.keep(bench.dml.CreateOperatorInitializer([op]))
    weights = bench.undefined(16) if wrong else bench.buffer(16)
    bench.dispatch(initializer, [spans(weights)], [bench.buffer(256)])
    bench.execute()


@hazard(UNDEFINED, "'scratch'", "element {0,0,0,0}")
def a_temporary_resource_afterwards(bench, wrong):
    """The operator leaves undefined contents in it."""
    reduce, op = bench.ready(log_sum_exp()), bench.ready(identity())
    scratch = bench.buffer(256, name="scratch")
    bench.dispatch(reduce, [bench.buffer(16)], [bench.buffer(4)], temporary=scratch)
    bench.barrier()
    size = reduce.GetBindingProperties().TemporaryResourceSize
    start = 0 if wrong else -(-size // 16) * 16
    bench.dispatch(op, [binding(scratch, start, 16)], [bench.buffer(16)])
    bench.execute()


@hazard(UNDEFINED, "'padded'", "element {0,0,0,1}")
def padding_of_an_output(bench, wrong):
    """Every second element is written; the others become undefined."""
    steps = {"strides": [8, 8, 8, 2], "total_size": 32}
    x, spread, packed = tensor(4), tensor(4, **steps), tensor(4)
    into = bench.ready(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, spread))
    out_of = bench.ready(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(packed if wrong else spread, packed))
    padded = bench.holding(*range(8))
    padded.SetName("padded")
    bench.dispatch(into, [bench.buffer(16)], [padded])
    bench.barrier()
    bench.dispatch(out_of, [padded], [bench.buffer(16)])
    # Copying the padding along is valid.
    bench.transition(padded, UNORDERED_ACCESS, COPY_SOURCE)
    bench.commands.CopyResource(bench.buffer(32), padded)
    bench.execute()


def gather(kind, count=4):
    indices = dml.tensor_desc(getattr(dml, f"DML_TENSOR_DATA_TYPE_{kind}"), [1, 1, 1, count])
    return dml.DML_GATHER_OPERATOR_DESC(
        InputTensor=tensor(3), IndicesTensor=indices, OutputTensor=tensor(count), Axis=3, IndexDimensions=1
    )


@hazard(
    "DML-GATHER-index-range",
    "2 indices outside [-3, 2]",
    "first is 3 at {0,0,0,1}",
    path="IndicesTensor",
    ways=["INT32"],
)
@hazard(
    "DML-GATHER-index-range",
    "2 indices outside [0, 2]",
    "first is 3 at {0,0,0,1}",
    path="IndicesTensor",
    ways=["UINT32"],
)
@hazard("DML-GATHER-index-range", "2 indices outside [-3, 2]", path="IndicesTensor", ways=["INT64"])
def gather_indices(bench, wrong):
    """Negative ones count from the end."""
    kind = wrong or "INT32"
    op = bench.ready(gather(kind))
    lowest = 0 if kind == "UINT32" else -3
    values = np.array([2, 3, lowest, lowest - 1 if lowest else 4] if wrong else [2, 0, -1, -3])
    indices = bench.buffer(4 * np.dtype(kind.lower()).itemsize, data=values.astype(kind.lower()))
    bench.dispatch(op, [bench.buffer(12), indices], [bench.buffer(16)])
    bench.execute()


@hazard(
    "DML-GATHER-index-range",
    "1 index outside [-3, 2]",
    "first is 3 at {0,0,0,1}",
    path="Nodes[1].IndicesTensor",
)
def gather_indices_that_a_graph_computes(bench, wrong):
    """The contents that a node reads are known only at execution time."""
    floats, indices = tensor(4), dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_INT32, [1, 1, 1, 4])
    nodes = [dml.DML_CAST_OPERATOR_DESC(floats, indices), gather("INT32")]
    made = graph(
        [bench.keep(bench.dml.CreateOperator(desc)) for desc in nodes],
        inputs=[(0, 0, 0), (1, 1, 0)],
        outputs=[(1, 0, 0)],
        between=[(0, 0, 1, 1)],
    )
    op = bench.keep(bench.dml.CompileGraph(made))
    bench.initialize(op)
    buffers = [bench.holding(0, 3 if wrong else -3, 2, 1), bench.buffer(12)]
    bench.dispatch(op, buffers, [bench.buffer(16)], temporary=bench.buffer(op.temporary_size))
    bench.execute()
