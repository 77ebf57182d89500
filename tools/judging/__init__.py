"""The parts of ``tools/judge.py``: where descs come from, who is asked, what is listed, what is told."""
