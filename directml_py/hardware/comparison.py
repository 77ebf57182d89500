"""What a real library and the emulator say and compute of one desc, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..abi.hresult import DMLError
from ..abi.rules import Diagnostic
from ..descs.operator_desc import OperatorDesc
from ..shortcuts import evaluate, validate
from ..testing.tolerances import ulps_apart
from .inputs import random_inputs

if TYPE_CHECKING:
    from .real_directml import Library, Verdict

Array = npt.NDArray[Any]


class OutputDifference(NamedTuple):
    """The largest difference in one output: ``ulps`` for floats, the difference itself for integers."""

    path: str
    ulps: int
    place: tuple[int, ...]
    ours: Any
    theirs: Any
    differing: int

    def __str__(self) -> str:
        if not self.differing:
            return f"{self.path} is the same"
        place = "".join(f"[{one}]" for one in self.place)
        kind = "ULP" if isinstance(self.ours, np.floating) else "apart"
        return (
            f"{self.path} differs in {self.differing} elements, at most {self.ulps} {kind} at {place}: "
            f"{self.ours} here, {self.theirs} there"
        )


class Comparison(NamedTuple):
    """``theirs`` is the library's verdict, ``ours`` what the emulator finds wrong. ``outputs`` is None where nothing
    was executed; ``failure`` says what stopped it."""

    desc: OperatorDesc
    theirs: Verdict
    ours: list[Diagnostic]
    inputs: list[Array | None]
    results: list[Array | None] | None = None
    outputs: list[OutputDifference] | None = None
    failure: str = ""

    @property
    def same_verdict(self) -> bool:
        return self.theirs.accepted is not bool(self.ours)

    @property
    def same(self) -> bool:
        """Whether both agree about the desc, and about each element."""
        return self.same_verdict and not self.failure and not any(one.differing for one in self.outputs or ())

    def __str__(self) -> str:
        ours = "accepted" if not self.ours else f"refused: {'; '.join(map(str, self.ours))}"
        lines = [f"{self.desc.schema.type_name}: there {self.theirs}; here {ours}"]
        lines += [f"  {one}" for one in self.outputs or ()]
        if self.failure:
            lines.append(f"  not executed: {self.failure}")
        return "\n".join(lines)


def compare_with(
    library: Library, desc: OperatorDesc, inputs: Sequence[Any] | None, feature_level: int
) -> Comparison:
    """Ask both sides, and run both where both accept and the library executes."""
    arrays = random_inputs(desc) if inputs is None else list(inputs)
    verdict = library.validate(desc)
    own = list(validate(desc, feature_level=feature_level))
    found = Comparison(desc, verdict, own, arrays)
    if own or not verdict.accepted or not library.executes:
        return found
    try:
        theirs = library.evaluate(desc, arrays)
        ours = evaluate(desc, arrays, feature_level=feature_level)
    except DMLError as error:
        return found._replace(failure=str(error))
    outputs = [
        difference(slot.path, one, other)
        for slot, one, other in zip(desc.outputs, ours, theirs)
        if one is not None and other is not None
    ]
    return found._replace(results=theirs, outputs=outputs)


def difference(path: str, ours: Array, theirs: Array) -> OutputDifference:
    """The largest difference between two arrays of one type and shape."""
    if ours.dtype.kind == "f":
        distance = ulps_apart(ours, theirs)
    else:
        low, high = np.minimum(ours, theirs), np.maximum(ours, theirs)
        distance = high.astype(np.uint64) - low.astype(np.uint64)
    flat = int(distance.argmax())
    index = tuple(int(one) for one in np.unravel_index(flat, distance.shape))
    return OutputDifference(
        path, int(distance[index]), index, ours[index], theirs[index], int(np.count_nonzero(distance))
    )
