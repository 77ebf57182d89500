"""The mean of word embeddings: a constant table, GATHER and REDUCE in one graph, saved to a file and drawn.

``python -m directml_py.samples.embedding_graph FOLDER`` also writes the graph and its picture to a folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

import directml_py as dml
from directml_py import dxdispatch
from directml_py.graph import Graph

VOCABULARY = ["<pad>", "the", "cat", "sat", "on", "mat"]
SENTENCES = [["the", "cat", "sat"], ["on", "the", "mat"]]


def embedding_graph(table: npt.NDArray[np.float32]) -> Graph:
    """The graph from two sentences of three tokens to the mean vector of each."""
    graph = Graph()
    tokens = graph.input_tensor("tokens", dml.DML_TENSOR_DATA_TYPE_INT32, [1, 2, 3])
    words = graph.constant(table[np.newaxis], name="table")
    vectors = graph.gather(words, tokens, axis=1, index_dimensions=2, name="vectors")
    # The result has the rank of the inputs: {2,3,4}, without the table's leading 1.
    mean = graph.reduce(vectors, function=dml.DML_REDUCE_FUNCTION_AVERAGE, axes=[1], name="mean")
    graph.outputs = {"mean": mean}
    return graph


def main(folder: Path | None = None) -> int:
    """Run the sample; write the graph and its picture to ``folder``, the command line's argument."""
    # Row n of the table is n, n + 0.25, n + 0.5, n + 0.75.
    table = np.arange(4 * len(VOCABULARY)).reshape(-1, 4).astype(np.float32) / np.float32(4)
    graph = embedding_graph(table)
    if folder is not None:
        dxdispatch.save_graph(folder / "embedding.bin", graph)
        (folder / "embedding.svg").write_text(graph.to_svg(), encoding="utf-8")
    tokens = np.array([[[VOCABULARY.index(word) for word in words] for words in SENTENCES]], np.int32)
    means = graph.compile().run({"tokens": tokens})["mean"]
    for words, vector in zip(SENTENCES, means[:, 0]):
        print(f"{' '.join(words):12}", *(f"{number:.3f}" for number in vector))
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
