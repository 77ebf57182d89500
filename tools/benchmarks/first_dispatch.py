"""The beginning of ``native_round.cpp`` in Python: a program that ends with its first dispatch."""

import directml_py as dml
from directml_py.session import Session


def main() -> None:
    part, whole = (dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, rows, 8]) for rows in (4, 12))
    session = Session(dml.DMLCreateDevice(dml.D3D12CreateDevice()))
    compiled = session.compile(
        dml.DML_JOIN_OPERATOR_DESC(InputTensors=[part] * 3, OutputTensor=whole, Axis=2)
    )
    *inputs, output = [session.buffer(1024) for _ in range(4)]
    session.record(compiled, session.table(compiled, inputs, [output]))
    session.execute()
    session.dml.removal.check()


if __name__ == "__main__":
    main()
