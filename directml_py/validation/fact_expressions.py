"""The catalog's fact expressions over the fields of a desc, in a small subset of Python's syntax."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import Any

from ..abi.schema import OperatorSchema
from ..descs.data_types import BY_NAME, type_name
from ..descs.format import braces
from ..descs.operator_desc import OperatorDesc, Record
from ..descs.tensor import TensorDesc
from ..descs.types_by_name import enum_class
from .enum_rules import is_readable
from .notation import parse_types

PROPERTIES = {
    "Sizes": "sizes",
    "DimensionCount": "dimension_count",
    "DataType": "data_type",
    "Flags": "flags",
}
FUNCTIONS: dict[str, Callable[..., Any]] = {"len": len, "min": min, "max": max, "prod": math.prod, "sum": sum}
ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
COMPARISONS: dict[type[ast.cmpop], tuple[Callable[[Any, Any], bool], str]] = {
    ast.Lt: (operator.lt, "less than"),
    ast.LtE: (operator.le, "at most"),
    ast.Gt: (operator.gt, "greater than"),
    ast.GtE: (operator.ge, "at least"),
    ast.Eq: (operator.eq, ""),
    ast.NotEq: (operator.ne, "other than"),
    ast.In: (lambda value, among: value in among, "one of"),
}


class Absent(Exception):
    """Raised if an expression refers to an absent tensor or struct, or to an unknown enumerator or data type, for which
    other rules exist."""


def parse(text: str) -> ast.expr:
    """The syntax tree of an expression. Raises ``SyntaxError``."""
    return ast.parse(text, mode="eval").body


def text_of(node: ast.expr) -> str:
    """The expression in the catalog's notation, with lists of values unparenthesized."""
    if isinstance(node, ast.Tuple):
        return ", ".join(map(text_of, node.elts))
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return ", ".join(parse_types(node.value.split()))
    return ast.unparse(node)


def is_enumerator(name: str) -> bool:
    """Whether a name is an enumerator's: all capitals, but longer than the fields of one letter."""
    return len(name) > 1 and name.isupper()


def subject_of(node: ast.expr) -> ast.expr | None:
    """The first field that the expression names, with its property and subscript; None if it names none."""
    if isinstance(node, (ast.Attribute, ast.Subscript)) or (
        isinstance(node, ast.Name) and not is_enumerator(node.id)
    ):
        return node
    inside = node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
    subjects = (subject_of(child) for child in inside if isinstance(child, ast.expr))
    return next((subject for subject in subjects if subject is not None), None)


def field_of(node: ast.expr) -> str:
    """The first field that the expression names, with its property; empty if it names none."""
    subject = subject_of(node)
    while isinstance(subject, ast.Subscript):
        subject = subject.value
    return "" if subject is None else ast.unparse(subject)


Getter = Callable[[OperatorDesc], Any]


# A compiled comparison: the terms, each with whether it is a list of alternatives, and the tests between them.
FactComparison = tuple[tuple[tuple[Getter, bool], ...], tuple[Callable[[Any, Any], bool], ...]]


def enum_of(schema: OperatorSchema, nodes: Sequence[ast.expr]) -> str:
    """The enumeration of the first field among ``nodes``, whose enumerators are written without their prefix."""
    fields = schema.struct
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in fields.index:
            entry = fields.fields[fields.index[node.id]]
            if entry.kind == "enum":
                return entry.type
    return "DML_TENSOR_DATA_TYPE"


@lru_cache(maxsize=8192)
def comparison(node: ast.Compare, schema: OperatorSchema) -> FactComparison:
    nodes = [node.left, *node.comparators]
    enum = enum_of(schema, nodes)
    among = [False, *(isinstance(op, ast.In) for op in node.ops)]
    terms = tuple((getter(term, schema, enum), several) for term, several in zip(nodes, among))
    return terms, tuple(COMPARISONS[type(op)][0] for op in node.ops)


@lru_cache(maxsize=8192)
def test_of(node: ast.Compare, schema: OperatorSchema) -> Callable[[OperatorDesc], bool]:
    """A fast test of a comparison for a desc, specialized for the usual case of a field and one value."""
    terms, tests = comparison(node, schema)
    (first, _), (second, several) = terms[:2]
    simple, test = len(terms) == 2, tests[0]

    def holds(desc: OperatorDesc) -> bool:
        if simple:
            try:
                left, right = first(desc), second(desc)
            except (Absent, IndexError, ZeroDivisionError):
                return True
            if several or type(right) is not tuple:
                return all(test(each, right) for each in left) if type(left) is tuple else test(left, right)
        return not Reader(desc).failures(node)

    return holds


