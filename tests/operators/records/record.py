"""An operator's record: an independent computation of its results, its inputs, and how far apart results may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from directml_py.api.enums import DML_INTERPOLATION_MODE_LINEAR

from ..helpers import as_stored, values_for
from .library import SAME_BITS, Bound
from .magnitudes import Sampler

Reference = Callable[..., Any]
Attributes = Mapping[str, Any]
# By the name of the output's data type.
Ulps = Mapping[str, int]
EXACT: Ulps = {}
# Of functions of elements, from the formula whose operations are each rounded to FLOAT32, as in Microsoft's library.
# They have the form of WebNN's conformance tests, but are much tighter than those figures for graphics hardware.
FUNCTION: Ulps = {"float32": 2, "float16": 1}
COARSE_FUNCTION: Ulps = {"float32": 4, "float16": 1}
# Of what is computed in FLOAT64 throughout, from sums whose order is free, and rounded once.
ROUNDED_SUMS: Ulps = {"float32": 1, "float16": 1}
SPECIAL_SHARE, INFINITE_SHARE = 0.2, 0.01


class Values(NamedTuple):
    """The distribution of an input's elements.

    Floats lie from ``low`` to ``high``, integers too if they are ``limited``. Floats of a ``step`` are multiples of it:
    of a power of two, sums of products of them are exact. Some of ``special`` ones are infinite, NaN, zeros of either
    sign, subnormal, or of any other magnitude; a few of ``infinite`` ones are infinite or NaN.
    """

    low: float = -4.0
    high: float = 4.0
    step: float = 0.0
    special: bool = False
    infinite: bool = False
    limited: bool = False

    def draw(self, rng: np.random.Generator, tensor: Any) -> Any:
        """Elements for a tensor, with equal values where they share memory."""
        array = values_for(rng, tensor, self.low, self.high)
        if array.dtype.kind == "f":
            if self.step:
                array = (np.round(array / self.step) * self.step).astype(array.dtype)
            if self.special:
                array = mixed(rng, array, specials(rng, array.dtype), SPECIAL_SHARE)
            if self.infinite:
                array = mixed(rng, array, np.array([np.nan, np.inf, -np.inf], array.dtype), INFINITE_SHARE)
        elif self.limited:
            limits = np.iinfo(array.dtype)
            low, high = max(int(self.low), limits.min), min(int(self.high), limits.max)
            array = rng.integers(low, high, array.shape, array.dtype, endpoint=True)
        return as_stored(tensor, array)


ANY = Values(special=True)
# Sums of products of these are exact in FLOAT32, and their sums in FLOAT16.
DYADIC = Values(step=0.125)


def unamplified(desc: Any, *inputs: Any) -> float:
    return 0.0


def mixed(rng: np.random.Generator, array: Any, pool: Any, share: float) -> Any:
    """``array`` with a ``share`` of its elements from the pool."""
    return np.where(rng.random(array.shape) < share, rng.choice(pool, array.shape), array)


def specials(rng: np.random.Generator, dtype: np.dtype[Any]) -> Any:
    """Elements of which half are infinite, NaN or zeros."""
    info = np.finfo(dtype)
    positive = [info.max, info.tiny, info.smallest_subnormal, info.tiny * 0.75, 0.5, 1.0, 1.5, 2.5]
    with np.errstate(under="ignore"):
        positive += list(np.ldexp(rng.uniform(0.5, 1, 12), rng.integers(info.minexp, info.maxexp, 12)))
        extreme = [np.nan, np.inf, -np.inf, 0.0, -0.0]
        return np.array([*positive, *(-one for one in positive), *extreme * 8]).astype(dtype)


class Twins(NamedTuple):
    """How a kernel that sums in another order than the NumPy reference of its operator is compared with it.

    ``dyadic``: floats are made multiples of 1/8, whose sums of products are exact; ``positive``: they are made
    positive, where weights are rounded and products must not cancel. ``ulps`` is the most that results may be apart,
    ``largest`` the same in ULP of the largest element where terms cancel.
    """

    dyadic: bool = False
    positive: bool = False
    ulps: int | None = None
    largest: int | None = None


class Record(NamedTuple):
    """What the tests know about an operator.

    ``reference(desc, *inputs)`` gives one array per output, alone or in a list. Inputs are in FLOAT64 or Python's
    integers, None for absent ones. So are results: those in FLOAT64 are rounded once to the output's type, integers
    wrap, and integers for an output of floats are its encodings. None stands for an absent output. A desc that is fused
    into another has no tensors.

    ``values`` are those of each input by field, of all the same, or a function of the desc that gives one of these.
    ``samples``: how many descs are tried.

    Floats may be ``ulps`` from the reference, by data type of the output: none, where an operator moves, compares or
    rounds once. Then the sign of a zero counts too, except for ``either_zero``: a maximum of zeros may be either, and
    the sign of a sum of zeros depends on where it begins. ``library`` is how far results may be from those of
    Microsoft's library on its software device, ``twins`` how a kernel is compared with the operator's own ``compute``.

    ``tools/accuracy.py`` measures functions of elements and of rows with each of ``attributes`` over all magnitudes: as
    many arrays as the operator has inputs, or those of ``magnitudes``. ``factor`` is what a function's FLOAT32 result,
    maybe subnormal, is multiplied by: one unit in the last place of that may be many in the product.
    """

    reference: Reference
    values: Values | Mapping[str, Values] | Callable[[Any], Any] = Values()
    samples: int = 24
    ulps: Ulps | Callable[[Any], Ulps] = EXACT
    either_zero: bool = False
    library: Bound = SAME_BITS
    twins: Twins = Twins()
    attributes: Sequence[Attributes] = ({},)
    magnitudes: Sampler | None = None
    factor: Callable[..., Any] = unamplified

    @property
    def is_function(self) -> bool:
        """Whether results are those of an approximated function of elements."""
        return self.ulps is FUNCTION or self.ulps is COARSE_FUNCTION

    def draw(self, rng: np.random.Generator, desc: Any) -> list[Any]:
        """One array for each input tensor of ``desc``, None for absent ones."""
        values = self.values(desc) if callable(self.values) else self.values

        def of(field: str) -> Values:
            return values if isinstance(values, Values) else values.get(field, Values())

        return [
            None if slot.tensor is None else of(slot.field).draw(rng, slot.tensor) for slot in desc.inputs
        ]


def of_interpolation(desc: Any) -> Ulps:
    """Means are rounded once, from FLOAT64, where cancellation leaves an error; nearest elements are exact."""
    return {"float32": 1} if desc.InterpolationMode == DML_INTERPOLATION_MODE_LINEAR else EXACT


def exactly(array: Any) -> Any:
    """Floats in FLOAT64, integers as Python's; None as it is."""
    return array if array is None else array.astype(np.float64 if array.dtype.kind == "f" else object)


