"""Comparison of a real library and the emulator: verdicts on a desc, and computed outputs."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..abi.hresult import DMLError
from ..abi.rules import Diagnostic
from ..descs.operator_desc import OperatorDesc
from ..descs.tensor import TensorDesc
from ..shortcuts import evaluate, validate
from ..testing.ulps import ulps_apart

if TYPE_CHECKING:
    from .real_directml import Library, Verdict


Array = npt.NDArray[Any]


class OutputDifference(NamedTuple):
    """The largest difference in one output: ``ulps`` is in ULPs for floats, the absolute difference for integers."""

    path: str
    ulps: int
    coordinates: tuple[int, ...]
    ours: Any
    theirs: Any
    differing: int

    def __str__(self) -> str:
        if not self.differing:
            return f"{self.path} is the same"
        coordinates = "".join(f"[{coordinate}]" for coordinate in self.coordinates)
        kind = "ULP" if isinstance(self.ours, np.floating) else "apart"
        return (
            f"{self.path} differs in {self.differing} elements, at most {self.ulps} {kind} at {coordinates}: "
            f"{self.ours} here, {self.theirs} there"
        )


class Comparison(NamedTuple):
    """``theirs`` is the library's verdict, ``ours`` the emulator's diagnostics. ``outputs`` is None if nothing was
    executed; ``failure`` is the error that prevented it."""

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
        """Whether both agree on the desc and on every output element."""
        return (
            self.same_verdict
            and not self.failure
            and not any(output.differing for output in self.outputs or ())
        )

    def __str__(self) -> str:
        ours = "accepted" if not self.ours else f"refused: {'; '.join(map(str, self.ours))}"
        lines = [f"{self.desc.schema.type_name}: there {self.theirs}; here {ours}"]
        lines += [f"  {output}" for output in self.outputs or ()]
        if self.failure:
            lines.append(f"  not executed: {self.failure}")
        return "\n".join(lines)


def compare_with(
    library: Library, desc: OperatorDesc, inputs: Sequence[Any] | None, feature_level: int
) -> Comparison:
    """Validate a desc on both sides, and execute it if both accept it and the library can execute."""
    arrays = random_inputs(desc) if inputs is None else list(inputs)
    verdict = library.validate(desc)
    diagnostics = list(validate(desc, feature_level=feature_level))
    comparison = Comparison(desc, verdict, diagnostics, arrays)
    if diagnostics or not verdict.accepted or not library.executes:
        return comparison
    try:
        theirs = library.evaluate(desc, arrays)
        ours = evaluate(desc, arrays, feature_level=feature_level)
    except DMLError as error:
        return comparison._replace(failure=str(error))
    outputs = [
        difference(slot.path, our_array, their_array)
        for slot, our_array, their_array in zip(desc.outputs, ours, theirs)
        if our_array is not None and their_array is not None
    ]
    return comparison._replace(results=theirs, outputs=outputs)


def difference(path: str, ours: Array, theirs: Array) -> OutputDifference:
    """The largest difference between two arrays of the same type and shape."""
    if ours.dtype.kind == "f":
        distance = ulps_apart(ours, theirs)
    else:
        low, high = np.minimum(ours, theirs), np.maximum(ours, theirs)
        distance = high.astype(np.uint64) - low.astype(np.uint64)
    flat = int(distance.argmax())
    index = tuple(int(coordinate) for coordinate in np.unravel_index(flat, distance.shape))
    return OutputDifference(
        path, int(distance[index]), index, ours[index], theirs[index], int(np.count_nonzero(distance))
    )


# Fixed, so that inputs are reproducible.
SEED = 28


def random_inputs(desc: OperatorDesc) -> list[Array | None]:
    """A random array for each input tensor of ``desc``, None for absent ones: floats from -4 to 4, small integers.

    Elements that share memory are equal.
    """
    random = np.random.default_rng((SEED, zlib.crc32(desc.name.encode())))
    return [None if slot.tensor is None else _random(random, slot.tensor) for slot in desc.inputs]


def _random(random: np.random.Generator, tensor: TensorDesc) -> Array:
    dtype = tensor.dtype
    if dtype.kind == "f":
        array = random.uniform(-4, 4, tensor.sizes).astype(dtype)
    else:
        array = random.integers(0 if dtype.kind == "u" else -5, 6, tensor.sizes).astype(dtype)
    if not tensor.overlaps:
        return array
    memory = np.zeros(tensor.total_size, np.uint8)
    tensor.store(memory, array)
    return tensor.load(memory)
