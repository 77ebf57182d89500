"""Models of one node, drawn from the schemas and kernels of ONNX Runtime's CPU provider, which is their judge."""
