"""Rules derived from the catalog for each operator, on first use."""

from __future__ import annotations

from functools import cache

from ..abi.rules import LIBRARY, Rule, Severity, derived_rule
from ..abi.schema import OperatorSchema
from ..text.plural import listed
from .fact_expressions import PROPERTIES as ATTRIBUTES
from .facts import LIBRARY_KIND, PAGE, PAGE_ONLY, facts_of, kebab
from .support_tables import same_of, support_of
from .tensor_rules import MAX_DIMENSIONS

# For each property of an agreement, the attribute of TensorDesc and the suffix of the rule's identifier.
PROPERTIES = {
    name: (ATTRIBUTES[name], f"same-{kebab(name)}") for name in ("DataType", "DimensionCount", "Sizes")
}


def rule_texts(schema: OperatorSchema) -> dict[str, str]:
    """The texts of an operator's derived rules, by identifier suffix."""
    texts = {}
    if schema.support:
        texts["data-type"] = "Each tensor has a data type that the support table lists"
        # A table that allows every rank adds nothing to the tensor's own rule.
        tensors = [tensor for table in support_of(schema) for tensor in table.tensors.values()]
        if any(len(tensor.dimensions) < MAX_DIMENSIONS for tensor in tensors):
            texts["dimension-count"] = "Each tensor has a dimension count that the support table lists"
    for entry in same_of(schema):
        for name in entry.properties:
            text = f"{listed(entry.fields)} have the same {name}"
            suffix = PROPERTIES[name][1]
            texts[suffix] = f"{texts[suffix]}; {text}" if suffix in texts else text
    for fact in facts_of(schema):
        if fact.name in texts:
            raise ValueError(f"{schema.name} has two rules {fact.name}")
        texts[fact.name] = fact.text
    return texts


@cache
def rules_of(schema: OperatorSchema) -> dict[str, Rule]:
    """The derived rules of an operator by identifier suffix."""
    kinds = {fact.name: fact.kind for fact in facts_of(schema)}
    return {
        name: _derived(schema, name, text, kinds.get(name, PAGE)) for name, text in rule_texts(schema).items()
    }


def rule_of(schema: OperatorSchema, name: str) -> Rule:
    """A derived rule by its identifier suffix. Few descs break one: the texts of all are made when the first does."""
    return rules_of(schema)[name]


def _derived(schema: OperatorSchema, name: str, text: str, kind: str) -> Rule:
    source = LIBRARY if kind == LIBRARY_KIND else schema.page
    severity = Severity.WARNING if kind == PAGE_ONLY else Severity.ERROR
    return derived_rule(f"DML-{schema.name}-{name}", text, source, severity)


def sizes_rule(schema: OperatorSchema) -> Rule:
    """The rule about all inferred sizes."""
    return derived_rule(
        f"DML-{schema.name}-sizes",
        "Sizes that are inferred from other tensors are as the page says",
        schema.page,
    )


def page_sizes_rule(schema: OperatorSchema) -> Rule:
    """The rule about sizes that the page gives but Microsoft's library does not check."""
    return derived_rule(
        f"DML-{schema.name}-page-sizes",
        "Sizes that Microsoft's library does not check are as the page says",
        schema.page,
        Severity.WARNING,
    )
