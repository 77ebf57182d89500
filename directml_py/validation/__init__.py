"""Rules with identifiers, and what they report."""

from .desc_rules import check_operator
from .report import Report, failure
from .rule import RULES, Diagnostic, Rule, Severity, rule

__all__ = ["RULES", "Diagnostic", "Report", "Rule", "Severity", "check_operator", "failure", "rule"]
