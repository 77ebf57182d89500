"""The operator interface: shape inference, attribute checks and kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from ..abi.hresult import E_INVALIDARG
from ..abi.rules import LIBRARY, Rule, Severity, rule
from ..abi.schema import OperatorSchema
from ..api.schema_data import OPERATORS as CATALOG
from ..descs.operator_desc import OperatorDesc
from ..descs.tensor_size import unsigned_numbers
from ..kernels.elementwise.map import map_elements, map_packed, map_whole
from ..kernels.half import widened
from ..kernels.move import move
from ..kernels.native_arrays import Array, Run
from ..kernels.reorder import over_packed
from ..late import loading
from ..text.similar import did_you_mean
from ..validation.report import Report

# Element-wise operators that run alone need none of it.
if TYPE_CHECKING:
    from ..kernels.post_ops import Accepts, Activation, Normalization, PostOps, Sum

Inputs = Sequence[Any]
Outputs = Sequence[Any]
Slices = tuple[slice, ...]
Sizes = tuple[int, ...]
Compute = Callable[..., Any]


class Elements(NamedTuple):
    """An element-wise function: of numbers in ``compute``'s types, or with ``bits`` of unsigned bit patterns."""

    function: Compute
    bits: bool = False

    def dtype(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """The type in which elements of ``dtype`` are loaded and stored."""
        return np.dtype(f"u{dtype.itemsize}") if self.bits else dtype

    def bind(self, inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
        if self.bits:
            inputs, outputs = (
                [x if x is None else x.view(self.dtype(x.dtype)) for x in row] for row in (inputs, outputs)
            )
        return map_elements(self.function, inputs, outputs)


class Kernel(NamedTuple):
    """How an operator runs: ``bind(inputs, outputs, scratch)`` over NumPy views returns the call that computes.

    A kernel is selected once for equal descs, bound once per recorded dispatch, and run many times. ``scratch`` is the
    size of its temporary memory in bytes, which ``bind`` receives as a uint8 array. Absent tensors are None; views may
    be strided. A purely element-wise kernel has ``elements``, which lets graphs fuse several. ``packed`` is the kernel
    over prepacked OWNED_BY_DML inputs. ``fused`` binds it with post-operations, which it may take.
    """

    bind: Callable[[Inputs, Outputs, Array], Run]
    scratch: int = 0
    elements: Elements | None = None
    packed: PrepackedKernel | None = None
    fused: Callable[[Inputs, Outputs, Array, PostOps], Run] | None = None

    def bind_with(self, inputs: Inputs, outputs: Outputs, scratch: Array, post_ops: PostOps) -> Run:
        """``bind``, with post-operations that run over the output."""
        if self.fused is not None:
            return self.fused(inputs, outputs, scratch, post_ops)
        run = self.bind(inputs, outputs, scratch)
        if not post_ops:
            return run
        with loading:
            from ..kernels.post_ops import followed
        return followed(run, post_ops)


class WeightLayout(NamedTuple):
    """A prepacked tensor's layout: ``store(view, memory)`` packs it into ``size`` bytes, a uint8 array."""

    size: int
    store: Callable[[Array, Array], None]


class PrepackedKernel(NamedTuple):
    """A kernel whose inputs at these indices are prepacked at initialization, passed as bytes."""

    kernel: Kernel
    inputs: Mapping[int, WeightLayout]


class Move(NamedTuple):
    """A copy from a slice of an input tensor to a slice of an output tensor; an empty slice is the whole tensor."""

    input: int
    input_slices: Slices
    output: int
    output_slices: Slices


class Broadcast(NamedTuple):
    """Required sizes, each of which may also be 1."""

    sizes: Sizes


class Advisory(NamedTuple):
    """Sizes by the page, of which Microsoft's library checks only ``required``: None in it is any size, and None for
    all of it any sizes of any dimension count."""

    sizes: Sizes
    required: tuple[int | None, ...] | None = None


Shape = Sizes | Broadcast | Advisory
Shapes = Mapping[str, "Shape | Sequence[Shape]"]


class Operator:
    """Base of operators: what the catalog cannot express, for one or more DML_OPERATOR_NAMEs.

    Called only when the catalog's facts hold: required tensors are present, types and ranks agree, attributes are in
    range.
    """

    # Whether sizes of a complete desc follow from others, so that a rule checks them.
    has_sizes: ClassVar[bool] = False
    # Whether some of these are an ``Advisory``.
    advises_sizes: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        if "shapes" in vars(cls) and "has_sizes" not in vars(cls):
            cls.has_sizes = True

    def attributes(self, desc: OperatorDesc, report: Report) -> None:
        """Report violations of the operator's own rules about its attributes."""

    def shapes(self, desc: OperatorDesc, *args: Any, **choices: Any) -> Shapes:
        """Shape inference: by field, the sizes of outputs and of inputs such as a bias or a state.

        Absent tensors may be included. The keyword parameters of an override are what a desc expresses only through its
        outputs; None means that the desc is complete.
        """
        return {}

    def compute(self, desc: OperatorDesc) -> Compute:
        """The reference, naive NumPy: takes one array per input (None if absent), returns one or a tuple of several.

        FLOAT16 is passed and computed as FLOAT32; results are rounded once, when they are stored.
        """
        raise NotImplementedError

    def moves(self, desc: OperatorDesc) -> Sequence[Move] | None:
        """The copies of an operator that only moves data; None if it computes. Graphs elide such copies."""
        return None

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """How the operator runs; by default ``moves``, or the reference."""
        moves = self.moves(desc)
        return computing_kernel(self.compute(desc)) if moves is None else moving_kernel(moves)

    def products(self, desc: OperatorDesc) -> int | None:
        """How many products the operator adds up, where the number of its tensors' elements does not say so."""
        return None

    def accepts(self, desc: OperatorDesc) -> Accepts | None:
        """The post-operations that its native kernels take; None if these take none, not even programs."""
        return None

    def as_post_op(self, desc: OperatorDesc) -> Activation | Sum | Normalization | None:
        """What the operator is to a kernel that stores its input: None if that has nothing of the kind in registers.
        Of a fused activation the desc has no tensors."""
        return None

    def check_compilation(self, desc: OperatorDesc, report: Report) -> int:
        """Report what only CompileOperator rejects, and return the HRESULT with which it fails."""
        return E_INVALIDARG

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        """Report violations by the inputs' values. Called only under the debug layer, before the kernel runs."""

    def defined(self, desc: OperatorDesc, outputs: Outputs) -> Sequence[tuple[Any, ...]]:
        """The slice of each output that is defined, where the page leaves the rest undefined. Called only under the
        debug layer, after the kernel has run."""
        return [()] * len(outputs)


class ElementWise(Operator):
    """An operator whose ``compute`` is element-wise."""

    def kernel(self, desc: OperatorDesc) -> Kernel:
        moves = self.moves(desc)
        return mapping_kernel(self.compute(desc)) if moves is None else moving_kernel(moves)


PREFIX = "DML_OPERATOR_"
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
    """The sizes of an output that may have any."""
    if output_sizes is None:
        return {}
    return {field: tuple(unsigned_numbers(output_sizes, "output_sizes"))}


def operator_rule(
    operator: str,
    name: str,
    text: str,
    *,
    debug: bool = False,
    library: bool = False,
    page_only: bool = False,
) -> Rule:
    """Declare the rule ``DML-OPERATOR-name``, stated by the operator's page, or by Microsoft's ``library`` only.
    ``debug``: a debug-layer warning about values. ``page_only``: the library accepts violations."""
    severity = Severity.WARNING if debug or page_only else Severity.ERROR
    source = LIBRARY if library else SCHEMAS[operator].page
    return rule(f"DML-{operator}-{name}", text, source, severity, debug=debug)


def computing_kernel(compute: Compute) -> Kernel:
    """The reference kernel: computes whole arrays, then stores them."""

    def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
        return partial(map_whole, compute, inputs, outputs)

    return Kernel(bind)


def summing_kernel(compute: Compute) -> Kernel:
    """The reference kernel of a function that adds up, in the order in which it adds up packed arrays."""

    def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
        return partial(map_packed, compute, inputs, outputs)

    return Kernel(bind)


def adding_kernel(compute: Compute) -> Kernel:
    """The kernel of a function that adds up packed arrays and accumulates in the output, passed as ``out``, where that
    is FLOAT32: fresh memory costs as much as a good part of the computation."""

    def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
        (output,) = outputs
        if output.dtype != np.float32:
            return partial(map_packed, compute, inputs, outputs)
        return partial(_run_in_output, compute, inputs, output)

    return Kernel(over_packed(bind))


def _run_in_output(compute: Compute, inputs: Inputs, output: Array) -> None:
    with np.errstate(all="ignore"):
        result = compute(*[None if x is None else widened(x) for x in inputs], out=output)
        if not np.may_share_memory(result, output):
            np.copyto(output, result)


def mapping_kernel(compute: Compute, *, bits: bool = False) -> Kernel:
    """The kernel of an element-wise function, of numbers or of ``bits``: one pass over memory, multithreaded."""
    elements = Elements(compute, bits)
    return Kernel(elements.bind, elements=elements)


def moving_kernel(moves: Sequence[Move]) -> Kernel:
    """The kernel of an operator that only moves data."""

    def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
        return move(
            [
                (outputs[copy.output][copy.output_slices], inputs[copy.input][copy.input_slices])
                for copy in moves
            ]
        )

    return Kernel(bind)


@cache
def operator_of(name: str) -> Operator:
    """The operator DML_OPERATOR_``name``. Raises ``KeyError`` if there is none."""
    with loading:
        import_module(f".{SCHEMAS[name].module}", __package__)
    return OPERATORS[name]


# Layers of a network are alike, and several passes of the graph compiler ask of each.
@lru_cache(maxsize=1024)
def accepts_of(desc: OperatorDesc) -> Accepts | None:
    """``Operator.accepts`` of the operator of ``desc``."""
    return operator_of(desc.name).accepts(desc)


@lru_cache(maxsize=1024)
def post_op_of(desc: OperatorDesc) -> Activation | Sum | Normalization | None:
    """``Operator.as_post_op`` of the operator of ``desc``."""
    return operator_of(desc.name).as_post_op(desc)


def schema_named(name: str | int) -> OperatorSchema:
    """The operator ``GEMM``, ``gemm`` or ``DML_OPERATOR_GEMM``, as a name or a number. Raises ``ValueError``, with a
    similar name, and ``TypeError`` for anything else."""
    if not isinstance(name, str):
        schema = next((schema for schema in SCHEMAS.values() if schema.value == name), None)
        if schema is not None:
            return schema
        raise TypeError(f"an operator is named as GEMM or {PREFIX}GEMM, not by {name!r}")
    short = name.upper().removeprefix(PREFIX)
    schema = SCHEMAS.get(short)
    if schema is None:
        raise ValueError(f"there is no operator {PREFIX}{short}{did_you_mean(short, SCHEMAS)}")
    return schema
