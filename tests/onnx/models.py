"""Small models, as text of ONNX's parser."""

from __future__ import annotations

import onnx

HEAD = '<ir_version: 9, opset_import: ["" : {opset}, "com.microsoft" : 1]>\n'


def parsed(text, opset=18, check=True):
    """A model: ``f (float[2,3] x) => (float[2,3] y) { y = Relu(x) }``."""
    model = onnx.parser.parse_model(HEAD.replace("{opset}", str(opset)) + text)
    if check:
        onnx.checker.check_model(model)
    return model
