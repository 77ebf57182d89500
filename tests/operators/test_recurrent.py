"""RNN, LSTM and GRU: hand-computed results where pages leave things open, and ONNX Runtime's."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml
from directml_py.descs import decode_operator_desc
from directml_py.kernels.recurrent import layer
from directml_py.operators import SCHEMAS, kernel_of
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.desc_changes import change
from directml_py.testing.valid_descs import valid_desc

from .helpers import generator, tensor, tensor_of, values_for
from .records.record import exactly
from .records.recurrent import NAMES, ORDER, onnx_recurrent, recurrent

FORWARD = dml.DML_RECURRENT_NETWORK_DIRECTION_FORWARD
BACKWARD = dml.DML_RECURRENT_NETWORK_DIRECTION_BACKWARD
BOTH = dml.DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL
IDENTITY = dml.DML_ACTIVATION_IDENTITY_OPERATOR_DESC()
EACH = {"RNN": 1, "GRU": 2, "LSTM": 3}
NAN = np.nan


def linear(alpha):
    return dml.DML_ACTIVATION_LINEAR_OPERATOR_DESC(Alpha=alpha)


def network(name, x, weights, *, direction=FORWARD, kind=np.float32, activations=None, **rest):
    """The outputs of a network, by name. Tensors are nested lists, their first dimensions of size 1 left out.

    The activations are IDENTITY, and what is not given is 0; ``rest`` has tensors and attributes.
    """
    tensors = {
        field.removesuffix("Tensor"): np.array(value, np.uint32 if field.startswith("Seq") else kind)
        for field, value in {"InputTensor": x, "WeightTensor": weights, **rest}.items()
        if field.endswith("Tensor")
    }
    ways = 2 if direction == BOTH else 1
    _, steps_, batch, _ = shape = four(tensors["Input"]).shape
    height = four(tensors["Weight"]).shape[2]
    hidden = height // len(ORDER[name])
    recurrence = np.array(rest.get("RecurrenceTensor", np.zeros((ways, height, hidden))), kind)
    arrays = {**{key: four(one) for key, one in tensors.items()}, "Recurrence": four(recurrence)}
    sizes = {
        "OutputSequenceTensor": (steps_, ways, batch, hidden),
        "OutputSingleTensor": (1, ways, batch, hidden),
        "OutputCellSingleTensor": (1, ways, batch, hidden),
    }
    assert shape[0] == 1
    desc = getattr(dml, f"DML_{name}_OPERATOR_DESC")(
        **{f"{key}Tensor": tensor_of(one) for key, one in arrays.items()},
        **{
            field: tensor(np.dtype(kind).name.upper(), sizes[field])
            for field in sizes
            if field in SCHEMAS[name].struct.index
        },
        ActivationDescs=activations or [IDENTITY] * (EACH[name] * ways),
        Direction=direction,
        **{key: value for key, value in rest.items() if not key.endswith("Tensor")},
    )
    inputs = [one.name for one in SCHEMAS[name].struct.tensors if one.role == "input"]
    results = dml.evaluate(desc, [arrays.get(one.removesuffix("Tensor")) for one in inputs])
    return dict(zip(("sequence", "single", "cell"), results))


def four(array):
    return array.reshape((1,) * (4 - array.ndim) + array.shape)


LSTM_GATES = [[2], [3], [5], [7]]


class TestLstm:
    """One unit, whose gates are 2 (input), 3 (output), 5 (forget) and 7 (cell) before anything is added."""

    def step(self, steps=1, **rest):
        found = network("LSTM", [[[1]]] * steps, LSTM_GATES, **rest)
        return found["single"].item(), found["cell"].item()

    def test_the_order_of_the_gates(self):
        # 5 * 11 + 2 * 7, times 3.
        assert self.step(CellMemInitTensor=[[11]]) == (207, 69)

    def test_the_output_gate_sees_the_cell_of_this_step(self):
        # (5 + 100) * 1 + (2 + 1) * 7 is 126, and 3 + 10 * 126 the output gate; before the step, the cell was 1.
        found = self.step(CellMemInitTensor=[[1]], PeepholeTensor=[1, 10, 100])
        assert found == (1263 * 126, 126)

    def test_the_cell_is_not_clipped_for_its_activation(self):
        # The gates are 2, 3, 4 and 4: 4 * 11 + 2 * 4 is 52, and 3 * 52 the output; then 4 * 52 + 2 * 4, by 3.
        clip = {"UseClipThreshold": True, "ClipThreshold": 4, "CellMemInitTensor": [[11]]}
        assert self.step(**clip) == (156, 52)
        assert self.step(steps=2, **clip) == (648, 216)

    def test_the_peephole_is_clipped_with_its_gate(self):
        # The output gate is 3 - 1 * 52, clipped to -4.
        clip = {"UseClipThreshold": True, "ClipThreshold": 4, "CellMemInitTensor": [[11]]}
        assert self.step(**clip, PeepholeTensor=[0, -1, 0]) == (-4 * 52, 52)

    def test_clipping_can_be_off(self):
        assert self.step(CellMemInitTensor=[[11]], UseClipThreshold=False, ClipThreshold=1) == (207, 69)

    def test_nothing_passes_a_threshold_of_0(self):
        assert self.step(CellMemInitTensor=[[11]], UseClipThreshold=True, ClipThreshold=0) == (0, 0)

    def test_the_forget_gate_is_what_the_input_gate_leaves(self):
        # 1 - 2 = -1: -1 * 11 + 2 * 7, times 3. The forget gate's own weight and peephole have no effect.
        coupled = {"CoupleInputForget": True, "CellMemInitTensor": [[11]]}
        assert self.step(**coupled) == (9, 3)
        assert self.step(**coupled, PeepholeTensor=[0, 0, 1000]) == (9, 3)

    def test_the_coupled_gate_is_not_clipped_again(self):
        # The input gate is clipped to 1, so that nothing of the cell is left.
        clip = {"UseClipThreshold": True, "ClipThreshold": 1, "CoupleInputForget": True}
        assert self.step(CellMemInitTensor=[[11]], **clip) == (1, 1)

    def test_activations(self):
        # f is of all three gates, g of the cell's, h of the cell: 15 * 11 + 6 * 14 is 249; 9 * 5 * 249.
        found = self.step(CellMemInitTensor=[[11]], activations=[linear(3), linear(2), linear(5)])
        assert found == (9 * 5 * 249, 249)


class TestGru:
    """One unit, whose gates are 2 (update), 3 (reset) and 5 (hidden) before anything is added; it was 1."""

    def step(self, **rest):
        found = network(
            "GRU",
            [[[1]]],
            [[2], [3], [5]],
            RecurrenceTensor=[[0], [0], [7]],
            BiasTensor=[0, 0, 0, 0, 0, 11],
            HiddenInitTensor=[[1]],
            **rest,
        )
        return found["single"].item()

    def test_reset_before_the_product(self):
        # 5 + (3 * 1) * 7 + 11 is 37; -1 * 37 + 2 * 1.
        assert self.step(LinearBeforeReset=False) == -35

    def test_reset_behind_the_product(self):
        # 5 + 3 * (1 * 7 + 11) is 59; -1 * 59 + 2 * 1.
        assert self.step(LinearBeforeReset=True) == -57

    def test_activations(self):
        # f is of the update and the reset: 4 and 6; 5 + (6 * 1) * 7 + 11 is 58, of which g makes 174.
        assert self.step(activations=[linear(2), linear(3)]) == -3 * 174 + 4


def test_the_biases_of_each_direction_are_those_of_weights_and_then_of_recurrences():
    """Only the second of GRU's hidden gate is reset: 1000 * 0 here."""
    # For each direction z, r and h of either.
    bias = [[0, 0, 1, 0, 0, 10], [0, 0, 2, 0, 0, 20]]
    found = network("GRU", [[[0]]], [[[0]] * 3] * 2, direction=BOTH, BiasTensor=bias)
    assert found["single"].tolist() == [[[[11]], [[22]]]]
    found = network("GRU", [[[0]]], [[[0]] * 3] * 2, direction=BOTH, BiasTensor=bias, LinearBeforeReset=True)
    assert found["single"].tolist() == [[[[1]], [[2]]]]


