"""Calls of methods that return an HRESULT, and of functions, that break a rule."""

from __future__ import annotations

import logging

import directml_py as dml
from directml_py.validation import RULES, Diagnostic

from ..dml.helpers import CUSTOM, DEBUG, DEFAULT, Bench, binding, identity, join, log_sum_exp, spans
from ..operators.helpers import tensor
from .layer import debug_layer, layer_bench, messages
from .registry import breaks

UNSUPPORTED = dml.DXGI_ERROR_UNSUPPORTED
KEY = dml.GUID("00112233-4455-6677-8899-aabbccddeeff")
OTHER_KEY = dml.GUID("00112233-4455-6677-8899-aabbccddeefe")


def create(function, *arguments, **options):
    d3d12 = dml.D3D12CreateDevice()
    return lambda: function(d3d12, *arguments, **options)


@breaks("DML-CreateDevice-flags", "flags")
def a_flag_that_is_none(wrong):
    return create(dml.DMLCreateDevice, 2 if wrong else 0)


@breaks("DML-CreateDevice-flags", "flags")
def a_flag_beside_debug(wrong):
    with debug_layer():
        return create(dml.DMLCreateDevice1, 5 if wrong else 1)


@breaks("DML-CreateDevice-feature-level", "minimumFeatureLevel")
def a_level_of_more_than_32_bits(wrong):
    return create(dml.DMLCreateDevice1, 0, 1 << 32 if wrong else 0x1000)


@breaks("DML-CreateDevice-feature-level", "feature_level")
def an_emulated_level_that_is_none(wrong):
    return create(dml.DMLCreateDevice, feature_level=0x6500 if wrong else 0x6400)


@breaks("DML-CreateDevice-minimum-feature-level", "minimumFeatureLevel", hresult=UNSUPPORTED)
def a_level_that_the_device_lacks(wrong):
    return create(dml.DMLCreateDevice1, 0, 0x4000, feature_level=0x3100 if wrong else 0x4000)


@breaks("DML-CreateDevice-minimum-feature-level", "minimumFeatureLevel", hresult=UNSUPPORTED)
def a_level_of_a_later_version(wrong):
    return create(dml.DMLCreateDevice1, 0, 0x6500 if wrong else 0x6400)


@breaks("DML-CreateDevice1-level", "feature_level", hresult=UNSUPPORTED)
def a_function_of_the_second_version(wrong):
    return create(dml.DMLCreateDevice1 if wrong else dml.DMLCreateDevice, feature_level=0x1000)


@breaks("DML-CheckFeatureSupport-feature", "feature", hresult=UNSUPPORTED)
def a_query_of_the_second_version(wrong):
    device = dml.DMLCreateDevice(dml.D3D12CreateDevice(), feature_level=0x1000 if wrong else 0x2000)
    levels = dml.DML_FEATURE_QUERY_FEATURE_LEVELS(RequestedFeatureLevels=[0x1000])
    answer = dml.DML_FEATURE_DATA_FEATURE_LEVELS()
    return lambda: device.CheckFeatureSupport(dml.DML_FEATURE_FEATURE_LEVELS, levels, answer)


@breaks("DML-CreateDevice-debug-layer", "flags", hresult=None)
def a_debug_device_without_the_other_layer(wrong):
    """There is no info queue: the warning goes to the log."""

    def call():
        records = []
        handler = logging.Handler()
        handler.emit = records.append
        log = logging.getLogger("directml_py")
        log.addHandler(handler)
        try:
            if wrong:
                dml.DMLCreateDevice(dml.D3D12CreateDevice(), DEBUG)
            else:
                with debug_layer():
                    dml.DMLCreateDevice(dml.D3D12CreateDevice(), DEBUG)
        finally:
            log.removeHandler(handler)
        assert all(record.levelno == logging.WARNING for record in records)
        return [read(record.getMessage()) for record in records]

    return call


def read(text):
    """The diagnostic with the text ``text``, parsed."""
    message, _, identifier = text[:-1].rpartition(" [")
    return Diagnostic(RULES[identifier].severity, identifier, message.split()[0], message)


@breaks("DML-CompileOperator-flags", "flags")
def an_execution_flag_that_is_none(wrong):
    bench = Bench(DEBUG)
    op = bench.dml.CreateOperator(identity())
    return lambda: bench.dml.CompileOperator(op, 8 if wrong else 7)


