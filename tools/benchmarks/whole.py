"""Whole networks: execution as a compiled graph, compilation, and peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import directml_py as dml
from directml_py.descs import encode
from directml_py.graph import Graph
from directml_py.graph.nodes import OperatorNode
from directml_py.session import UPLOAD, Session

from .architectures import NETWORKS, Array
from .benchmark_case import BenchmarkCase, Contest, Measurable
from .eager import eager
from .interleaved_timing import interleaved
from .replay_cost import replayed
from .runs import OURS, Row
from .sessions import onnxruntime, session
from .translations import directml, onnx_model

# Relative to the largest element of the result: networks are deep, and summation orders differ.
TOLERANCE = 1e-3
FIGURES = {
    "peak resident": "memory",
    "imported, described and compiled": "compile",
    "described and compiled": "compile",
}
# The first of a few more runs writes bytecode.
FRESH_RUNS = 3
FOOTPRINT = Path(__file__).with_name("footprint.py")


def cases() -> Iterator[Measurable]:
    for name in NETWORKS:
        yield BenchmarkCase("network", f"{name}, run again", partial(running, name))
        yield Compiling(name)
        for figure, group in FIGURES.items():
            yield Fresh(name, group, figure)


def running(name: str, threads: int) -> Contest:
    network = NETWORKS[name]()
    image = network.image()
    graph, weights = directml(network)
    ours = replayed(Session(graph.device), graph.compile().operator, [image, *weights])
    calls = {"PyTorch": eager(network, image), "ONNX Runtime": None}
    if onnxruntime is not None:
        run = session(onnx_model(network), threads).run
        calls["ONNX Runtime"] = lambda: run(None, {"image": image})[0]
    for peer, call in calls.items():
        if call is not None:
            compare(f"{name}: {peer}", ours.outputs[0], call())
    return Contest(ours, calls)


def compare(title: str, ours: Array, theirs: Any) -> None:
    """Warn if results disagree, which makes the timings meaningless."""
    error = np.abs(ours - theirs).max() / np.abs(theirs).max()
    if not error <= TOLERANCE:
        print(f"{title} has a different result, by {error:.2g} of the largest element", file=sys.stderr)


@dataclass(frozen=True)
class Compiling:
    """Compilation from descs, or from a model's bytes, with warm caches."""

    network: str

    @property
    def title(self) -> str:
        return f"compile {self.network}, compiled again"

    def measure(self, threads: int) -> Row:
        network = NETWORKS[self.network]()
        calls: dict[str, Callable[[], object]] = {OURS: compiling(*directml(network))}
        if onnxruntime is not None:
            calls["ONNX Runtime"] = partial(session, onnx_model(network), threads)
        times = interleaved(calls)
        return Row(self.title, times)


@dataclass(frozen=True)
class Fresh:
    """A network in a process of its own; ``figure`` is one of those that ``footprint.py`` prints.

    We import what a network needs when it is described, ONNX Runtime all that it has when it is imported itself, so
    that only the time with the import is of the same work.
    """

    network: str
    group: str
    figure: str

    @property
    def title(self) -> str:
        return f"{self.group} {self.network}, {self.figure}"

    def measure(self, threads: int) -> Row:
        runtimes = [OURS] if onnxruntime is None else [OURS, "ONNX Runtime"]
        figures = {runtime: footprint(runtime, self.network, threads)[self.figure] for runtime in runtimes}
        return Row(self.title, figures, "byte" if self.group == "memory" else "second")


@cache
def footprint(runtime: str, network: str, threads: int) -> dict[str, Sequence[float]]:
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "model.onnx")
        if runtime != OURS:
            model.write_bytes(onnx_model(NETWORKS[network]()))
        command = [sys.executable, str(FOOTPRINT), runtime, network, str(model), str(threads)]
        # Installed packages have bytecode; a source tree may not, and its environment may say that none is written.
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": folder}
        runs = [
            subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
            for _ in range(FRESH_RUNS + 1)
        ]
    return dict(zip(FIGURES, zip(*(map(float, run.split()) for run in runs[1:]))))


def compiling(graph: Graph, weights: list[Array]) -> Callable[[], object]:
    """CreateOperator for every node, CompileGraph and initialization, from descs and weights in memory."""
    descs = [encode(node.desc) for node in graph.nodes if isinstance(node, OperatorNode)]
    whole = graph.desc()
    session = Session(graph.device)
    sources = [None, *(uploaded(session, array) for array in weights)]
    device: Any = graph.device

    def call() -> None:
        nodes = [
            dml.DML_GRAPH_NODE_DESC(
                dml.DML_GRAPH_NODE_TYPE_OPERATOR,
                dml.DML_OPERATOR_GRAPH_NODE_DESC(Operator=device.CreateOperator(desc)),
            )
            for desc in descs
        ]
        whole.Nodes = nodes
        session.initialize(device.CompileGraph(whole), sources)

    return call


def uploaded(session: Session, array: Array) -> Any:
    buffer = session.buffer(array.nbytes, UPLOAD)
    buffer.Map()[:] = array.reshape(-1).view(np.uint8)
    buffer.Unmap()
    return buffer
