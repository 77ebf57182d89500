"""The functions of ``directml`` 0.1.0 (PyPI; github.com/aisk/PyDirectML) with their parameters, as its stub has them.

Tensors come by position, what follows the bar as keywords; ``?`` marks what may be left out.
"""

FUNCTIONS = """
activation_identity: input |
activation_relu: input |
activation_sigmoid: input |
activation_tanh: input |
activation_gelu: input |
activation_linear: input | alpha beta
activation_softmax: input | axes?
add: a b | fused_activation?
subtract: a b |
multiply: a b |
divide: a b |
average_pooling: input |
    strides window_sizes start_padding? end_padding? dilations? include_padding? output_sizes?
batch_normalization: input mean variance scale bias | spatial? epsilon? fused_activation?
broadcast: input shape |
convolution: input filter bias? |
    mode? direction? strides? dilations? start_padding? end_padding? output_padding? group_count?
    fused_activation? output_sizes?
gather: input indices | axis index_dimensions
gemm: a b c? | trans_a? trans_b? alpha? beta? fused_activation?
gru: input weight recurrence bias? hidden_init? sequence_lengths? |
    activation_descs direction? linear_before_reset? output_options?
join: inputs | axis
local_response_normalization: input | cross_channel local_size alpha beta bias
max_pooling: input | window_sizes strides? start_padding? end_padding? dilations? output_indices?
mean_variance_normalization: input scale? bias? |
    axes normalize_variance? normalize_mean? epsilon? fused_activation?
multihead_attention: query key value | head_count scale
padding: input | padding_mode? padding_value? start_padding end_padding
reinterpret: input sizes strides? dtype? |
slice: input | input_window_offsets input_window_sizes input_window_strides
upsample_2d: input | scale_size interpolation_mode
value_scale_2d: input | scale bias
"""

# Classes with their members; properties that instances set are in the tests.
CLASSES = """
TensorDataType: UNKNOWN FLOAT32 FLOAT16 UINT32 UINT16 UINT8 INT32 INT16 INT8 FLOAT64 UINT64 INT64
TensorFlags: NONE OWNED_BY_DML
MatrixTransform: NONE TRANSPOSE
RecurrentNetworkDirection: FORWARD BACKWARD BIDIRECTIONAL
GRUOutputOptions: Both Sequence Single
ConvolutionMode: CONVOLUTION CROSS_CORRELATION
ConvolutionDirection: FORWARD BACKWARD
InterpolationMode: NEAREST_NEIGHBOR LINEAR
PaddingMode: CONSTANT EDGE REFLECTION
ExecutionFlags: NONE ALLOW_HALF_PRECISION_COMPUTATION DISABLE_META_COMMANDS DESCRIPTORS_VOLATILE
OperatorType: INVALID CONVOLUTION ACTIVATION_CELU ACTIVATION_GELU ACTIVATION_SHRINK
TensorPolicy: default interleaved_channel
TensorDesc: data_type flags sizes strides total_tensor_size_in_bytes guaranteed_base_offset_alignment
FusedActivation: none elu hard_sigmoid identity leaky_relu linear parametric_softplus relu scaled_elu scaled_tanh
    sigmoid softplus softsign tanh thresholded_relu shrink celu gelu
Buffer: desc nbytes numpy shape strides dtype size
CompiledOperator: temporary_size persistent_size descriptor_count initialize dispatch
Graph: input constant compile
MaxPoolingOutputs: values indices
GRUOutputs: sequence single
"""


def entries(text: str) -> list[tuple[str, str]]:
    """Each name with the rest of its entry, whose further lines are indented."""
    joined = text.replace("\n    ", " ").strip()
    return [(name, rest.strip()) for name, _, rest in (line.partition(":") for line in joined.split("\n"))]
