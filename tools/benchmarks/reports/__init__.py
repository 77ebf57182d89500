"""Reports of a run: a table in the terminal, an HTML page, the table in README.md."""