@breaks("DML-QUANTIZED_LINEAR_AVERAGE_POOLING-compiled-scales", "InputScaleTensor.Sizes")
def scales_that_do_not_compile(wrong):
    """CreateOperator takes a scale of one dimension, for which the library has no kernel."""
    bench = Bench(DEBUG)
    whole, one = tensor("UINT8", (1, 1, 1, 1)), tensor("FLOAT32", (1, 1, 1, 1))
    desc = dml.DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC(
        InputTensor=whole,
        InputScaleTensor=tensor("FLOAT32", (1,)) if wrong else one,
        OutputScaleTensor=one,
        OutputTensor=whole,
        Strides=[1, 1],
        WindowSize=[1, 1],
        StartPadding=[0, 0],
        EndPadding=[0, 0],
        Dilations=[1, 1],
    )
    op = bench.dml.CreateOperator(desc)
    return lambda: bench.dml.CompileOperator(op)


@breaks("DML-MULTIHEAD_ATTENTION-compiled-past", "MaskType")
def past_keys_for_a_mask_that_is_not_there(wrong):
    """Recorded of Microsoft's library without present keys and values."""
    bench = Bench(DEBUG)
    rows, past = tensor("FLOAT32", (1, 1, 1)), tensor("FLOAT32", (1, 1, 2, 1))
    present = None if wrong else tensor("FLOAT32", (1, 1, 3, 1))
    desc = dml.DML_MULTIHEAD_ATTENTION_OPERATOR_DESC(
        QueryTensor=rows,
        KeyTensor=rows,
        ValueTensor=rows,
        PastKeyTensor=past,
        PastValueTensor=past,
        OutputTensor=rows,
        OutputPresentKeyTensor=present,
        OutputPresentValueTensor=present,
        Scale=1,
        HeadCount=1,
        MaskType=dml.DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_QUERY_SEQUENCE_LENGTH_START_END,
    )
    op = bench.dml.CreateOperator(desc)
    return lambda: bench.dml.CompileOperator(op)


def celu_in(struct, gates, count):
    """An operator whose last activation has no kernel beside the others."""

    def compiled(wrong):
        bench = Bench(DEBUG)
        linear, celu = (
            dml.DML_ACTIVATION_LINEAR_OPERATOR_DESC(),
            dml.DML_ACTIVATION_CELU_OPERATOR_DESC(Alpha=1),
        )
        one, weights = tensor("FLOAT32", (1, 1, 1, 1)), tensor("FLOAT32", (1, 1, gates, 1))
        desc = struct(
            InputTensor=one,
            WeightTensor=weights,
            RecurrenceTensor=weights,
            OutputSingleTensor=one,
            ActivationDescs=[*[linear] * (count - 1), celu if wrong else linear],
        )
        op = bench.dml.CreateOperator(desc)
        return lambda: bench.dml.CompileOperator(op)

    return compiled


@breaks("DML-GRU-compiled-activations", "ActivationDescs[1]", hresult=dml.E_UNEXPECTED)
def celu_in_gru(wrong):
    return celu_in(dml.DML_GRU_OPERATOR_DESC, 3, 2)(wrong)


@breaks("DML-LSTM-compiled-activations", "ActivationDescs[2]", hresult=dml.E_UNEXPECTED)
def celu_in_lstm(wrong):
    return celu_in(dml.DML_LSTM_OPERATOR_DESC, 4, 3)(wrong)


@breaks("DML-GRU-compiled-matrix-size", "WeightTensor.TotalTensorSizeInBytes")
def overlapping_rows_in_gru(wrong):
    bench = Bench(DEBUG)
    single, matrix = tensor("FLOAT32", (1, 1, 1, 1)), tensor("FLOAT32", (1, 1, 3, 1))
    desc = dml.DML_GRU_OPERATOR_DESC(
        InputTensor=tensor("FLOAT32", (1, 1, 1, 2)),
        WeightTensor=tensor("FLOAT32", (1, 1, 3, 2), (6, 6, 1 if wrong else 2, 1)),
        RecurrenceTensor=matrix,
        OutputSingleTensor=single,
        ActivationDescs=[dml.DML_ACTIVATION_LINEAR_OPERATOR_DESC()] * 2,
    )
    op = bench.dml.CreateOperator(desc)
    return lambda: bench.dml.CompileOperator(op)


@breaks("DML-OperatorInitializer-count", "operatorCount")
def more_operators_than_given(wrong):
    bench = Bench(DEBUG)
    ops = [bench.compile(identity())]
    return lambda: bench.dml.CreateOperatorInitializer(2 if wrong else 1, ops)


