"""Reads WebNN's conformance cases: the JavaScript of web-platform-tests, and JSON in either of its forms.

A JavaScript file has arrays of object literals, ``{name, graph: {inputs, operators, expectedOutputs}}``; JSON that was
converted from them has the same objects under ``tests``. JSON of 2024 and before has one operator a file, named by the
file, and ``inputs``, ``options`` and ``expected`` instead of a graph.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# Unpacked, as this package takes and gives elements of 4 bits.
DTYPES: dict[str, np.dtype[Any]] = {
    **{
        name: np.dtype(name)
        for name in ("float32", "float16", "int64", "uint64", "int32", "uint32", "int8", "uint8")
    },
    "int4": np.dtype("int8"),
    "uint4": np.dtype("uint8"),
}


class WebnnOperand(NamedTuple):
    """A tensor of a case with its elements; ``data_type`` is WebNN's name, and a scalar's shape is empty."""

    data_type: str
    array: Array
    is_constant: bool


class Call(NamedTuple):
    """A call of a method of MLGraphBuilder: its arguments in order, the members of its options, and the names of its
    results. A string among the arguments names an operand unless the operator wants a word there."""

    name: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    outputs: tuple[str, ...]


class WebnnCase(NamedTuple):
    name: str
    inputs: dict[str, WebnnOperand]
    calls: tuple[Call, ...]
    outputs: dict[str, WebnnOperand]


class Unread(NamedTuple):
    """A case that says too little: JSON has no NaN and no infinity, and converters wrote null instead."""

    name: str
    why: str


class LiteralError(ValueError):
    """A JavaScript literal that is none: it has a call, a spread or a name in it."""


def read(path: Path) -> Iterator[WebnnCase | Unread]:
    """The cases of a file. Raises ``LiteralError`` if it is no JSON."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        # By the same parser, as the old files have comments.
        content = _Literal(text, 0).value()
        tests = content.get("tests", []) if isinstance(content, dict) else content
        yield from (_case(path.stem, test) for test in tests)
        return
    for found in re.finditer(r"^\s*(?:const|let|var)\s+\w+\s*=\s*(?=\[)", text, re.MULTILINE):
        try:
            tests = _Literal(text, found.end()).value()
        except LiteralError:
            continue
        yield from (_case(path.stem, test) for test in tests if isinstance(test, dict) and "graph" in test)


def _case(stem: str, test: dict[str, Any]) -> WebnnCase | Unread:
    try:
        return _of_graph(test) if "operators" in test.get("graph", test) else _of_one(stem, test)
    except (KeyError, TypeError, ValueError) as error:
        return Unread(test["name"], f"{type(error).__name__}: {error}")


def _of_graph(test: dict[str, Any]) -> WebnnCase:
    graph = test.get("graph", test)
    return WebnnCase(
        test["name"],
        {name: _operand(value) for name, value in graph["inputs"].items()},
        tuple(map(_call, graph["operators"])),
        {name: _operand(value, is_result=True) for name, value in graph["expectedOutputs"].items()},
    )


def _call(operator: dict[str, Any]) -> Call:
    arguments = operator["arguments"]
    pairs = [
        pair
        for group in (arguments if isinstance(arguments, list) else [arguments])
        for pair in group.items()
    ]
    options = {name: value for key, group in pairs if key == "options" for name, value in group.items()}
    outputs = operator.get("outputs", operator.get("output"))
    return Call(
        operator["name"],
        tuple(value for key, value in pairs if key != "options"),
        options,
        tuple(outputs) if isinstance(outputs, list) else (str(outputs),),
    )


# Old files name operators with underscores, and number none of their arguments: these are not operands.
_PLAIN_ARGUMENTS = (
    "type",
    "newShape",
    "axis",
    "splits",
    "starts",
    "sizes",
    "beginningPadding",
    "endingPadding",
)


def _of_one(stem: str, test: dict[str, Any]) -> WebnnCase:
    first, *rest = stem.split("_")
    name = first + "".join(word[:1].upper() + word[1:] for word in rest)
    options = dict(test.get("options", {}))
    operands: list[Any] = []
    inputs: dict[str, WebnnOperand] = {}
    test_inputs = test["inputs"]
    # The inputs of concat are a list.
    for key, value in test_inputs.items() if isinstance(test_inputs, dict) else [("inputs", test_inputs)]:
        for index, one in enumerate(value if isinstance(value, list) else [value]):
            inputs[f"{key}{index}" if isinstance(value, list) else key] = _operand(one)
        if isinstance(value, list):
            operands.append([f"{key}{index}" for index in range(len(value))])
        elif key in options:
            options[key] = key
        else:
            operands.append(key)
    for key, value in options.items():
        if isinstance(value, dict):
            inputs[key] = _operand(value)
            options[key] = key
    plain = [test[key] for key in _PLAIN_ARGUMENTS if key in test]
    expected = test["expected"]
    listed = expected if isinstance(expected, list) else [expected]
    outputs = {
        one.get("name", f"output{index}"): _operand(one, is_result=True) for index, one in enumerate(listed)
    }
    call = Call(name, (*operands, *plain), options, tuple(outputs))
    return WebnnCase(test["name"], inputs, (call,), outputs)


