"""REDUCE over an NHWC image with padded rows, described by strides alone."""

from __future__ import annotations

import sys

import numpy as np

import directml_py as dml
from directml_py.session import Session

CHANNELS, HEIGHT, WIDTH = 3, 2, 4
PADDED_ROW = 16


def main() -> int:
    # A typical decoder's output: interleaved channels, each row padded to 16 values.
    image = np.zeros((HEIGHT, PADDED_ROW), np.float32)
    image[:, : WIDTH * CHANNELS] = np.arange(HEIGHT * WIDTH * CHANNELS).reshape(HEIGHT, -1)
    image[:, WIDTH * CHANNELS :] = np.nan

    x = dml.tensor_desc(
        dml.DML_TENSOR_DATA_TYPE_FLOAT32,
        [1, CHANNELS, HEIGHT, WIDTH],
        strides=[HEIGHT * PADDED_ROW, 1, PADDED_ROW, CHANNELS],
    )
    y = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, CHANNELS, 1, 1])
    reduce = dml.DML_REDUCE_OPERATOR_DESC(dml.DML_REDUCE_FUNCTION_AVERAGE, x, y, Axes=[2, 3])
    print(reduce)

    session = Session()
    averages = session.buffer(CHANNELS * 4)
    op = session.compile(reduce)
    persistent = session.initialize(op)
    session.dispatch(op, [session.upload(image)], [averages], persistent)
    session.execute()
    print("average of each channel:", *session.read(averages, np.float32))
    return 0


if __name__ == "__main__":
    sys.exit(main())