@breaks("DML-OperatorInitializer-count", "operators")
def operators_that_are_null(wrong):
    initializer = Bench(DEBUG).dml.CreateOperatorInitializer()
    return lambda: initializer.Reset(1 if wrong else 0, None)


@breaks("DML-OperatorInitializer-count", "operatorCount")
def a_count_that_is_no_uint(wrong):
    bench = Bench(DEBUG)
    ops = [bench.compile(identity())]
    return lambda: bench.dml.CreateOperatorInitializer((1 << 32) + 1 if wrong else 1, ops)


@breaks("DML-OperatorInitializer-in-flight", "the dispatch of an operator initializer", hresult=None)
def a_reset_before_the_dispatch_has_executed(wrong):
    bench = layer_bench()
    op = bench.compile(identity())
    initializer = bench.dml.CreateOperatorInitializer([op])
    bench.record(initializer, bench.table(initializer))

    def call():
        if wrong:
            initializer.Reset()
        bench.execute()
        initializer.Reset()
        assert op.initialized
        return messages(bench)

    return call


@breaks("DML-Pageable-count", "count")
def more_objects_than_given(wrong):
    bench = Bench(DEBUG)
    ops = [bench.compile(identity())]
    return lambda: bench.dml.Evict(2 if wrong else 1, ops)


@breaks("DML-Pageable-count", "ppObjects")
def objects_that_are_null(wrong):
    bench = Bench(DEBUG)
    return lambda: bench.dml.MakeResident(1 if wrong else 0, None if wrong else [])


@breaks("DML-Pageable-null", "ppObjects")
def no_objects_in_no_array(wrong):
    bench = Bench(DEBUG)
    return lambda: bench.dml.Evict(0, None if wrong else [])


@breaks("DML-Desc-reserved-type", "Type", hresult=UNSUPPORTED)
def a_type_of_which_no_version_has_an_operator(wrong):
    desc = identity()
    kind = -1 if wrong else dml.DML_OPERATOR_ELEMENT_WISE_IDENTITY
    whole = dml.DML_OPERATOR_DESC(kind, desc)
    return lambda: Bench(DEBUG).dml.CreateOperator(whole)


@breaks("DML-SetPrivateData-size", "dataSize")
def a_size_beyond_the_data(wrong):
    thing = Bench(DEBUG).recorder
    return lambda: thing.SetPrivateData(KEY, 5 if wrong else 4, b"data")


@breaks("DML-GetPrivateData-guid", "guid", hresult=dml.DXGI_ERROR_NOT_FOUND)
def a_guid_without_data(wrong):
    thing = Bench(DEBUG).dml
    thing.SetPrivateData(KEY, 4, b"data")
    return lambda: thing.GetPrivateData(OTHER_KEY if wrong else KEY)


TYPES, LEVELS = dml.DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, dml.DML_FEATURE_FEATURE_LEVELS
TypeQuery, TypeData = (
    dml.DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT,
    dml.DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT,
)
LevelQuery, LevelData = dml.DML_FEATURE_QUERY_FEATURE_LEVELS, dml.DML_FEATURE_DATA_FEATURE_LEVELS


def asking(*arguments, level=0x6400):
    device = Bench(DEBUG, feature_level=level).dml
    return lambda: device.CheckFeatureSupport(*arguments)


def levels(*values):
    return LevelQuery(RequestedFeatureLevels=list(values))


@breaks("DML-CheckFeatureSupport-feature", "feature", hresult=UNSUPPORTED)
def a_feature_of_a_later_version(wrong):
    return asking(2 if wrong else TYPES, TypeQuery(1), TypeData())


@breaks("DML-CheckFeatureSupport-feature", "feature")
def a_feature_that_is_no_uint(wrong):
    return asking(-1 if wrong else TYPES, TypeQuery(1), TypeData())


@breaks("DML-CheckFeatureSupport-size", "featureQueryDataSize")
def a_size_below_that_of_the_query(wrong):
    return asking(LEVELS, 12 if wrong else 16, levels(0x1000), 4, LevelData())


@breaks("DML-CheckFeatureSupport-size", "featureSupportDataSize")
def no_size_of_the_support_data(wrong):
    return asking(TYPES, 4, TypeQuery(1), 0 if wrong else 4, TypeData())


@breaks("DML-CheckFeatureSupport-writable", "featureSupportData")
def support_data_in_no_mans_land(wrong):
    return asking(TYPES, 4, TypeQuery(1), 4, 0x10 if wrong else TypeData())


