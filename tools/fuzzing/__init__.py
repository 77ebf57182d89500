"""Fuzzing with random descs, valid and broken, and random programs."""