def floats(function: Callable[..., float], inputs: int = 1) -> Callable[..., Any]:
    """A function of Python floats vectorized, with C's NaN or infinity instead of exceptions."""

    def quiet(*numbers: float) -> float:
        try:
            return function(*map(float, numbers))
        except (ValueError, ZeroDivisionError):
            return np.nan
        except OverflowError:
            return np.inf

    many = np.frompyfunc(quiet, inputs, 1)
    return lambda *arrays: many(*arrays).astype(np.float64)


def integers(function: Callable[..., int], inputs: int = 1) -> Callable[..., Any]:
    """A vectorized function from Python numbers to integers."""
    return np.frompyfunc(function, inputs, 1)


def of_kind(of_floats: Callable[..., Any], of_integers: Callable[..., Any]) -> Reference:
    """One function for floats, another for integers, neither of which takes the desc."""
    return lambda desc, *inputs: (of_floats if inputs[0].dtype.kind == "f" else of_integers)(*inputs)


def saturated(dtype: np.dtype[Any]) -> Callable[..., Any]:
    """Numbers as integers of a type: truncated, saturated where out of range, 0 for NaN."""
    limits = np.iinfo(dtype)

    def one(number: float) -> int:
        if number != number:
            return 0
        return int(min(max(number, limits.min), limits.max))

    return integers(one)
