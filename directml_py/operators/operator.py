"""What an operator is: the sizes that follow, what no table says about its attributes, and what is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from ..abi.hresult import E_INVALIDARG
from ..abi.rules import LIBRARY, Rule, Severity, rule
from ..abi.schema import OperatorSchema
from ..api.schema_data import OPERATORS as CATALOG
from ..descs.operator_desc import OperatorDesc
from ..descs.tensor_size import unsigned_numbers
from ..kernels.elementwise.map import map_elements, map_whole
from ..kernels.half import widened
from ..kernels.move import move
from ..kernels.native_arrays import Array, Run
from ..validation.report import Report

Inputs = Sequence[Any]
Outputs = Sequence[Any]
Slices = tuple[slice, ...]
Sizes = tuple[int, ...]
Compute = Callable[..., Any]


class Elements(NamedTuple):
    """A function of single elements: of numbers as ``compute`` has them, or of ``bits`` as unsigned integers."""

    function: Compute
    bits: bool = False

    def dtype(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """The type in which elements of ``dtype`` are loaded and stored."""
        return np.dtype(f"u{dtype.itemsize}") if self.bits else dtype

    def bind(self, inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
        arrays = [[x if x is None else x.view(self.dtype(x.dtype)) for x in row] for row in (inputs, outputs)]
        return map_elements(self.function, *arrays)


class Kernel(NamedTuple):
    """How an operator runs: ``bind(inputs, outputs, scratch)`` over NumPy views gives the call that computes.

    It is chosen once for equal descs, bound once for each recorded dispatch, and run many times. ``scratch`` is how
    many bytes of temporary memory it takes, a uint8 array. Absent tensors are None; views may be strided. A kernel that
    does nothing but apply a function to ``elements`` says so: graphs run several of these at once. ``packed`` takes
    some inputs that are OWNED_BY_DML in another form.
    """

    bind: Callable[[Inputs, Outputs, Array], Run]
    scratch: int = 0
    elements: Elements | None = None
    packed: PrepackedKernel | None = None


class WeightLayout(NamedTuple):
    """The form in which a tensor is kept: ``store(view, memory)`` fills ``size`` bytes with it, a uint8 array."""

    size: int
    store: Callable[[Array, Array], None]


class PrepackedKernel(NamedTuple):
    """A kernel that takes inputs, by position, in the form that initialization has brought them into, as bytes."""

    kernel: Kernel
    inputs: Mapping[int, WeightLayout]


class Move(NamedTuple):
    """A part of an input tensor that becomes a part of an output tensor; an empty place is the whole tensor."""

    input: int
    input_slices: Slices
    output: int
    output_slices: Slices


class Broadcast(NamedTuple):
    """Sizes of which each may also be 1."""

    sizes: Sizes


class Advisory(NamedTuple):
    """The sizes that a page gives, of which Microsoft's library looks at ``required`` alone: None is any size, or, for
    all of them, any sizes of any dimension count."""

    sizes: Sizes
    required: tuple[int | None, ...] | None = None


Shape = Sizes | Broadcast | Advisory
Shapes = Mapping[str, "Shape | Sequence[Shape]"]


class Operator:
    """One or more DML_OPERATOR_NAMEs: what no table can say.

    Asked only when the catalog's facts hold: required tensors are there, types and ranks agree, attributes are in
    range.
    """

    # Whether sizes of a complete desc follow from others, so that there is a rule about them.
    has_sizes: ClassVar[bool] = False
    # Whether some of these are an ``Advisory``.
    advises_sizes: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        if "shapes" in vars(cls) and "has_sizes" not in vars(cls):
            cls.has_sizes = True

    def attributes(self, desc: OperatorDesc, report: Report) -> None:
        """Report what breaks the operator's own rules about its attributes."""

    def shapes(self, desc: OperatorDesc, *args: Any, **choices: Any) -> Shapes:
        """The sizes of every tensor that follows from others, by field: outputs, and inputs such as a bias or a state.

        Absent tensors may be among them. Keyword parameters of an override are what a desc says through its outputs
        alone; None means that the desc is complete.
        """
        return {}

    def compute(self, desc: OperatorDesc) -> Compute:
        """The reference: a function of one array per input (None if absent) to one per output, alone or in a tuple.

        FLOAT16 arrives as FLOAT32, in which it is computed; results are rounded once, when they are stored.
        """
        raise NotImplementedError

    def moves(self, desc: OperatorDesc) -> Sequence[Move] | None:
        """What goes where, if the operator only moves data; None if it computes. Graphs need not copy what moves."""
        return None

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """How the operator runs; left alone, ``moves`` or ``compute``, in NumPy."""
        moves = self.moves(desc)
        return computing_kernel(self.compute(desc)) if moves is None else moving_kernel(moves)

    def fused_kernel(self, desc: OperatorDesc, following: OperatorDesc) -> Kernel | None:
        """How the operator and the one ``following`` it run at once, if they can: that one alone takes the output of
        this one, as its first input. The inputs are those of both, without that one, and results are the same."""
        return None

    def check_compilation(self, desc: OperatorDesc, report: Report) -> int:
        """Report what CompileOperator alone refuses; the HRESULT with which it then fails."""
        return E_INVALIDARG

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        """Report what the values of the inputs break. Asked under the debug layer alone, before the kernel runs."""

    def defined(self, desc: OperatorDesc, outputs: Outputs) -> Sequence[tuple[Any, ...]]:
        """Where in each output results are, of which the page leaves the rest undefined. Asked under the debug layer
        alone, after the kernel has run."""
        return [()] * len(outputs)


