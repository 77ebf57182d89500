"""Embedding lookup with GATHER: rows of a table by token; a negative token counts from the end."""

from __future__ import annotations

import sys

import numpy as np

import directml_py as dml

VOCABULARY = ["<pad>", "the", "cat", "sat", "on", "mat"]


def main() -> int:
    table = np.round(np.random.default_rng(1).normal(size=(len(VOCABULARY), 4)), 2).astype(np.float32)
    tokens = np.array([[1, 2, 3, 4, 1, -1]], np.int32)

    gather = dml.DML_GATHER_OPERATOR_DESC(
        InputTensor=dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, table.shape),
        IndicesTensor=dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_INT32, tokens.shape),
        OutputTensor=dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [tokens.size, 4]),
        Axis=0,
        IndexDimensions=1,
    )
    print(gather)
    (embedded,) = dml.evaluate(gather, [table, tokens])
    for token, row in zip(tokens[0], embedded):
        print(f"{VOCABULARY[token]:>5}", row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
