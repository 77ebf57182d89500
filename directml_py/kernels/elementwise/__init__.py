"""Elementwise kernels: functions of NumPy arrays traced into an IR, fused, and lowered to native kernels or NumPy."""
