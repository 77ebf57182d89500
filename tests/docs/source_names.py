"""The names that a page sets in code type, and whether the repository has them."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import directml_py
from directml_py.operators import SCHEMAS
from directml_py.testing.known_rules import every_rule

from .pages import FENCE, ROOT

# With the role before it, such as {doc}.
SPAN = re.compile(r"(\{[\w-]+\})?(`+)(.+?)\2(?!`)", re.DOTALL)
PLACEHOLDER = re.compile(r"<\w+>")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
WORD = re.compile(r"[A-Za-z_]\w")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
# Files of other projects, and those whose names the text leaves open.
OTHER_FILES = (".contents", ".dll", ".js", ".jsonl")
# A name with a dot, or of several words.
NAME_OF_CODE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[a-z]+(?:_[a-z\d]+)+")
RULE = re.compile(r"(?:D3D12|DML)-[\w*-]+")
SEPARATORS = re.compile(r"->|[\s=()\[\]{},;:&|+\"'^!<>]+|\.\.\.")
_PACKAGE = ROOT / "directml_py"
ROOMS = ("directml_py", "tools", "tests", "include")
C_SUFFIXES = {".c", ".h", ".inc", ".cpp"}
SUFFIXES = C_SUFFIXES | {".py", ".pyi", ".md", ".toml", ".jsonl", ".contents"}
# Stands for any word, in names of files and of symbols; so does what is set in angle brackets.
ANY = "NAME"
# What an installation has, and no clone.
INSTALLED = ".venv/"


def spans(page: str) -> Iterator[tuple[int, str]]:
    """The inline code of a page, with the line that it begins in. What roles hold Sphinx resolves itself."""
    open_fence, lines = "", []
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines():
        fence = FENCE.match(line)
        inside = bool(open_fence) or fence is not None
        if open_fence:
            open_fence = "" if line.strip() == open_fence else open_fence
        elif fence is not None:
            open_fence = fence[1]
        lines.append("" if inside else line)
    text = "\n".join(lines)
    for span in SPAN.finditer(text):
        if span[1] is None:
            yield text.count("\n", 0, span.start()) + 1, span[3]


class Code(NamedTuple):
    """What a Python file says: what it defines, its string literals, and docstrings with the lines of their owners."""

    defined: frozenset[str]
    literals: frozenset[str]
    docstrings: list[tuple[int, str]]


@cache
def code_of(path: Path) -> Code:
    """Read once for all that is asked: parsing takes longest."""
    defined, literals, docstrings = set[str](), set[str](), []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = DEFINED.get(type(node))
        if names is not None:
            defined.update(names(node))
        if isinstance(node, DOCUMENTED):
            docstrings.append((getattr(node, "lineno", 1), ast.get_docstring(node) or ""))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            literals.add(node.value)
    return Code(frozenset(defined), frozenset(literals), docstrings)


DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
DEFINED: dict[type[ast.AST], Callable[[Any], Sequence[str]]] = {
    ast.FunctionDef: lambda node: (node.name,),
    ast.AsyncFunctionDef: lambda node: (node.name,),
    ast.ClassDef: lambda node: (node.name,),
    ast.arg: lambda node: (node.arg,),
    ast.Name: lambda node: (node.id,) if isinstance(node.ctx, ast.Store) else (),
    ast.Attribute: lambda node: (node.attr,),
    ast.alias: lambda node: (node.asname or node.name).split("."),
}


def docstring_names(path: Path) -> Iterator[tuple[int, str]]:
    """What docstrings of a module say in code type and is a name: ``module.name``, ``two_words``."""
    for line, docstring in code_of(path).docstrings:
        for span in SPAN.finditer(docstring):
            if NAME_OF_CODE.fullmatch(span[3]) and not span[3].endswith(OTHER_FILES):
                yield line, span[3]


def is_defined(name: str) -> bool:
    """Whether the repository has a name: in its module, if it begins with one."""
    words = [] if is_known(name) and name.endswith(tuple(SUFFIXES)) else name.split(".")
    for count in range(len(words) - 1, 0, -1):
        modules = modules_of("/".join(words[:count]))
        if modules:
            return any(words[count] in code_of(module).defined for module in modules) or bool(
                modules_of("/".join(words[: count + 1]))
            )
    return is_known(name)


@cache
def modules_of(path: str) -> list[Path]:
    """The modules and packages of the package whose path ends so."""
    return [*_PACKAGE.rglob(f"{path}.py"), *_PACKAGE.rglob(f"{path}/__init__.py")]


def unknown_names(page: str) -> list[str]:
    """What a page names and the repository does not have, with the place in the page."""
    return [
        f"{page}:{line}: {piece}"
        for line, span in spans(page)
        for piece in filter(None, SEPARATORS.split(PLACEHOLDER.sub(ANY, span)))
        if not is_known(piece)
    ]


def is_known(piece: str) -> bool:
    if RULE.fullmatch(piece):
        return any(fnmatchcase(rule.id, piece) for rule in every_rule())
    if piece in SUFFIXES or piece.startswith(INSTALLED):
        return True
    if "/" in piece or (ROOT / piece).is_file() or any(piece.endswith(suffix) for suffix in SUFFIXES):
        return is_path(piece)
    piece = piece.replace("*", ANY).strip(".").removeprefix("@")
    if DOTTED.fullmatch(piece) is None:
        # Numbers, punctuation and letters name nothing; options are strings of the programs that take them.
        return WORD.search(piece) is None or piece in strings()
    return all(map(is_symbol, piece.split("."))) or is_importable(piece)


def is_path(piece: str) -> bool:
    """Whether some file or folder ends with these components."""
    pattern = piece.strip("/").replace(ANY, "*")
    return any(fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}") for path in paths())


def is_symbol(name: str) -> bool:
    if ANY in name:
        return any(fnmatchcase(one, name.replace(ANY, "*")) for one in symbols())
    return (
        name.isdecimal()
        or name in symbols()
        or name in strings()
        or hasattr(directml_py, name)
        or hasattr(builtins, name)
    )


def is_importable(name: str) -> bool:
    """Whether it is an attribute of a module that is installed: ``os.fork``."""
    module, _, attribute = name.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), attribute) if module else False
    except ImportError:
        return False


@cache
def paths() -> frozenset[str]:
    files = [
        path.relative_to(ROOT)
        for room in (*ROOMS, "docs")
        for path in (ROOT / room).rglob("*")
        if "__pycache__" not in path.parts
    ]
    outside = [path.name for path in ROOT.iterdir()]
    return frozenset([*outside, *(path.as_posix() for path in files)])


@cache
def symbols() -> frozenset[str]:
    """What Python code defines, its modules, and the identifiers of C code without its comments."""
    modules = (path.rpartition("/")[2].removesuffix(".py") for path in paths())
    defined = (code.defined for code in python_code())
    return frozenset(chain(SCHEMAS, modules, *defined, *(_of_c(text) for text in c_texts())))


@cache
def strings() -> frozenset[str]:
    """The string literals of Python code."""
    return frozenset(chain.from_iterable(code.literals for code in python_code()))


@cache
def python_code() -> list[Code]:
    """All Python code but the tests of the pages, which speak of what they look for, and the generated vocabulary."""
    files = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    left_out = {ROOT / "directml_py" / "api", ROOT / "tests" / "docs"}
    return [code_of(path) for path in (*files, ROOT / "noxfile.py") if path.parent not in left_out]


def c_texts() -> list[str]:
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*") if path.suffix in C_SUFFIXES]
    return [path.read_text(encoding="utf-8") for path in files]


def _of_c(text: str) -> list[str]:
    return IDENTIFIER.findall(COMMENT.sub("", text))
