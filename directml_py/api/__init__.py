"""The vocabulary of DirectML and Direct3D 12, as memory lays it out."""
