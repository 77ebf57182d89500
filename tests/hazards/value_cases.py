"""Values for which Microsoft's library computes useless results, as the debug layer warns."""

from __future__ import annotations

import numpy as np

import directml_py as dml

from ..operators.helpers import tensor_of
from .hazard import hazard

INF, NAN = np.inf, np.nan


def dispatch(bench, struct, x, outputs=("OutputTensor",), others=(), **attributes):
    """``x`` is the input, and the outputs have its sizes unless an attribute is one of them."""
    tensors = {name: tensor_of(x) for name in ("InputTensor", *outputs) if name not in attributes}
    op = bench.ready(struct(**tensors, **attributes))
    arrays = [x, *others]
    size = max(16, x.nbytes)
    buffers = [
        None if one is None else bench.buffer(size, data=np.resize(one, size // one.itemsize))
        for one in arrays
    ]
    bench.dispatch(op, buffers, [bench.buffer(size) for _ in outputs])
    bench.execute()


def four(dtype, *values):
    return np.array(values, dtype).reshape(1, 1, 1, 4)


@hazard(
    "DML-REDUCE-sum-range",
    "1 group whose sum is out of the range of FLOAT32; the first is at {0,0,0,0}",
    path="InputTensor",
    ways=["L2 above", "L2 below", "LOG_SUM_EXP above", "LOG_SUM_EXP below"],
)
def sums_out_of_range(bench, wrong):
    name, _, side = (wrong or "L2 right").partition(" ")
    values = {
        ("L2", "above"): (1e20, 1, 1, 1),
        ("L2", "below"): (1e-30, 0, 0, 0),
        ("LOG_SUM_EXP", "above"): (100, 1, 1, 1),
        ("LOG_SUM_EXP", "below"): (-200, -300, -300, -INF),
    }
    x = four(np.float32, *values.get((name, side), (3, 4, INF, -INF)))
    function = getattr(dml, f"DML_REDUCE_FUNCTION_{name}")
    one = tensor_of(np.zeros((1, 1, 1, 1), np.float32))
    dispatch(bench, dml.DML_REDUCE_OPERATOR_DESC, x, OutputTensor=one, Function=function, Axes=[3])


@hazard("DML-LP_NORMALIZATION-half-range", "1 group of elements too large to be squared", path="InputTensor")
def a_norm_of_halves(bench, wrong):
    x = four(np.float16, 300 if wrong else 100, 1, 2, 3)
    dispatch(bench, dml.DML_LP_NORMALIZATION_OPERATOR_DESC, x, Axis=3, Epsilon=1, P=2)


@hazard(
    "DML-BATCH_NORMALIZATION_TRAINING-half-range",
    "1 group of elements too large to be squared",
    path="InputTensor",
)
def a_batch_of_halves(bench, wrong):
    """The mean may be large."""
    x = four(np.float16, 1000, -1000 if wrong else 1001, 1000, 1000)
    one = np.ones((1, 1, 1, 1), np.float16)
    names = ("ScaleTensor", "BiasTensor", "OutputMeanTensor", "OutputVarianceTensor")
    dispatch(
        bench,
        dml.DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC,
        x,
        ("OutputTensor", "OutputMeanTensor", "OutputVarianceTensor"),
        (one, one, None),
        **dict.fromkeys(names, tensor_of(one)),
    )


VERSIONS = {
    "MEAN_VARIANCE_NORMALIZATION": {"NormalizeVariance": True},
    "MEAN_VARIANCE_NORMALIZATION1": {"NormalizeVariance": True, "Axes": [3]},
    "MEAN_VARIANCE_NORMALIZATION2": {"UseMean": True, "UseVariance": True, "Axes": [3]},
}


def normalize(bench, name, x):
    struct = getattr(dml, f"DML_{name}_OPERATOR_DESC")
    dispatch(bench, struct, x, others=(None, None), Epsilon=1, **VERSIONS[name])


for _name in VERSIONS:

    @hazard(f"DML-{_name}-half-range", "1 group of elements too large to be squared", path="InputTensor")
    def a_variance_of_halves(bench, wrong, name=_name):
        normalize(bench, name, four(np.float16, 1000, -1000 if wrong else 1000, 1000, 1000))

    @hazard(
        f"DML-{_name}-single-elements",
        "2 elements normalized alone, at most -Epsilon; the first is at {0,1,0,0}",
        path="InputTensor",
    )
    def a_variance_of_one_element(bench, wrong, name=_name):
        x = np.array([3, -1, -2, 0] if wrong else [3, -0.5, 2, 0], np.float32)
        normalize(bench, name, x.reshape(1, 4, 1, 1))


for _name, _axes in {"ACTIVATION_LOG_SOFTMAX": {}, "ACTIVATION_LOG_SOFTMAX1": {"Axes": [3]}}.items():

    @hazard(f"DML-{_name}-nan", "1 row of NaN and numbers; the first is at {0,0,1,0}", path="InputTensor")
    def logarithms_beside_nan(bench, wrong, name=_name, axes=_axes):
        """The result of a row of NaNs is NaN."""
        x = np.array([NAN, NAN, 1, NAN if wrong else 2], np.float32).reshape(1, 1, 2, 2)
        dispatch(bench, getattr(dml, f"DML_{name}_OPERATOR_DESC"), x, **axes)


for _name, _axes in {"ACTIVATION_HARDMAX": {}, "ACTIVATION_HARDMAX1": {"Axes": [3]}}.items():

    @hazard(f"DML-{_name}-nan", "1 row that begins with NaN; the first is at {0,0,1,0}", path="InputTensor")
    def a_largest_beside_nan(bench, wrong, name=_name, axes=_axes):
        """NaN is skipped unless it is first."""
        x = np.array([1, NAN, NAN if wrong else 3, 2], np.float32).reshape(1, 1, 2, 2)
        dispatch(bench, getattr(dml, f"DML_{name}_OPERATOR_DESC"), x, **axes)


for _name in ("SOFTMAX", "LOG_SOFTMAX", "SOFTMAX1", "LOG_SOFTMAX1"):

    @hazard(
        f"DML-ACTIVATION_{_name}-half-range",
        "1 row whose sum of exponentials is infinite; the first is at {0,0,0,0}",
        path="InputTensor",
    )
    def a_long_row_of_halves(bench, wrong, name=_name):
        """The largest FLOAT16 is 65504."""
        x = np.zeros((1, 1, 1, 65520 if wrong else 65504), np.float16)
        axes = {"Axes": [3]} if name.endswith("1") else {}
        dispatch(bench, getattr(dml, f"DML_ACTIVATION_{name}_OPERATOR_DESC"), x, **axes)


for _name in ("ARGMIN", "ARGMAX", "REDUCE"):

    @hazard(f"DML-{_name}-nan", "1 group that begins with NaN; the first is at {0,0,0,1}", path="InputTensor")
    def an_index_beside_nan(bench, wrong, name=_name):
        x = np.array([NAN, NAN if wrong else 3, NAN, 2], np.float32).reshape(1, 1, 2, 2)
        one = tensor_of(np.zeros((1, 1, 1, 2), np.uint32))
        rest = {"Function": dml.DML_REDUCE_FUNCTION_ARGMAX} if name == "REDUCE" else {}
        dispatch(bench, getattr(dml, f"DML_{name}_OPERATOR_DESC"), x, OutputTensor=one, Axes=[2], **rest)


INDICES = tensor_of(np.zeros((1, 1, 1, 4), np.uint32))
for _name in ("TOP_K", "TOP_K1"):

    @hazard(f"DML-{_name}-nan", "1 element that is NaN; the first is at {0,0,0,2}", path="InputTensor")
    def an_order_of_nan(bench, wrong, name=_name):
        struct, outputs = (
            getattr(dml, f"DML_{name}_OPERATOR_DESC"),
            ("OutputValueTensor", "OutputIndexTensor"),
        )
        x = four(np.float32, 1, INF, NAN if wrong else 2, -INF)
        dispatch(bench, struct, x, outputs, OutputIndexTensor=INDICES, Axis=3, K=4)


ONE, POWER, TWO = ("InputTensor",), ("InputTensor", "ExponentTensor"), ("ATensor", "BTensor")
INDETERMINATE = "element whose power is indeterminate"
BEYOND, COUNT = "element too large for a remainder", "count of as many bits as an element has or more"
# Operators with their rules, the path and text of the messages, and an element of each input that violates them or not.
LOSSES = [
    ("ASINH", "cancellation", 0, "element too large for x + sqrt(x^2 + 1)", ONE, [-1e5], [-100]),
    ("POW", "indeterminate", 0, INDETERMINATE, POWER, [0, 0], [2, 0]),
    ("CONSTANT_POW", "indeterminate", 0, INDETERMINATE, ONE, [INF], [2]),
    ("MODULUS_TRUNCATE", "quotient", 0, BEYOND, TWO, [5, INF], [5, 3]),
    ("MODULUS_FLOOR", "quotient", 0, BEYOND, TWO, [-5, INF], [-5, 3]),
    ("ROUND", "halves", 0, "element that is not rounded to the nearest", ONE, [0.49999997], [0.5]),
    ("BIT_SHIFT_LEFT", "count", 1, COUNT, TWO, [1, 32], [1, 31]),
    ("BIT_SHIFT_RIGHT", "count", 1, COUNT, TWO, [1, 32], [1, 31]),
]
ATTRIBUTES = {
    "CONSTANT_POW": {"Exponent": 0.0},
    "ROUND": {"RoundingMode": dml.DML_ROUNDING_MODE_TOWARD_INFINITY},
}


def lossy(operator, rule, place, words, names, lost, kept):
    def struct(InputTensor, **fields):
        made = getattr(dml, f"DML_ELEMENT_WISE_{operator}_OPERATOR_DESC")
        return made(**dict.fromkeys(names, InputTensor), **fields)

    @hazard(
        f"DML-ELEMENT_WISE_{operator}-{rule}",
        f"1 {words}; the first is at {{0,0,0,0}}",
        path=names[place],
    )
    def what_gets_lost(bench, wrong):
        dtype = np.uint32 if operator.startswith("BIT") else np.float32
        tensors = [four(dtype, one, 1, 1, 1) for one in (lost if wrong else kept)]
        dispatch(bench, struct, tensors[0], others=tensors[1:], **ATTRIBUTES.get(operator, {}))


for entry in LOSSES:
    lossy(*entry)


@hazard(
    "DML-MATRIX_MULTIPLY_INTEGER_TO_FLOAT-half-range",
    "1 element too large for FLOAT16",
    path="ATensor",
)
def a_product_of_halves(bench, wrong):
    """The scale of B makes the result small again."""
    a, b = np.array([[2000, 1]], np.int16), np.array([[1], [1]], np.int8)
    scales = np.array([40 if wrong else 30], np.float16), np.array([0.25], np.float16)
    inputs = {"ATensor": a, "AScaleTensor": scales[0], "BTensor": b, "BScaleTensor": scales[1]}
    struct, output = dml.DML_MATRIX_MULTIPLY_INTEGER_TO_FLOAT_OPERATOR_DESC, np.zeros((1, 1), np.float16)
    tensors = {name: tensor_of(array) for name, array in (*inputs.items(), ("OutputTensor", output))}
    op = bench.ready(struct(**tensors))
    given = [inputs.get(slot.field) for slot in op.inputs]
    buffers = [
        None if one is None else bench.buffer(16, data=np.resize(one, 16 // one.itemsize)) for one in given
    ]
    bench.dispatch(op, buffers, [bench.buffer(16)])
    bench.execute()
