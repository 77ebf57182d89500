"""Runnable ports of DirectML programs: ``python -m directml_py.samples.hello_directml`` and its neighbours."""
