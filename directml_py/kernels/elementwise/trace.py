"""Tracing: a function of arrays, called with symbols instead of arrays, records what it computes.

The program computes what NumPy would compute, in the same types. A function that inspects values, or does something
that no step expresses, cannot be traced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .ir import ARITHMETIC, CHOOSING, FLOAT32, FLOAT64, WHOLE, Program, Untraceable

BOOL = np.dtype(np.bool_)
LANES = {"float32": "float32", "float64": "float64", "bool": "bits"}
LANES.update(dict.fromkeys(["int8", "int16", "int32"], "int32"))
LANES.update(dict.fromkeys(["uint8", "uint16", "uint32"], "uint32"))
# NumPy's functions, with the names of their steps.
SAME: dict[Any, str] = {
    getattr(np, name): name
    for name in (*ARITHMETIC, *CHOOSING, *WHOLE, "exp", "expm1", "log", "tanh", "sin", "cos")
    if hasattr(np, name)
}
COMPARED: dict[Any, str] = {
    np.less: "less",
    np.less_equal: "less_equal",
    np.equal: "equal",
    np.not_equal: "not_equal",
}
SWAPPED: dict[Any, str] = {np.greater: "less", np.greater_equal: "less_equal"}
LOGICAL: dict[Any, str] = {np.logical_and: "and", np.logical_or: "or", np.logical_xor: "xor"}
BITWISE: dict[Any, str] = {
    np.bitwise_and: "and",
    np.bitwise_or: "or",
    np.bitwise_xor: "xor",
    np.left_shift: "left_shift",
    np.right_shift: "right_shift",
}
# The high words of 64-bit integers.
HIGH_WORDS = {np.dtype(np.int64): np.dtype(np.int32), np.dtype(np.uint64): np.dtype(np.uint32)}
BITWISE_OF_WORDS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert)
WRAPPING = ("add", "subtract", "multiply", "negative")
EXTREMES = {"fmin": "minimum", "fmax": "maximum", "minimum": "minimum", "maximum": "maximum"}


def primitive(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: applied to a symbol, the function is the step ``name``, in FLOAT64."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*args: Any) -> Any:
            symbols = [arg for arg in args if isinstance(arg, Symbol)]
            if not symbols:
                return function(*args)
            if any(arg.dtype.kind != "f" for arg in symbols):
                raise Untraceable(f"{name} of integers has no native kernel")
            return symbols[0].instruction(name, FLOAT64, args)

        return call

    return decorate


class Symbol(NDArrayOperatorsMixin):
    """A stand-in for an array in a program. FLOAT16 is a storage type only."""

    def __init__(self, program: Program, node: int, dtype: np.dtype[Any]) -> None:
        self.program, self.node, self.dtype = program, node, dtype

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Untraceable(f"the function uses {name} of an array")

    def __bool__(self) -> bool:
        raise Untraceable("the function branches on a value")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise Untraceable("the function takes an array as a whole")

    def __iter__(self) -> Any:
        raise Untraceable("the function takes elements one by one")

    def __float__(self) -> float:
        raise Untraceable("the function takes an element as a number")

    __int__ = __index__ = __len__ = __float__

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.where and len(args) == 3 and not kwargs:
            return self.where(*args)
        raise Untraceable(f"{function.__name__} has no native kernel")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        if method != "__call__" or set(kwargs) - {"dtype"}:
            raise Untraceable(f"{ufunc.__name__} with options has no native kernel")
        samples = [sample(arg) for arg in args]
        with np.errstate(all="ignore"):
            result = ufunc(*samples, **kwargs).dtype
        if ufunc in LOGICAL:
            return self.instruction(LOGICAL[ufunc], BOOL, args, BOOL)
        if ufunc is np.logical_not:
            return self.instruction("invert", BOOL, args, BOOL)
        if ufunc in COMPARED or ufunc in SWAPPED:
            operand_type = np.result_type(*samples)
            operands = [self.taken(arg, operand_type) for arg in (args if ufunc in COMPARED else args[::-1])]
            return self.compared(COMPARED.get(ufunc) or SWAPPED[ufunc], operands, operand_type)
        if ufunc is np.isnan:
            return args[0] != args[0] if args[0].dtype.kind == "f" else np.logical_and(args[0], False)
        if ufunc is np.isinf and args[0].dtype.kind == "f":
            return np.equal(np.absolute(args[0]), np.inf)
        if ufunc is np.square:
            return self.instruction("multiply", result, [args[0], args[0]])
        if ufunc is np.reciprocal and result.kind == "f":
            return self.instruction("divide", result, [result.type(1), args[0]])
        if ufunc is np.invert:
            return self.instruction("invert", result, args)
        name = SAME.get(ufunc) or BITWISE.get(ufunc)
        if name is None:
            raise Untraceable(f"{ufunc.__name__} has no native kernel")
        return self.instruction(name, result, args)

    def where(self, condition: Any, a: Any, b: Any) -> Symbol:
        result = np.result_type(sample(a), sample(b))
        if is_wide(result):
            return Words(*chosen(condition, words_of(a, result), words_of(b, result)), result)
        operands = [self.taken(condition, BOOL), self.taken(a, result), self.taken(b, result)]
        suffix = "float64" if result == FLOAT64 else "bits"
        return self.made(f"where_{suffix}", result, operands)

    def compared(self, name: str, operands: Sequence[int], operand_type: np.dtype[Any]) -> Symbol:
        lane = lane_of(operand_type)
        if lane in ("int32", "uint32") and name.endswith("equal") and name != "less_equal":
            lane = "bits"
        return Symbol(self.program, self.program.compared(name, lane, *operands), BOOL)

    def instruction(
        self, name: str, dtype: np.dtype[Any], args: Sequence[Any], operand_type: np.dtype[Any] | None = None
    ) -> Symbol:
        """A step in the lane of ``dtype``, to which operands are converted."""
        lane = lane_of(dtype)
        operands = [self.taken(arg, operand_type or dtype) for arg in args]
        if dtype.kind == "f":
            return self.made(f"{name}_{lane}", dtype, operands)
        if name in EXTREMES and dtype.kind in "iu":
            return self.made(f"{EXTREMES[name]}_{lane}", dtype, operands)
        if name == "absolute" and dtype.kind == "u":
            return Symbol(self.program, operands[0], dtype)
        if name == "absolute" and dtype.kind == "i":
            return self.made("absolute_int32", dtype, operands).wrapped(dtype)
        is_bits = name in ("invert", *BITWISE.values()) and (name != "right_shift" or dtype.kind == "u")
        if is_bits or (name in WRAPPING and dtype.kind in "iu"):
            made = self.made(f"{name}_bits", dtype, operands)
            return made if name in ("and", "or", "xor", "right_shift") else made.wrapped(dtype)
        raise Untraceable(f"{name} of {dtype.name.upper()} has no native kernel")

    def made(self, name: str, dtype: np.dtype[Any], operands: Sequence[int]) -> Symbol:
        lane = dtype.name if dtype.kind == "f" else "bits"
        return Symbol(self.program, self.program.add(name, lane, *operands), dtype)

    def wrapped(self, dtype: np.dtype[Any]) -> Symbol:
        """The 32-bit integer that has this value in ``dtype``."""
        if dtype.kind == "b" or dtype.itemsize == 4:
            return Symbol(self.program, self.node, dtype)
        if dtype.kind == "i":
            return self.made(f"{dtype.name}_bits", dtype, [self.node])
        mask = self.program.constant((1 << 8 * dtype.itemsize) - 1, np.dtype(np.uint32))
        return self.made("and_bits", dtype, [self.node, mask])

    def taken(self, value: Any, dtype: np.dtype[Any]) -> int:
        """The node of an operand, cast to ``dtype``."""
        if isinstance(value, Symbol):
            node: int = value.astype(dtype).node
            return node
        if np.size(value) != 1:
            raise Untraceable("the function uses an array of its own")
        lane_of(dtype)
        if dtype.kind in "iu" and not np.iinfo(dtype).min <= np.asarray(value).item() <= np.iinfo(dtype).max:
            raise Untraceable("a constant is out of the range of the data type")
        with np.errstate(all="ignore"):
            return self.program.constant(np.asarray(value).reshape(()).astype(dtype), dtype)

    def astype(self, dtype: Any, copy: bool = True) -> Symbol:
        """As NumPy casts; NumPy leaves open how out-of-range floats convert to integers."""
        dtype = np.dtype(dtype)
        kind, source_kind = dtype.kind, self.dtype.kind
        if dtype == self.dtype:
            return self
        if self.dtype == np.float16:
            raise Untraceable("the function continues with FLOAT16, which is computed in FLOAT32")
        if dtype == np.float16:
            return Symbol(self.program, self.exact().node, dtype)
        if is_wide(dtype) and source_kind != "f":
            return Words.of(self, dtype)
        lane = lane_of(dtype)
        if kind == "b":
            return self.compared("not_equal", [self.node, self.taken(0, self.dtype)], self.dtype)
        if source_kind == "b":
            bit = self.made("and_bits", np.dtype(np.uint32), [self.node, self.taken(1, np.dtype(np.uint32))])
            return Symbol(self.program, bit.node, dtype) if kind in "iu" else bit.astype(dtype)
        if kind == "f":
            narrow = None
            if dtype == FLOAT32 and self.dtype == FLOAT64:
                narrow = self.program.rounded(self.node, is_half=False)
            if narrow is not None:
                return Symbol(self.program, narrow, dtype)
            return self.made(f"{lane}_{lane_of(self.dtype)}", dtype, [self.node])
        if source_kind == "f":
            raise Untraceable("floats become integers in a way that C does not define")
        fits = np.can_cast(self.dtype, dtype)
        return Symbol(self.program, self.node, dtype) if fits else self.wrapped(dtype)

    def exact(self) -> Symbol:
        """A non-float as a float type that represents it exactly."""
        if self.dtype.kind == "f":
            return self
        return self.astype(FLOAT32 if self.dtype.itemsize < FLOAT32.itemsize else FLOAT64)

    def as_half(self) -> Symbol:
        """The float rounded to FLOAT16, for further computation."""
        return self.made(f"half_{lane_of(self.dtype)}", FLOAT32, [self.node])

    def saturated(self, dtype: np.dtype[Any]) -> Symbol:
        """Floats converted to integers, as by ``functions.saturated``."""
        lane = lane_of(dtype)
        if dtype.itemsize == 4:
            return self.made(f"saturated_{lane_of(self.dtype)}_{lane}", dtype, [self.node])
        limits, wide = np.iinfo(dtype), np.dtype(np.int32)
        clamped = self.made(f"saturated_{lane_of(self.dtype)}_int32", wide, [self.node])
        clamped = np.minimum(np.maximum(clamped, wide.type(limits.min)), wide.type(limits.max))
        return Symbol(self.program, clamped.node, dtype)

    def scaled_by(self, name: str, scale: Any, zero_point: Any, dtype: np.dtype[Any]) -> Symbol:
        """A step that takes a FLOAT32 scale and an integer zero point of up to 16 bits."""
        zero = self.taken(0, np.dtype(np.int32)) if zero_point is None else zero_point.node
        return self.made(name, dtype, [self.node, self.taken(scale, FLOAT32), zero])


class Words(Symbol):
    """A 64-bit integer, whose words have lanes: ``low`` is unsigned, ``high`` has the sign."""

    def __init__(self, low: Symbol, high: Symbol, dtype: np.dtype[Any]) -> None:
        self.program, self.dtype = low.program, dtype
        self.low, self.high = low, high.astype(HIGH_WORDS[dtype])

    @property
    def node(self) -> int:  # type: ignore[override]
        raise Untraceable(f"the function of {self.dtype.name.upper()} has no native kernel")

    @classmethod
    def of(cls, value: Any, dtype: np.dtype[Any]) -> Words:
        """An integer or boolean as 64 bits. Raises ``Untraceable`` for floats."""
        if isinstance(value, cls):
            return cls(value.low, value.high, dtype)
        if not isinstance(value, Symbol) or value.dtype.kind == "f":
            raise Untraceable(f"{dtype.name.upper()} is made of a float or of a constant")
        low = value.astype(np.uint32)
        signed = value.astype(np.int32) if value.dtype.kind == "i" else low
        return cls(low, np.where(signed < 0, np.int32(-1), np.int32(0)), dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            raise Untraceable(f"{ufunc.__name__} with options has no native kernel")
        if ufunc in LOGICAL or ufunc is np.logical_not:
            return ufunc(*(arg.astype(BOOL) if isinstance(arg, Symbol) else arg for arg in args))
        dtype = np.result_type(*map(sample, args))
        if not is_wide(dtype):
            raise Untraceable(f"{ufunc.__name__} of {self.dtype.name.upper()} has no native kernel")
        return word_function(ufunc, dtype, [words_of(arg, dtype) for arg in args])

    def astype(self, dtype: Any, copy: bool = True) -> Symbol:
        dtype = np.dtype(dtype)
        if is_wide(dtype):
            return Words.of(self, dtype)
        if dtype == BOOL:
            return (self.low | self.high.astype(np.uint32)) != 0  # type: ignore[no-any-return]
        if dtype.kind != "f":
            return self.low.astype(dtype)
        if dtype == np.float16:
            raise Untraceable(f"{self.dtype.name.upper()} as FLOAT16 has no native kernel")
        return self.as_float(dtype)

    def as_float(self, dtype: np.dtype[Any]) -> Symbol:
        """Rounded once: for FLOAT32, bits that FLOAT64 has no room for become one that tells whether any is set."""
        low: Any = self.low
        high: Any = self.high
        if dtype == FLOAT32:
            rest = np.where((low & np.uint32(0xFFF)) != 0, np.uint32(0x800), np.uint32(0))
            is_large = np.abs(high.astype(FLOAT64)) >= np.float64(1 << 20)
            low = np.where(is_large, (low & np.uint32(0xFFFFF000)) | rest, low)
        wide: Symbol = high.astype(FLOAT64) * np.float64(1 << 32) + low.astype(FLOAT64)
        return wide.astype(dtype)


def is_wide(dtype: np.dtype[Any]) -> bool:
    return dtype in HIGH_WORDS


def words_of(value: Any, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The low and the high word of a value of 64 bits, of a symbol or a number."""
    if isinstance(value, Symbol):
        words = Words.of(value, dtype)
        return words.low, words.high
    if np.size(value) != 1:
        raise Untraceable("the function uses an array of its own")
    number = int(np.asarray(value).astype(dtype).item())
    return np.uint32(number & 0xFFFFFFFF), HIGH_WORDS[dtype].type(number >> 32)


