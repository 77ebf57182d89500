"""``bench.py --profile``: every executed node, with its time."""

from __future__ import annotations

from benchmarks import architectures, profiler

from directml_py.kernels.backend import backend


def test_each_node_that_runs_is_timed(monkeypatch):
    network = architectures.Network(1, 2, 6, 6)
    x = network.convolution(0, 4, 3, padding=1, activation="RELU")
    y = network.convolution(x, 4, 1)
    network.add("ACTIVATION_SOFTMAX1", network.join(x, y))
    monkeypatch.setattr(profiler, "NETWORKS", {"small": lambda: network})
    found = {one.node: one for one in profiler.profile("small")}
    # The JOIN moves nothing: both convolutions write where it would.
    assert {one.operator for one in found.values()} == {"CONVOLUTION", "ACTIVATION_SOFTMAX1"}
    assert all(one.nanoseconds > 0 for one in found.values())
    assert backend.native is None or all(one.is_native for one in found.values())
    assert found[0].operations == 2 * 4 * 6 * 6 * 2 * 3 * 3
    assert found[0].tensors == "1x2x6x6 4x2x3x3 -> 1x4x6x6"
