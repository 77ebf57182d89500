"""No false positives: correct use gives no diagnostics, and no messages on devices under both debug layers."""

from __future__ import annotations

import importlib
import itertools
import pkgutil
from zlib import crc32

import numpy as np
import pytest
from documentation.illustrations import printed
from sweeps import swept
from toolchain import need_package

import directml_py as dml
import directml_py.dml.dml_device
from directml_py import samples
from directml_py.d3d12 import ID3D12Device
from directml_py.descs.encode import encode
from directml_py.operators import SCHEMAS
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.valid_descs import valid_desc

from ..dml.helpers import DEBUG, spans
from ..operators.helpers import LAYOUTS, laid_out
from .layer import debug_layer, layer_bench, messages

LEVELS = list(dml.DML_FEATURE_LEVEL)
# Indices that are all zeros name one element more than once, and neither a scale nor a training step should be 0.
ZEROS = {
    "DML-ADAM_OPTIMIZER-training-step",
    "DML-ELEMENT_WISE_ATAN_YX-origin",
    "DML-ELEMENT_WISE_DEQUANTIZE_LINEAR-scale-zero",
    "DML-ELEMENT_WISE_QUANTIZED_LINEAR_ADD-scale-zero",
    "DML-ELEMENT_WISE_QUANTIZE_LINEAR-scale-zero",
    "DML-QUANTIZED_LINEAR_AVERAGE_POOLING-scale-zero",
    "DML-QUANTIZED_LINEAR_CONVOLUTION-scale-zero",
    "DML-QUANTIZED_LINEAR_MATRIX_MULTIPLY-scale-zero",
    "DML-SCATTER-duplicate-indices",
    "DML-SCATTER_ND-duplicate-indices",
}
SAMPLES = sorted(entry.name for entry in pkgutil.iter_modules(samples.__path__))


class Devices(list):
    """All created Direct3D 12 devices, with their info queues."""

    def messages(self):
        """Warnings or worse."""
        return [
            found.pDescription
            for device in self
            for queue in [device.QueryInterface(dml.ID3D12InfoQueue)]
            for found in map(queue.GetMessage, range(queue.GetNumStoredMessages()))
            if found.Severity <= dml.D3D12_MESSAGE_SEVERITY_WARNING
        ]


@pytest.fixture
def devices(monkeypatch):
    """Every device of the test is a debug device, on Direct3D's debug layer."""
    made = Devices()
    init, create = ID3D12Device.__init__, directml_py.dml.dml_device.IDMLDevice.__init__

    def watched(self, *arguments, **options):
        init(self, *arguments, **options)
        made.append(self)

    def debugged(self, d3d12_device, flags, *rest):
        create(self, d3d12_device, flags | DEBUG, *rest)

    monkeypatch.setattr(ID3D12Device, "__init__", watched)
    monkeypatch.setattr(directml_py.dml.dml_device.IDMLDevice, "__init__", debugged)
    with debug_layer():
        yield made


def test_the_watch_itself(devices):
    """A mistake would be detected."""
    device = dml.DMLCreateDevice(dml.D3D12CreateDevice())
    with pytest.raises(dml.DMLError):
        device.CreateOperator(None)
    assert len(devices) == 1
    assert "DML-Desc-null" in devices.messages()[0]


@pytest.mark.parametrize("operator", printed())
@swept("layout", LAYOUTS)
def test_the_pages_examples(devices, operator, layout):
    for example in printed()[operator]:
        desc = laid_out(example.desc, layout)
        assert dml.validate(desc) == [], example.title
        devices.clear()
        dml.evaluate(desc, example.inputs)
        assert devices
        broken = [message.rpartition("[")[2].partition("]")[0] for message in devices.messages()]
        assert broken == ([] if example.breaks is None else [example.breaks]), example.title


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples(devices, capsys, name):
    if name == "photograph":
        need_package("sklearn")
        need_package("PIL")
    importlib.import_module(f"directml_py.samples.{name}").main()
    assert capsys.readouterr().out
    assert devices
    assert devices.messages() == []