class ElementWise(Operator):
    """An operator whose ``compute`` looks at one element of each array at a time."""

    def kernel(self, desc: OperatorDesc) -> Kernel:
        moves = self.moves(desc)
        return mapping_kernel(self.compute(desc)) if moves is None else moving_kernel(moves)


SCHEMAS: dict[str, OperatorSchema] = {schema.name: schema for schema in CATALOG.values()}
OPERATORS: dict[str, Operator] = {}
T = TypeVar("T", bound=type[Operator])


def operator(*names: str) -> Callable[[T], T]:
    """Class decorator: registers the operators DML_OPERATOR_``name``, which share one instance."""

    def register(kind: T) -> T:
        instance = kind()
        OPERATORS.update((name, instance) for name in names)
        return kind

    return register


def of_sizes(output_sizes: Sequence[int] | None, field: str = "OutputTensor") -> Shapes:
    """The sizes of an output that is free to have any."""
    if output_sizes is None:
        return {}
    return {field: tuple(unsigned_numbers(output_sizes, "output_sizes"))}


def own_rule(
    operator: str,
    name: str,
    text: str,
    *,
    debug: bool = False,
    library: bool = False,
    page_only: bool = False,
) -> Rule:
    """Declare the rule ``DML-OPERATOR-name``, which the operator's page states, or Microsoft's ``library`` alone; of
    values, a warning of the ``debug`` layer. ``page_only``: the library accepts what breaks it."""
    severity = Severity.WARNING if debug or page_only else Severity.ERROR
    source = LIBRARY if library else SCHEMAS[operator].page
    return rule(f"DML-{operator}-{name}", text, source, severity, debug=debug)


def computing_kernel(compute: Compute) -> Kernel:
    """The kernel that computes all at once and then stores: the reference of whatever loop a family has."""

    def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
        return partial(map_whole, compute, inputs, outputs)

    return Kernel(bind)


def adding_kernel(compute: Compute) -> Kernel:
    """The kernel of a function that can add up its result in the output, which it is given as ``out``, where that is
    FLOAT32: fresh memory costs as much as a good part of what is computed."""

    def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
        (output,) = outputs
        if output.dtype != np.float32:
            return partial(map_whole, compute, inputs, outputs)
        return partial(_run_in_output, compute, inputs, output)

    return Kernel(bind)


def _run_in_output(compute: Compute, inputs: Inputs, output: Array) -> None:
    with np.errstate(all="ignore"):
        result = compute(*[None if x is None else widened(x) for x in inputs], out=output)
        if not np.may_share_memory(result, output):
            np.copyto(output, result)


def mapping_kernel(compute: Compute, *, bits: bool = False) -> Kernel:
    """The kernel of a function of elements, or of their bits: in one pass over memory, on several threads."""
    elements = Elements(compute, bits)
    return Kernel(elements.bind, elements=elements)


def moving_kernel(moves: Sequence[Move]) -> Kernel:
    """The kernel of an operator that does nothing but move data."""

    def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
        return move(
            [(outputs[one.output][one.output_slices], inputs[one.input][one.input_slices]) for one in moves]
        )

    return Kernel(bind)
