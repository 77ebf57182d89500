"""Generator of the page of all rules, by area; rules of an operator are on its page."""

from __future__ import annotations

from directml_py.abi.rules import THIS_PACKAGE, Rule
from directml_py.operators import SCHEMAS
from directml_py.testing.known_rules import every_rule

from .markdown import anchored, page, source_link, table

INTRODUCTION = """Each normative sentence of the documentation is one rule with an identifier, which ends every message:
`Axis is 7; it must be less than InputTensor.DimensionCount, which is 4 [DML-GATHER-axis]`. Identifiers are
stable, so that a test can expect one: `with dml.expect("DML-GATHER-axis"):`. `python -m directml_py show rules`
prints the same list, with the test that breaks each rule.

A call that breaks a rule fails, unless the rule is a warning. Rules that only the debug layers check are marked."""

AREAS = {
    "Descs and tensors": ("Desc", "BufferTensor", "TensorFlags", "Operator", "FusedActivation"),
    "Graphs": ("Graph",),
    "Devices": (
        "CreateDevice",
        "CreateDevice1",
        "CheckFeatureSupport",
        "CompileOperator",
        "OperatorInitializer",
    ),
    "Bindings": (
        "BindingTable",
        "Binding",
        "BufferBinding",
        "BindInputs",
        "BindOutputs",
        "BindTemporaryResource",
        "BindPersistentResource",
    ),
    "Recording": ("RecordDispatch",),
    "Objects": ("Object", "Pageable", "GetPrivateData", "SetPrivateData"),
}
REST = "Other rules of DirectML"
DIRECT3D = "Direct3D 12"


def area_of(rule: Rule) -> str:
    """The heading for a rule that belongs to no operator."""
    layer, subject = rule.id.split("-")[:2]
    if layer != "DML":
        return DIRECT3D
    return next((area for area, subjects in AREAS.items() if subject in subjects), REST)


def rules_page() -> str:
    areas: dict[str, list[Rule]] = {area: [] for area in [*AREAS, REST, DIRECT3D]}
    counts = dict.fromkeys(SCHEMAS, 0)
    for rule in every_rule():
        operator = rule.id.split("-")[1]
        if operator in SCHEMAS:
            counts[operator] += 1
        else:
            areas[area_of(rule)].append(rule)
    parts = []
    for area, rules in areas.items():
        if rules:
            parts += [f"## {area}", "\n\n".join(map(definition, rules))]
    rows = [(f"[{name}](../operators/{name}.md#rules)", str(count)) for name, count in sorted(counts.items())]
    return page(
        "# Rules",
        f"{INTRODUCTION}\n\nThere are {sum(counts.values()) + sum(map(len, areas.values()))} of them.",
        *parts,
        "## Operators",
        "The rules of an operator are on its page, each with an example of its message.",
        table(("Operator", "Rules"), rows),
    )


def definition(rule: Rule) -> str:
    remarks = []
    if rule.severity.value == "warning":
        remarks.append("a warning")
    if rule.debug:
        remarks.append("checked by the debug layers")
    remarks.append("our own" if rule.source == THIS_PACKAGE else f"from {source_link(rule.source)}")
    return f"{anchored(rule.id)}\n: {rule.text} ({', '.join(remarks)})."
