"""Lazy imports: what ``import directml_py`` loads, and that every name is available."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import directml_py as dml

PACKAGE = Path(dml.__file__).parent


def printed(code):
    """The output of ``code`` in a new interpreter."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    ).stdout


def eagerly_imported():
    """The names that a plain run of the imports for type checkers gives, as Python itself reads a star."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    blocks = (node for node in tree.body if isinstance(node, ast.If))
    (block,) = (node for node in blocks if ast.unparse(node.test) == "TYPE_CHECKING")
    names = {"__package__": "directml_py", "__name__": "directml_py.x"}
    exec(compile(ast.Module(block.body, []), "imports", "exec"), names)
    return {
        name: value
        for name, value in names.items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }


def test_what_type_checkers_see_is_what_programs_get():
    expected = eagerly_imported()
    assert sorted(expected) == dml.__all__
    for name, value in expected.items():
        assert getattr(dml, name) is value


def test_importing_loads_neither_rooms_nor_libraries():
    code = "import sys, directml_py; print(*(name for name in sys.modules if not name.startswith('_')))"
    loaded = set(printed(code).split())
    assert {name for name in loaded if name.startswith("directml_py")} == {
        "directml_py",
        "directml_py._version",
        "directml_py.api",
        "directml_py.api.exports",
        "directml_py.late",
    }
    assert not {"numpy", "ctypes", "cffi"} & loaded


@pytest.mark.parametrize(
    ("module", "library", "message"),
    [
        ("directml_py.testing.strategies", "hypothesis", "needs Hypothesis: pip install hypothesis"),
        ("directml_py.onnx", "onnx", "needs the package onnx: pip install 'directml-py[onnx]'"),
    ],
)
def test_modules_name_the_package_that_they_lack(module, library, message):
    code = f"""
import sys
sys.modules[{library!r}] = None
try:
    import {module}
except ImportError as error:
    print(error)
"""
    assert printed(code) == f"{module} {message}\n"


def test_an_enumerator_loads_its_module_alone():
    code = """
import sys, directml_py as dml
assert dml.DML_TENSOR_DATA_TYPE_FLOAT32 == 1
assert "DML_TENSOR_DATA_TYPE_FLOAT32" in vars(dml) and "DML_TENSOR_DATA_TYPE_FLOAT16" not in vars(dml)
print(*(name for name in sys.modules if name.startswith("directml_py.") or name == "numpy"))
"""
    assert set(printed(code).split()) == {
        "directml_py._version",
        "directml_py.api",
        "directml_py.api.exports",
        "directml_py.api.enums",
        "directml_py.late",
    }


def test_evaluating_loads_no_object_model():
    """What nobody can see need not exist: devices, queues and resources, and the enumerations and structs of these."""
    code = """
import sys
import directml_py as dml
x = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [2])
(y,) = dml.evaluate(dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(x, x, x), [[1, 2], [3, 4]])
assert y.tolist() == [4, 6]
print(*(name for name in sys.modules if name.startswith("directml_py.")))
from directml_py.api import enums, operator_descs
print(*(name for name in vars(enums) if name in enums.ENUMERATIONS))
print(*(name for name in vars(operator_descs) if name in operator_descs.DESCS))
"""
    modules, enumerations, descs = (set(line.split()) for line in printed(code).splitlines())
    rooms = {name.split(".")[1] for name in modules}
    assert not {"d3d12", "dml", "session", "runner", "sync_validation", "capturing", "graph"} & rooms
    assert not {"directml_py.api.d3d12_enums", "directml_py.api.d3d12_structs"} & modules
    assert not {"directml_py.text.html", "directml_py.kernels.post_ops"} & modules
    assert len(modules) < 100
    assert "DML_TENSOR_DATA_TYPE" in enumerations
    assert "DML_OPERATOR_TYPE" not in enumerations
    assert descs == {"DML_ELEMENT_WISE_ADD_OPERATOR_DESC"}


def test_enumerations_made_late_are_whole():
    """In any order of names, and by any number of threads."""
    code = """
import pickle
from concurrent.futures import ThreadPoolExecutor
from directml_py.api import d3d12_enums as enums
with ThreadPoolExecutor(8) as pool:
    found = list(pool.map(lambda _: enums.D3D12_HEAP_TYPE_UPLOAD, range(64)))
