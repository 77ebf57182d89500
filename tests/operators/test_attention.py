"""Attention compared with ONNX Runtime's operators, over many steps that share one present, and a few queries at a
time."""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml
from directml_py.descs import decode_operator_desc
from directml_py.kernels import attention
from directml_py.session import Session

from .helpers import generator, tensor, tensor_of
from .records import RECORDS
from .records.onnx_node import MICROSOFT, run
from .records.record import exactly
from .test_references import differences, sample

MHA, MHA1 = "MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1"
BATCH, HEADS, QUERIES, KEYS, SIZE, PAST = 2, 4, 5, 5, 8, 3
SCALE = SIZE**-0.5
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def normal(*sizes):
    return generator(*sizes).normal(0, 1, sizes).astype(np.float32)


def described(name, output_sizes, attributes, **inputs):
    """The desc of an operator for arrays by tensor name, and the inputs for ``evaluate``."""
    struct = getattr(dml, f"DML_{name}_OPERATOR_DESC")
    tensors = {field: tensor_of(array) for field, array in inputs.items()}
    names = ("OutputTensor", "OutputPresentKeyTensor", "OutputPresentValueTensor")
    tensors |= {field: tensor("FLOAT32", sizes) for field, sizes in zip(names, output_sizes)}
    fields = [field for field, _ in struct._fields_]
    arrays = [inputs.get(field) for field in fields[: fields.index("OutputTensor")]]
    return struct(**tensors, **attributes), arrays


def attend(name, output_sizes, attributes, **inputs):
    return dml.evaluate(*described(name, output_sizes, attributes, **inputs))


def mask_type(name):
    return dml.DML_MULTIHEAD_ATTENTION_MASK_TYPE[f"DML_MULTIHEAD_ATTENTION_MASK_TYPE_{name}"]


OPERANDS = ("QueryTensor", "KeyTensor", "ValueTensor")
LENGTHS = np.array([2, 7], np.int32)
# ONNX Runtime's mask, the provider's conversion of it, and its mask type; for {BATCH, PAST + KEYS}.
MASKS = {
    "NONE": (None, None),
    "KEY_SEQUENCE_LENGTH": (LENGTHS, LENGTHS[np.newaxis]),
    "KEY_QUERY_SEQUENCE_LENGTH_START_END": (
        np.array([*LENGTHS, 0, 5, 10, 0, 8, 16], np.int32),
        np.array([*LENGTHS, 0, 5, 10, 0, 8, 16], np.int32),
    ),
    "BOOLEAN": (
        np.array([[1, 1, 0, 1, 0, 1, 1, 0], [0, 1, 1, 0, 0, 0, 1, 1]], np.int32),
        np.array([[[[1, 1, 0, 1, 0, 1, 1, 0]]], [[[0, 1, 1, 0, 0, 0, 1, 1]]]], np.int32)
        .repeat(4, 1)
        .repeat(5, 2),
    ),
}


@pytest.mark.operator(MHA)
@pytest.mark.parametrize("kind", MASKS)
def test_as_onnx_runtime(kind):
    """Bias, mask, position bias and past together."""
    hidden = HEADS * SIZE
    query, key, value = (normal(BATCH, QUERIES, hidden) + one for one in range(3))
    bias, past = normal(3 * hidden), [normal(BATCH, HEADS, PAST, SIZE) + one for one in range(2)]
    position = normal(BATCH, HEADS, QUERIES, PAST + KEYS)
    theirs, ours = MASKS[kind]
    wanted = run(
        "MultiHeadAttention",
        [query, key, value, bias, theirs, position, *past],
        ["float32"] * 3,
        num_heads=HEADS,
        domain=MICROSOFT,
    )
    results = attend(
        MHA,
        [one.shape for one in wanted],
        {"Scale": SCALE, "MaskFilterValue": -10000.0, "HeadCount": HEADS, "MaskType": mask_type(kind)},
        QueryTensor=query,
        KeyTensor=key,
        ValueTensor=value,
        BiasTensor=bias,
        **({} if ours is None else {"MaskTensor": ours}),
        RelativePositionBiasTensor=position,
        PastKeyTensor=past[0],
        PastValueTensor=past[1],
    )
    for result, one in zip(results, wanted):
        np.testing.assert_allclose(result, one, **CLOSE)


