"""The C ABI in Python: pointers, structs, HRESULTs, object lifetimes, and the base of validation rules."""