def chosen(condition: Any, first: tuple[Any, Any], second: tuple[Any, Any]) -> tuple[Any, Any]:
    """``np.where`` of words."""
    return np.where(condition, first[0], second[0]), np.where(condition, first[1], second[1])


def word_function(ufunc: Any, dtype: np.dtype[Any], pairs: Sequence[tuple[Any, Any]]) -> Any:
    """A function of one or two values of 64 bits, by their words."""
    (low, high), (low2, high2) = pairs[0], pairs[-1]
    if ufunc in BITWISE_OF_WORDS:
        first, second = (ufunc(*words) for words in zip(*pairs))
        return Words(first, second, dtype)
    if ufunc in (np.equal, np.not_equal):
        is_same = np.logical_and(np.equal(low, low2), np.equal(high, high2))
        return is_same if ufunc is np.equal else np.logical_not(is_same)
    if ufunc in SWAPPED:
        return word_function(getattr(np, SWAPPED[ufunc]), dtype, pairs[::-1])
    if ufunc in COMPARED:
        is_less = np.logical_and(np.equal(high, high2), ufunc(low, low2))
        return np.logical_or(np.less(high, high2), is_less)
    if ufunc is np.add:
        total = np.add(low, low2)
        carry = np.less(total, low).astype(HIGH_WORDS[dtype])
        return Words(total, high + high2 + carry, dtype)
    if ufunc is np.negative:
        return word_function(np.subtract, dtype, [words_of(0, dtype), *pairs])
    if ufunc is np.subtract:
        borrow = np.less(low, low2).astype(HIGH_WORDS[dtype])
        return Words(np.subtract(low, low2), high - high2 - borrow, dtype)
    if ufunc is np.multiply:
        word, crossed = np.uint32, high.astype(np.uint32) * low2 + low * high2.astype(np.uint32)
        (first, first_high), (second, second_high) = ((x & word(0xFFFF), x >> word(16)) for x in (low, low2))
        middle = first_high * second + (first * second >> word(16))
        carry = first * second_high + (middle & word(0xFFFF)) >> word(16)
        total = crossed + first_high * second_high + (middle >> word(16)) + carry
        return Words(low * low2, total, dtype)
    if EXTREMES.get(ufunc.__name__) in ("minimum", "maximum"):
        is_first = word_function(np.less if "min" in ufunc.__name__ else np.greater, dtype, pairs)
        return Words(*chosen(is_first, *pairs), dtype)
    raise Untraceable(f"{ufunc.__name__} of {dtype.name.upper()} has no native kernel")


