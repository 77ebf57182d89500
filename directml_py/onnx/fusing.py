"""Activations fused into the preceding operator, as FusedActivation of its desc."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, MutableMapping, Sequence
from functools import lru_cache
from typing import Any

from ..api.operator_descs import (
    DML_ACTIVATION_ELU_OPERATOR_DESC,
    DML_ACTIVATION_HARD_SIGMOID_OPERATOR_DESC,
    DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC,
    DML_ACTIVATION_RELU_OPERATOR_DESC,
    DML_ACTIVATION_SCALED_ELU_OPERATOR_DESC,
    DML_ACTIVATION_SIGMOID_OPERATOR_DESC,
    DML_ACTIVATION_SOFTPLUS_OPERATOR_DESC,
    DML_ACTIVATION_SOFTSIGN_OPERATOR_DESC,
    DML_ACTIVATION_TANH_OPERATOR_DESC,
    DML_ACTIVATION_THRESHOLDED_RELU_OPERATOR_DESC,
)
from ..descs.decode import decode_operator_desc
from ..descs.operator_desc import OperatorDesc
from .protobuf import NodeMessage
from .values import OnnxValue

# An activation's desc and, for each of its fields, the attribute and the default.
ACTIVATIONS: dict[str, tuple[Any, dict[str, tuple[str, float]]]] = {
    "Elu": (DML_ACTIVATION_ELU_OPERATOR_DESC, {"Alpha": ("alpha", 1.0)}),
    "HardSigmoid": (
        DML_ACTIVATION_HARD_SIGMOID_OPERATOR_DESC,
        {"Alpha": ("alpha", 0.2), "Beta": ("beta", 0.5)},
    ),
    "LeakyRelu": (DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC, {"Alpha": ("alpha", 0.01)}),
    "Relu": (DML_ACTIVATION_RELU_OPERATOR_DESC, {}),
    "Selu": (
        DML_ACTIVATION_SCALED_ELU_OPERATOR_DESC,
        {"Alpha": ("alpha", 1.6732632), "Gamma": ("gamma", 1.0507010)},
    ),
    "Sigmoid": (DML_ACTIVATION_SIGMOID_OPERATOR_DESC, {}),
    "Softplus": (DML_ACTIVATION_SOFTPLUS_OPERATOR_DESC, {"Steepness": ("steepness", 1.0)}),
    "Softsign": (DML_ACTIVATION_SOFTSIGN_OPERATOR_DESC, {}),
    "Tanh": (DML_ACTIVATION_TANH_OPERATOR_DESC, {}),
    "ThresholdedRelu": (DML_ACTIVATION_THRESHOLDED_RELU_OPERATOR_DESC, {"Alpha": ("alpha", 1.0)}),
}
# Operators whose descs have a FusedActivation, and the index of the output that it applies to.
FUSABLE = {
    "Add", "BatchNormalization", "Conv", "ConvTranspose", "Gemm", "InstanceNormalization", "MatMul",
    "MeanVarianceNormalization", "Sum",
}  # fmt: skip


def activation_desc(kind: str, attributes: dict[str, Any]) -> OperatorDesc:
    """The desc of an activation, without tensors."""
    make, fields = ACTIVATIONS[kind]
    return _decoded(
        make, **{field: float(attributes.get(name, default)) for field, (name, default) in fields.items()}
    )


@lru_cache(maxsize=256)
def _decoded(make: Any, **fields: float) -> OperatorDesc:
    desc, _ = decode_operator_desc(make(**fields), nested=True)
    assert isinstance(desc, OperatorDesc)
    return desc


class Fusions:
    """The activations in a list of nodes that may be fused with the preceding node: those that are the only reader of
    its output."""

    def __init__(self, nodes: Sequence[NodeMessage], outputs: Iterable[str]) -> None:
        counts = Counter(name for node in nodes for name in node.input)
        for node in nodes:
            counts.update(node.captured.difference(node.input))
        counts.update(outputs)
        self._after = {
            node.input[0]: node
            for node in nodes
            if node.op_type in ACTIVATIONS and not node.domain and node.input and counts[node.input[0]] == 1
        }
        self._taken: set[str] = set()

    def activation_after(self, node: NodeMessage) -> Any:
        """The desc of the activation that may be fused with ``node``, or None."""
        if node.op_type not in FUSABLE or node.domain or len(node.output) != 1:
            return None
        after = self._after.get(node.output[0])
        return None if after is None else activation_desc(after.op_type, after.attributes)

    def take(self, node: NodeMessage) -> None:
        """Record that ``node`` runs the activation after it."""
        self._taken.add(node.output[0])

    def done(self, node: NodeMessage, scope: MutableMapping[str, OnnxValue]) -> OnnxValue | None:
        """The output of an activation that was already fused."""
        return scope[node.input[0]] if node.input and node.input[0] in self._taken else None