@pytest.mark.operator(MHA)
def test_start_and_end_as_onnx_runtime():
    """ONNX Runtime's Attention has the ends before the starts, and a projection of its own first."""
    bounds = np.array([5, 4, 1, 0], np.int32)
    x, weights, bias = normal(BATCH, KEYS, 6), normal(6, 3 * HEADS * SIZE), normal(3 * HEADS * SIZE)
    (wanted,) = run("Attention", [x, weights, bias, bounds], ["float32"], num_heads=HEADS, domain=MICROSOFT)
    query, key, value = np.split(x @ weights, 3, axis=-1)
    (result, *_) = attend(
        MHA,
        [wanted.shape],
        {
            "Scale": SCALE,
            "MaskFilterValue": -10000.0,
            "HeadCount": HEADS,
            "MaskType": mask_type("KEY_SEQUENCE_END_START"),
        },
        QueryTensor=query,
        KeyTensor=key,
        ValueTensor=value,
        BiasTensor=bias,
        MaskTensor=bounds.reshape(2, BATCH),
    )
    np.testing.assert_allclose(result, wanted, **CLOSE)


GROUPED = {"Scale": SCALE, "QueryHeadCount": HEADS, "KeyValueHeadCount": 2}


@pytest.mark.operator(MHA1)
@pytest.mark.parametrize("filter_value", [-10000.0, 0.0])
def test_groups_as_onnx_runtime(filter_value):
    """The first step of GroupQueryAttention: no past, and a causal mask."""
    query, key, value = (normal(BATCH, QUERIES, heads * SIZE) for heads in (HEADS, 2, 2))
    lasts, total = np.full(BATCH, QUERIES - 1, np.int32), np.array([QUERIES], np.int32)
    wanted = run(
        "GroupQueryAttention",
        [query, key, value, None, None, lasts, total],
        ["float32"] * 3,
        num_heads=HEADS,
        kv_num_heads=2,
        domain=MICROSOFT,
    )
    results = attend(
        MHA1,
        [one.shape for one in wanted],
        {**GROUPED, "MaskFilterValue": filter_value},
        QueryTensor=query,
        KeyTensor=key,
        ValueTensor=value,
        PastSequenceLengthsTensor=np.zeros(BATCH, np.int32),
    )
    for result, one in zip(results, wanted):
        np.testing.assert_allclose(result, one, **CLOSE)


