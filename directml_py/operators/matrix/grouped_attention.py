"""Grouped-query attention, with past sequence lengths given by a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...api.enums import DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN
from ...descs.format import braces
from ...descs.operator_desc import OperatorDesc
from ...descs.tensor import TensorDesc
from ...kernels.elementwise.functions import saturated
from ...kernels.native_arrays import Array, Run
from ...validation.report import Report
from ..attributes import led
from ..operator import Broadcast, Inputs, Kernel, Outputs, Shape, Shapes, Sizes, operator, operator_rule
from .attention import Attention, MultiheadAttention, attention_of, mask_sizes
from .attention_operands import Tensors

PAST_LENGTHS = operator_rule(
    "MULTIHEAD_ATTENTION1",
    "past-length-range",
    "Every past length is at most that of the past tensors, and leaves room for the new keys",
    debug=True,
)


@operator("MULTIHEAD_ATTENTION1")
class MultiheadAttention1(MultiheadAttention):
    """Multi-head attention with fewer heads for keys and values than for queries, and with past lengths in a tensor
    (ns-directml-dml_multihead_attention1_operator_desc, which leaves both open).

    Consecutive query heads share one head of keys and values.

    The rest follows GroupQueryAttention in ONNX Runtime, whose provider passes a length for each batch, no mask and no
    past. With PastSequenceLengthsTensor the present keys and values are as long as their tensors: one KV cache is kept
    from step to step. ``present_length`` sets its length. The new keys and values are written at the past length, and
    whatever lies after them is ignored. Without past tensors the past is what the present tensors already hold. Query i
    of a batch has position length + i and is causally masked from all later keys, whatever MaskFilterValue is. Lengths
    out of range are clamped, and fractions truncated.
    """

    def sizes(self, desc: OperatorDesc) -> Attention:
        return attention_of(desc, desc.QueryHeadCount, desc.KeyValueHeadCount)

    def present(self, desc: OperatorDesc, sizes: Attention, chosen: int | None) -> int:
        if desc.PastSequenceLengthsTensor is None:
            return sizes.total
        output = desc.OutputPresentKeyTensor or desc.OutputPresentValueTensor
        if chosen is not None or output is None:
            return sizes.total if chosen is None else chosen
        return max(sizes.keys, int(output.sizes[-2]))

    def shapes(self, desc: OperatorDesc, *, present_length: int | None = None) -> Shapes:
        sizes = self.sizes(desc)
        lengths = led((sizes.batch,), desc.PastSequenceLengthsTensor)
        return {**super().shapes(desc, present_length=present_length), "PastSequenceLengthsTensor": lengths}

    def like_output(self, desc: OperatorDesc) -> TensorDesc | None:
        return None

    def mask_shape(self, desc: OperatorDesc, sizes: Attention, total: int) -> Shape | None:
        mask: TensorDesc | None = desc.MaskTensor
        if mask is None:
            return None
        if desc.MaskType != DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN:
            bounds = mask_sizes(desc.MaskType, sizes, total)
            return None if bounds is None else led(bounds, mask)
        # The page prints no sizes. ONNX Runtime masks the new keys only, even if there are past ones.
        keys = sizes.keys if mask.sizes[-1] == sizes.keys else total
        scores = (sizes.batch, sizes.heads, sizes.queries, keys)
        return Broadcast(led(scores, mask) if mask.dimension_count >= 4 else scores[-mask.dimension_count :])

    def bias_shape(self, scores: Sizes) -> Shape:
        """Each size may also be 1: Microsoft's library is not known to reject that here."""
        return Broadcast(scores)

    def most_past(self, desc: OperatorDesc) -> int:
        """The greatest valid past length."""
        sizes = self.sizes(desc)
        free = self.present(desc, sizes, None) - sizes.keys
        return free if desc.PastValueTensor is None else min(free, sizes.past)

    def past_lengths(self, desc: OperatorDesc, tensors_by_field: Tensors) -> Any:
        lengths = tensors_by_field["PastSequenceLengthsTensor"]
        if lengths is None:
            return None
        whole = lengths if lengths.dtype.kind == "i" else saturated(lengths, np.dtype(np.int64))
        return np.clip(whole.reshape(-1), 0, self.most_past(desc))

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        lengths = dict(zip((slot.field for slot in desc.inputs), inputs))["PastSequenceLengthsTensor"]
        if lengths is None:
            return
        most = self.most_past(desc)
        wrong = np.argwhere(~((lengths >= 0) & (lengths <= most)))
        if len(wrong):
            report.add(
                PAST_LENGTHS,
                "PastSequenceLengthsTensor",
                f"has lengths outside [0, {most}], {len(wrong)} of {lengths.size}; the first is "
                f"{lengths[tuple(wrong[0])]} at {braces(wrong[0])}",
            )

    def kernel(self, desc: OperatorDesc) -> Kernel:
        kernel = super().kernel(desc)
        if desc.PastSequenceLengthsTensor is None or desc.PastValueTensor is not None:
            return kernel
        names = [slot.field for slot in desc.inputs]

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            _, keys, values = outputs
            tensors_by_field = {**dict(zip(names, inputs)), "PastKeyTensor": keys, "PastValueTensor": values}
            return kernel.bind([tensors_by_field[name] for name in names], outputs, scratch)

        return Kernel(bind)
