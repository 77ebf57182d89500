"""Rules with names, for the layers above; their home is ``abi``, where Direct3D's layer can reach them too."""

from ..abi.rules import OWN, RULES, Diagnostic, Rule, Severity, rule

__all__ = ["OWN", "RULES", "Diagnostic", "Rule", "Severity", "rule"]
