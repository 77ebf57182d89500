"""Violations of the rules about binding table descs, and about objects of different devices."""

from __future__ import annotations

import directml_py as dml

from .binding_violations import owned_join
from .helpers import VIEWS, VISIBLE, Bench, identity, spans
from .rule_violations import breaks

HIDDEN = dml.D3D12_DESCRIPTOR_HEAP_FLAG_NONE


def making_table(bench, **changes):
    """CreateBindingTable for IDENTITY, with these fields of the desc changed."""
    desc = bench.table_desc(bench.compile(identity()))
    for name, value in changes.items():
        setattr(desc, name, value)
    return lambda: bench.dml.CreateBindingTable(desc)


def cpu(heap, offset=0):
    return dml.D3D12_CPU_DESCRIPTOR_HANDLE(heap.GetCPUDescriptorHandleForHeapStart().ptr + offset)


def gpu(heap, offset=0):
    return dml.D3D12_GPU_DESCRIPTOR_HANDLE(heap.GetGPUDescriptorHandleForHeapStart().ptr + offset)


@breaks("DML-BindingTable-handle", "CPUDescriptorHandle", void=False)
def a_null_handle(bench, wrong):
    handle = dml.D3D12_CPU_DESCRIPTOR_HANDLE(0) if wrong else cpu(bench.heap)
    return making_table(bench, CPUDescriptorHandle=handle)


@breaks("DML-BindingTable-handle", "GPUDescriptorHandle", void=False)
def a_handle_between_two_descriptors(bench, wrong):
    step = bench.d3d12.GetDescriptorHandleIncrementSize(VIEWS)
    return making_table(bench, GPUDescriptorHandle=gpu(bench.heap, step // 2 if wrong else step))


@breaks("DML-BindingTable-handle", "GPUDescriptorHandle", void=False)
def a_cpu_handle_for_a_gpu_handle(bench, wrong):
    handle = dml.D3D12_GPU_DESCRIPTOR_HANDLE(cpu(bench.heap).ptr) if wrong else gpu(bench.heap)
    return making_table(bench, GPUDescriptorHandle=handle)


@breaks("DML-BindingTable-handle", "CPUDescriptorHandle", void=False)
def a_heap_of_another_device(bench, wrong):
    other = Bench() if wrong else bench
    call = making_table(bench, CPUDescriptorHandle=cpu(other.heap))
    call.__dict__["keep"] = other
    return call


@breaks("DML-BindingTable-heap-type", "CPUDescriptorHandle", void=False)
def a_cpu_handle_of_render_targets(bench, wrong):
    kind = dml.D3D12_DESCRIPTOR_HEAP_TYPE_RTV if wrong else VIEWS
    heap = bench.descriptors(8, kind, HIDDEN)
    call = making_table(bench, CPUDescriptorHandle=cpu(heap))
    call.__dict__["keep"] = heap
    return call


@breaks("DML-BindingTable-heap-type", "GPUDescriptorHandle", void=False)
def a_gpu_handle_of_samplers(bench, wrong):
    heap = bench.descriptors(8, dml.D3D12_DESCRIPTOR_HEAP_TYPE_SAMPLER if wrong else VIEWS)
    call = making_table(bench, GPUDescriptorHandle=gpu(heap))
    call.__dict__["keep"] = heap
    return call


@breaks("DML-BindingTable-shader-visible", "GPUDescriptorHandle", void=False)
def a_heap_that_is_not_shader_visible(bench, wrong):
    heap = bench.descriptors(8, VIEWS, HIDDEN if wrong else VISIBLE)
    call = making_table(bench, CPUDescriptorHandle=cpu(heap), GPUDescriptorHandle=gpu(heap))
    call.__dict__["keep"] = heap
    return call


@breaks("DML-BindingTable-size", "SizeInDescriptors", void=False, kind_device=True)
def fewer_descriptors_than_required(bench, wrong):
    return making_table(bench, SizeInDescriptors=1 if wrong else 2)


@breaks("DML-BindingTable-size", "SizeInDescriptors", void=False)
def more_descriptors_than_the_heap_has(bench, wrong):
    heap = bench.descriptors(4)
    step = bench.d3d12.GetDescriptorHandleIncrementSize(VIEWS)
    call = making_table(
        bench,
        CPUDescriptorHandle=cpu(heap, step),
        GPUDescriptorHandle=gpu(heap, step),
        SizeInDescriptors=4 if wrong else 3,
    )
    call.__dict__["keep"] = heap
    return call


@breaks("DML-BindingTable-size", "SizeInDescriptors", kind_device=True)
def an_initializer_outgrew_its_table(bench, wrong):
    """One operator needs two descriptors, two need four."""
    op, buffer = owned_join(bench), bench.buffer(16)
    initializer = bench.dml.CreateOperatorInitializer([op])
    table = bench.dml.CreateBindingTable(bench.table_desc(initializer, extra=0 if wrong else 2))
    initializer.Reset([op, op])
    return lambda: table.BindInputs([spans(None, buffer)] * 2)


@breaks("DML-Object-device", "Dispatchable", void=False)
def a_table_for_another_devices_operator(bench, wrong):
    other = Bench(d3d12=bench.d3d12) if wrong else bench
    return making_table(bench, Dispatchable=other.compile(identity()))


@breaks("DML-Object-device", "Dispatchable", void=False)
def a_reset_for_another_devices_operator(bench, wrong):
    table = bench.table(bench.compile(identity()))
    desc = bench.table_desc((Bench(d3d12=bench.d3d12) if wrong else bench).compile(identity()))
    return lambda: table.Reset(desc)


@breaks("DML-Object-device", "op", void=False)
def an_operator_of_another_device(bench, wrong):
    op = (Bench(d3d12=bench.d3d12) if wrong else bench).dml.CreateOperator(identity())
    return lambda: bench.dml.CompileOperator(op)


def pair(bench, wrong):
    other = Bench(d3d12=bench.d3d12) if wrong else bench
    return [bench.compile(identity()), other.compile(identity())]


@breaks("DML-Object-device", "operators[1]", void=False)
def an_initializer_for_another_devices_operator(bench, wrong):
    ops = pair(bench, wrong)
    return lambda: bench.dml.CreateOperatorInitializer(2, ops)


@breaks("DML-Object-device", "operators[1]", void=False)
def an_initializer_reset_for_another_devices_operator(bench, wrong):
    ops, initializer = pair(bench, wrong), bench.dml.CreateOperatorInitializer()
    return lambda: initializer.Reset(2, ops)


@breaks("DML-Object-device", "ppObjects[1]", void=False)
def evict_another_devices_operator(bench, wrong):
    ops = pair(bench, wrong)
    return lambda: bench.dml.Evict(2, ops)


@breaks("DML-Object-device", "ppObjects[1]", void=False)
def make_another_devices_operator_resident(bench, wrong):
    ops = pair(bench, wrong)
    return lambda: bench.dml.MakeResident(2, ops)
