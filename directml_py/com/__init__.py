"""The C ABI: COM objects in C programs' memory over the same Python objects.

Adapters alone: what a method does stands in the object model. ``libdirectml.so`` starts this package.
"""
