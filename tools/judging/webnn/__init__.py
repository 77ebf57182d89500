"""WebNN's conformance cases, lowered to graphs of DirectML's operators and compared within WebNN's own tolerances.

These modules register operators when they are imported.
"""

from . import element_wise, movement, recurrent, sliding, statistics_along

__all__ = ["element_wise", "movement", "recurrent", "sliding", "statistics_along"]