@pytest.mark.operator(MHA1)
def test_steps_over_one_present():
    """Prompts of 5, and 4 more tokens for each batch; the second batch is 2 behind. In a present that holds NaN before,
    the outputs are those of everything at once."""
    starts, steps, room = np.array([QUERIES, QUERIES - 2], np.int32), 4, 12
    total = QUERIES + steps
    whole = [normal(BATCH, total, heads * SIZE) for heads in (HEADS, 2, 2)]
    causal = np.triu(np.full((total, total), -np.inf, np.float32), 1)[np.newaxis, np.newaxis]
    (wanted, *_) = attend(
        MHA1,
        [whole[0].shape],
        {**GROUPED, "MaskFilterValue": 0.0},
        **dict(zip(("QueryTensor", "KeyTensor", "ValueTensor"), whole)),
        RelativePositionBiasTensor=causal,
    )
    session = Session()
    present = [session.upload(np.full((BATCH, 2, room, SIZE), np.nan, np.float32)) for _ in range(2)]

    def step(lengths, count):
        places = lengths[:, np.newaxis] + np.arange(count)
        parts = [array[np.arange(BATCH)[:, np.newaxis], places] for array in whole]
        shapes = [parts[0].shape, (BATCH, 2, room, SIZE), (BATCH, 2, room, SIZE)]
        named = dict(zip(("QueryTensor", "KeyTensor", "ValueTensor"), parts))
        desc, arrays = described(
            MHA1,
            shapes,
            {**GROUPED, "MaskFilterValue": -10000.0},
            **named,
            PastSequenceLengthsTensor=lengths,
        )
        op = session.compile(desc)
        inputs = [None if one is None else session.upload(one) for one in arrays]
        output = session.buffer(op.outputs[0].tensor.total_size)
        session.initialize(op)
        session.dispatch(op, inputs, [output, *present])
        session.execute()
        result = session.load(output, op.outputs[0].tensor)
        np.testing.assert_allclose(result, wanted[np.arange(BATCH)[:, np.newaxis], places], **CLOSE)

    step(np.zeros(BATCH, np.int32), QUERIES)
    # The second batch overwrites the padding of its prompt.
    for more in range(steps):
        step(starts + np.int32(more), 1)
    keys = session.read(present[0], np.float32).reshape(BATCH, 2, room, SIZE)
    for batch, end in enumerate(starts + steps):
        np.testing.assert_array_equal(
            keys[batch, :, :end], whole[1][batch, :end].reshape(end, 2, SIZE).swapaxes(0, 1)
        )
        assert np.isnan(keys[batch, :, max(end, QUERIES) :]).all()


@pytest.mark.operator(MHA, MHA1)
@pytest.mark.parametrize("operator", [MHA, MHA1])
def test_a_few_queries_at_a_time(operator, monkeypatch):
    """Masks, biases and causality stay aligned with their queries."""
    monkeypatch.setattr(attention, "SCORES", 4)
    for seed in range(40):
        desc, level = sample(operator, seed)
        inputs = RECORDS[operator].draw(generator(seed), desc)
        results = dml.evaluate(desc, inputs, feature_level=level)
        for result, wanted in zip(results, RECORDS[operator].reference(desc, *map(exactly, inputs))):
            assert result is None or not differences(desc, result, wanted).any()


@pytest.mark.operator(MHA)
def test_scores_are_not_held_all_at_once():
    """They are 16 MB."""
    length, heads = 512, 16
    sizes = (1, length, heads)
    desc, arrays = described(
        MHA,
        [sizes],
        {"Scale": 1.0, "HeadCount": heads},
        **dict.fromkeys(("QueryTensor", "KeyTensor", "ValueTensor"), normal(*sizes)),
    )
    dml.evaluate(desc, arrays)
    tracemalloc.start()
    dml.evaluate(desc, arrays)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * 4 * length * length


# Two batches of two heads, three queries, five new keys and a past of two.
Q, K, V, OUT = (2, 3, 8), (2, 5, 8), (2, 5, 12), (2, 3, 12)
KEY_PAST, VALUE_PAST = (2, 2, 2, 4), (2, 2, 2, 6)
OF = {"QueryTensor": Q, "KeyTensor": K, "ValueTensor": V, "OutputTensor": OUT}


def of_sizes(name=MHA, kind="NONE", heads=2, types=(), **sizes):
    """The desc of a FLOAT32 attention, except for ``types``; its mask is INT32."""
    types = {"MaskTensor": "INT32", **dict(types)}
    struct = getattr(dml, f"DML_{name}_OPERATOR_DESC")
    tensors = {field: tensor(types.get(field, "FLOAT32"), one) for field, one in sizes.items()}
    counts = {"HeadCount": heads} if name == MHA else {"QueryHeadCount": heads, "KeyValueHeadCount": heads}
    return struct(**tensors, Scale=1.0, MaskFilterValue=-10000.0, MaskType=mask_type(kind), **counts)


def broken_by(desc, strict=False):
    return {(found.rule, found.path) for found in dml.validate(desc, strict=strict)}


LED_OF_ONES = [(1, *OUT), (1, 1, *OUT)]


