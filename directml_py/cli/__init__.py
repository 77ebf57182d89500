"""What the command line runs: one module a command."""