# Three sequences side by side, of 2, 0 and 3 elements, that are added up from 100 on. Nothing of the rest is read.
SUMS = [[[1], [NAN], [10]], [[2], [NAN], [20]], [[NAN], [NAN], [30]]]
ADDS = {
    "weights": [[1]],
    "RecurrenceTensor": [[1]],
    "HiddenInitTensor": [[100]] * 3,
    "SequenceLengthsTensor": [2, 0, 3],
}


class TestLengths:
    def test_forward(self):
        found = network("RNN", SUMS, **ADDS)
        assert found["sequence"][:, 0, :, 0].tolist() == [[101, 0, 110], [103, 0, 130], [0, 0, 160]]
        assert found["single"].ravel().tolist() == [103, 0, 160]

    def test_backward(self):
        found = network("RNN", SUMS, direction=BACKWARD, **ADDS)
        assert found["sequence"][:, 0, :, 0].tolist() == [[103, 0, 160], [102, 0, 150], [0, 0, 130]]
        # For an empty sequence, the initial state is the last one.
        assert found["single"].ravel().tolist() == [103, 100, 160]

    @pytest.mark.parametrize(("direction", "single"), [(FORWARD, 0), (BACKWARD, 100)])
    def test_none_has_an_element(self, direction, single):
        found = network("RNN", SUMS, direction=direction, **{**ADDS, "SequenceLengthsTensor": [0] * 3})
        assert not found["sequence"].any()
        assert found["single"].ravel().tolist() == [single] * 3

    def test_the_last_element_is_missing_in_all(self):
        lengths = {**ADDS, "SequenceLengthsTensor": [2, 0, 2]}
        found = network("RNN", SUMS, direction=BACKWARD, **lengths)
        assert found["sequence"][:, 0, :, 0].tolist() == [[103, 0, 130], [102, 0, 120], [0, 0, 0]]

    @pytest.mark.parametrize("length", [4, 2**31, 2**32 - 1])
    @pytest.mark.parametrize("direction", [FORWARD, BACKWARD])
    def test_longer_than_the_input(self, direction, length):
        whole, longer = (
            network("RNN", SUMS, direction=direction, **{**ADDS, "SequenceLengthsTensor": [2, 0, one]})
            for one in (3, length)
        )
        for name in whole:
            np.testing.assert_array_equal(longer[name], whole[name])

    def test_cells_of_sequences_without_elements(self):
        """Forward they are those after one step, as in Microsoft's library, and so is the state of a single one."""
        start = {"HiddenInitTensor": [[5]] * 2, "CellMemInitTensor": [[11]] * 2}
        for steps, hidden in ((1, 207), (2, 0)):
            lengths = {"SequenceLengthsTensor": [0, 1]}
            found = network("LSTM", [[[1]] * 2] * steps, LSTM_GATES, **lengths, **start)
            assert found["cell"].ravel().tolist() == [69, 69]
            assert found["single"].ravel().tolist() == [hidden, 207]
            assert found["sequence"][:, :, 0].ravel().tolist() == [0] * steps
        lengths = {"SequenceLengthsTensor": [0, 1], "direction": BACKWARD}
        found = network("LSTM", [[[1]] * 2], LSTM_GATES, **lengths, **start)
        assert found["cell"].ravel().tolist() == [11, 69]
        assert found["single"].ravel().tolist() == [5, 207]


