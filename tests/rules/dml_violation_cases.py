"""The violations that the tests of the object model declare, as cases."""

from __future__ import annotations

import directml_py as dml

from ..dml import binding_violations, dispatch_violations, object_violations, thread_violations  # noqa: F401
from ..dml.helpers import DEBUG, Bench
from ..dml.rule_violations import VIOLATIONS
from .registry import Case, found_by, register


def case(violation):
    def run(wrong):
        bench = Bench(DEBUG)
        return found_by(violation.prepare(bench, wrong))

    return Case(
        violation.rule,
        (violation.path,),
        dml.E_INVALIDARG,
        violation.prepare.__name__,
        run,
        violation.prepare,
    )


for _violation in VIOLATIONS:
    register(case(_violation))
