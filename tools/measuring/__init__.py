"""What ``tools/accuracy.py`` measures: inputs of all magnitudes, functions in higher precision, and errors."""