def test_directions_have_their_own_activations_and_both_begin_at_their_end():
    found = network(
        "RNN",
        [[[1]], [[2]]],
        [[[1]], [[1]]],
        direction=BOTH,
        RecurrenceTensor=[[[1]], [[1]]],
        activations=[linear(2), linear(3)],
    )
    # Forward 2 * 1 and 2 * (2 + 2); backward 3 * 2 and 3 * (1 + 6).
    assert found["sequence"].ravel().tolist() == [2, 21, 8, 6]
    assert found["single"].ravel().tolist() == [8, 21]


def test_states_of_float16_are_rounded():
    """Each step adds a quarter of what separates 1 from the next number, and so nothing; what is too large is infinite,
    and less 1 times that NaN."""
    small = 2.0**-12
    found = network("RNN", [[[1]], *[[[small]]] * 4], [[1]], RecurrenceTensor=[[1]], kind=np.float16)
    assert found["sequence"].ravel().tolist() == [1] * 5
    found = network("RNN", [[[60000]], [[60000]], [[-60000]]], [[1]], RecurrenceTensor=[[1]], kind=np.float16)
    assert found["sequence"].ravel().tolist() == [60000, np.inf, np.inf]


@pytest.mark.parametrize(
    "name", ["HARDMAX", "HARDMAX1", "SOFTMAX", "SOFTMAX1", "LOG_SOFTMAX", "LOG_SOFTMAX1"]
)
def test_activations_along_axes_are_refused(name):
    """Microsoft's library has none."""
    activation = getattr(dml, f"DML_ACTIVATION_{name}_OPERATOR_DESC")(
        **{"Axes": [3]} if name[-1] == "1" else {}
    )
    with pytest.raises(dml.DMLError) as caught:
        network("RNN", [[[1]]], [[1]], activations=[activation])
    assert [(found.rule, found.path) for found in caught.value.diagnostics] == [
        ("DML-RNN-activation-descs-elements", "ActivationDescs[0]")
    ]


