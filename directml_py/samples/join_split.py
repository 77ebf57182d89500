"""JOIN and SPLIT as inverses: three tensors are joined along an axis and split again, in one command list."""

from __future__ import annotations

import sys

import numpy as np

import directml_py as dml
from directml_py.session import Session


def main() -> int:
    parts = [np.arange(6 * width, dtype=np.float32).reshape(1, 2, 3, width) for width in (2, 1, 4)]
    descs = [dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, part.shape) for part in parts]
    whole = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 2, 3, 7])
    join = dml.DML_JOIN_OPERATOR_DESC(InputTensors=descs, OutputTensor=whole, Axis=3)
    split = dml.DML_SPLIT_OPERATOR_DESC(InputTensor=whole, OutputTensors=descs, Axis=3)
    print(join)
    print(split)

    session = Session()
    inputs = [session.upload(part) for part in parts]
    joined = session.buffer(2 * 3 * 7 * 4)
    outputs = [session.buffer(part.nbytes) for part in parts]
    joining, splitting = session.compile(join), session.compile(split)
    # Operators may need a persistent resource even without OWNED_BY_DML inputs.
    of_joining, of_splitting = session.initialize(joining), session.initialize(splitting)
    session.dispatch(joining, inputs, [joined], of_joining)
    session.barrier(joined)
    session.dispatch(splitting, [joined], outputs, of_splitting)
    session.execute()

    print("joined:")
    print(session.read(joined, np.float32).reshape(1, 2, 3, 7))
    same = all(
        np.array_equal(session.read(output, np.float32).reshape(part.shape), part)
        for output, part in zip(outputs, parts)
    )
    print("split again:", "the same three tensors" if same else "something else!")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