@lru_cache(maxsize=8192)
def getter(node: ast.expr, schema: OperatorSchema, enum: str = "") -> Getter:
    """A function from a desc to the value of an expression; ``enum`` is the enumeration whose enumerators it may use.

    The function raises ``Absent``, and ``IndexError`` for a missing dimension. Raises ``ValueError`` for expressions
    outside the notation.
    """
    if isinstance(node, ast.Constant):
        value = node.value
        constant = (
            tuple(BY_NAME[name] for name in parse_types(value.split())) if isinstance(value, str) else value
        )
        return lambda desc: constant
    if isinstance(node, ast.Name):
        if node.id not in schema.struct.index:
            member = enum_class(enum)[f"{enum}_{node.id}"]
            return lambda desc: member
        is_enum = schema.struct.fields[schema.struct.index[node.id]].kind == "enum"
        return partial(_enumerator if is_enum else _field, name=node.id)
    if isinstance(node, ast.Attribute):
        return partial(_attribute, owner=getter(node.value, schema), name=node.attr)
    if isinstance(node, ast.Subscript):
        owner, index = getter(node.value, schema), getter(node.slice, schema)
        return lambda desc: owner(desc)[index(desc)]
    if isinstance(node, ast.Tuple):
        items = [getter(item, schema, enum) for item in node.elts]
        return lambda desc: tuple(item(desc) for item in items)
    if isinstance(node, ast.BinOp):
        left, right, function = (
            getter(node.left, schema),
            getter(node.right, schema),
            ARITHMETIC[type(node.op)],
        )
        return lambda desc: _combined(function, left(desc), right(desc))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        operand = getter(node.operand, schema)
        return lambda desc: _combined(operator.sub, 0, operand(desc))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        arguments, called = [getter(argument, schema) for argument in node.args], FUNCTIONS[node.func.id]
        return lambda desc: called(*(argument(desc) for argument in arguments))
    raise ValueError(f"{ast.unparse(node)!r} is not an expression of the catalog")


def _field(desc: OperatorDesc, name: str) -> Any:
    value = getattr(desc, name)
    if value is None:
        raise Absent(name)
    return value


def _enumerator(desc: OperatorDesc, name: str) -> Any:
    if not is_readable(desc, name):
        raise Absent(name)
    return getattr(desc, name)


def _attribute(desc: OperatorDesc, owner: Getter, name: str) -> Any:
    return _property(owner(desc), name)


def _property(owner: Any, name: str) -> Any:
    if isinstance(owner, TensorDesc):
        if name == "DataType" and not owner.element_bits:
            raise Absent(name)
        return getattr(owner, PROPERTIES[name])
    assert isinstance(owner, Record)
    return owner.name if name == "Type" and isinstance(owner, OperatorDesc) else getattr(owner, name)


class Reader:
    """Evaluates expressions for one desc."""

    def __init__(self, desc: OperatorDesc) -> None:
        self.desc = desc

    def value(self, node: ast.expr, enum: str = "") -> Any:
        """The value of an expression; see ``getter``."""
        return getter(node, self.desc.schema, enum)(self.desc)

    def path(self, node: ast.expr) -> str:
        """The path of a field, with its subscript as a number: ``InputTensor.Sizes[1]``."""
        if not isinstance(node, ast.Subscript):
            return ast.unparse(node)
        index = self.value(node.slice)
        return f"{self.path(node.value)}[{index if index >= 0 else index + len(self.value(node.value))}]"

    def holds(self, node: ast.expr) -> bool:
        """Whether a condition holds; one about an absent field does not."""
        if isinstance(node, ast.BoolOp):
            verdicts = map(self.holds, node.values)
            return all(verdicts) if isinstance(node.op, ast.And) else any(verdicts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return not self.holds(node.operand)
        if isinstance(node, ast.Name):
            return bool(getattr(self.desc, node.id))
        assert isinstance(node, ast.Compare)
        try:
            return not self._failures(node)
        except (Absent, IndexError, ZeroDivisionError):
            return False

    def failures(self, node: ast.Compare) -> list[int | None]:
        """Where a comparison fails: the indices of elements, or None for a comparison of single values.

        Comparisons about absent fields do not fail.
        """
        try:
            return self._failures(node)
        except (Absent, IndexError, ZeroDivisionError):
            return []

    def _failures(self, node: ast.Compare) -> list[int | None]:
        terms, tests = comparison(node, self.desc.schema)
        values = [(term(self.desc), among) for term, among in terms]
        counts = [len(value) for value, among in values if isinstance(value, tuple) and not among]
        failing: list[int | None] = []
        for index in range(min(counts)) if counts else (None,):
            elements = [_element(value, index, among) for value, among in values]
            if not all(test(left, right) for test, left, right in zip(tests, elements, elements[1:])):
                failing.append(index)
        return failing


def _combined(function: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    """Arithmetic on numbers and, element-wise, on arrays."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return tuple(map(function, one, other))
    if isinstance(one, tuple):
        return tuple(function(value, other) for value in one)
    if isinstance(other, tuple):
        return tuple(function(one, value) for value in other)
    return function(one, other)


def _element(value: Any, index: int | None, among: bool) -> Any:
    return value if index is None or among or not isinstance(value, tuple) else value[index]


def shown(value: Any, path: str = "") -> str:
    """A value formatted for messages."""
    if path.endswith("DataType"):
        return type_name(value)
    if isinstance(value, tuple):
        return braces(shown(element) for element in value)
    return str(getattr(value, "name", value))


@cache
def names_in(schema: OperatorSchema, node: ast.expr) -> frozenset[str]:
    """The fields that an expression refers to."""
    return frozenset(
        child.id
        for child in ast.walk(node)
        if isinstance(child, ast.Name) and child.id in schema.struct.index
    )
