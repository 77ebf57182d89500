"""The rows of ``tools/bench.py``, one module per subject; each has ``rows() -> Iterator[Row]``."""
