"""GDB runs this file when it loads the library beside it, if the folder is in its auto-load safe path."""

from pathlib import Path

import gdb

gdb.execute(f"source {Path(__file__).resolve().parents[1] / 'gdb_printers.py'}")
