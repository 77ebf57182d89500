"""Valid operator descs, with parameters to make them invalid."""

from __future__ import annotations

import directml_py as dml

from ..operators.helpers import INCREASING, function, tensor


def join(inputs=((2, 3), (2, 4)), output=(2, 7), axis=1, types=("FLOAT32", "FLOAT32"), output_type="FLOAT32"):
    return dml.DML_JOIN_OPERATOR_DESC(
        InputTensors=[tensor(kind, sizes) for kind, sizes in zip(types, inputs)],
        OutputTensor=tensor(output_type, output),
        Axis=axis,
    )


def split(whole=(2, 7), outputs=((2, 3), (2, 4)), axis=1, types=("FLOAT32", "FLOAT32"), input_type="FLOAT32"):
    return dml.DML_SPLIT_OPERATOR_DESC(
        InputTensor=tensor(input_type, whole),
        OutputTensors=[tensor(kind, sizes) for kind, sizes in zip(types, outputs)],
        Axis=axis,
    )


def reduce(
    whole=(2, 3, 4), output=(2, 1, 4), axes=(1,), name="SUM", output_type="FLOAT32", input_type="FLOAT32"
):
    return dml.DML_REDUCE_OPERATOR_DESC(
        Function=name if isinstance(name, int) else function(name),
        InputTensor=tensor(input_type, whole),
        OutputTensor=tensor(output_type, output),
        Axes=list(axes),
    )


def arg(struct):
    def build(
        whole=(2, 3, 4),
        output=(2, 1, 4),
        axes=(1,),
        direction=INCREASING,
        input_type="FLOAT32",
        output_type="UINT32",
    ):
        return struct(
            InputTensor=tensor(input_type, whole),
            OutputTensor=tensor(output_type, output),
            Axes=list(axes),
            AxisDirection=direction,
        )

    return build


argmin, argmax = arg(dml.DML_ARGMIN_OPERATOR_DESC), arg(dml.DML_ARGMAX_OPERATOR_DESC)


def gather(
    whole=(1, 3, 4),
    indices=(1, 2, 5),
    output=(2, 5, 4),
    axis=1,
    index_dimensions=2,
    output_type="FLOAT32",
    index_type="UINT32",
):
    return dml.DML_GATHER_OPERATOR_DESC(
        InputTensor=tensor("FLOAT32", whole),
        IndicesTensor=tensor(index_type, indices),
        OutputTensor=tensor(output_type, output),
        Axis=axis,
        IndexDimensions=index_dimensions,
    )


def identity(whole=(2, 3), output=(2, 3), types=("FLOAT32", "FLOAT32"), scale_bias=None):
    return dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(
        InputTensor=tensor(types[0], whole),
        OutputTensor=tensor(types[1], output),
        ScaleBias=scale_bias and dml.DML_SCALE_BIAS(*scale_bias),
    )
