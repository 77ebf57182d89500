"""Rules with names, for the layers above; their home is ``abi``, where Direct3D's layer can reach them too."""

from ..abi.rules import LIBRARY, OWN, RULES, Diagnostic, Rule, Severity, made_strict, rule

__all__ = ["LIBRARY", "OWN", "RULES", "Diagnostic", "Rule", "Severity", "made_strict", "rule"]