def test_celu_does_not_compile():
    """In GRU and LSTM; CreateOperator accepts it."""
    celu = dml.DML_ACTIVATION_CELU_OPERATOR_DESC(Alpha=1)
    assert network("RNN", [[[1]]], [[1]], activations=[celu])["single"].item() == 1
    for name, gates, count in (("GRU", 3, 2), ("LSTM", 4, 3)):
        with pytest.raises(dml.DMLError, match="does not compile") as caught:
            network(name, [[[1]]], [[1]] * gates, activations=[*[linear(1)] * (count - 1), celu])
        assert caught.value.hresult == dml.E_UNEXPECTED
        assert caught.value.diagnostics[0].path == f"ActivationDescs[{count - 1}]"


# By hidden size, input size and row stride: the column strides 0 to 8 that Microsoft's library does not compile (x) in
# GRU's WeightTensor; further ones, and other row strides, it compiles.
UNCOMPILED_WEIGHTS = {
    (1, 3): {0: ".........", 1: "..x......", 2: ".x.......", 3: "........."},
    (2, 3): {0: ".........", 1: ".xxxxx...", 2: ".xxx.....", 3: "........."},
    (2, 5): {1: ".xxxxx...", 2: ".xxxx....", 3: ".xxx.....", 4: ".xx......", 5: "........."},
    (2, 6): {1: "..xxxx...", 2: ".x.xx....", 3: ".xx......", 4: ".xx......", 5: ".x......."},
    (2, 1): {0: ".........", 1: ".........", 2: "........."},
}
# The same of RecurrenceTensor, by hidden size.
UNCOMPILED_RECURRENCE = {
    2: {0: ".........", 1: ".xxxxx...", 2: "........."},
    3: {0: ".........", 1: ".xxxxxxxx", 2: ".xxxx....", 3: "........."},
}


REFUSED = (dml.E_INVALIDARG, {"DML-GRU-compiled-matrix-size"})


def compiles(name, hidden, width, *, direction=FORWARD, **layouts):
    """Whether a network compiles whose WeightTensor and RecurrenceTensor have these strides and total sizes."""
    gates, ways = len(ORDER[name]), 2 if direction == BOTH else 1

    def matrix(columns, strides=None, total=None):
        sizes = (1, ways, gates * hidden, columns)
        return dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, sizes, strides, total_size=total)

    desc = getattr(dml, f"DML_{name}_OPERATOR_DESC")(
        InputTensor=tensor("FLOAT32", (1, 2, 2, width)),
        WeightTensor=matrix(width, *layouts.get("weights", ())),
        RecurrenceTensor=matrix(hidden, *layouts.get("recurrence", ())),
        OutputSingleTensor=tensor("FLOAT32", (1, ways, 2, hidden)),
        ActivationDescs=[IDENTITY] * EACH[name] * ways,
        Direction=direction,
    )
    device = dml.DMLCreateDevice(dml.D3D12CreateDevice())
    op = device.CreateOperator(desc)
    try:
        device.CompileOperator(op)
    except dml.DMLError as error:
        return (error.hresult, {found.rule for found in error.diagnostics}) != REFUSED
    return True


def verdicts(rows, **arguments):
    field = arguments.pop("field")
    return {
        row: "".join(
            ".x"[not compiles("GRU", **arguments, **{field: ([100, 100, row, column],)})]
            for column in range(9)
        )
        for row in rows
    }


def test_overlapping_matrices_of_gru_that_do_not_compile():
    for (hidden, width), rows in UNCOMPILED_WEIGHTS.items():
        assert verdicts(rows, hidden=hidden, width=width, field="weights") == rows
    for hidden, rows in UNCOMPILED_RECURRENCE.items():
        assert verdicts(rows, hidden=hidden, width=3, field="recurrence") == rows


