"""The parts of ``tools/accuracy.py``: inputs of all magnitudes, functions in higher precision, and errors."""
