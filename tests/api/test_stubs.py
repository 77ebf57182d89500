"""The stubs are what the package is at run time: fields, constructors, functions of graphs."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from directml_py import graph
from directml_py.abi.structure import Structure, TypedOperatorDesc, Union
from directml_py.api import d3d12_structs, descriptor_handles, operator_descs, structs
from directml_py.graph import directmlx
from directml_py.graph.operator_functions import OperatorMethod, method_names
from directml_py.operators import SCHEMAS


def classes(module_file):
    """The classes of a stub by name."""
    tree = ast.parse(Path(module_file).with_suffix(".pyi").read_text(encoding="utf-8"))
    return tree, {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def arguments(function):
    return [one.arg for one in (*function.args.args, *function.args.kwonlyargs)][1:]


@pytest.mark.parametrize(
    "module", [structs, operator_descs, d3d12_structs, descriptor_handles], ids=lambda module: module.__name__
)
def test_every_struct_has_its_fields_and_a_constructor_that_takes_them(module):
    tree, stubs = classes(module.__file__)
    own = {
        name: kind
        for name, kind in ((name, getattr(module, name)) for name in module.__all__)
        if issubclass(kind, (Structure, Union))
    }
    aliases = {name for name, kind in own.items() if name != kind.__name__}
    assert own.keys() - aliases == stubs.keys()
    assert {node.targets[0].id for node in tree.body if isinstance(node, ast.Assign)} == aliases | {"__all__"}
    for name, stub in stubs.items():
        kind = own[name]
        fields = [node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)]
        methods = {node.name: arguments(node) for node in stub.body if isinstance(node, ast.FunctionDef)}
        assert [field for field in fields if hasattr(kind, field)] == fields
        assert [field for field in fields if field in dict(kind._fields_)] == [
            one[0] for one in kind._fields_
        ]
        assert methods["__init__"] == fields
        assert methods.get("replace", fields) == fields
        assert ("replace" in methods) == issubclass(kind, Structure)
        kind(**{field: getattr(kind(), field) for field in fields[:1]})


def test_operator_descs_are_typed_ones():
    _, stubs = classes(operator_descs.__file__)
    assert {base.id for stub in stubs.values() for base in stub.bases} == {TypedOperatorDesc.__name__}


def test_every_function_of_a_graph_has_the_signature_that_it_is_called_with():
    _, stubs = classes(Path(graph.__file__).with_name("functions.py"))
    body = stubs["Functions"].body
    functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    aliases = {node.targets[0].id: node.value.id for node in body if isinstance(node, ast.Assign)}
    for name, operator in method_names().items():
        method = OperatorMethod(SCHEMAS[operator])
        assert aliases.get(name, name) == method.name
        written = functions[method.name]
        function = getattr(graph.Graph, name)
        own = list(inspect.signature(function).parameters)
        assert arguments(written) == own[1:]
        required = [
            one.name for one in method.signature.parameters.values() if one.default is inspect.Parameter.empty
        ]
        positional, defaults = written.args.args[1:], len(written.args.defaults)
        assert required == [
            *(one.arg for one in positional[: len(positional) - defaults]),
            *(
                one.arg
                for one, value in zip(written.args.kwonlyargs, written.args.kw_defaults)
                if value is None
            ),
        ]
        outputs = stubs.get(getattr(written.returns, "id", ""))
        if outputs is not None:
            assert len(outputs.body) == len(method.outputs)
    assert len(functions) == len(SCHEMAS)
    assert functions.keys() | aliases.keys() == set(method_names())


def test_directmlx_has_the_functions_and_parameters_that_it_has_at_run_time():
    tree, stubs = classes(directmlx.__file__)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    imported = {one.name for node in tree.body if isinstance(node, ast.ImportFrom) for one in node.names}
    assert set(directmlx.__all__) <= functions.keys() | stubs.keys() | imported
    assert len(functions) > 100
    for name, function in functions.items():
        parameters = inspect.signature(getattr(directmlx, name)).parameters.values()
        written = [one.arg for one in function.args.args]
        assert written == [one.name for one in parameters]
        optional = [one.name for one in parameters if one.default is not inspect.Parameter.empty]
        assert written[len(written) - len(function.args.defaults) :] == optional


def test_fused_activations_have_the_makers_that_they_have_at_run_time():
    _, stubs = classes(Path(directmlx.__file__).with_name("fused_activations.py"))
    body = stubs["FusedActivation"].body
    makers = {node.name for node in body if isinstance(node, ast.FunctionDef)} - {"__init__"}
    public = {name for name in vars(directmlx.FusedActivation) if not name.startswith("_")}
    # None is a keyword, which only getattr reaches.
    assert makers | {"None"} == public
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name in makers:
            if node.name == "desc":
                continue
            required = node.args.args[: len(node.args.args) - len(node.args.defaults)]
            getattr(directmlx.FusedActivation, node.name)(**{one.arg: 0.5 for one in required})
