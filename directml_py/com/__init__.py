"""The C ABI: COM objects for C programs, backed by the Python objects.

This package only marshals calls; the methods are implemented by the object model. ``libdirectml.so`` starts it.
"""
