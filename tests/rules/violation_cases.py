"""The breaches that the tests of the object model declare, as cases."""

from __future__ import annotations

import directml_py as dml

from ..dml import binding_violations, dispatch_violations, object_violations, thread_violations  # noqa: F401
from ..dml.helpers import DEBUG, Bench
from ..dml.rule_violations import BREACHES
from .registry import Case, found_by, register


def case(breach):
    def run(wrong):
        bench = Bench(DEBUG)
        return found_by(breach.prepare(bench, wrong))

    return Case(breach.rule, (breach.path,), dml.E_INVALIDARG, breach.prepare.__name__, run, breach.prepare)


for _breach in BREACHES:
    register(case(_breach))