def lane_of(dtype: np.dtype[Any]) -> str:
    """Raises ``Untraceable`` for types without a lane."""
    lane = LANES.get(dtype.name)
    if lane is None:
        raise Untraceable(f"{dtype.name.upper()} has no native kernel")
    return lane


def sample(value: Any) -> Any:
    """A value of the type, from which NumPy infers result types."""
    return np.ones(1, value.dtype) if isinstance(value, Symbol) else value


def traced(
    function: Callable[..., Any], inputs: Sequence[np.dtype[Any] | None], outputs: Sequence[np.dtype[Any]]
) -> Program | Untraceable:
    """The program that stores the results of ``function``, for these types of inputs and outputs in memory; or why
    there is none."""
    program = Program()
    try:
        symbols = [
            None if dtype is None else input_symbol(program, number, dtype)
            for number, dtype in enumerate(inputs)
        ]
        results = function(*symbols)
        for result, dtype in zip(results if isinstance(results, tuple) else (results,), outputs):
            program.outputs.append(stored(result, dtype))
    except Untraceable as error:
        return error
    return program


def input_symbol(program: Program, number: int, dtype: np.dtype[Any]) -> Symbol:
    computed = FLOAT32 if dtype == np.float16 else dtype
    lane_of(computed)
    if dtype.kind == "f" and computed != FLOAT32:
        raise Untraceable(f"{dtype.name.upper()} has no native kernel")
    node = program.add("input", "float32" if dtype.kind == "f" else "bits", bits=number)
    if dtype == np.float16:
        program.halves.add(node)
    if dtype == BOOL:
        return Symbol(program, node, np.dtype(np.uint8)).astype(BOOL)
    return Symbol(program, node, computed)


def stored(result: Any, dtype: np.dtype[Any]) -> int:
    """The node of a result as it can be stored in memory of ``dtype``."""
    if not isinstance(result, Symbol):
        raise Untraceable("a result does not depend on the inputs")
    symbol: Symbol = result
    if symbol.dtype.kind == "f" and dtype.kind != "f":
        raise Untraceable("floats become integers in a way that C does not define")
    if dtype not in (np.float16, FLOAT32):
        if dtype.kind in "fb":
            raise Untraceable(f"{dtype.name.upper()} has no native kernel")
        return symbol.astype(dtype).node
    if symbol.dtype == np.float16 and dtype == FLOAT32:
        raise Untraceable("the function continues with FLOAT16, which is computed in FLOAT32")
    if symbol.dtype.kind != "f":
        symbol = symbol.exact() if dtype == np.float16 else symbol.astype(FLOAT32)
    program = symbol.program
    if program.nodes[symbol.node].lane == "float64":
        narrow = program.rounded(symbol.node, dtype == np.float16)
        return symbol.node if narrow is None else narrow
    return symbol.node