@pytest.mark.operator(MHA)
@pytest.mark.parametrize("sizes", LED_OF_ONES)
def test_one_dimension_count(sizes):
    """Microsoft's library requires equal ranks of queries, keys, values and outputs; stacked tensors have their own."""
    wrong = (f"DML-{MHA}-same-dimension-count", "OutputTensor.DimensionCount")
    assert broken_by(of_sizes(**{**OF, "OutputTensor": sizes})) == {wrong}
    ones = (1,) * (len(sizes) - 3)
    assert broken_by(of_sizes(**{field: ones + one for field, one in OF.items()})) == set()
    stacked = {"StackedQueryKeyTensor": (2, 5, 2, 2, 4), "ValueTensor": V, "OutputTensor": (2, 5, 12)}
    assert broken_by(of_sizes(**stacked)) == set()
    assert broken_by(of_sizes(MHA1, **{**OF, "OutputTensor": sizes})) == set()


@pytest.mark.operator(MHA)
@pytest.mark.parametrize(
    ("kind", "sizes", "is_right"),
    [
        ("BOOLEAN", (2, 2, 3, 7), True),
        ("BOOLEAN", (1, 2, 2, 3, 7), True),
        ("BOOLEAN", (2, 2, 3, 5), False),
        ("BOOLEAN", (2, 1, 3, 7), False),
        ("BOOLEAN", (2, 2, 1, 7), False),
        ("BOOLEAN", (1, 1, 1, 7), False),
        ("BOOLEAN", (2, 3, 7), False),
        ("BOOLEAN", (7,), False),
        ("KEY_SEQUENCE_LENGTH", (1, 2), True),
        ("KEY_SEQUENCE_LENGTH", (1, 1, 1, 1, 2), True),
        ("KEY_SEQUENCE_LENGTH", (2,), False),
        ("KEY_SEQUENCE_END_START", (2, 2), True),
        ("KEY_SEQUENCE_END_START", (4,), False),
        ("KEY_QUERY_SEQUENCE_LENGTH_START_END", (8,), True),
        ("KEY_QUERY_SEQUENCE_LENGTH_START_END", (1, 8), True),
    ],
)
def test_masks_are_not_broadcast(kind, sizes, is_right):
    """Those of MULTIHEAD_ATTENTION1, which the tested library lacks, may be broadcast."""
    past = {"PastKeyTensor": KEY_PAST, "PastValueTensor": VALUE_PAST}
    desc = of_sizes(kind=kind, **OF, **past, MaskTensor=sizes)
    assert broken_by(desc) == (set() if is_right else {(f"DML-{MHA}-sizes", "MaskTensor.Sizes")})
    grouped = of_sizes(MHA1, kind, **OF, **past, MaskTensor=sizes)
    assert (broken_by(grouped) == set()) == (is_right or kind == "BOOLEAN" or sizes == (2,))


@pytest.mark.operator(MHA)
def test_a_mask_of_one_batch_has_all_its_dimensions():
    one = {field: (1, *sizes[1:]) for field, sizes in OF.items()}
    wrong = {(f"DML-{MHA}-sizes", "MaskTensor.Sizes")}
    assert broken_by(of_sizes(kind="BOOLEAN", **one, MaskTensor=(2, 3, 5))) == wrong
    assert broken_by(of_sizes(kind="BOOLEAN", **one, MaskTensor=(1, 2, 3, 5))) == set()
    assert broken_by(of_sizes(kind="KEY_SEQUENCE_LENGTH", **one, MaskTensor=(1,))) == wrong


@pytest.mark.operator(MHA)
@pytest.mark.parametrize("sizes", [(1, 2, 3, 5), (2, 1, 3, 5), (2, 2, 1, 5), (2, 2, 3, 1)])
def test_position_biases_are_not_broadcast(sizes):
    wrong = {(f"DML-{MHA}-sizes", "RelativePositionBiasTensor.Sizes")}
    assert broken_by(of_sizes(**OF, RelativePositionBiasTensor=sizes)) == wrong
    assert broken_by(of_sizes(**OF, RelativePositionBiasTensor=(1, 2, 2, 3, 5))) == set()
    assert broken_by(of_sizes(MHA1, **OF, RelativePositionBiasTensor=sizes)) == set()