def test_overlapping_matrices_that_compile():
    """Those of more bytes than packed elements take, of two directions, and of other networks."""
    overlapping = [100, 100, 1, 1]
    for total, expected in ((32, False), (68, False), (72, True), (400, True)):
        assert compiles("GRU", 2, 3, weights=(overlapping, total)) is expected
    for total, expected in ((36, False), (48, True)):
        assert compiles("GRU", 2, 3, recurrence=(overlapping, total)) is expected
    assert not compiles("GRU", 2, 3, weights=(overlapping,), direction=BACKWARD)
    assert compiles("GRU", 2, 3, weights=([1, 1, 1, 1],), recurrence=([1, 1, 1, 1],), direction=BOTH)
    for name in ("RNN", "LSTM"):
        assert compiles(name, 2, 3, weights=(overlapping,), recurrence=(overlapping,))


def test_the_cell_alone_is_no_output():
    whole, wanted = tensor("FLOAT32", (1, 1, 1, 1)), {"ActivationDescs": [linear(1)] * 3}
    desc = dml.DML_LSTM_OPERATOR_DESC(
        InputTensor=whole,
        WeightTensor=tensor("FLOAT32", (1, 1, 4, 1)),
        RecurrenceTensor=tensor("FLOAT32", (1, 1, 4, 1)),
        OutputCellSingleTensor=whole,
        **wanted,
    )
    assert [(one.rule, one.path) for one in dml.validate(desc)] == [
        ("DML-LSTM-output-required", "OutputSequenceTensor")
    ]


@pytest.mark.parametrize("name", ["PARAMETERIZED_RELU", "RELU_GRAD"])
def test_activations_that_need_a_second_tensor_are_refused(name):
    activation = getattr(dml, f"DML_ACTIVATION_{name}_OPERATOR_DESC")()
    with pytest.raises(dml.DMLError) as caught:
        network("RNN", [[[1]]], [[1]], activations=[activation])
    assert [(found.rule, found.path) for found in caught.value.diagnostics] == [
        ("DML-RNN-activation-descs-activations", "ActivationDescs[0]")
    ]


@pytest.mark.parametrize("direction", [FORWARD, BACKWARD, BOTH])
@pytest.mark.parametrize("bytes_together", [1, 200])
def test_parts_of_a_sequence_give_what_the_whole_gives(direction, bytes_together, monkeypatch):
    rng, ways = generator("parts"), 2 if direction == BOTH else 1
    tanh = [dml.DML_ACTIVATION_TANH_OPERATOR_DESC()] * ways
    arguments = {
        "x": rng.uniform(-1, 1, (29, 3, 2)),
        "weights": rng.uniform(-1, 1, (ways, 4, 2)),
        "RecurrenceTensor": rng.uniform(-1, 1, (ways, 4, 4)),
        "SequenceLengthsTensor": [29, 17, 0],
    }
    whole = network("RNN", direction=direction, activations=tanh, **arguments)
    monkeypatch.setattr(layer, "BLOCK_BYTES", bytes_together)
    parts = network("RNN", direction=direction, activations=tanh, **arguments)
    for name in whole:
        np.testing.assert_allclose(parts[name], whole[name], rtol=0, atol=1e-6)


def sample(name, seed):
    """A desc that ONNX Runtime knows, of FLOAT32, whose cells no threshold reaches, and values for its inputs."""
    for attempt in range(seed * 100, seed * 100 + 100):
        desc = valid_desc(RandomSource(attempt), name, max_elements=600)
        rng = generator(name, attempt)
        chosen = rng.choice(sorted(NAMES), len(desc.ActivationDescs))
        activations = [
            valid_desc(RandomSource(attempt + place), one) for place, one in enumerate(map(str, chosen))
        ]
        desc = change(
            desc,
            ActivationDescs=tuple(
                change(one, **{slot.field: None for slot in (*one.inputs, *one.outputs)})
                for one in activations
            ),
        )
        if name == "LSTM":
            desc = change(desc, UseClipThreshold=False)
        if desc.InputTensor.dtype == np.float32 and not dml.validate(desc):
            break
    inputs = [
        None if slot.tensor is None else values_for(rng, slot.tensor, -0.5, 0.5) for slot in desc.inputs
    ]
    for place, slot in enumerate(desc.inputs):
        if slot.field == "SequenceLengthsTensor" and slot.tensor is not None:
            most = desc.InputTensor.sizes[1]
            # For empty sequences Microsoft's library differs from ONNX Runtime.
            inputs[place] = np.minimum(inputs[place] % (most + 1) + 1, most).astype(np.uint32)
    return desc, inputs


