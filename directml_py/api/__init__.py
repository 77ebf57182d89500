"""The vocabulary of DirectML and Direct3D 12: generated words alone."""
