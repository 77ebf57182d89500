"""Why rules exist: a sentence for each kind of rule, by patterns of their identifiers, of which the first counts."""

from __future__ import annotations

from fnmatch import fnmatchcase

REASONS = {
    "D3D12-AliasingBarrier-*": (
        "Resources that share memory may be cached apart. Without an aliasing barrier a GPU may read old "
        "bytes, and after one the contents of what it ended are undefined."
    ),
    "D3D12-ClearUAV-descriptor": (
        "A clear reads its descriptors when it runs, which may be long after it was recorded."
    ),
    "D3D12-ClearUAV-range": (
        "What lies outside of the format's range is clamped or undefined: the buffer gets another value."
    ),
    "D3D12-CommandQueue-endless-wait": "The queue never goes on, nor does anything that waits for it.",
    "D3D12-CommandQueue-wait": (
        "Queues run at the same time. Only a fence says which of two accesses comes first."
    ),
    "D3D12-Contents-undefined": (
        "New memory holds whatever was there before, so that results change from run to run."
    ),
    "D3D12-CopyDescriptors-*": (
        "A heap has an end, and the CPU reads descriptors only where shaders do not."
    ),
    "D3D12-Fence-endless-wait": "The thread never goes on, and with it, as a rule, the program.",
    "D3D12-Fence-backwards": "Who waits for the higher value may miss it, or wake before the work is done.",
    "D3D12-Object-*": (
        "A GPU keeps no object alive or resident: it reads memory that may belong to others by then."
    ),
    "D3D12-Query-ended": "Without an end a query has no result, and what is copied is undefined.",
    "D3D12-Readback-*": "The GPU runs later than the CPU: what is read too early is half written, or old.",
    "D3D12-ResourceBarrier-split": "A half alone, or one that fits no other, leaves the transition unfinished.",
    "D3D12-ResourceBarrier-*": (
        "A transition flushes what the old state needs. From a wrong state it flushes the wrong thing."
    ),
    "D3D12-ResourceState-split": "Between the halves the GPU may be at the transition: what is read is undefined.",
    "D3D12-ResourceState-*": (
        "A command relies on the caches and layouts of a state. In another one its result is undefined."
    ),
    "D3D12-UAVBarrier-*": (
        "Dispatches of one list may overlap. Without a barrier the second may read before the first writes."
    ),
    "D3D12-Upload-*": (
        "The GPU runs later than the CPU: what is written too early changes what the commands read."
    ),
    "DML-*-training-step": "The bias correction divides by one minus a power of the step: at 0 that is 0.",
    "DML-*-thread": (
        "Two threads at once leave the object half in the state of the one, half in that of the other."
    ),
    "DML-*-cancellation": (
        "Microsoft's library takes the logarithm of x + sqrt(x^2 + 1): of large negative elements the sum is 0."
    ),
    "DML-*-indeterminate": (
        "Microsoft's library computes 2^(y * log2|x|), without C's exceptions: 0 times infinity is NaN."
    ),
    "DML-*-quotient": (
        "Microsoft's library computes a - b * trunc(a / b) in FLOAT32: of large quotients nothing is left but rounding."
    ),
    "DML-ELEMENT_WISE_ROUND-halves": (
        "Microsoft's library rounds |x| + 0.5 before it takes the integer part: 0.49999997 becomes 1."
    ),
    "DML-ELEMENT_WISE_BIT_SHIFT_*-count": (
        "No bit of the element is left; Microsoft's library takes the count modulo 32, or mixes the words of 64 bits."
    ),
    "DML-CONVOLUTION-output-padding": "Nothing would be left of the output that a filter computes.",
    "DML-*-compiled-scales": "Microsoft's library takes the scales, but has no kernel for them.",
    "DML-*-compiled-activations": "Microsoft's library takes the activation, but has no kernel for it.",
    "DML-GEMM-softmax": (
        "Microsoft's library fuses ACTIVATION_SOFTMAX into a single product; ACTIVATION_SOFTMAX1 into several, too."
    ),
    "DML-*-origin": "The origin has no angle: a GPU may answer with any, or with NaN.",
    "DML-*-index-range": (
        "An index beyond its dimension names memory outside of the tensor; what is read there is undefined."
    ),
    "DML-*-batch-range": "A batch index beyond the image names memory outside of the tensor.",
    "DML-*-past-length-range": "A length beyond the past names memory outside of the tensor.",
    "DML-*-sequence-lengths": "A longer sequence reads elements that the input does not have.",
    "DML-*-duplicate-indices": (
        "Elements are written in any order: which of two values stays is left to chance."
    ),
    "DML-*-scale-zero": "A division by a scale of 0 has no result that the page defines.",
    "DML-*-sum-range": (
        "Microsoft's library adds up FLOAT32 without taking the largest out: the sum is infinite, or 0."
    ),
    "DML-*-half-range": (
        "Microsoft's library keeps sums, means and factors of FLOAT16 in FLOAT16, whose largest number is 65504."
    ),
    "DML-*-single-elements": (
        "Microsoft's library takes the element for the variance of a single element, which should be 0."
    ),
    "DML-*-nan": (
        "Microsoft's library makes numbers of it, or an order that depends on its place, which nobody counts on."
    ),
    "DML-*-corners": "A region whose corners are the wrong way round holds nothing to pool.",
    "DML-*-leading-ones": (
        "Leading dimensions only fill up the dimension count; larger ones would be elements that are "
        "never read."
    ),
    "DML-*-blocks": "Each scale belongs to a whole block of elements, so that blocks must fill the tensor.",
    "DML-*-remainder": "Padding repeats or mirrors elements of the input, so that some must be left.",
    "DML-SLICE*-[bw]*": "A slice beyond its tensor would read or write memory of others.",
    "DML-GATHER_ND1-batch-sizes": "Each batch of indices is looked up in the batch of the same number.",
    "DML-GATHER-cropped-ones": "There is no room for it in the output: only the first of its elements are read.",
    "DML-SCATTER_ND-indices-strides": "Microsoft's library takes no indices that are broadcast here.",
    "DML-VALUE_SCALE_2D-channel-count": (
        "The bias has a value for each channel, and the operator knows grey and colour images alone."
    ),
    "DML-BindPersistentResource-*": (
        "The persistent resource holds what initialization left there; execution reads it again."
    ),
    "DML-BindTemporaryResource-*": (
        "The operator works in temporary memory of the size that it asks for, and in none if that is 0."
    ),
    "DML-Bind*puts-null": (
        "What is required and not bound has no memory to be read from or written to; Microsoft's library looks for "
        "it when it is bound."
    ),
    "DML-Bind*-count": (
        "Bindings are matched with tensors by position: one too few or too many moves all that follow."
    ),
    "DML-BindInputs-owned": (
        "An owned tensor is copied once, at initialization; binding it later has no effect."
    ),
    "DML-BindOutputs-empty": "There is no tensor that could be written to such a buffer.",
    "DML-Binding-type": (
        "The type says how the memory behind Desc is read; a wrong one reads something else."
    ),
    "DML-Binding-*": "What is written while it is still read, or written twice, has an undefined result.",
    "DML-BindingTable-*": (
        "A table writes descriptors into its heap and a dispatch reads them there, on the GPU."
    ),
    "DML-BufferBinding-*": (
        "A dispatch reads and writes the bound range as raw memory, and trusts what was said of it."
    ),
    "DML-BufferTensor-*": (
        "A tensor's fields say where in memory its elements lie; they must agree with one another."
    ),
    "DML-TensorFlags-*": (
        "An owned tensor is copied when the operator is initialized, and outputs do not exist by then."
    ),
    "DML-CheckFeatureSupport-*": "The sizes and the feature say how the memory is read and written.",
    "DML-CompileOperator-data-type": (
        "Some types are optional: CheckFeatureSupport says whether a device has them."
    ),
    "DML-*-flags": "A bit without meaning today may get one in a later version.",
    "DML-CreateDevice-debug-layer": (
        "The DirectML layer reports through that of Direct3D 12, which cannot start later."
    ),
    "DML-CreateDevice*": (
        "A program learns at once whether the device has what it needs, not at its first operator."
    ),
    "DML-Desc-*": (
        "Descs are read as raw memory, in which a wrong type, count or address reads something else."
    ),
    "DML-FusedActivation-*": (
        "A fused activation is computed on the result before it is stored, which few operators and types "
        "allow."
    ),
    "DML-*Data-*": "Private data is copied by its size, and found by its GUID.",
    "DML-Graph-padding": (
        "Between the nodes of a graph only elements are kept: what lies between them is undefined."
    ),
    "DML-Graph-*put-count": "So large a count is most often memory that was never set.",
    "DML-Graph-nodes": "A graph that computes nothing is most often a builder that stopped half way.",
    "DML-Graph-owned-*": (
        "Owned inputs are copied at initialization, so that their values must come from outside the graph."
    ),
    "DML-Graph-constant-*": (
        "A constant is data inside of the graph, which nodes read as a tensor of theirs."
    ),
    "DML-Graph-shared-input": (
        "Microsoft's library takes the size of a graph input from the first edge; what reads more lies beyond it."
    ),
    "DML-Graph-copied-size": (
        "Microsoft's library makes one kind of copy of such nodes, of the size that the first of them has."
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
    "DML-Pageable-count": "The array is read as raw memory, for as many elements as the count says.",
    "DML-*-same-data-type": (
        "The operator reads these tensors with one kind of arithmetic, and converts none of them."
    ),
    "DML-*-same-dimension-count": (
        "Dimensions are matched by position, so that these tensors need as many of them."
    ),
    "DML-*-same-sizes": (
        "Elements of these tensors are matched by position; to broadcast, give the sizes with strides of 0."
    ),
    "DML-*-head-count": "The heads share the channels evenly, so that each has as many.",
    "DML-*-group-count": "Groups share the channels evenly; at least one takes them all.",
    "DML-*-i*-dimension-count": (
        "It counts dimensions of a tensor from the last one on, of which there must be so many."
    ),
    "DML-*-spatial-dimension-count": (
        "There is an operator for two and for three spatial dimensions, besides batch and channel."
    ),
    "DML-*-window-size*": (
        "A window without elements has no result; a larger one than its tensor reads beyond it."
    ),
    "DML-*-strides": "A window that does not move has no next place, so that the output would have no end.",
    "DML-*-dilations": (
        "Elements of a window lie so many apart; at a distance of 0 all would be the same one."
    ),
    "DML-*-dimensions": (
        "Windows move in the spatial dimensions, so that there must be a value for each of them."
    ),
    "DML-*-block-size": "A block of no elements holds nothing to rearrange.",
    "DML-*-effective-rank": (
        "The function is computed over one axis of a matrix, as which the tensor must be seen."
    ),
    "DML-*-both-directions": "Each direction has its own weights and results, and the operator has two.",
    "DML-*-data-type": "Each operator has code for some types alone; the page lists them by feature level.",
    "DML-*-dimension-count": (
        "Each operator takes some numbers of dimensions alone; the page lists them by feature level."
    ),
    "DML-*-sizes": (
        "These sizes follow from other tensors and attributes. Memory of another size would be read or "
        "written."
    ),
    "DML-*-owned": (
        "The tensor's values are needed anew at each execution, so that DirectML cannot keep a copy of it."
    ),
    "DML-*-re*quired": "The operator has nothing to compute with in place of this tensor.",
    "DML-*-unique": "A dimension takes part once; naming it twice has no meaning.",
    "DML-*-ax[ei]*": "An axis is the number of a dimension, from 0 on.",
    "DML-*-count": "The count says how many elements the arrays have, which are read as raw memory.",
    "DML-*-together": "One of these tensors says nothing without the other.",
    "DML-*-exclusive": "These tensors are two ways to say the same, of which one may be used.",
}
OTHERWISE = (
    "The page states it of these fields; with other values the operator has no result that is defined."
)


def reason_of(identifier: str) -> str:
    """Why the rule exists."""
    return next(
        (reason for pattern, reason in REASONS.items() if fnmatchcase(identifier, pattern)), OTHERWISE
    )
