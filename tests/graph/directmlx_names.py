"""The public names of Microsoft's DirectMLX.h (Libraries/DirectMLX.h of github.com/microsoft/DirectML at a9614e8).

Those of namespace dml, without dml::detail, what says "for internal use only", and what it takes from namespace std.
"""

# Functions and their parameters; overloads have a line each.
FUNCTIONS = """
InputTensor: graph inputIndex desc
ConstantData: graph data desc
Identity Abs ACos ASin ATan Ceil Cos Exp Floor Log Recip Sin Sqrt Tan Erf Sinh Cosh Tanh ASinh ACosh ATanh:
    input scaleBias
Add ATanYX Divide LogicalAnd LogicalOr LogicalXor Max Mean Min Multiply DifferenceSquare Subtract
    BitShiftLeft BitShiftRight BitAnd BitOr BitXor ModulusTruncate ModulusFloor: a b
Add: a b fusedActivation
Clip: input min max scaleBias
ClipGrad: input inputGradient min max
Equals GreaterThan GreaterThanOrEqual LessThan LessThanOrEqual: a b outputDataType
LogicalNot ActivationHardmax ActivationIdentity ActivationLogSoftmax ActivationRelu ActivationSigmoid
    ActivationSoftmax ActivationGelu ActivationSoftsign ActivationTanh NonZeroCoordinates Negate: input
Pow Pow: input exponent scaleBias
Threshold: input min scaleBias
QuantizeLinear: input scale zeroPoint outputDataType
DequantizeLinear: input scale zeroPoint
Sign BitNot: a
IsNaN: input outputDataType
If: condition a b
BitCount: a outputDataType
Round: input roundingMode
IsInfinity: input infinityMode outputDataType
ActivationElu ActivationLeakyRelu ActivationThresholdedRelu ActivationCelu: input alpha
ActivationHardSigmoid ActivationLinear ActivationParametricSoftplus ActivationScaledTanh: input alpha beta
ActivationParameterizedRelu: input slope
ActivationScaledElu: input alpha gamma
ActivationSoftmax: input axes
ActivationSoftplus: input steepness
ActivationShrink: input bias threshold
Convolution: input filter bias mode direction strides dilations startPadding endPadding outputPadding
    groupCount fusedActivation outputSizes
Gemm: a b c transA transB alpha beta fusedActivation
Reduce: input function axes outputDataType
AveragePooling: input strides windowSizes startPadding endPadding dilations includePadding outputSizes
MaxPooling: input windowSize strides startPadding endPadding dilations outputIndices outputSizes
Slice: input inputWindowOffsets inputWindowSizes inputWindowStrides
Cast: input targetDataType
Split: input axis outputAxisSizes
Join: inputs axis
Padding: input paddingMode paddingValue startPadding endPadding
ValueScale2D: input scale bias
Upsample2D: input scaleSize interpolationMode
Gather: input indices axis indexDimensions
GatherElements: input indices axis
GatherND: input indices inputDimensionCount indicesDimensionCount batchDimensionCount
ScatterElements: input indices updates axis
ScatterND: input indices updates inputDimensionCount indicesDimensionCount
SpaceToDepth DepthToSpace: input blockSize order
Tile: input repeats
TopK: input axis k axisDirection
BatchNormalization: input mean variance scale bias spatial epsilon fusedActivation
BatchNormalizationGrad BatchNormalizationTrainingGrad: input inputGradient mean variance scale epsilon
BatchNormalizationTraining: input scale bias fusedAdd epsilon fusedActivation
MeanVarianceNormalization: input scale bias axes normalizeVariance normalizeMean epsilon fusedActivation
LocalResponseNormalization: input crossChannel localSize alpha beta bias
GRU: input weight recurrence bias hiddenInit sequenceLengths activationDescs direction linearBeforeReset
    outputOptions
OneHot: indices values outputLength axis
Resample: input outputSizes mode roundingDirection scales inputPixelOffsets outputPixelOffsets antialiased
FillValueConstant: graph outputSizes valueDataType value
FillValueSequence: graph outputSizes valueDataType valueStart valueDelta
CumulativeSummation: input axis axisDirection hasExclusiveSum
CumulativeProduct: input axis axisDirection hasExclusiveProduct
ReverseSubsequences: input sequenceLengths axis
ConvolutionInteger: input inputZeroPoint filter filterZeroPoint strides dilations startPadding endPadding
    groupCount outputSizes
QuantizedLinearConvolution: input inputScale inputZeroPoint filter filterScale filterZeroPoint bias
    outputScale outputZeroPoint outputDataType strides dilations startPadding endPadding groupCount
    outputSizes
RandomGenerator: inputState outputSizes outputState type
ResampleGrad: input outputSizes mode scales inputPixelOffsets outputPixelOffsets
SliceGrad: inputGradient outputGradientSizes inputWindowOffsets inputWindowSizes inputWindowStrides
RoiAlign: input roi batchIndices reductionFunction interpolationMode spatialScaleX spatialScaleY
    inputPixelOffset outputPixelOffset outOfBoundsInputValue minimumSamplesPerOutput maximumSamplesPerOutput
    alignRegionsToCorners outputHeight outputWidth
RoiAlignGrad: input inputGradient roi batchIndices reductionFunction interpolationMode spatialScaleX
    spatialScaleY inputPixelOffset outputPixelOffset minimumSamplesPerOutput maximumSamplesPerOutput
    alignRegionsToCorners batchSize imageHeight imageWidth computeOutputGradient computeOutputROIGradient
Dequantize: input quantizationParameters quantizationType
Reinterpret: input newType newSizes newStrides
Reinterpret: input newSizes newStrides
Reinterpret: input newType
"""
# Classes and their public members.
CLASSES = """
TensorProperties: guaranteedBaseOffsetAlignment strides totalTensorSizeInBytes
TensorPolicy: Default Func Get InterleavedChannel
TensorDesc: AsPtr Dimensions Strides dataType flags guaranteedBaseOffsetAlignment sizes strides
    totalTensorSizeInBytes
Expression: GetOutputDesc
NameScope:
Graph: Compile CreateNameScope GetTensorPolicy PopName PushName SetTensorPolicy
FusedActivation: Celu Elu Gelu HardSigmoid Identity LeakyRelu Linear None ParametricSoftplus Relu ScaledElu
    ScaledTanh Shrink Sigmoid Softplus Softsign Tanh ThresholdedRelu activation param1 param2
ConvolutionBuilder: Build Dilations Direction EndPadding FusedActivation GroupCount Mode OutputPadding
    OutputSizes StartPadding Strides
GemmBuilder: Alpha Beta Build FusedActivation TransA TransB
MaxPoolingBuilder: Build Dilations EndPadding OutputIndices OutputSizes StartPadding Strides
MaxPoolingOutputs: indices values
TopKOutputs: index value
BatchNormalizationGradOutputs: biasGradient gradient scaleGradient
BatchNormalizationTrainingOutputs: mean output variance
GRUOutputOptions: Both Sequence Single
GRUOutputs: sequence single
RandomGeneratorOutputs: state values
NonZeroCoordinatesOutputs: coordinates count
RoiAlignGradOutputs: outputGradient outputROIGradient
"""
# Aliases and constants.
OTHERS = """
DMLCalcBufferTensorSize NullOpt Optional SmallVector Span StringView Byte TensorDimensions TensorStrides
"""


def entries(text: str) -> list[tuple[str, list[str]]]:
    """The names before and after the colon of each entry; an indented line continues the one before it."""
    lines = text.replace("\n    ", " ").strip().splitlines()
    split = [line.partition(":") for line in lines]
    return [(name, rest.split()) for names, _, rest in split for name in names.split()]