def _operand(value: dict[str, Any], is_result: bool = False) -> WebnnOperand:
    desc = value.get("descriptor", value)
    data_type = desc.get("dataType", desc.get("type"))
    shape = tuple(desc.get("shape", desc.get("dimensions", ())))
    dtype = DTYPES[data_type]
    data = value["data"]
    with np.errstate(over="ignore"):
        # The numbers are meant as the type's nearest; integers of 64 bits must not pass through floats.
        flat = np.array([_number(one, dtype) for one in (data if isinstance(data, list) else [data])], dtype)
    # The low 4 bits of a number are packed as an input; a result is compared with the number.
    if data_type == "uint4" and not is_result:
        flat &= 15
    elif data_type == "int4" and not is_result:
        flat = ((flat & 15) ^ 8) - 8
    array = np.full(shape, flat[0]) if flat.size == 1 else flat.reshape(shape)
    return WebnnOperand(data_type, array, bool(value.get("constant")))


def _number(value: Any, dtype: np.dtype[Any]) -> Any:
    if dtype.kind != "f":
        return int(value)
    # Texts such as "NaN" stand for what JSON has no numbers for.
    return float(value)


_WORDS = {
    "true": True,
    "false": False,
    "null": None,
    "undefined": None,
    "NaN": math.nan,
    "Infinity": math.inf,
    "+Infinity": math.inf,
    "-Infinity": -math.inf,
}


class _Literal:
    """A parser of JavaScript's literals of arrays and objects, from a place in a text on."""

    TOKEN = re.compile(
        r"""(?:\s|//[^\n]*|/\*.*?\*/)*
        (?:(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`$]*`)
        |(?P<number>[-+]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)n?)
        |(?P<word>[-+]?[A-Za-z_$][\w$]*)
        |(?P<mark>[\[\]{},:]))""",
        re.VERBOSE | re.DOTALL,
    )

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position
        self.kind, self.token = "", ""
        self._next()

    def _next(self) -> None:
        found = self.TOKEN.match(self.text, self.position)
        if found is None:
            raise LiteralError(f"no literal at {self.text[self.position : self.position + 20]!r}")
        self.kind = str(found.lastgroup)
        self.token = found[self.kind]
        self.position = found.end()

    def value(self) -> Any:
        """The value that begins with the token; the place is then behind it."""
        if self.kind == "mark":
            if self.token == "[":
                return [one for _, one in self._entries("]", named=False)]
            if self.token == "{":
                return dict(self._entries("}", named=True))
            raise LiteralError(f"no value begins with {self.token}")
        if self.kind == "string":
            text = re.sub(r"\\(.)", r"\1", self.token[1:-1])
            # JSON has no BigInt, and converters wrote its literal as a text.
            return int(text[:-1]) if re.fullmatch(r"[-+]?\d+n", text) else text
        if self.kind == "number":
            digits = self.token.rstrip("n") if self.token[:2].lower() != "0x" else self.token
            whole = re.fullmatch(r"[-+]?(0[xX][0-9a-fA-F]+|\d+)", digits)
            return int(digits, 0 if "x" in digits.lower() else 10) if whole else float(digits)
        if self.token not in _WORDS:
            raise LiteralError(f"{self.token} is no literal")
        return _WORDS[self.token]

    def _entries(self, end: str, named: bool) -> Iterator[tuple[str, Any]]:
        self._next()
        while self.token != end or self.kind != "mark":
            if self.kind == "mark" and self.token == "," and not named:
                # Between two commas there is no element, and a test that runs each skips it.
                self._next()
                continue
            key = ""
            if named:
                key = self.token[1:-1] if self.kind == "string" else self.token
                self._expect(":")
                self._next()
            yield key, self.value()
            self._next()
            if self.kind != "mark" or self.token not in (",", end):
                raise LiteralError(f"{self.token} where an entry ends")
            if self.token == ",":
                self._next()

    def _expect(self, mark: str) -> None:
        self._next()
        if self.kind != "mark" or self.token != mark:
            raise LiteralError(f"{self.token} instead of {mark}")
