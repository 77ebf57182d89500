"""The C parts of the package, and their builds for wheels."""
