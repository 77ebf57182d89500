"""``footprint.py RUNTIME NETWORK MODEL THREADS``: run a network once and print this process's peak memory in bytes, the
seconds to import the runtime and compile the network, and those to compile it. ``MODEL`` is its ONNX file.

Before the clock starts only NumPy is imported, which both runtimes need. Before the network runs the other runtime is
imported as well, so that the same modules are in memory for either. PyTorch is not involved.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.architectures import NETWORKS, Array, Network


class ReadyNetwork(NamedTuple):
    """``run`` runs it once; ``importing`` and ``compiling`` are the seconds that this took."""

    run: Callable[[], object]
    importing: float
    compiling: float


def compiled_by_us(network: Network, image: Array, threads: int) -> ReadyNetwork:
    start = time.perf_counter()
    import directml_py as dml
    from benchmarks.translations import directml
    from directml_py.session import Session

    imported = time.perf_counter()
    dml.set_thread_count(threads)
    graph, weights = directml(network)
    session = Session(graph.device)
    op = graph.compile().operator
    tensors = [slot.tensor for slot in op.inputs]
    persistent = session.initialize(op, session.stage([None, *weights], [None, *tensors[1:]]))
    ready = time.perf_counter()

    def run() -> None:
        inputs = [session.upload(image, tensors[0]), *[None] * len(weights)]
        outputs = [session.buffer(slot.tensor.total_size) for slot in op.outputs if slot.tensor is not None]
        session.dispatch(op, inputs, outputs, persistent)
        session.execute()

    return ReadyNetwork(run, imported - start, ready - imported)


def compiled_by_onnxruntime(model: bytes, image: Array, threads: int) -> ReadyNetwork:
    start = time.perf_counter()
    import onnxruntime  # noqa: F401

    importing = time.perf_counter() - start
    # Imports the package onnx too, which the runtime does not need.
    from benchmarks.sessions import session

    start = time.perf_counter()
    peer = session(model, threads)
    compiling = time.perf_counter() - start
    return ReadyNetwork(lambda: peer.run(None, {"image": image}), importing, compiling)


def peak() -> float:
    """This process's peak memory in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024.0
    return float("nan")


def main(runtime: str, name: str, path: str, threads: int) -> None:
    network = NETWORKS[name]()
    image = network.image()
    if runtime == "directml-py":
        compiled = compiled_by_us(network, image, threads)
    else:
        compiled = compiled_by_onnxruntime(Path(path).read_bytes(), image, threads)
    for module in ("sessions", "translations"):
        import_module(f"benchmarks.{module}")
    compiled.run()
    print(peak(), compiled.importing + compiled.compiling, compiled.compiling)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
