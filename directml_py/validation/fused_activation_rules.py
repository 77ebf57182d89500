"""Rules about fused activations (the page "Using fused operators to improve performance")."""

from __future__ import annotations

from collections.abc import Iterator

from ..abi.rules import Severity, rule
from ..descs.operator_desc import OperatorDesc
from .report import Report
from .tensor_rules import level_name

PAGE = "dml-fused-activations"
TENSORS = rule(
    "DML-FusedActivation-tensors",
    "The tensors of a fused activation's desc are null: the operator supplies them",
    PAGE,
)
SUPPORTED = rule(
    "DML-FusedActivation-type", "Only activations, and CLIP where the page lists it, can be fused", PAGE
)
UNLISTED = rule(
    "DML-FusedActivation-unlisted",
    "Only the activations that the page lists can be fused",
    PAGE,
    Severity.WARNING,
)
AXES = rule("DML-FusedActivation-axes", "The axes of a fused activation are dimensions of the output", PAGE)
AXES_UNIQUE = rule(
    "DML-FusedActivation-axes-unique", "The axes of a fused activation are unique", PAGE, Severity.WARNING
)
LEVEL = rule(
    "DML-FusedActivation-feature-level",
    "The device's feature level supports the fused activation",
    "dml-feature-level-history",
)

ANYWHERE = frozenset(
    f"ACTIVATION_{name}"
    for name in (
        *(
            "LINEAR",
            "SIGMOID",
            "HARD_SIGMOID",
            "TANH",
            "SCALED_TANH",
            "RELU",
            "LEAKY_RELU",
            "THRESHOLDED_RELU",
        ),
        *(
            "ELU",
            "CELU",
            "SCALED_ELU",
            "SOFTPLUS",
            "PARAMETRIC_SOFTPLUS",
            "SOFTSIGN",
            "IDENTITY",
            "SHRINK",
            "GELU",
        ),
    )
)
# Microsoft's library also fuses these, into the same operators.
NOT_LISTED = frozenset({"ACTIVATION_SWISH", "ACTIVATION_HARD_SWISH"})
# For each activation, the operators that it can be fused into, with the minimum feature level.
ONLY_IN = {
    "ELEMENT_WISE_CLIP": (("CONVOLUTION", "GEMM"), 0x6000),
    "ACTIVATION_SOFTMAX": (("GEMM",), 0x6100),
    "ACTIVATION_SOFTMAX1": (("GEMM",), 0x6100),
}


def nested_descs(desc: OperatorDesc) -> Iterator[tuple[str, OperatorDesc]]:
    """The operator descs directly inside ``desc``, with their paths."""
    for name in desc.struct.operators:
        value = getattr(desc, name)
        if isinstance(value, OperatorDesc):
            yield name, value
        elif isinstance(value, tuple):
            yield from (
                (f"{name}[{i}]", item) for i, item in enumerate(value) if isinstance(item, OperatorDesc)
            )


def check_axes(desc: OperatorDesc, path: str, nested: OperatorDesc, report: Report) -> None:
    """Check the axes, which an activation's facts relate to its own tensors, against the output's rank. For RNN too,
    the activations' operands have the rank of its outputs."""
    axes = nested.Axes if "Axes" in nested.struct.index else ()
    rank = next((slot.tensor.dimension_count for slot in desc.outputs if slot.tensor is not None), None)
    for index, axis in enumerate(axes):
        if rank is not None and axis >= rank:
            text = f"is {axis}; it must be less than the output's DimensionCount, which is {rank}"
            report.add(AXES, f"{path}.Axes[{index}]", text)
        elif axis in axes[:index]:
            report.add(AXES_UNIQUE, f"{path}.Axes[{index}]", f"is {axis}, as Axes[{axes.index(axis)}] is")


def check_fused(desc: OperatorDesc, level: int, report: Report) -> None:
    """Check the activations inside ``desc``. For RNN, LSTM and GRU their types are not checked here."""
    for path, nested in nested_descs(desc):
        for slot in (*nested.inputs, *nested.outputs):
            if slot.tensor is not None:
                text = "must be null; the operator it is fused into supplies the tensors"
                report.add(TENSORS, f"{path}.{slot.path}", text)
        check_axes(desc, path, nested, report)
        operators, needed = ONLY_IN.get(nested.name, ((), 0))
        if path == "FusedActivation" and nested.name not in ANYWHERE and desc.name not in operators:
            is_unlisted = nested.name in NOT_LISTED
            problem = "is not listed among those that can be fused" if is_unlisted else "cannot be fused"
            text = f"is {nested.schema.type_name}, which {problem} into {desc.schema.type_name}"
            report.add(UNLISTED if is_unlisted else SUPPORTED, path, text)
            if not is_unlisted:
                continue
        needed = max(nested.schema.level, needed if path == "FusedActivation" else 0)
        if needed > level:
            report.add(
                LEVEL,
                path,
                f"is {nested.schema.type_name}, which needs {level_name(needed)} here; this is {level_name(level)}",
            )
