"""DirectMLX's functions as DirectMLX.h declares them for DML_TARGET_VERSION 0x6400: names, order, defaults.

A line is ``Name graph_function: parameters``. A parameter is passed as the argument of the same name in snake case, or
as those that follow ``>``. Defaults are numbers, enumerators, ``None``, or lists that the C++ function fills in if
empty: ``ones``, ``zeros`` (per spatial dimension), ``halves``, ``minus_halves``, ``every`` (dimension), ``ratios`` (of
the sizes; ``ratios_back`` for a gradient). ``!`` precedes the name of the returned struct.
"""

from __future__ import annotations

from ...descs.format import in_words

UNARY = """Identity Abs ACos ASin ATan Ceil Cos Exp Floor Log Recip Sin Sqrt Tan Erf Sinh Cosh Tanh ASinh ACosh ATanh"""
BINARY = """Add ATanYX Divide LogicalAnd LogicalOr LogicalXor Max Mean Min Multiply DifferenceSquare Subtract
BitShiftLeft BitShiftRight BitAnd BitOr BitXor ModulusTruncate ModulusFloor"""
COMPARISONS = "Equals GreaterThan GreaterThanOrEqual LessThan LessThanOrEqual"
PLAIN_ACTIVATIONS = """Hardmax Identity LogSoftmax Relu Sigmoid Gelu Softsign Tanh"""
ACTIVATIONS = """
Elu: alpha=1.0
HardSigmoid: alpha=0.2 beta=0.5
LeakyRelu: alpha=0.01
Linear: alpha beta
ParametricSoftplus: alpha beta
ScaledElu: alpha=1.67326319217681884765625 gamma=1.05070102214813232421875
ScaledTanh: alpha=1.0 beta=0.5
Softplus: steepness=1.0
ThresholdedRelu: alpha=1.0
Shrink: bias=0.0 threshold=0.5
Celu: alpha=1.0
"""
FUSED_ALONE = ("Identity", "Relu", "Sigmoid", "Gelu", "Softsign", "Tanh")
OTHERS = """
Clip clip: input min max scaleBias=None
ClipGrad clip_grad: input inputGradient min max
LogicalNot logical_not: input
Threshold threshold: input min scaleBias=None
QuantizeLinear quantize_linear: input scale zeroPoint outputDataType=DML_TENSOR_DATA_TYPE_UINT8
DequantizeLinear dequantize_linear: input scale zeroPoint
Sign sign: a>input
Negate negate: input
IsNaN is_nan: input outputDataType=DML_TENSOR_DATA_TYPE_UINT8
IsInfinity is_infinity: input infinityMode=DML_IS_INFINITY_MODE_EITHER outputDataType=DML_TENSOR_DATA_TYPE_UINT8
If if_: condition a b
BitNot bit_not: a>input
BitCount bit_count: a>input outputDataType=DML_TENSOR_DATA_TYPE_UINT8
Round round: input roundingMode=DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN
ActivationParameterizedRelu activation_parameterized_relu: input slope
Convolution convolution: input filter bias=None mode=DML_CONVOLUTION_MODE_CROSS_CORRELATION \
direction=DML_CONVOLUTION_DIRECTION_FORWARD strides=ones dilations=ones startPadding=zeros endPadding=zeros \
outputPadding=zeros groupCount=1 fusedActivation=None outputSizes=None
Gemm gemm: a b c=None transA=DML_MATRIX_TRANSFORM_NONE transB=DML_MATRIX_TRANSFORM_NONE alpha=1.0 beta=1.0 \
fusedActivation=None
Reduce reduce: input function axes=every outputDataType=None
AveragePooling average_pooling1: input strides windowSizes>window_size startPadding endPadding dilations=ones \
includePadding=False outputSizes=None
MaxPooling max_pooling2!MaxPoolingOutputs: input windowSize strides=ones startPadding=zeros endPadding=zeros \
dilations=ones outputIndices=False outputSizes=None
Slice slice1: input inputWindowOffsets inputWindowSizes inputWindowStrides
Cast cast: input targetDataType>output_data_type
Split split: input axis outputAxisSizes>sizes
Join join: inputs axis
Padding padding: input paddingMode paddingValue startPadding endPadding
ValueScale2D value_scale_2d: input scale bias
Upsample2D upsample_2d: input scaleSize interpolationMode
Gather gather: input indices axis indexDimensions
GatherElements gather_elements: input indices axis
GatherND gather_nd1: input indices inputDimensionCount indicesDimensionCount batchDimensionCount
ScatterElements scatter: input indices updates axis
ScatterND scatter_nd: input indices updates inputDimensionCount indicesDimensionCount
SpaceToDepth space_to_depth1: input blockSize order=DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW
DepthToSpace depth_to_space1: input blockSize order=DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW
Tile tile: input repeats
TopK top_k1!TopKOutputs: input axis k axisDirection
BatchNormalization batch_normalization: input mean variance scale bias spatial epsilon fusedActivation=None
BatchNormalizationGrad batch_normalization_grad!BatchNormalizationGradOutputs: input inputGradient mean variance \
scale epsilon
BatchNormalizationTraining batch_normalization_training!BatchNormalizationTrainingOutputs: input scale bias fusedAdd \
epsilon fusedActivation=None
BatchNormalizationTrainingGrad batch_normalization_training_grad!BatchNormalizationGradOutputs: input inputGradient \
mean variance scale epsilon
MeanVarianceNormalization mean_variance_normalization2: input scale bias axes normalizeVariance>use_variance \
normalizeMean>use_mean epsilon fusedActivation=None
LocalResponseNormalization local_response_normalization: input crossChannel localSize alpha beta bias
OneHot one_hot: indices values outputLength axis
Resample resample3: input outputSizes mode>interpolation_mode roundingDirection=DML_AXIS_DIRECTION_INCREASING \
scales=ratios inputPixelOffsets=halves outputPixelOffsets=minus_halves antialiased=False
ResampleGrad resample_grad: input>input_gradient outputSizes mode>interpolation_mode scales=ratios_back \
inputPixelOffsets=halves outputPixelOffsets=minus_halves
FillValueConstant fill_value_constant: graph outputSizes valueDataType>value_data_type,output_data_type value
FillValueSequence fill_value_sequence: graph outputSizes valueDataType>value_data_type,output_data_type \
valueStart valueDelta
CumulativeSummation cumulative_summation: input axis axisDirection hasExclusiveSum
CumulativeProduct cumulative_product: input axis axisDirection hasExclusiveProduct
ReverseSubsequences reverse_subsequences: input sequenceLengths axis
ConvolutionInteger convolution_integer: input inputZeroPoint filter filterZeroPoint strides=ones dilations=ones \
startPadding=zeros endPadding=zeros groupCount=1 outputSizes=None
QuantizedLinearConvolution quantized_linear_convolution: input inputScale inputZeroPoint filter filterScale \
filterZeroPoint bias outputScale outputZeroPoint outputDataType strides=ones dilations=ones startPadding=zeros \
endPadding=zeros groupCount=1 outputSizes=None
RandomGenerator random_generator!RandomGeneratorOutputs: inputState outputSizes outputState=True \
type=DML_RANDOM_GENERATOR_TYPE_PHILOX_4X32_10
NonZeroCoordinates nonzero_coordinates!NonZeroCoordinatesOutputs: input
SliceGrad slice_grad: inputGradient outputGradientSizes>output_sizes inputWindowOffsets inputWindowSizes \
inputWindowStrides
Dequantize dequantize: input quantizationParameters>quantizations quantizationType
"""
# The fields of the structs returned by functions with several outputs.
STRUCTS = {
    "MaxPoolingOutputs": ("values", "indices"),
    "TopKOutputs": ("value", "index"),
    "BatchNormalizationGradOutputs": ("gradient", "scaleGradient", "biasGradient"),
    "BatchNormalizationTrainingOutputs": ("output", "mean", "variance"),
    "GRUOutputs": ("sequence", "single"),
    "RandomGeneratorOutputs": ("values", "state"),
    "NonZeroCoordinatesOutputs": ("count", "coordinates"),
    "RoiAlignGradOutputs": ("outputGradient", "outputROIGradient"),
}