def assert_close(results, wanted):
    for result, expected in zip(results, wanted):
        if result is not None:
            np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("name", ORDER)
def test_onnx_runtime(name):
    """The table's reference also agrees with ONNX Runtime."""
    for seed in range(40):
        desc, inputs = sample(name, seed)
        wanted = onnx_recurrent(desc, *inputs)
        assert_close(dml.evaluate(desc, inputs), wanted)
        assert_close(recurrent(desc, *map(exactly, inputs)), wanted)


@pytest.mark.parametrize("name", ORDER)
@pytest.mark.parametrize("is_in_place", [False, True])
def test_tensors_are_read_at_each_run(name, is_in_place):
    """Of any layout, whole before an output that shares their memory is written: a state is often updated in place."""
    for seed in range(30):
        desc, values = sample(name, seed)
        fields = [slot.field for slot in desc.inputs]
        if is_in_place:
            values = [
                None if field == "SequenceLengthsTensor" else x
                for field, x in zip(fields, values, strict=True)
            ]
        inputs = [
            None if x is None else np.zeros(x.shape, x.dtype, order="CF"[seed % 2 and not is_in_place])
            for x in values
        ]
        outputs = [
            None if slot.tensor is None else np.zeros(slot.tensor.sizes, np.float32) for slot in desc.outputs
        ]
        if is_in_place:
            shared = {"OutputSequenceTensor": 0, "OutputSingleTensor": fields.index("HiddenInitTensor")}
            for place, slot in enumerate(desc.outputs):
                x = inputs[shared[slot.field]] if slot.field in shared else None
                if outputs[place] is not None and x is not None:
                    memory = np.zeros(max(x.size, outputs[place].size), np.float32)
                    inputs[shared[slot.field]] = memory[: x.size].reshape(x.shape)
                    outputs[place] = memory[: outputs[place].size].reshape(outputs[place].shape)
        kernel = kernel_of(desc)
        run = kernel.bind(inputs, outputs, np.zeros(kernel.scratch, np.uint8))
        for scale in (1, 0.5):
            scaled = [x if x is None or x.dtype != np.float32 else x * np.float32(scale) for x in values]
            for x, wanted in zip(inputs, scaled, strict=True):
                if x is not None:
                    x[...] = wanted
            run()
            assert_close(outputs, recurrent(desc, *map(exactly, scaled)))


def test_clipping_in_onnx_runtime():
    """With a threshold that gates reach, but cells do not: in two steps they cannot."""
    sigmoid, tanh = dml.DML_ACTIVATION_SIGMOID_OPERATOR_DESC(), dml.DML_ACTIVATION_TANH_OPERATOR_DESC()
    rng = generator("clip")
    shapes = {
        "InputTensor": (1, 2, 3, 4),
        "WeightTensor": (1, 1, 20, 4),
        "RecurrenceTensor": (1, 1, 20, 5),
        "PeepholeTensor": (1, 1, 1, 15),
    }
    state = tensor("FLOAT32", (1, 1, 3, 5))
    desc = dml.DML_LSTM_OPERATOR_DESC(
        **{name: tensor("FLOAT32", sizes) for name, sizes in shapes.items()},
        OutputSequenceTensor=tensor("FLOAT32", (2, 1, 3, 5)),
        OutputSingleTensor=state,
        OutputCellSingleTensor=state,
        ActivationDescs=[sigmoid, tanh, tanh],
        Direction=FORWARD,
        ClipThreshold=2,
        UseClipThreshold=True,
    )
    values = {name: rng.uniform(-4, 4, sizes).astype(np.float32) for name, sizes in shapes.items()}
    desc, _ = decode_operator_desc(desc)
    inputs = [values.get(slot.field) for slot in desc.inputs]
    results = dml.evaluate(desc, inputs)
    assert np.abs(results[2]).max() < 2
    assert_close(results, onnx_recurrent(desc, *inputs))
    unclipped = dml.evaluate(change(desc, UseClipThreshold=False), inputs)
    assert np.abs(unclipped[0] - results[0]).max() > 0.01
