"""``footprint.py RUNTIME NETWORK THREADS``: run a network once and print this process's peak memory in MiB, and the
milliseconds to compile it from its description or ONNX model.

The same modules are imported for either runtime; PyTorch is not involved.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import directml_py as dml
from benchmarks import sessions
from benchmarks.architectures import NETWORKS
from benchmarks.translations import directml, onnx_model
from directml_py.session import Session


def peak() -> float:
    """This process's peak memory in MiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return float("nan")


def main(runtime: str, name: str, threads: int) -> None:
    network = NETWORKS[name]()
    image = network.image()
    if runtime == "ours":
        dml.set_thread_count(threads)
        start = time.perf_counter()
        graph, weights = directml(network)
        session = Session(graph.device)
        op = graph.compile().operator
        tensors = [slot.tensor for slot in op.inputs]
        inputs = [session.upload(array, tensor) for array, tensor in zip([image, *weights], tensors)]
        persistent = session.initialize(op, inputs)
        milliseconds = (time.perf_counter() - start) * 1000
        outputs = [session.buffer(slot.tensor.total_size) for slot in op.outputs if slot.tensor is not None]
        session.dispatch(op, inputs, outputs, persistent)
        session.execute()
    else:
        model = onnx_model(network)
        start = time.perf_counter()
        peer = sessions.session(model, threads)
        milliseconds = (time.perf_counter() - start) * 1000
        peer.run(None, {"image": image})
    print(peak(), milliseconds)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