@breaks("DML-CheckFeatureSupport-level-count", "RequestedFeatureLevelCount", hresult=UNSUPPORTED)
def no_levels_at_all(wrong):
    return asking(LEVELS, LevelQuery() if wrong else levels(0x1000), LevelData())


@breaks("DML-CheckFeatureSupport-levels", "RequestedFeatureLevels", hresult=UNSUPPORTED)
def levels_that_are_too_high(wrong):
    lowest = 0x2100 if wrong else 0x2000
    return asking(LEVELS, levels(0x6400, lowest), LevelData(), level=0x2000)


@breaks("DML-Desc-null", "featureQueryData")
def a_feature_without_query(wrong):
    return asking(TYPES, 4, None if wrong else TypeQuery(1), 4, TypeData())


@breaks("DML-Desc-null", "featureSupportData")
def a_feature_without_support_data(wrong):
    return asking(TYPES, 4, TypeQuery(1), 4, None if wrong else TypeData())


@breaks("DML-Desc-null", "RequestedFeatureLevels")
def levels_that_are_null(wrong):
    return asking(LEVELS, LevelQuery(2, None) if wrong else levels(0x1000, 0x2000), LevelData())


@breaks("DML-Desc-null", "Dispatchable")
def a_table_for_nothing(wrong):
    bench = Bench(DEBUG)
    desc = bench.table_desc(bench.compile(identity()))
    if wrong:
        desc.Dispatchable = None
    return lambda: bench.dml.CreateBindingTable(desc)


@breaks("DML-Desc-interface", "Dispatchable")
def a_table_for_an_operator_that_is_not_compiled(wrong):
    bench = Bench(DEBUG)
    op = bench.dml.CreateOperator(identity())
    desc = bench.table_desc(bench.compile(identity()))
    if wrong:
        desc.Dispatchable = op
    call = lambda: bench.dml.CreateBindingTable(desc)  # noqa: E731
    call.__dict__["keep"] = op
    return call


@breaks("DML-Desc-interface", "bindings[0].Buffer")
def a_buffer_at_a_wild_address(wrong):
    bench = Bench(DEBUG)
    table, buffer = bench.table(bench.compile(identity())), bench.buffer(16)
    span = dml.DML_BUFFER_BINDING(0xDEAD0000 if wrong else buffer, 0, 16)
    return lambda: table.BindInputs([dml.DML_BINDING_DESC(dml.DML_BINDING_TYPE_BUFFER, span)])


@breaks("DML-BufferBinding-heap-type", "bindings[0].Bindings[1].Buffer")
def a_custom_heap_before_2_0(wrong):
    """By the history of feature levels, CUSTOM is allowed for an initializer's inputs since 2_0."""
    bench = Bench(DEBUG, feature_level=0x1000 if wrong else 0x2000)
    initializer = bench.dml.CreateOperatorInitializer([bench.compile(join(4, 4, owned=[1]))])
    table, buffer = bench.table(initializer), bench.buffer(16, CUSTOM)
    return lambda: table.BindInputs([spans(None, buffer)])


@breaks("DML-BufferBinding-heap-type", "binding.Buffer")
def a_custom_heap_for_the_temporary_resource_at_1_0(wrong):
    bench = Bench(DEBUG, feature_level=0x1000)
    table = bench.table(bench.compile(log_sum_exp()))
    buffer = bench.buffer(256, CUSTOM if wrong else DEFAULT)
    return lambda: table.BindTemporaryResource(binding(buffer))


@breaks("DML-Binding-count", "bindingCount")
def a_count_of_bindings_that_is_no_uint(wrong):
    bench = Bench(DEBUG)
    table, one = bench.table(bench.compile(identity())), binding(bench.buffer(16))
    return lambda: table.BindInputs((1 << 32) + 1 if wrong else 1, [one])


@breaks("DML-CreateDevice-profile", "profile")
def a_profile_of_no_name(wrong):
    return create(dml.DMLCreateDevice, profile="gentle" if wrong else "demanding")


@breaks("DML-CreateDevice-profile", "profile")
def a_removal_after_nothing(wrong):
    return create(dml.DMLCreateDevice1, profile=f"kind,removal_after={0 if wrong else 1}")


@breaks("DML-CompileOperator-data-type", "InputTensor.DataType", "OutputTensor.DataType")
def a_type_that_the_device_denies(wrong):
    bench = Bench(profile="no-optional-types" if wrong else "kind")
    half = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT16, [1, 1, 1, 4])
    desc = dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(half, half, None)
    return lambda: bench.dml.CreateOperator(desc)
