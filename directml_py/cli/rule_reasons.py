"""The rationale of rules, one sentence per kind of rule, and the pages that they come from."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from ..abi.rules import LIBRARY, THIS_PACKAGE

# By identifier patterns; the first match applies.
REASONS = {
    "D3D12-AliasingBarrier-*": (
        "Resources that share memory may be cached separately. Without an aliasing barrier a GPU may read stale "
        "bytes, and after one the contents of the resource before it are undefined."
    ),
    "D3D12-ClearUAV-descriptor": (
        "A clear reads its descriptors when it runs, which may be long after it was recorded."
    ),
    "D3D12-ClearUAV-range": (
        "A value outside the format's range is clamped or undefined: the buffer gets a different value."
    ),
    "D3D12-CommandQueue-endless-wait": "The queue is deadlocked, and so is everything that waits for it.",
    "D3D12-CommandQueue-wait": (
        "Queues run at the same time. Only a fence says which of two accesses comes first."
    ),
    "D3D12-Contents-undefined": (
        "New memory has arbitrary contents, so that results change from run to run."
    ),
    "D3D12-Contents-unwritten": (
        "New buffers hold zeros unless their heap says otherwise. A program that reads them usually lacks the copy, "
        "the dispatch or the execution that was to fill them."
    ),
    "D3D12-CopyDescriptors-*": (
        "A heap has a fixed size, and the CPU can read descriptors only in heaps that are not shader-visible."
    ),
    "D3D12-Fence-endless-wait": "The thread waits forever, and usually the program with it.",
    "D3D12-Fence-backwards": "A waiter for the higher value may miss it, or wake before the work is done.",
    "D3D12-Object-*": (
        "A GPU keeps no object alive or resident: the memory may have been reused by the time it is read."
    ),
    "D3D12-Query-ended": "A query that has not ended has no result, and what is copied is undefined.",
    "D3D12-Readback-*": "The GPU runs later than the CPU: data read too early are stale or partly written.",
    "D3D12-Residency-*": "Other objects borrow their memory or have none: the call pages nothing out or in.",
    "D3D12-ResourceBarrier-split": "A half without its matching counterpart leaves the transition unfinished.",
    "D3D12-ResourceBarrier-*": (
        "A transition flushes the caches that the old state used. From a wrong state it flushes the wrong ones."
    ),
    "D3D12-ResourceState-split": "Between the halves the transition may be in progress: what is read is undefined.",
    "D3D12-ResourceState-*": (
        "A command relies on the caches and layout of a state. In a different state its result is undefined."
    ),
    "D3D12-UAVBarrier-*": (
        "Dispatches of one list may overlap. Without a barrier the second may read before the first writes."
    ),
    "D3D12-Unmap-*": (
        "A system may make visible to the GPU, or to a tool that records the program, only what the range names."
    ),
    "D3D12-Upload-*": (
        "The GPU runs later than the CPU: data written too early change what the commands read."
    ),
    "DML-*-training-step": "The bias correction divides by one minus a power of the step: at 0 that is 0.",
    "DML-*-thread": ("Concurrent calls may leave the object in a state that neither of them asked for."),
    "DML-*-cancellation": (
        "Microsoft's library takes the logarithm of x + sqrt(x^2 + 1): for large negative elements the sum is 0."
    ),
    "DML-*-indeterminate": (
        "Microsoft's library computes 2^(y * log2|x|), without C's exceptions: 0 times infinity is NaN."
    ),
    "DML-*-quotient": (
        "Microsoft's library computes a - b * trunc(a / b) in FLOAT32: for large quotients only rounding error is left."
    ),
    "DML-ELEMENT_WISE_ROUND-halves": (
        "Microsoft's library rounds |x| + 0.5 before it takes the integer part: 0.49999997 becomes 1."
    ),
    "DML-ELEMENT_WISE_BIT_SHIFT_*-count": (
        "Every bit is shifted out; Microsoft's library takes the count modulo 32, or mixes the 32-bit halves."
    ),
    "DML-CONVOLUTION-output-padding": "Otherwise the filter would contribute to no element of the output.",
    "DML-*-compiled-scales": "Microsoft's library accepts the scales, but has no kernel for them.",
    "DML-*-compiled-past": "Microsoft's library accepts the mask type without a mask, but has no kernel for it.",
    "DML-*-compiled-activations": "Microsoft's library accepts the activation, but has no kernel for it.",
    "DML-GRU-compiled-matrix-size": (
        "Microsoft's library fails to copy such a matrix: it needs as many bytes as packed elements take."
    ),
    "DML-GEMM-softmax": (
        "Microsoft's library fuses ACTIVATION_SOFTMAX into a single product; ACTIVATION_SOFTMAX1 into several, too."
    ),
    "DML-*-origin": "The origin has no angle: a GPU may answer with any, or with NaN.",
    "DML-*-index-range": (
        "An index beyond its dimension addresses memory outside the tensor; what is read there is undefined."
    ),
    "DML-*-batch-range": "A batch index beyond the image addresses memory outside the tensor.",
    "DML-*-past-length-range": "A length beyond the past addresses memory outside the tensor.",
    "DML-*-sequence-lengths": "A longer sequence reads elements that the input does not have.",
    "DML-*-duplicate-indices": (
        "Elements are written in no defined order: which of two values remains is undefined."
    ),
    "DML-*-scale-zero": "A division by a scale of 0 has no result that the page defines.",
    "DML-*-sum-range": (
        "Microsoft's library sums in FLOAT32 without subtracting the maximum: the sum is infinite, or 0."
    ),
    "DML-*-half-range": (
        "Microsoft's library keeps sums, means and factors of FLOAT16 in FLOAT16, whose largest number is 65504."
    ),
    "DML-*-single-elements": (
        "Microsoft's library returns the element itself as the variance of a single element, which should be 0."
    ),
    "DML-*-nan": (
        "Microsoft's library turns NaN into numbers, or orders it by position, which no program can rely on."
    ),
    "DML-*-corners": "A region whose corners are the wrong way round holds nothing to pool.",
    "DML-*-leading-ones": (
        "Leading dimensions only pad the dimension count; sizes other than 1 would add elements that are "
        "never read."
    ),
    "DML-*-blocks": "Each scale applies to a whole block of elements, so blocks must tile the tensor.",
    "DML-SLICE*-[bw]*": "A slice beyond its tensor would read or write memory outside it.",
    "DML-GATHER-indices-batch": (
        "Each batch takes its own row of indices; the page does not say what further rows would index."
    ),
    "DML-GATHER_ND1-batch-sizes": "Each batch of indices is looked up in the batch of the same number.",
    "DML-GATHER-cropped-ones": "The output has no room for such a dimension: only its first element would be read.",
    "DML-SCATTER_ND-indices-strides": "Microsoft's library does not accept broadcast indices here.",
    "DML-VALUE_SCALE_2D-channel-count": (
        "The bias has one value per channel, and the operator supports only grey and colour images."
    ),
    "DML-BindPersistentResource-*": (
        "The persistent resource holds what initialization left there; execution reads it again."
    ),
    "DML-BindTemporaryResource-*": (
        "The operator needs temporary memory of exactly the size it reports, and none if that is 0."
    ),
    "DML-Bind*puts-null": (
        "A required tensor that is not bound has no memory to read or write; Microsoft's library checks for it "
        "when it is bound."
    ),
    "DML-Bind*-count": (
        "Bindings are matched with tensors by position: one too few or too many shifts all that follow."
    ),
    "DML-BindInputs-owned": (
        "An owned tensor is copied once, at initialization; binding it later has no effect."
    ),
    "DML-BindOutputs-empty": "No tensor could be written to such a buffer.",
    "DML-Binding-type": ("The type determines how the memory behind Desc is read; a wrong type misreads it."),
    "DML-Binding-*": "Memory that is written while it is read, or written twice, has undefined contents.",
    "DML-BindingTable-*": (
        "A table writes descriptors into its heap and a dispatch reads them there, on the GPU."
    ),
    "DML-BufferBinding-*": (
        "A dispatch reads and writes the bound range as raw memory, without checking it."
    ),
    "DML-BufferTensor-*": (
        "A tensor's fields determine the memory layout of its elements; they must agree with one another."
    ),
    "DML-TensorFlags-*": (
        "An owned tensor is copied when the operator is initialized, before any output exists."
    ),
    "DML-CheckFeatureSupport-*": "The sizes and the feature determine how the memory is read and written.",
    "DML-CompileOperator-data-type": (
        "Some types are optional: CheckFeatureSupport says whether a device has them."
    ),
    "DML-*-flags": "A bit that is undefined today may be defined in a later version.",
    "DML-CreateDevice-debug-layer": (
        "The DirectML debug layer reports through that of Direct3D 12, which must be enabled first."
    ),
    "DML-CreateDevice*": (
        "A program learns at once whether the device has what it needs, not at its first operator."
    ),
    "DML-Desc-*": ("Descs are read as raw memory, which a wrong type, count or address misreads."),
    "DML-FusedActivation-*": (
        "A fused activation is computed on the result before it is stored, which few operators and types "
        "support."
    ),
    "DML-*Data-*": "Private data is copied by its size, and found by its GUID.",
    "DML-Graph-padding": (
        "Between the nodes of a graph only elements are kept: padding between them is undefined."
    ),
    "DML-Graph-*put-count": "Such a large count is most likely uninitialized memory.",
    "DML-Graph-nodes": "A graph that computes nothing is most likely incomplete.",
    "DML-Graph-owned-*": (
        "Owned inputs are copied at initialization, so that their values must come from outside the graph."
    ),
    "DML-Graph-constant-*": (
        "A constant is data inside the graph, which nodes read as one of their tensors."
    ),
    "DML-Graph-shared-input": (
        "Microsoft's library takes the size of a graph input from the first edge; larger tensors would read beyond it."
    ),
    "DML-Graph-copied-size": (
        "Microsoft's library turns such nodes into copies of one size, that of the first of them."
    ),
    "DML-Graph-total-size": "An edge is memory that both tensors share, so that both must have its size.",
    "DML-Graph-*": "Each tensor of a graph has one source, and nodes run when their inputs are there.",
    "DML-*Object-*": "Objects hold memory and descriptors of their own device, which others cannot use.",
    "DML-Operator-feature-level": (
        "An older DirectML does not know the operator; CreateOperator would fail there."
    ),
    "DML-OperatorInitializer-*": (
        "An initializer writes the persistent resources of the operators that it holds when it runs."
    ),
    "DML-*-initialized": "Before that, the persistent resource holds nothing that the operator could use.",
    "DML-RecordDispatch-descriptors": (
        "A dispatch reads its descriptors when it runs, which may be long after it was recorded."
    ),
    "DML-RecordDispatch-*": (
        "A recorded dispatch needs a list that takes it, and everything that it reads and writes."
    ),
    "DML-Pageable-null": "Microsoft's library looks at the array before the count, and null is an error to it.",
    "DML-Pageable-count": "The array is read as raw memory, for the given count of elements.",
    "DML-*-same-data-type": (
        "The operator reads these tensors with one kind of arithmetic, and converts none of them."
    ),
    "DML-*-same-dimension-count": (
        "Dimensions are matched by position, so these tensors need equal dimension counts."
    ),
    "DML-*-same-sizes": (
        "Elements of these tensors are matched by position; to broadcast, give the sizes with strides of 0."
    ),
    "DML-*-head-count": "The channels are divided evenly among the heads.",
    "DML-*-group-count": "The channels are divided evenly among the groups, of which there is at least one.",
    "DML-*-i*-dimension-count": (
        "It counts dimensions of a tensor from the last, so it cannot exceed their count."
    ),
    "DML-*-spatial-dimension-count": (
        "There is an operator for two and for three spatial dimensions, besides batch and channel."
    ),
    "DML-*-window-size*": ("An empty window has no result; a window larger than its tensor reads beyond it."),
    "DML-*-strides": "A window that does not advance would produce an endless output.",
    "DML-*-dilations": (
        "It is the distance between a window's elements; at 0 all of them would be the same element."
    ),
    "DML-*-dimensions": ("Windows move along the spatial dimensions, so there must be one value for each."),
    "DML-*-block-size": "A block of no elements holds nothing to rearrange.",
    "DML-*-effective-rank": (
        "The function is computed along one axis of a matrix, so the tensor must have that shape."
    ),
    "DML-*-both-directions": "Each of the two directions has its own weights and results.",
    "DML-*-data-type": "Each operator supports certain data types only; the page lists them by feature level.",
    "DML-*-dimension-count": (
        "Each operator supports certain dimension counts only; the page lists them by feature level."
    ),
    "DML-*-sizes": (
        "These sizes follow from other tensors and attributes. With other sizes the wrong memory would be read or "
        "written."
    ),
    "DML-*-owned": ("The tensor's values may change with each execution, so DirectML cannot keep a copy."),
    "DML-*-re*quired": "The operator has nothing to compute with in place of this tensor.",
    "DML-*-unique": "Each dimension is used once; listing it twice has no meaning.",
    "DML-*-ax[ei]*": "An axis is the index of a dimension, from 0.",
    "DML-*-count": "The arrays are read as raw memory, for the given count of elements.",
    "DML-*-together": "Each of these tensors is meaningless without the other.",
    "DML-*-exclusive": "These tensors are alternatives, of which only one may be used.",
}
OTHERWISE = "The page requires it of these fields; with other values the operator has no defined result."


def reason_of(identifier: str) -> str:
    """The rationale of the rule."""
    return next(
        (reason for pattern, reason in REASONS.items() if fnmatchcase(identifier, pattern)), OTHERWISE
    )


LEARN = "https://learn.microsoft.com/windows"
API = re.compile(r"n[esfn]-(?P<header>[a-z0-9]+)-")


def learn(source: str) -> str:
    """The URL of the page that a rule names as its source; empty for a rule that no page states."""
    if source in (THIS_PACKAGE, LIBRARY):
        return ""
    match = API.match(source)
    if match:
        return f"{LEARN}/win32/api/{match['header']}/{source}"
    if source.startswith(("dml-", "directml-")):
        return f"{LEARN}/ai/directml/{source}"
    return f"{LEARN}/win32/direct3d12/{source}"
