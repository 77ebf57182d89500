"""Memory that is bound where none is needed: harmless, and a sign of a mistake."""

from __future__ import annotations

from ..dml.helpers import identity, log_sum_exp
from .hazard import hazard


@hazard("DML-BindTemporaryResource-unneeded", "TemporaryResourceSize is 0", path="binding")
def a_temporary_resource(bench, wrong):
    op = bench.ready(identity() if wrong else log_sum_exp())
    bench.table(op, temporary=bench.buffer(256))


@hazard("DML-BindTemporaryResource-unneeded", path="binding")
def the_larger_of_two_temporary_resources(bench, wrong):
    """HelloDirectML makes one for the initializer and the operator, and binds it to whichever it is."""
    op = bench.compile(identity() if wrong else log_sum_exp())
    initializer = bench.dml.CreateOperatorInitializer([op])
    bench.table(initializer, temporary=bench.buffer(256))


@hazard("DML-BindPersistentResource-unneeded", "PersistentResourceSize is 0", path="binding")
def a_persistent_resource(bench, wrong):
    bench.table(bench.ready(identity()), persistent=bench.buffer(256) if wrong else None)
