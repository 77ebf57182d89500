"""HelloDirectML with DirectMLX: the operator is a compiled graph of one identity node.

The DirectMLX part comes first; the compiled operator is then used like any other, through a session.
"""

from __future__ import annotations

import sys

import numpy as np

import directml_py as dml
from directml_py.graph import Graph
from directml_py.session import Session


def main() -> int:
    session = Session()

    graph = Graph(session.dml)
    desc = dml.TensorDesc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, (1, 2, 3, 4))
    input = graph.input_tensor(0, desc)
    output = graph.identity(input)

    executionFlags = dml.DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION
    dmlCompiledOperator = graph.compile([output], executionFlags).operator

    inputTensorElementArray = np.full(desc.sizes, 1.618, np.float32)
    print("input tensor:", *(f"{element:.4f}" for element in inputTensorElementArray.flat))

    inputBuffer = session.upload(inputTensorElementArray)
    outputBuffer = session.buffer(output.desc.total_size)
    persistentResource = session.initialize(dmlCompiledOperator)
    session.dispatch(dmlCompiledOperator, [inputBuffer], [outputBuffer], persistentResource)
    session.execute()
    outputBufferData = session.read(outputBuffer, np.float32)

    print("output tensor:", *(f"{element:.6f}" for element in outputBufferData))
    return 0


if __name__ == "__main__":
    sys.exit(main())
