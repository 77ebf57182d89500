"""Gathers and scatters, and operators that find indices."""
