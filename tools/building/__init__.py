"""What the package has in C, and how it is built with the wheel."""
