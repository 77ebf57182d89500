"""Mutation operators: mutants of a module's expressions, and one source text with a switch for all of them."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

# The function that mutated source calls with a mutant's number to ask whether the mutant is active.
QUESTION = "__mutant__"
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


class Mutant(NamedTuple):
    """A replacement for one expression of ``file`` (relative to the tree); offsets are in bytes."""

    file: str
    line: int
    start: int
    end: int
    old: str
    new: str
    # Whether it runs at import time.
    at_import: bool

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.old}  ->  {self.new}"


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """The replacements for ``node``."""
    if isinstance(node, ast.Compare):
        for index, op in enumerate(node.ops):
            compared = copy.deepcopy(node)
            compared.ops[index] = SWAPS[type(op)]()  # type: ignore[call-overload]
            yield compared
    elif isinstance(node, (ast.BoolOp, ast.BinOp)) and type(node.op) in SWAPS:
        other = copy.deepcopy(node)
        other.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
        yield other
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(node.value + 1)


def _is_for_readers(node: ast.AST) -> bool:
    """Whether a node is skipped, as only for readers and type checkers: texts, asserts, imports, type aliases."""
    if isinstance(node, (ast.JoinedStr, ast.Assert, ast.Import, ast.ImportFrom, ast.MatchValue)):
        return True
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
        return True
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        name = node.targets[0].id.lstrip("_")
        if name[:1].isupper() and not name.isupper() and "|" in ast.unparse(node.value):
            # A type's name, for which any mutant would fail at import.
            return True
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and "'" in ast.unparse(node)


def _is_left_open(node: ast.AST, child: ast.AST) -> bool:
    """Whether it is the size -1 that NumPy infers, for which any negative number is equivalent."""
    return (
        isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith(".reshape")
        and ast.unparse(child) == "-1"
    )


def expressions(node: ast.AST, at_import: bool = True) -> Iterator[tuple[ast.expr, bool]]:
    """The expressions that run, each with whether it runs at import time."""
    if _is_for_readers(node):
        return
    if isinstance(node, ast.expr):
        yield node, at_import
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        is_body = field == "body" and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_left_open(node, child):
                yield from expressions(child, at_import and not is_body)


def mutants_of(path: Path, file: str) -> Iterator[Mutant]:
    data = path.read_bytes()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node, at_import in expressions(ast.parse(data)):
        if node.end_lineno is None or node.end_col_offset is None:
            continue
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        for other in changes(node):
            yield Mutant(file, node.lineno, start, end, ast.unparse(node), ast.unparse(other), at_import)


def switched(data: bytes, choices: Sequence[tuple[int, Mutant]]) -> bytes:
    """``data`` with a conditional expression for each mutant; line numbers are unchanged."""
    # Enclosing expressions come first; mutants of the same expression are nested alternatives.
    ordered = sorted(choices, key=lambda choice: (choice[1].start, -choice[1].end))

    def written(start: int, end: int, inside: Sequence[tuple[int, Mutant]]) -> bytes:
        text, done, index = b"", start, 0
        while index < len(inside):
            number, mutant = inside[index]
            behind = index + 1
            while behind < len(inside) and inside[behind][1].start < mutant.end:
                behind += 1
            choice = f"({mutant.new} if {QUESTION}({number}) else ".encode()
            kept = written(mutant.start, mutant.end, inside[index + 1 : behind])
            text += data[done : mutant.start] + choice + kept + b")"
            done, index = mutant.end, behind
        return text + data[done:end]

    return written(0, len(data), ordered)
