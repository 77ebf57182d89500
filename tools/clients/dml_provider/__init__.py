"""ONNX Runtime's DirectML provider, from its Windows wheel, as a client of the emulator under Wine."""
