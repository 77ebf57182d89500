"""A run as a table in the terminal, as a page, as the table in README.md."""
