"""The mapping of a model at a feature level, node by node, including refused nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from .budget import Limits
from .model_file import Bindings, ModelFile
from .onnx_model import Model, Progress, built, device_of
from .semantics import ONNX

HOST = "computed by the host"


class NodeReport(NamedTuple):
    """A node of a model, and the DirectML operators that it became, or why it is refused.

    ``level`` is the lowest feature level that accepts a refused node; empty if none does.
    """

    node: str
    kind: str
    operators: tuple[str, ...]
    refused: str = ""
    level: str = ""
    by_host: bool = False

    def __str__(self) -> str:
        if self.refused:
            hint = f" (possible from {self.level} on)" if self.level else ""
            return f"refused: {self.refused}{hint}"
        if self.by_host:
            return HOST
        return ", ".join(self.operators) or "no operator: the same memory, or part of another node"


class Explanation(NamedTuple):
    """``model`` is complete if nothing is ``refused``."""

    model: Model
    rows: list[NodeReport]

    @property
    def needed(self) -> set[str]:
        """The inputs whose contents nodes would have to know."""
        return {name for step in self.model.steps for name in step.needs}

    @property
    def refused(self) -> list[NodeReport]:
        return [row for row in self.rows if row.refused]


def explain(
    source: Any,
    feature_level: int | None = None,
    inputs: Bindings | None = None,
    progress: Progress | None = None,
    *,
    semantics: str = ONNX,
    external_data: str | Path | None = None,
    limits: Limits | None = None,
) -> Explanation:
    """The nodes of a model that its outputs depend on. Raises ``OnnxError`` for problems of the model as a whole."""
    model = built(
        ModelFile(source, external_data, limits),
        device_of(feature_level),
        inputs or {},
        True,
        progress,
        semantics,
    )
    rows = [
        NodeReport(
            step.name,
            step.kind,
            tuple(model.graph.nodes[index].kind for index in step.nodes),
            step.refused,
            step.level,
            step.folded,
        )
        for step in model.steps
    ]
    return Explanation(model, rows)
