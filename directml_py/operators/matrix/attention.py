"""Attention: the sizes that queries, keys and values have, stacked or not, and what is computed of them."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...api.enums import (
    DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN,
    DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_QUERY_SEQUENCE_LENGTH_START_END,
    DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_END_START,
    DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_LENGTH,
)
from ...descs.operator_desc import OperatorDesc
from ...descs.tensor import TensorDesc
from ...kernels.attention import Added, attend, attend_heads, scratch_for
from ...kernels.backend import backend
from ...kernels.elementwise.map import store
from ...kernels.half import widened
from ...kernels.native_arrays import Array, Run
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
)
from .attention_masks import mask_of
from .attention_operands import Given, joined, operands
from .leading_ones import led

# What the other sizes follow from: where these are as they must be, they do not follow themselves.
SOURCES = (
    "QueryTensor",
    "ValueTensor",
    "StackedQueryKeyTensor",
    "StackedKeyValueTensor",
    "StackedQueryKeyValueTensor",
)


class Attention(NamedTuple):
    """What every size of an attention follows from.

    ``queries`` and ``keys`` are sequence lengths; ``keys`` has the new ones alone, 0 where the ``past`` supplies all.
    ``key_heads`` of the keys and values serve ``heads`` of the queries. A row of the queries has ``spare`` elements
    behind its heads.
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
        """How many keys there are with those of the past."""
        return self.past + self.keys


def attention_of(desc: OperatorDesc, heads: int, key_heads: int) -> Attention:
    """The sizes as the queries, the keys and the past give them."""
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
    """What MaskTensor must be for its type, with ``total`` keys; None for no such type."""
    by_type: dict[int, Sizes] = {
        DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN: (sizes.batch, sizes.heads, sizes.queries, total),
        DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_LENGTH: (1, sizes.batch),
        DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_END_START: (2, sizes.batch),
        DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_QUERY_SEQUENCE_LENGTH_START_END: (3 * sizes.batch + 2,),
    }
    return by_type.get(kind)


@operator("MULTIHEAD_ATTENTION")
class MultiheadAttention(Operator):
    """``softmax(Scale * Query x Key^T + RelativePositionBias, masked) x Value``, head by head
    (ns-directml-dml_multihead_attention_operator_desc).

    The page gives PastValueTensor and OutputPresentValueTensor the head size of the keys; what is joined to the values
    has theirs. Nor does it print the sizes of RelativePositionBiasTensor and of a BOOLEAN mask: they are those of the
    first product, {batch, heads, queries, keys}, and Microsoft's library broadcasts none of them. Keys and values are
    present with their bias, as ONNX Runtime has them. The library also takes queries whose rows are not divided by the
    heads; what is left of a row of the queries, the keys and their bias belongs to no head.

    What is masked has MaskFilterValue added, as the operator's formula and the field itself say, though others say
    that it is set to that; ONNX Runtime adds it, too. So a query all of whose keys are masked attends as if none were.
    """

    def sizes(self, desc: OperatorDesc) -> Attention:
        return attention_of(desc, desc.HeadCount, desc.HeadCount)

    def present(self, desc: OperatorDesc, sizes: Attention, chosen: int | None) -> int:
        """How many keys and values the present ones have."""
        return sizes.total

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
        """A tensor that has the dimension count of the output; None if that is free."""
        tensor: TensorDesc | None = desc.QueryTensor or desc.ValueTensor
        return tensor

    def mask_shape(self, desc: OperatorDesc, sizes: Attention, total: int) -> Shape | None:
        """What MaskTensor must be, with ``total`` keys; None for no mask."""
        mask: TensorDesc | None = desc.MaskTensor
        wanted = None if mask is None else mask_sizes(desc.MaskType, sizes, total)
        if mask is None or wanted is None:
            return None
        return led(wanted, mask) if mask.dimension_count >= len(wanted) else wanted

    def bias_shape(self, scores: Sizes) -> Shape:
        """What RelativePositionBiasTensor must be, beside ``scores`` of its dimension count."""
        return scores

    def past_lengths(self, desc: OperatorDesc, given: Given) -> Any:
        """How much of the past each batch has, where a tensor tells."""
        return None

    def compute(self, desc: OperatorDesc) -> Compute:
        """One head at a time, so that the scores of one alone are held."""
        sizes = self.sizes(desc)
        room = self.present(desc, sizes, None)
        names = [slot.field for slot in desc.inputs]
        group = sizes.heads // sizes.key_heads

        def attention(*inputs: Array | None) -> tuple[Array | None, ...]:
            given = dict(zip(names, inputs))
            lengths = self.past_lengths(desc, given)
            queries, new_keys, new_values = operands(given, sizes)
            keys = joined(given["PastKeyTensor"], new_keys, room, lengths)
            values = joined(given["PastValueTensor"], new_values, room, lengths)
            mask = mask_of(desc.MaskType, given["MaskTensor"], sizes)
            bias = given["RelativePositionBiasTensor"]
            if bias is not None:
                bias = np.broadcast_to(
                    bias.reshape(bias.shape[-4:]), (sizes.batch, sizes.heads, sizes.queries, room)
                )
            shape = (sizes.batch, sizes.queries, sizes.heads, sizes.value_head_size)
            output = np.empty(shape, queries.dtype)
            for batch, head in np.ndindex(sizes.batch, sizes.heads):
                past = None if lengths is None else int(lengths[batch])
                seen = room if past is None else past + sizes.keys
                attend(
                    queries[batch, :, head],
                    keys[batch, head // group, :seen],
                    values[batch, head // group, :seen],
                    output[batch, :, head],
                    desc.Scale,
                    None if bias is None else bias[batch, head, :, :seen],
                    None if mask is None else mask.masked(batch, head, seen),
                    desc.MaskFilterValue,
                    past,
                )
            return tuple(
                None if slot.tensor is None else result.reshape(slot.tensor.sizes)
                for slot, result in zip(desc.outputs, (output, keys, values))
            )

        return attention

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """All heads of a batch at a time, where each has keys of its own and no length says how many there are."""
        sizes, names = self.sizes(desc), [slot.field for slot in desc.inputs]
        is_plain = sizes.heads == sizes.key_heads and "PastSequenceLengthsTensor" not in names
        if backend.native is None or not (is_plain and sizes.total and sizes.head_size):
            return super().kernel(desc)

        def attention(inputs: Inputs, outputs: Outputs, scratch: Array) -> None:
            given = {name: None if one is None else widened(one) for name, one in zip(names, inputs)}
            queries, new_keys, new_values = operands(given, sizes)
            keys = joined(given["PastKeyTensor"], new_keys, sizes.total, None)
            values = joined(given["PastValueTensor"], new_values, sizes.total, None)
            mask = mask_of(desc.MaskType, given["MaskTensor"], sizes)
            bias = given["RelativePositionBiasTensor"]
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
                attend_heads(
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
                )
            present = [
                None if output is None else one.reshape(output.shape)
                for output, one in zip(outputs[1:], (keys, values))
            ]
            store(outputs, (results, *present))

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            return partial(attention, inputs, outputs, scratch)

        scratch = scratch_for(sizes.heads, sizes.queries, sizes.total, sizes.head_size, sizes.value_head_size)
        return Kernel(bind, scratch)