@pytest.mark.operator(MHA)
def test_a_bias_needs_new_keys():
    alone = {"QueryTensor": Q, "PastKeyTensor": KEY_PAST, "PastValueTensor": VALUE_PAST, "OutputTensor": OUT}
    assert broken_by(of_sizes(**alone)) == set()
    assert broken_by(of_sizes(**alone, BiasTensor=(28,))) == {(f"DML-{MHA}-bias-keys", "BiasTensor")}
    assert broken_by(of_sizes(**OF, BiasTensor=(28,))) == set()


OTHERS = {
    "BiasTensor": "bias",
    "RelativePositionBiasTensor": "relative-position-bias",
    "PastKeyTensor": "past-key",
    "PastValueTensor": "past-value",
    "OutputPresentKeyTensor": "present-key",
    "OutputPresentValueTensor": "present-value",
}


@pytest.mark.operator(MHA)
@pytest.mark.parametrize("field", OTHERS)
def test_other_types_beside_stacked_queries(field):
    """They are free, and what is computed is rounded to them; beside QueryTensor they are not."""
    stacked = {"StackedQueryKeyValueTensor": (2, 3, 2, 3, 4), "OutputTensor": Q, "BiasTensor": (24,)}
    rest = {
        "RelativePositionBiasTensor": (2, 2, 3, 5),
        "PastKeyTensor": KEY_PAST,
        "PastValueTensor": KEY_PAST,
        "OutputPresentKeyTensor": (2, 2, 5, 4),
        "OutputPresentValueTensor": (2, 2, 5, 4),
    }
    half, single = (of_sizes(types=types, **stacked, **rest) for types in ({field: "FLOAT16"}, {}))
    assert broken_by(half) == set()
    page = {(f"DML-{MHA}-stacked-{OTHERS[field]}-data-type", f"{field}.DataType")}
    assert broken_by(half, strict=True) == page
    arrays = {
        slot.field: (generator(slot.field).integers(-8, 9, slot.tensor.sizes) / 8).astype(np.float32)
        for slot in decode_operator_desc(single)[0].inputs
        if slot.tensor is not None
    }

    def computed(desc):
        inputs = decode_operator_desc(desc)[0].inputs
        given = [None if one.tensor is None else arrays[one.field].astype(one.tensor.dtype) for one in inputs]
        return dml.evaluate(desc, given)

    for own, wanted in zip(computed(half), computed(single)):
        np.testing.assert_array_equal(own, wanted.astype(own.dtype))
    query = {**OF, "BiasTensor": (28,), "RelativePositionBiasTensor": (2, 2, 3, 7)}
    query |= {"PastKeyTensor": KEY_PAST, "PastValueTensor": VALUE_PAST}
    query |= {"OutputPresentKeyTensor": (2, 2, 7, 4), "OutputPresentValueTensor": (2, 2, 7, 6)}
    wrong = {(f"DML-{MHA}-{OTHERS[field]}-data-type", f"{field}.DataType")}
    assert broken_by(of_sizes(types={field: "FLOAT16"}, **query)) == wrong


def copy(target, source, commands):
    commands.CopyResource(target, source)


