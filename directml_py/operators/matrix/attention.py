"""Multi-head attention over separate or stacked queries, keys and values."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...abi.hresult import E_INVALIDARG
from ...api.enums import (
    DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN,
    DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_QUERY_SEQUENCE_LENGTH_START_END,
    DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_END_START,
    DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_LENGTH,
)
from ...descs.operator_desc import OperatorDesc
from ...descs.tensor import TensorDesc
from ...kernels.attention import Added, attend, bound_heads, scratch_for
from ...kernels.backend import backend
from ...kernels.elementwise.map import store
from ...kernels.half import widened
from ...kernels.launch import launch_in_order
from ...kernels.move import move
from ...kernels.native_arrays import Array, Run, apart
from ...kernels.reorder import over_packed
from ...validation.report import Report
from ..attributes import led
from ..operator import (
    Compute,
    Inputs,
    Kernel,
    Operator,
    Outputs,
    Shape,
    Shapes,
    Sizes,
    operator,
    operator_rule,
    summing_kernel,
)
from .attention_masks import mask_of
from .attention_operands import Tensors, joined, operands, placed

# The other sizes are inferred from these tensors, whose own sizes are inferred only where they are wrong.
SOURCES = (
    "QueryTensor",
    "ValueTensor",
    "StackedQueryKeyTensor",
    "StackedKeyValueTensor",
    "StackedQueryKeyValueTensor",
)


_PAST = operator_rule(
    "MULTIHEAD_ATTENTION",
    "compiled-past",
    "Without a mask, past keys or values have present ones if MaskType is KEY_QUERY_SEQUENCE_LENGTH_START_END",
    library=True,
)


class Attention(NamedTuple):
    """The parameters that determine every size of an attention.

    ``queries`` and ``keys`` are sequence lengths; ``keys`` counts the new ones only, 0 where ``past`` supplies all.
    ``heads`` query heads share ``key_heads`` heads of keys and values. A row of the queries has ``spare`` elements
    after its heads.
    """

    batch: int
    heads: int
    key_heads: int
    queries: int
    keys: int
    past: int
    head_size: int
    value_head_size: int
    spare: int = 0

    @property
    def hidden(self) -> int:
        """The length of a row of the queries."""
        return self.heads * self.head_size + self.spare

    @property
    def key_hidden(self) -> int:
        """The length of a row of the keys."""
        return self.key_heads * self.head_size + self.spare

    @property
    def total(self) -> int:
        """The count of keys, past ones included."""
        return self.past + self.keys


def attention_of(desc: OperatorDesc, heads: int, key_heads: int) -> Attention:
    """The parameters read off the queries, the keys and the past."""
    spare = 0
    with_key = desc.StackedQueryKeyTensor or desc.StackedQueryKeyValueTensor
    with_value = desc.StackedKeyValueTensor or desc.StackedQueryKeyValueTensor
    if with_key is not None:
        batch, queries, _, _, head_size = with_key.sizes
    else:
        batch, queries, hidden_size = desc.QueryTensor.sizes[-3:]
        head_size, spare = divmod(hidden_size, heads)
    past = desc.PastValueTensor.sizes[-2] if desc.PastValueTensor is not None else 0
    if with_value is not None:
        value_head_size = head_size
    elif desc.ValueTensor is not None:
        value_head_size = desc.ValueTensor.sizes[-1] // key_heads
    else:
        value_head_size = desc.PastValueTensor.sizes[-1]
    stack = with_key or desc.StackedKeyValueTensor
    keys = 0
    if stack is not None:
        keys = stack.sizes[1]
    elif desc.KeyTensor is not None:
        keys = desc.KeyTensor.sizes[-2]
    return Attention(batch, heads, key_heads, queries, keys, past, head_size, value_head_size, spare)


def mask_sizes(kind: int, sizes: Attention, total: int) -> Sizes | None:
    """The required sizes of MaskTensor for mask type ``kind`` and ``total`` keys; None for other types."""
    by_type: dict[int, Sizes] = {
        DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN: (sizes.batch, sizes.heads, sizes.queries, total),
        DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_LENGTH: (1, sizes.batch),
        DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_END_START: (2, sizes.batch),
        DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_QUERY_SEQUENCE_LENGTH_START_END: (3 * sizes.batch + 2,),
    }
    return by_type.get(kind)


def bound_runs(
    tensors_by_field: Tensors, outputs: Outputs, scratch: Array, sizes: Attention, scale: float
) -> list[Run] | None:
    """The native calls of an attention that reads its tensors as they are, FLOAT32 without a mask or a bias of the
    operands: past and new keys and values are joined in the memory of the present ones. None for any other."""
    tensors = [tensor for tensor in tensors_by_field.values() if tensor is not None]
    arrays = [*tensors, *(output for output in outputs if output is not None)]
    if tensors_by_field["MaskTensor"] is not None or tensors_by_field["BiasTensor"] is not None:
        return None
    if not all(array.dtype == np.float32 and array.flags.c_contiguous for array in arrays):
        return None
    if not all(apart(output, tensors) for output in outputs if output is not None):
        return None
    queries, *new = operands(tensors_by_field, sizes)
    past = tensors_by_field["PastKeyTensor"], tensors_by_field["PastValueTensor"]
    joins = [placed(*parts) for parts in zip(past, new, outputs[1:])]
    bias, target = tensors_by_field["RelativePositionBiasTensor"], outputs[0]
    if None in joins or target is None:
        return None
    (keys, key_copies), (values, value_copies) = (join for join in joins if join is not None)
    shape = (sizes.batch, sizes.heads, sizes.queries, sizes.total)
    if bias is not None:
        bias = np.broadcast_to(bias.reshape(bias.shape[-4:]), shape)
    heads = target.reshape(sizes.batch, sizes.queries, sizes.heads, -1).swapaxes(1, 2)
    copies = [*key_copies, *value_copies]
    return [
        *([move(copies)] if copies else []),
        *(
            bound_heads(
                queries[batch].swapaxes(0, 1),
                keys[batch],
                values[batch],
                heads[batch],
                scale,
                Added((None if bias is None else bias[batch], None)),
                scratch,
            )
            for batch in range(sizes.batch)
        ),
    ]


@operator("MULTIHEAD_ATTENTION")
class MultiheadAttention(Operator):
    """``softmax(Scale * Query x Key^T + RelativePositionBias, masked) x Value``, head by head
    (ns-directml-dml_multihead_attention_operator_desc).

    The page gives PastValueTensor and OutputPresentValueTensor the head size of the keys; as they are concatenated
    with values, they have that of the values. Nor does it print the sizes of RelativePositionBiasTensor and of a
    BOOLEAN mask: they are those of the first product, {batch, heads, queries, keys}, and Microsoft's library broadcasts
    none of them. Present keys and values include their bias, as in ONNX Runtime. The library also accepts queries
    whose row length is not divisible by the heads; the remainder of a row of the queries, the keys and their bias
    belongs to no head.

    MaskFilterValue is added to masked scores, as the operator's formula and the field's description say, though other
    sentences say that it replaces them; ONNX Runtime adds it too. A query all of whose keys are masked therefore
    attends as if none were.
    """

    def sizes(self, desc: OperatorDesc) -> Attention:
        return attention_of(desc, desc.HeadCount, desc.HeadCount)

    def present(self, desc: OperatorDesc, sizes: Attention, chosen: int | None) -> int:
        """The sequence length of the present keys and values."""
        return sizes.total

    def products(self, desc: OperatorDesc) -> int:
        """Of queries and keys, and of weights and values: few for a single query, however many keys there are."""
        sizes = self.sizes(desc)
        scores = sizes.batch * sizes.heads * sizes.queries * self.present(desc, sizes, None)
        return scores * (sizes.head_size + sizes.value_head_size)

    def shapes(self, desc: OperatorDesc, *, present_length: int | None = None) -> Shapes:
        sizes = self.sizes(desc)
        total = self.present(desc, sizes, present_length)
        hidden, key_hidden = sizes.hidden, sizes.key_hidden
        value_hidden = sizes.key_heads * sizes.value_head_size
        behind_ones: dict[str, Sizes] = {
            "QueryTensor": (sizes.batch, sizes.queries, hidden),
            "KeyTensor": (sizes.batch, sizes.keys, key_hidden),
            "ValueTensor": (sizes.batch, sizes.keys, value_hidden),
            "StackedQueryKeyTensor": (sizes.batch, sizes.queries, sizes.heads, 2, sizes.head_size),
            "StackedKeyValueTensor": (sizes.batch, sizes.keys, sizes.key_heads, 2, sizes.head_size),
            "StackedQueryKeyValueTensor": (sizes.batch, sizes.queries, sizes.heads, 3, sizes.head_size),
            "BiasTensor": (hidden + key_hidden + value_hidden,),
            "PastKeyTensor": (sizes.batch, sizes.key_heads, sizes.past, sizes.head_size),
            "PastValueTensor": (sizes.batch, sizes.key_heads, sizes.past, sizes.value_head_size),
            "OutputTensor": (sizes.batch, sizes.queries, sizes.heads * sizes.value_head_size),
            "OutputPresentKeyTensor": (sizes.batch, sizes.key_heads, total, sizes.head_size),
            "OutputPresentValueTensor": (sizes.batch, sizes.key_heads, total, sizes.value_head_size),
        }
        shapes: dict[str, Shape] = {
            name: shape
            for name, shape in ((name, led(one, getattr(desc, name))) for name, one in behind_ones.items())
            if name not in SOURCES or getattr(desc, name) is None or getattr(desc, name).sizes != shape
        }
        if desc.OutputTensor is None:
            shapes["OutputTensor"] = led(behind_ones["OutputTensor"], self.like_output(desc))
        mask = self.mask_shape(desc, sizes, total)
        if mask is not None:
            shapes["MaskTensor"] = mask
        scores = led((sizes.batch, sizes.heads, sizes.queries, total), desc.RelativePositionBiasTensor)
        shapes["RelativePositionBiasTensor"] = self.bias_shape(scores)
        return shapes

    def like_output(self, desc: OperatorDesc) -> TensorDesc | None:
        """The tensor whose dimension count the output must have; None if that is free."""
        tensor: TensorDesc | None = desc.QueryTensor or desc.ValueTensor
        return tensor

    def mask_shape(self, desc: OperatorDesc, sizes: Attention, total: int) -> Shape | None:
        """The shape of MaskTensor for ``total`` keys; None without a mask."""
        mask: TensorDesc | None = desc.MaskTensor
        expected = None if mask is None else mask_sizes(desc.MaskType, sizes, total)
        if mask is None or expected is None:
            return None
        return led(expected, mask) if mask.dimension_count >= len(expected) else expected

    def check_compilation(self, desc: OperatorDesc, report: Report) -> int:
        """Microsoft's library accepts past keys and values for a mask that is not there, but has no kernel for them
        unless it also writes the present ones. Of MULTIHEAD_ATTENTION1, which it does not have yet, nothing is known.
        """
        has_past = desc.PastKeyTensor is not None or desc.PastValueTensor is not None
        has_present = desc.OutputPresentKeyTensor is not None or desc.OutputPresentValueTensor is not None
        kind = DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_QUERY_SEQUENCE_LENGTH_START_END
        is_unsupported = desc.MaskType == kind and desc.MaskTensor is None and has_past and not has_present
        if is_unsupported and desc.name == "MULTIHEAD_ATTENTION":
            text = f"is {kind.name}; without MaskTensor, past keys and values then compile with present ones alone"
            report.add(_PAST, "MaskType", text)
        return E_INVALIDARG

    def bias_shape(self, scores: Sizes) -> Shape:
        """The shape of RelativePositionBiasTensor for ``scores``, which have its dimension count."""
        return scores

    def past_lengths(self, desc: OperatorDesc, tensors_by_field: Tensors) -> Any:
        """The past length of each batch, where a tensor gives it."""
        return None

    def compute(self, desc: OperatorDesc) -> Compute:
        """One head at a time, so that only one head's scores are in memory."""
        sizes = self.sizes(desc)
        room = self.present(desc, sizes, None)
        names = [slot.field for slot in desc.inputs]
        group = sizes.heads // sizes.key_heads

        def attention(*inputs: Array | None) -> tuple[Array | None, ...]:
            tensors_by_field = dict(zip(names, inputs))
            lengths = self.past_lengths(desc, tensors_by_field)
            queries, new_keys, new_values = operands(tensors_by_field, sizes)
            keys = joined(tensors_by_field["PastKeyTensor"], new_keys, room, lengths)
            values = joined(tensors_by_field["PastValueTensor"], new_values, room, lengths)
            mask = mask_of(desc.MaskType, tensors_by_field["MaskTensor"], sizes)
            bias = tensors_by_field["RelativePositionBiasTensor"]
            if bias is not None:
                bias = np.broadcast_to(
                    bias.reshape(bias.shape[-4:]), (sizes.batch, sizes.heads, sizes.queries, room)
                )
            shape = (sizes.batch, sizes.queries, sizes.heads, sizes.value_head_size)
            output = np.empty(shape, queries.dtype)
            for batch, head in np.ndindex(sizes.batch, sizes.heads):
                past = None if lengths is None else int(lengths[batch])
                key_count = room if past is None else past + sizes.keys
                attend(
                    queries[batch, :, head],
                    keys[batch, head // group, :key_count],
                    values[batch, head // group, :key_count],
                    output[batch, :, head],
                    desc.Scale,
                    None if bias is None else bias[batch, head, :, :key_count],
                    None if mask is None else mask.masked(batch, head, key_count),
                    desc.MaskFilterValue,
                    past,
                )
            return tuple(
                None if slot.tensor is None else result.reshape(slot.tensor.sizes)
                for slot, result in zip(desc.outputs, (output, keys, values))
            )

        return attention

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """All heads of a batch at a time, where each has its own keys and there are no past lengths."""
        sizes, names = self.sizes(desc), [slot.field for slot in desc.inputs]
        is_plain = sizes.heads == sizes.key_heads and "PastSequenceLengthsTensor" not in names
        if backend.native is None or not (is_plain and sizes.total and sizes.head_size):
            return summing_kernel(self.compute(desc))

        def attention(inputs: Inputs, outputs: Outputs, scratch: Array) -> None:
            tensors_by_field = {
                name: None if array is None else widened(array) for name, array in zip(names, inputs)
            }
            queries, new_keys, new_values = operands(tensors_by_field, sizes)
            keys = joined(tensors_by_field["PastKeyTensor"], new_keys, sizes.total, None)
            values = joined(tensors_by_field["PastValueTensor"], new_values, sizes.total, None)
            mask = mask_of(desc.MaskType, tensors_by_field["MaskTensor"], sizes)
            bias = tensors_by_field["RelativePositionBiasTensor"]
            shape = (sizes.heads, sizes.queries, sizes.total)
            if bias is not None:
                bias = np.broadcast_to(bias.reshape(bias.shape[-4:]), (sizes.batch, *shape))
            target = outputs[0]
            is_direct = target.dtype == np.float32 and target.flags.c_contiguous
            results = target if is_direct else np.empty(target.shape, np.float32)
            heads = results.reshape(sizes.batch, sizes.queries, sizes.heads, -1).swapaxes(1, 2)
            for batch in range(sizes.batch):
                others = (
                    None if bias is None else bias[batch],
                    None if mask is None else mask.added(batch, sizes.total, desc.MaskFilterValue),
                )
                bound_heads(
                    queries[batch].swapaxes(0, 1),
                    keys[batch],
                    values[batch],
                    heads[batch],
                    desc.Scale,
                    Added(
                        (others[0], None if others[1] is None else np.broadcast_to(others[1], shape)),
                        None if mask is None else mask.of_all(batch, sizes.total),
                        desc.MaskFilterValue,
                    ),
                    scratch,
                )()
            present = [
                None if output is None else present.reshape(output.shape)
                for output, present in zip(outputs[1:], (keys, values))
            ]
            store(outputs, (results, *present))

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            runs = bound_runs(dict(zip(names, inputs)), outputs, scratch, sizes, desc.Scale)
            return partial(attention, inputs, outputs, scratch) if runs is None else launch_in_order(runs)

        scratch = scratch_for(sizes.heads, sizes.queries, sizes.total, sizes.head_size, sizes.value_head_size)
        return Kernel(over_packed(bind), scratch)
