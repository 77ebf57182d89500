"""Validation: rules with identifiers, and their diagnostics."""

from ..abi.rules import RULES, Diagnostic, Rule, Severity, rule
from .desc_rules import check_operator
from .report import Report, failure

__all__ = ["RULES", "Diagnostic", "Report", "Rule", "Severity", "check_operator", "failure", "rule"]
