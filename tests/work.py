"""How much work a call is, in lines of Python: the same on every machine and under any load."""

from __future__ import annotations

import sys


def lines(call):
    """The lines that ``call`` executes in this thread, each turn of a comprehension counted."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def grows_like_its_size(prepare, count):
    """Whether four times as many are at most five times the work; ``prepare`` makes what is counted of a size.

    Comparing all with all would be sixteen times the work, sorting is a little over four.
    """
    # What is made once, or on first use, counts for neither.
    prepare(count // 4)()
    few, many = (lines(prepare(size)) for size in (count, 4 * count))
    assert few > count
    return many < 5 * few
