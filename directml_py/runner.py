"""``Runner``: the one way in which compiled operators and graphs run on arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import cast

from .direct_runner import Array, DirectRunner, Tensors, tensors
from .dml import IDMLCompiledOperator, IDMLDevice
from .garbage_collector import paused
from .session import RecordedRun, Session, owned_positions


class Runner:
    """A compiled operator or graph that runs on arrays.

    ``inputs`` and ``outputs`` are the tensors that arrays are stored to and loaded from, None for absent ones; by
    default the operator's own. The inputs at the positions ``constant`` are: ``contents`` returns their arrays, each of
    which is packed or uploaded, when the runner is prepared or first run, as soon as it is taken. Other inputs that
    DirectML owns may have other contents in each run; then ``recompile`` returns an operator that is not initialized.

    On a device that is observed, each run goes through the object model, so that debug layers, captures and profiles
    see what a program does; otherwise the operator's program runs directly on arrays, with the same result. Only
    elements that the operator leaves undefined differ. Several threads may run one that has no constants.
    """

    def __init__(
        self,
        operator: IDMLCompiledOperator,
        inputs: Tensors | None = None,
        outputs: Tensors | None = None,
        constant: Sequence[int] = (),
        contents: Callable[[], Iterable[Array | None]] = tuple,
        recompile: Callable[[], IDMLCompiledOperator] | None = None,
    ) -> None:
        self.operator, self.program = operator, operator.program
        self.inputs = tensors(operator.inputs) if inputs is None else inputs
        self.outputs = tensors(operator.outputs) if outputs is None else outputs
        self._constant = constant
        self._contents = contents
        self._recompile = recompile
        self._owned_vary = any(
            tensor is not None and tensor.is_owned_by_dml and index not in constant
            for index, tensor in enumerate(self.inputs)
        )

    @cached_property
    def _direct(self) -> DirectRunner:
        """A real library's operator, whose device is always observed, has no program."""
        return DirectRunner(self.program, self.inputs, self.outputs, self._constant, self._contents)

    def prepare(self) -> None:
        """Take the constants now, which are not needed any more unless several threads run."""
        if self.operator.device.is_observed:
            _ = self._recorded_once
        else:
            self._direct.prepare()

    def run(self, arrays: Sequence[Array | None]) -> list[Array | None]:
        """The outputs, in new arrays. ``arrays`` agree with the inputs; those of constant ones are ignored.

        Raises ``DMLError`` ``DXGI_ERROR_DEVICE_REMOVED`` if the device is removed, before or by the run.
        """
        if self.operator.device.is_observed:
            return self._recorded(arrays)
        return self._direct.run(arrays)

    def _recorded(self, arrays: Sequence[Array | None]) -> list[Array | None]:
        if not self._owned_vary:
            return self._recorded_once.run(arrays)
        if self._recompile is not None and self.operator.initialized and self.operator.persistent_size:
            self.operator = self._recompile()
        owned = owned_positions(self.inputs)
        contents = [arrays[index] for index in owned]
        return self._recording(owned, contents).run(arrays)

    @cached_property
    def _recorded_once(self) -> RecordedRun:
        return self._recording(self._constant, self._contents())

    def _recording(self, constant: Sequence[int], contents: Iterable[Array | None]) -> RecordedRun:
        session = Session(cast(IDMLDevice, self.operator.device))
        with paused():
            return RecordedRun(session, self.operator, self.inputs, self.outputs, constant, contents)
