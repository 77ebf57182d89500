"""The parts of ``tools/judge.py``: generators of descs, workers, listed differences, reports."""
