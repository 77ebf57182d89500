"""Rules with identifiers, and what they report."""

from .operator import check_operator
from .report import Diagnostic, Report, failure
from .rule import RULES, Rule, Severity, rule

__all__ = ["RULES", "Diagnostic", "Report", "Rule", "Severity", "check_operator", "failure", "rule"]