# The last argument of the constructor of each builder, ``ConvolutionBuilder`` and so on; what follows it in the
# function's line has a setter each.
BUILDERS = {"Convolution": "bias", "Gemm": "c", "MaxPooling": "windowSize"}


def element_wise(name: str) -> str:
    """``acos`` for ACos."""
    words = in_words(name, "_")
    return f"a{words[2:]}" if words.startswith("a_") else words


def activation(name: str) -> str:
    """``activation_leaky_relu`` for LeakyRelu."""
    return f"activation_{in_words(name, '_')}"


def rows() -> list[str]:
    """The lines of all functions that map directly to one operator."""
    unary = [f"{name} {element_wise(name)}: input scaleBias=None" for name in UNARY.split()]
    binary = [f"{name} {element_wise(name)}: a b" for name in BINARY.split()]
    comparisons = [
        f"{name} logical_{element_wise(name)}: a b outputDataType=DML_TENSOR_DATA_TYPE_UINT8"
        for name in COMPARISONS.split()
    ]
    plain = [f"Activation{name} {activation(name)}: input" for name in PLAIN_ACTIVATIONS.split()]
    activations = []
    for line in ACTIVATIONS.strip().splitlines():
        name, parameters = line.split(":")
        activations.append(f"Activation{name} {activation(name)}: input{parameters}")
    return [*unary, *binary, *comparisons, *plain, *activations, *OTHERS.strip().splitlines()]