@pytest.mark.operator(MHA)
@swept("has_past", [False, True])
@swept("has_present", [False, True])
@swept("is_stacked", [False, True])
@swept("count", [1, 5])
def test_a_step_bound_once(has_past, has_present, is_stacked, count):
    """What is bound once computes with what its buffers hold by then; the past precedes the new."""
    past_shape, named = (BATCH, HEADS, PAST, SIZE), {}
    if is_stacked:
        named["StackedQueryKeyValueTensor"] = normal(BATCH, count, HEADS, 3, SIZE)
    else:
        named |= {field: normal(BATCH, count, HEADS * SIZE) for field in OPERANDS}
    if has_past:
        named |= {"PastKeyTensor": normal(*past_shape), "PastValueTensor": normal(*past_shape)}
    total = count + (PAST if has_past else 0)
    shapes = [(BATCH, count, HEADS * SIZE), *[(BATCH, HEADS, total, SIZE)] * (2 if has_present else 0)]
    plain = {"Scale": SCALE, "HeadCount": HEADS, "MaskType": mask_type("NONE")}
    desc, arrays = described(MHA, shapes, plain, **named)
    session = Session()
    op = session.compile(desc)
    inputs = [None if one is None else session.upload(one) for one in arrays]
    outputs = [None if slot.tensor is None else session.buffer(slot.tensor.total_size) for slot in op.outputs]
    session.initialize(op)
    table = session.table(op, inputs, outputs, session.temporary(op))

    def record(commands):
        commands.SetDescriptorHeaps([session.heap])
        session.record(op, table, commands)

    for factor in (1, -2):
        for buffer, one in zip(inputs, arrays):
            if one is not None:
                session.run(partial(copy, buffer, session.upload(one * np.float32(factor))))
        session.run(record)
        given = {field: one.astype(np.float64) * factor for field, one in named.items()}
        if is_stacked:
            stack = given["StackedQueryKeyValueTensor"]
            parts = [stack[..., place, :].swapaxes(1, 2) for place in range(3)]
        else:
            parts = [given[field].reshape(BATCH, count, HEADS, SIZE).swapaxes(1, 2) for field in OPERANDS]
        queries, keys, values = parts
        if has_past:
            keys = np.concatenate([given["PastKeyTensor"], keys], 2)
            values = np.concatenate([given["PastValueTensor"], values], 2)
        scores = np.exp(queries @ keys.swapaxes(2, 3) * SCALE)
        wanted = (scores / scores.sum(-1, keepdims=True)) @ values
        found = [
            session.load(buffer, slot.tensor) for buffer, slot in zip(outputs, op.outputs) if slot.tensor
        ]
        np.testing.assert_allclose(found[0], wanted.swapaxes(1, 2).reshape(shapes[0]), **CLOSE)
        for one, expected in zip(found[1:], (keys, values)):
            np.testing.assert_array_equal(one, expected.astype(np.float32))


@pytest.mark.operator(MHA)
@pytest.mark.parametrize("is_stacked", [False, True])
@pytest.mark.parametrize("heads", [3, 9])
def test_rows_that_heads_do_not_divide(heads, is_stacked):
    """The remainder of a row belongs to no head; with more heads than elements, all keys have equal weight."""
    size = 8 // heads
    query, key, value = normal(*Q), normal(*K), normal(2, 5, 2 * heads)
    bias = normal(16 + 2 * heads)
    if is_stacked and size:
        stack = np.stack([key[..., : 2 * heads].reshape(2, 5, heads, 2)] * 2, axis=3)
        inputs = {"QueryTensor": query, "StackedKeyValueTensor": stack, "BiasTensor": bias}
        value = key[..., : 2 * heads]
    else:
        inputs = {"QueryTensor": query, "KeyTensor": key, "ValueTensor": value, "BiasTensor": bias}
    attributes = {"Scale": SCALE, "HeadCount": heads}
    desc, arrays = described(MHA, [(2, 3, 2 * heads)], attributes, **inputs)
    assert broken_by(desc) == set()
    assert broken_by(desc, strict=True) == {(f"DML-{MHA}-query-tensor-sizes", "QueryTensor.Sizes[2]")}
    (result, *_) = dml.evaluate(desc, arrays)
    parts = [query + bias[:8], key + bias[8:16], value + bias[16:]]
    used = [part[..., : heads * size].reshape(*part.shape[:2], heads, size) for part in parts[:2]]
    scores = SCALE * np.einsum("bqhs,bkhs->bhqk", *used)
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    wanted = np.einsum("bhqk,bkhs->bqhs", weights, parts[2].reshape(2, 5, heads, 2))
    np.testing.assert_allclose(result, wanted.reshape(result.shape), **CLOSE)
