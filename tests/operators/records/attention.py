"""MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1: the formula of the page, one score after another, in FLOAT64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .record import DYADIC, Record, Twins, Values

OPERANDS = ("Query", "Key", "Value")


class Case:
    """The tensors of a desc, without leading ones."""

    def __init__(self, desc: Any, inputs: Any) -> None:
        self.desc = desc
        self.given = {slot.field.removesuffix("Tensor"): one for slot, one in zip(desc.inputs, inputs)}
        is_grouped = "QueryHeadCount" in desc.struct.index
        self.heads = desc.QueryHeadCount if is_grouped else desc.HeadCount
        self.key_heads = desc.KeyValueHeadCount if is_grouped else desc.HeadCount

    def operand(self, name: str) -> Any:
        """{batch, sequence, heads, size}, with its bias; None if there is no new one."""
        heads = self.heads if name == "Query" else self.key_heads
        for field, array in self.given.items():
            if array is not None and field.startswith("Stacked") and name in field:
                return self.biased(name, array[..., [one for one in OPERANDS if one in field].index(name), :])
        alone = self.given[name]
        if alone is None:
            return None
        return self.biased(name, alone.reshape(alone.shape[-3], alone.shape[-2], heads, -1))

    def biased(self, name: str, array: Any) -> Any:
        bias = self.given["Bias"]
        if bias is None:
            return array
        hidden = array.shape[2] * array.shape[3]
        bias = bias.ravel()
        if name == "Value":
            share = bias[len(bias) - hidden :]
        else:
            start = 0 if name == "Query" else self.heads * array.shape[3]
            share = bias[start : start + hidden]
        return array + share.reshape(array.shape[2:])

    def past(self, name: str) -> Any:
        past = self.given[f"Past{name}"]
        return None if past is None else past.reshape(past.shape[-4:])

    def is_masked(self, batch: int, head: int, query: int, key: int, keys: int, new: int) -> bool:
        """Whether a key is masked from a query; the last ``new`` keys are new."""
        mask, kind = self.given["Mask"], self.desc.MaskType.name.split("MASK_TYPE_")[1]
        if mask is None:
            return False
        if kind == "BOOLEAN":
            column = key
            if mask.shape[-1] == new:
                column = key - (keys - new)
                if column < 0:
                    return False
            place = (batch, head, query, column)
            mask = mask.reshape(mask.shape[-4:])
            sizes = zip(mask.shape, place[4 - mask.ndim :])
            return bool(mask[tuple(0 if size == 1 else at for size, at in sizes)] == 0)
        numbers = mask.ravel()
        batches = {"KEY_SEQUENCE_LENGTH": numbers.size, "KEY_SEQUENCE_END_START": numbers.size // 2}
        if kind == "KEY_SEQUENCE_END_START" and key < numbers[batches[kind] + batch]:
            return True
        return bool(key >= numbers[batch])


def attention(desc: Any, *inputs: Any) -> Any:
    case = Case(desc, inputs)
    queries, new_keys, new_values = map(case.operand, OPERANDS)
    new = 0 if new_values is None else new_values.shape[1]
    batches, count = queries.shape[:2]
    lengths = past_lengths(desc, case, batches, new)
    keys = present(case.past("Key"), new_keys, lengths)
    values = present(case.past("Value"), new_values, lengths)
    bias = case.given.get("RelativePositionBias")
    output = np.zeros((batches, count, case.heads, values[0][0].shape[-1]))
    for batch, query, head in np.ndindex(batches, count, case.heads):
        group = head * case.key_heads // case.heads
        seen = len(keys[batch][group]) if lengths is None else int(lengths[batch]) + new
        visible = seen if lengths is None else min(seen, int(lengths[batch]) + query + 1)
        scores = []
        for key in range(visible):
            score = desc.Scale * math.fsum(queries[batch, query, head] * keys[batch][group][key])
            if bias is not None:
                place = (batch, head, query, key)
                four = bias.reshape(bias.shape[-4:])
                score += four[tuple(0 if size == 1 else at for size, at in zip(four.shape, place))]
            scores.append(score)
        masked = [case.is_masked(batch, head, query, key, seen, new) for key in range(visible)]
        if not all(masked):
            scores = [score + desc.MaskFilterValue * hidden for score, hidden in zip(scores, masked)]
        weights = [math.exp(score - max(scores)) for score in scores]
        for part in range(output.shape[-1] if weights else 0):
            terms = [weight * values[batch][group][key][part] for key, weight in enumerate(weights)]
            output[batch, query, head, part] = math.fsum(terms) / math.fsum(weights)
    return [
        None if slot.tensor is None else np.array(result).reshape(slot.tensor.sizes)
        for slot, result in zip(desc.outputs, (output, roomy(keys, desc), roomy(values, desc)))
    ]


def past_lengths(desc: Any, case: Case, batches: int, new: int) -> Any:
    lengths = case.given.get("PastSequenceLengths")
    if lengths is None:
        return None
    past = case.past("Value")
    most = 0 if past is None else past.shape[2]
    room = room_of(desc)
    if room is not None:
        most = min(most, room - new)
    return [min(max(math.trunc(one), 0), most) for one in lengths.ravel()]


def room_of(desc: Any) -> int | None:
    tensor = desc.OutputPresentKeyTensor or desc.OutputPresentValueTensor
    return None if tensor is None else int(tensor.sizes[-2])


def present(past: Any, new: Any, lengths: Any) -> list[list[Any]]:
    """For each batch and head a list of rows: the past up to its length, the new ones, the rest of the past."""
    batches, heads = past.shape[:2] if past is not None else (new.shape[0], new.shape[2])
    rows = []
    for batch in range(batches):
        rows.append([])
        for head in range(heads):
            old = [] if past is None else list(past[batch, head])
            fresh = [] if new is None else list(new[batch, :, head])
            length = len(old) if lengths is None else int(lengths[batch])
            rows[-1].append(np.array([*old[:length], *fresh, *old[length + len(fresh) :]]))
    return rows


def roomy(rows: list[list[Any]], desc: Any) -> Any:
    """Truncated or zero-padded to the size."""
    room = room_of(desc)
    if room is None:
        return None
    return [[np.pad(one[:room], ((0, max(0, room - len(one))), (0, 0))) for one in heads] for heads in rows]


# Scores are exact, and values positive, so that their sums do not cancel.
POSITIVE = Values(1, 4, step=0.125)
VALUES = {
    "QueryTensor": Values(-2, 2, step=0.125),
    "KeyTensor": Values(-2, 2, step=0.125),
    "ValueTensor": POSITIVE,
    "StackedQueryKeyTensor": Values(-2, 2, step=0.125),
    "StackedKeyValueTensor": POSITIVE,
    "StackedQueryKeyValueTensor": POSITIVE,
    "BiasTensor": Values(-0.5, 0.5, step=0.125),
    "MaskTensor": Values(-1, 4, limited=True),
    "RelativePositionBiasTensor": DYADIC,
    "PastKeyTensor": Values(-2, 2, step=0.125),
    "PastValueTensor": POSITIVE,
    "PastSequenceLengthsTensor": Values(-1, 6, limited=True),
}
# Scores, exponentials, their sum and the products are each rounded in FLOAT32.
ULPS = {"float32": 4, "float16": 1}
TWINS = Twins(dyadic=True, positive=True, ulps=4)
RECORDS = {
    "MULTIHEAD_ATTENTION": Record(attention, VALUES, 64, ulps=ULPS, twins=TWINS),
    "MULTIHEAD_ATTENTION1": Record(attention, VALUES, 96, ulps=ULPS, twins=TWINS),
}
