"""Shortcuts: validate a desc, run it on arrays, or ask what runs it, without the object model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from .abi.arguments import enumerator
from .abi.rules import Diagnostics
from .api.enums import DML_FEATURE_LEVEL
from .descs.data_types import as_array
from .descs.decode import decode_operator_desc
from .descs.format import braces
from .descs.operator_desc import OperatorDesc, TensorSlot
from .descs.tensor import TensorDesc
from .direct_runner import DirectRunner
from .kernels.backend import backend
from .kernels.decisions import Decisions
from .late import loading
from .operators import check, checked, operator_of
from .operators.program import OperatorProgram
from .runtime.observers import PROFILE_VARIABLE, watchers
from .text.plural import counted_words
from .validation.report import Report
from .validation.support_rules import HIGHEST_FEATURE_LEVEL, LEVEL

if TYPE_CHECKING:
    import numpy.typing as npt

    from .runner import Runner

Array: TypeAlias = "npt.NDArray[Any]"


def validate(desc: Any, *, feature_level: int = HIGHEST_FEATURE_LEVEL, strict: bool = False) -> Diagnostics:
    """All violations by an operator desc at ``feature_level``; empty if CreateOperator would accept it.

    ``strict`` turns violations of the documentation that Microsoft's library accepts into errors.

    ``desc`` is anything that stands for a DML_OPERATOR_DESC. Raises ``TypeError`` if it is not a desc.
    """
    level = enumerator(feature_level, DML_FEATURE_LEVEL, "feature_level")
    report = check(desc, level)[1]
    if strict:
        report.make_strict()
    return Diagnostics(report.errors)


def evaluate(desc: Any, inputs: Sequence[Any], *, feature_level: int | None = None) -> list[Any]:
    """Run one operator on arrays.

    ``inputs`` has one array per input tensor in desc order (None for an absent optional one), with the tensor's sizes
    and data type, 4-bit elements as uint8 or int8; each is laid out with the tensor's strides. Arrays of other
    libraries are accepted through DLPack. Returns one array per output tensor in its sizes, None for an absent one.

    Under the Direct3D 12 debug layer, and in a capture, the operator is created, compiled, initialized, bound,
    dispatched and read back step by step, on devices of its own, so that these see the same calls as in a program;
    otherwise it runs directly on the arrays, with the same result, and what was compiled is kept for equal descs. Only
    elements that the operator leaves undefined differ: the debug layer fills them with a pattern.

    Raises ``DMLError`` as CreateOperator and CompileOperator do, ``TypeError`` and ``ValueError``, which name the
    tensor, for inputs that do not match their tensors.
    """
    if type(inputs) is not list and (isinstance(inputs, (str, bytes)) or not isinstance(inputs, Sequence)):
        raise TypeError(
            f"inputs must be a list with an array for each input tensor, not {type(inputs).__name__}; "
            "for one array pass [array]"
        )
    level = (
        HIGHEST_FEATURE_LEVEL
        if feature_level is None
        else enumerator(feature_level, DML_FEATURE_LEVEL, "feature_level", LEVEL)
    )
    runner = _runner(desc, level)
    return runner.run(_input_arrays(runner.program.inputs, inputs))


# Native kernels that NumPy's path also uses, to convert elements.
CONVERSIONS = {"half"}


class KernelChoice(NamedTuple):
    """What runs an operator or a graph: the native ``kernels`` that accept its tensors, and those that ``declined``
    them, each with its reason. What none of them computes runs in NumPy, in blocks or as the reference."""

    kernels: tuple[str, ...]
    declined: tuple[tuple[str, str], ...]

    @property
    def is_native(self) -> bool:
        """Whether a native kernel computes: those that only convert elements for NumPy do not count."""
        return not CONVERSIONS.issuperset(self.kernels)

    def __str__(self) -> str:
        names = ", ".join(name for name in self.kernels if not self.is_native or name not in CONVERSIONS)
        native = f"{names}, native ({backend.isa})" if names else ""
        first = native if self.is_native else f"NumPy, with {native}" if native else "NumPy"
        return "\n".join([f"kernel: {first}", *(f"  not {name}: {reason}" for name, reason in self.declined)])


def explain(desc: Any, *, feature_level: int = HIGHEST_FEATURE_LEVEL) -> KernelChoice:
    """Which kernels run an operator, and why others do not: ``print(explain(desc))`` shows it.

    ``desc`` is anything that stands for a DML_OPERATOR_DESC, or a compiled operator, such as that of a graph, which is
    on a device of its own and not initialized. It is run once, on zeros.

    Raises ``DMLError`` as CreateOperator and CompileOperator do.
    """
    with loading:
        from .d3d12 import D3D12CreateDevice
        from .dml import DMLCreateDevice, IDMLCompiledOperator
        from .session import Session

    level = enumerator(feature_level, DML_FEATURE_LEVEL, "feature_level", LEVEL)
    is_compiled = isinstance(desc, IDMLCompiledOperator)
    device = desc.device if is_compiled else DMLCreateDevice(D3D12CreateDevice(), feature_level=level)
    session = Session(device)
    with Decisions() as decisions:
        compiled = desc if is_compiled else session.compile(desc)
        tensors = [slot.tensor for slot in compiled.inputs]
        zeros = [None if tensor is None else np.zeros(tensor.sizes, tensor.dtype) for tensor in tensors]
        session.evaluate(compiled, zeros)
    declined = [(one.kernel, one.reason) for one in decisions.declined]
    # A kernel may take some of the tensors, and an operator may ask it for different things.
    return KernelChoice(
        tuple(decisions.kernels), tuple(pair for pair in declined if pair[0] not in decisions.kernels)
    )


def _runner(desc: Any, level: DML_FEATURE_LEVEL) -> DirectRunner | Runner:
    """What runs the operator of ``desc``: without devices where nobody would see them."""
    decoded, faults = decode_operator_desc(desc)
    if decoded is not None and not faults and not _are_new_devices_observed():
        kept = _kept_runner(decoded, level)
        if kept is not None:
            return kept
    # Imported on demand: few programs evaluate invalid descs, or under observation.
    with loading:
        from .d3d12 import D3D12CreateDevice
        from .dml import DMLCreateDevice
        from .runner import Runner

    device = DMLCreateDevice(D3D12CreateDevice(), feature_level=level)
    return Runner(device.CompileOperator(device.CreateOperator(desc)))


def _are_new_devices_observed() -> bool:
    """What ``is_observed`` would say of a device that is created now."""
    if watchers.all or watchers.debug_layer:
        return True
    if PROFILE_VARIABLE not in os.environ:
        return False
    with loading:
        from .dml.profiles import KIND, profile_of

    return profile_of(None) != KIND


@lru_cache(maxsize=256)
def _kept_runner(desc: OperatorDesc, level: DML_FEATURE_LEVEL) -> DirectRunner | None:
    """None for a desc that a device would refuse or warn of."""
    desc, diagnostics = checked(desc, level)
    if diagnostics:
        return None
    report = Report()
    operator_of(desc.name).check_compilation(desc, report)
    return None if report.diagnostics else DirectRunner(OperatorProgram(desc))


def _input_arrays(slots: Sequence[TensorSlot], inputs: Sequence[Any]) -> list[Array | None]:
    if len(inputs) != len(slots):
        names = ", ".join(slot.path for slot in slots)
        raise ValueError(
            f"inputs has {counted_words(len(inputs), 'array')}; the operator has "
            f"{counted_words(len(slots), 'input tensor')}: {names}"
        )
    return [input_array(slot, value) for slot, value in zip(slots, inputs)]


def input_array(slot: TensorSlot, value: Any) -> Array | None:
    """``value`` as an array of the slot's tensor; None if that is absent. Raises as ``evaluate`` does."""
    tensor = slot.tensor
    if tensor is None or value is None:
        if (tensor is None) != (value is None):
            state = "absent from" if tensor is None else "present in"
            raise ValueError(f"{slot.path} is {state} the desc; its input must agree")
        return None
    array = value if type(value) is np.ndarray else as_array(value, slot.path)
    if array is None:
        array = _from_python(slot.path, value, tensor)
    if array.dtype != tensor.dtype:
        raise TypeError(f"{slot.path} holds {tensor.dtype} elements, not {array.dtype}")
    if array.shape != tensor.sizes:
        raise ValueError(f"{slot.path} has the sizes {braces(tensor.sizes)}, not {braces(array.shape)}")
    if tensor.element_bits < 8:
        _check_range(slot.path, array, tensor)
    if tensor.overlaps and not _repeats(array, tensor):
        raise ValueError(
            f"{slot.path} has strides that make elements share memory, but the array has different values there"
        )
    return array