def initialized(bench, op):
    """Run an initializer; returns the persistent resource, None if there is none."""
    size = op.GetBindingProperties().PersistentResourceSize
    persistent = bench.buffer(size) if size else None
    owned = [
        filled(bench, slot.tensor) if slot.tensor and op.is_owned(index) else None
        for index, slot in enumerate(op.inputs)
    ]
    initializer = bench.dml.CreateOperatorInitializer([op])
    table = bench.table(initializer)
    if persistent is not None:
        table.BindInputs([spans(*owned)])
        table.BindOutputs([dml.DML_BINDING_DESC(dml.DML_BINDING_TYPE_BUFFER, whole(persistent))])
    bench.record(initializer, table)
    bench.execute()
    return persistent


def whole(buffer):
    return dml.DML_BUFFER_BINDING(buffer, 0, buffer.GetDesc().Width)


def filled(bench, desc):
    """A zeroed buffer of a tensor's size; zeros are also valid indices."""
    return bench.buffer(desc.total_size, data=np.zeros(desc.total_size, np.uint8))


def levels_of(operator):
    return [level for level in LEVELS if level >= SCHEMAS[operator].level]


def compiled_at_random(bench, operator, level, seed):
    """The first random desc from ``seed`` on whose alignments make no persistent resource of gigabytes, compiled."""

    def compiled(number):
        desc = encode(valid_desc(RandomSource(number), operator, level, max_elements=64))
        assert dml.validate(desc, feature_level=level) == []
        return bench.compile(desc)

    ops = map(compiled, itertools.count(seed))
    return next(op for op in ops if op.GetBindingProperties().PersistentResourceSize < 1 << 30)


@pytest.mark.parametrize("operator", sorted(SCHEMAS))
def test_random_descs(operator):
    """Any level, layout and flags, from the desc to the last byte, with the debug layers on."""
    seed = crc32(operator.encode())
    levels = levels_of(operator)
    level = levels[seed % len(levels)]
    bench = layer_bench(feature_level=level)
    op = compiled_at_random(bench, operator, level, seed)
    persistent = initialized(bench, op)
    inputs = [
        None if slot.tensor is None or op.is_owned(index) else filled(bench, slot.tensor)
        for index, slot in enumerate(op.inputs)
    ]
    outputs = [None if slot.tensor is None else bench.buffer(slot.tensor.total_size) for slot in op.outputs]
    size = op.GetBindingProperties().TemporaryResourceSize
    temporary = bench.buffer(size) if size else None
    table = bench.table(op, inputs, outputs, temporary, persistent)
    bench.record(op, table)
    bench.execute()
    assert {found.rule for found in messages(bench)} <= ZEROS
    assert not bench.removed


def test_probing_is_no_mistake():
    """Queries with a negative answer report no message, though they raise."""
    bench = layer_bench(feature_level=0x2000)
    asked = dml.DML_FEATURE_QUERY_FEATURE_LEVELS(RequestedFeatureLevels=[0x5000])
    for question in (
        lambda: bench.dml.CheckFeatureSupport(
            dml.DML_FEATURE_FEATURE_LEVELS, asked, dml.DML_FEATURE_DATA_FEATURE_LEVELS()
        ),
        lambda: bench.dml.CheckFeatureSupport(99, asked, dml.DML_FEATURE_DATA_FEATURE_LEVELS()),
        lambda: bench.dml.GetPrivateData(dml.GUID("00112233-4455-6677-8899-aabbccddeeff")),
    ):
        with pytest.raises(dml.DMLError) as caught:
            question()
        assert len(caught.value.diagnostics) == 1
    assert messages(bench) == []
    with pytest.raises(dml.DMLError):
        bench.dml.CompileOperator(bench.dml.CreateOperator(None))
    assert [found.rule for found in messages(bench)] == ["DML-Desc-null"]
