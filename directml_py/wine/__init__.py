"""Windows programs under Wine, where this package has the places of DirectML.dll, d3d12.dll, dxgi.dll and dxcore.dll.

Programs run in a Wine prefix of the package's own, or in one that the package was installed into. The DLLs themselves
are built by ``tools/building``; ``directml_py.com`` implements what they call.
"""