def _from_python(path: str, value: Any, tensor: TensorDesc) -> Array:
    """Numbers and nested lists, which have no data type of their own, converted to the tensor's."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    kind = tensor.dtype.kind
    if array.dtype.kind not in ("biuf" if kind == "f" else "biu"):
        raise TypeError(f"{path} holds {tensor.dtype} elements, not {array.dtype}")
    if kind != "f":
        _check_range(path, array, tensor)
    with np.errstate(over="ignore"):
        return array.astype(tensor.dtype)


def _check_range(path: str, array: Array, tensor: TensorDesc) -> None:
    """Raise ``ValueError`` for integers outside the range of the tensor's type."""
    bits = tensor.element_bits
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if tensor.dtype.kind == "i" else (0, (1 << bits) - 1)
    if array.size and (int(array.min()) < low or int(array.max()) > high):
        name = tensor.dtype if bits >= 8 else f"{bits}-bit"
        raise ValueError(f"{path} holds {name} elements, from {low} to {high}")


def _repeats(array: Array, tensor: TensorDesc) -> bool:
    """Whether ``array`` has equal values wherever the tensor's elements share an address."""
    # Axes along which both have stride 0 need no comparison.
    repeating = (
        slice(None) if stride or other else slice(1)
        for stride, other in zip(array.strides, tensor.effective_strides)
    )
    array = array[tuple(repeating)]
    tensor = TensorDesc(tensor.data_type, array.shape, tensor.strides)
    memory = np.zeros(tensor.total_size, np.uint8)
    tensor.store(memory, array)
    return tensor.load(memory).tobytes() == array.tobytes()