assert all(one is found[0] for one in found)
assert enums.D3D12_HEAP_TYPE is type(found[0]) and enums.D3D12_HEAP_TYPE(2) is found[0]
assert enums.D3D12_HEAP_TYPE.__module__ == enums.__name__
assert pickle.loads(pickle.dumps(found[0])) is found[0]
# An alias, a member of flags, and a scoped enumeration, whose members are not names of the module.
assert enums.D3D12_MULTIPLE_FENCE_WAIT_FLAG_ALL is enums.D3D12_MULTIPLE_FENCE_WAIT_FLAG_NONE
assert enums.D3D12_HEAP_FLAGS(3).value == 3
scoped = next(iter(enums.SCOPED))
member = next(iter(enums.ENUMERATIONS[scoped]))
assert getattr(enums, scoped)[member] == enums.ENUMERATIONS[scoped][member] and not hasattr(enums, member)
"""
    assert printed(code) == ""


@pytest.mark.parametrize("name", ["DML_SIZE_2D", "DML_CAST_OPERATOR_DESC", "D3D12_HEAP_DESC"])
def test_structs_describe_themselves_from_the_start(name):
    shown = printed(f"import directml_py as dml; print(dml.{name}())")
    assert shown.startswith(f"{name}(")
    assert "=" in shown


def test_no_submodule_hides_a_name():
    """As ``directml_py.validate`` would be hidden by an import of a module ``directml_py/validate.py``."""
    assert not {path.stem for path in PACKAGE.iterdir()} & set(dml.__all__)


@pytest.mark.slow
def test_rooms_can_be_imported_in_any_order():
    """Each as the first one, in a process that has NumPy and nothing else."""
    code = """
import importlib, os, pathlib, sys, numpy
wrong = []
for path in sorted(pathlib.Path("directml_py").iterdir()):
    if path.stem.startswith("_") or not (path.suffix == ".py" or (path / "__init__.py").is_file()):
        continue
    child = os.fork()
    if child == 0:
        importlib.import_module(f"directml_py.{path.stem}")
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        wrong.append(path.stem)
print(*wrong)
"""
    assert printed(code).split() == []


def test_every_name_is_listed():
    assert set(dml.__all__) <= set(dir(dml))
    assert {"__version__", "__doc__"} <= set(dir(dml))


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match=r"module 'directml_py' has no attribute 'DML_NO_SUCH_NAME'"):
        dml.DML_NO_SUCH_NAME  # noqa: B018
    with pytest.raises(ImportError, match="DML_NO_SUCH_NAME"):
        exec("from directml_py import DML_NO_SUCH_NAME")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("DML_JION_OPERATOR_DESC", "; did you mean DML_JOIN_OPERATOR_DESC?"),
        ("dml_gemm_operator_desc", "; did you mean DML_GEMM_OPERATOR_DESC?"),
        ("D3D12_HEAP_TYPE_DEFALT", "; did you mean D3D12_HEAP_TYPE_DEFAULT?"),
        ("D3D12_GRAPHICS_PIPELINE_STATE_DESC", ": of Direct3D it has what DirectML needs, without graphics"),
        ("IDXGISwapChain3", ": of Direct3D it has what DirectML needs, without graphics"),
        ("CD3DX12_BLEND_DESC", ": of Direct3D it has what DirectML needs, without graphics"),
        ("FLOAT32", "; did you mean DML_TENSOR_DATA_TYPE_FLOAT32?"),
        ("onxx", "; did you mean onnx?"),
        ("Graph", "; did you mean graph?"),
        ("nothing_like_it", ""),
    ],
)
def test_what_a_name_that_is_not_there_may_have_meant(name, text):
    with pytest.raises(AttributeError) as raised:
        getattr(dml, name)
    message = str(raised.value)
    assert message.startswith(f"module 'directml_py' has no attribute '{name}'{text}")
    assert bool(text) or message.endswith("'")
    if "graphics" in text:
        page = message.partition("(")[2].rstrip(")")
        assert "shaders are not executed" in (Path(__file__).parents[2] / page).read_text(encoding="utf-8")


def test_help_is_a_page_and_names_functions_and_submodules():
    page = printed(
        """
import pydoc
import directml_py
print(pydoc.plain(pydoc.render_doc(directml_py)))
"""
    )
    # Python 3.13 puts more signatures on several lines.
    assert len(page.splitlines()) < 280
    for name in (
        "evaluate(",
        "validate(",
        "tensor_desc(",
        "DMLCreateDevice(",
        "graph (package)",
        "pydirectml",
    ):
        assert name in page
    assert "class DML_" not in page


def test_others_who_look_at_every_name_find_every_name():
    assert set(dml.__all__) <= dict(inspect.getmembers(dml)).keys()
