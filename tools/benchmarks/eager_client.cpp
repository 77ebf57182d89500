// What a client does that dispatches one operator at a time, as ONNX Runtime does with dynamic sizes and TensorFlow
// always: it creates or resets a binding table for each of 300 operators over tiny tensors, binds its memory, and records a
// dispatch and a barrier; after each 30 operators it copies a result and executes the list.
//
// Prints lines of a name and microseconds: `operator` is a pass's processor time for one operator, everything included,
// where each pass binds the same memory, as an allocator hands it out; `reset` is that with Reset in place of
// CreateBindingTable; `moving` is as `operator` with other memory in each pass; `create` is the time of CreateOperator and
// CompileOperator; the others are those of single calls. Each is a median.
#include "client.h"

#include <time.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

constexpr int operators = 300, operators_per_list = 30, passes = 15;
// Memory of a client's allocator: bindings take turns in it.
constexpr UINT64 slot_bytes = 4096, slots = 64;
constexpr UINT descriptors = 65536;

// The processor time of this thread in microseconds.
static double processor_time()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// A tensor of FLOAT32 unless another type is given.
struct Tensor
{
    UINT sizes[4];
    DML_BUFFER_TENSOR_DESC buffer;
    DML_TENSOR_DESC desc;

    Tensor(UINT n, UINT c, UINT h, UINT w, DML_TENSOR_DATA_TYPE type = DML_TENSOR_DATA_TYPE_FLOAT32)
        : sizes{n, c, h, w}, buffer{type, DML_TENSOR_FLAG_NONE, 4, sizes, nullptr, UINT64(n) * c * h * w * 4, 0},
          desc{DML_TENSOR_TYPE_BUFFER, &buffer}
    {
    }
    Tensor(const Tensor&) = delete;
};

struct Compiled
{
    ComPtr<IDMLCompiledOperator> op;
    UINT inputs;
};

static ComPtr<IDMLDevice> device;
static std::vector<Compiled> compiled;
static std::vector<double> creation;

template <typename Desc> static void add(DML_OPERATOR_TYPE type, const Desc& desc, UINT inputs)
{
    const DML_OPERATOR_DESC whole{type, &desc};
    const auto start = Clock::now();
    ComPtr<IDMLOperator> op;
    Compiled made{nullptr, inputs};
    check(device->CreateOperator(&whole, IID_PPV_ARGS(&op)));
    check(device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&made.op)));
    creation.push_back(since(start));
    compiled.push_back(made);
}

template <typename Desc> static void unary(DML_OPERATOR_TYPE type, UINT width)
{
    Tensor x(1, 2, 3, width);
    Desc desc{};
    desc.InputTensor = desc.OutputTensor = &x.desc;
    add(type, desc, 1);
}

template <typename Desc> static void binary(DML_OPERATOR_TYPE type, UINT width)
{
    Tensor x(1, 2, 3, width);
    Desc desc{};
    desc.ATensor = desc.BTensor = desc.OutputTensor = &x.desc;
    add(type, desc, 2);
}

static void add_kinds(UINT width)
{
    unary<DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC>(DML_OPERATOR_ELEMENT_WISE_IDENTITY, width);
    unary<DML_ELEMENT_WISE_ABS_OPERATOR_DESC>(DML_OPERATOR_ELEMENT_WISE_ABS, width);
    unary<DML_ELEMENT_WISE_EXP_OPERATOR_DESC>(DML_OPERATOR_ELEMENT_WISE_EXP, width);
    unary<DML_ELEMENT_WISE_SQRT_OPERATOR_DESC>(DML_OPERATOR_ELEMENT_WISE_SQRT, width);
    unary<DML_ACTIVATION_RELU_OPERATOR_DESC>(DML_OPERATOR_ACTIVATION_RELU, width);
    unary<DML_ACTIVATION_SIGMOID_OPERATOR_DESC>(DML_OPERATOR_ACTIVATION_SIGMOID, width);
    unary<DML_ACTIVATION_TANH_OPERATOR_DESC>(DML_OPERATOR_ACTIVATION_TANH, width);
    binary<DML_ELEMENT_WISE_ADD_OPERATOR_DESC>(DML_OPERATOR_ELEMENT_WISE_ADD, width);
    binary<DML_ELEMENT_WISE_SUBTRACT_OPERATOR_DESC>(DML_OPERATOR_ELEMENT_WISE_SUBTRACT, width);
    binary<DML_ELEMENT_WISE_MULTIPLY_OPERATOR_DESC>(DML_OPERATOR_ELEMENT_WISE_MULTIPLY, width);
    binary<DML_ELEMENT_WISE_DIVIDE_OPERATOR_DESC>(DML_OPERATOR_ELEMENT_WISE_DIVIDE, width);
    binary<DML_ELEMENT_WISE_MAX_OPERATOR_DESC>(DML_OPERATOR_ELEMENT_WISE_MAX, width);

    Tensor x(1, 2, 3, width), small(1, 2, 3, 1), one(1, 2, 1, 1), doubled(1, 2, 3, 2 * width), square(1, 2, width, 3);
    Tensor product(1, 2, 3, 3), filter(2, 2, 1, 1), integers(1, 2, 3, width, DML_TENSOR_DATA_TYPE_INT32);
    Tensor indices(1, 1, 1, width, DML_TENSOR_DATA_TYPE_UINT32), padded(1, 2, 4, width + 2);
    const DML_TENSOR_DESC parts[] = {x.desc, x.desc};
    add(DML_OPERATOR_JOIN, DML_JOIN_OPERATOR_DESC{2, parts, &doubled.desc, 3}, 2);
    const UINT axes[] = {3}, offsets[] = {0, 0, 0, 1}, starts[] = {0, 0, 1, 1}, ends[] = {0, 0, 0, 1};
    const UINT odd[] = {1, 2, 3, 2 * width - 1};
    const INT steps[] = {1, 1, 1, 2};
    add(DML_OPERATOR_SLICE1, DML_SLICE1_OPERATOR_DESC{&doubled.desc, &x.desc, 4, offsets, odd, steps}, 1);
    add(DML_OPERATOR_REDUCE, DML_REDUCE_OPERATOR_DESC{DML_REDUCE_FUNCTION_SUM, &x.desc, &small.desc, 1, axes}, 1);
    add(DML_OPERATOR_GEMM,
        DML_GEMM_OPERATOR_DESC{&x.desc, &square.desc, nullptr, &product.desc, DML_MATRIX_TRANSFORM_NONE,
                               DML_MATRIX_TRANSFORM_NONE, 1, 0, nullptr},
        3);
    const UINT unit[] = {1, 1}, none[] = {0, 0}, window[] = {3, width};
    add(DML_OPERATOR_CONVOLUTION,
        DML_CONVOLUTION_OPERATOR_DESC{&x.desc, &filter.desc, nullptr, &x.desc, DML_CONVOLUTION_MODE_CROSS_CORRELATION,
                                      DML_CONVOLUTION_DIRECTION_FORWARD, 2, unit, unit, none, none, none, 1, nullptr},
        3);
    add(DML_OPERATOR_MAX_POOLING, DML_MAX_POOLING_OPERATOR_DESC{&x.desc, &one.desc, 2, unit, window, none, none}, 1);
    add(DML_OPERATOR_CAST, DML_CAST_OPERATOR_DESC{&x.desc, &integers.desc}, 1);
    add(DML_OPERATOR_PADDING,
        DML_PADDING_OPERATOR_DESC{&x.desc, &padded.desc, DML_PADDING_MODE_CONSTANT, 0, 4, starts, ends}, 1);
}

// Single calls, by name.
static std::map<std::string, std::vector<double>> calls;

template <typename Call> static auto timed(const char* name, Call call)
{
    const auto start = Clock::now();
    call();
    calls[name].push_back(since(start));
}

int main()
{
    ComPtr<ID3D12Device> direct3d;
    check(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&direct3d)));
    check(DMLCreateDevice(direct3d.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&device)));
    for (UINT width = 4; compiled.size() < operators; width++)
        add_kinds(width);

    D3D12_COMMAND_QUEUE_DESC queue_desc{};
    ComPtr<ID3D12CommandQueue> queue;
    check(direct3d->CreateCommandQueue(&queue_desc, IID_PPV_ARGS(&queue)));
    ComPtr<ID3D12CommandAllocator> allocator;
    check(direct3d->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT, IID_PPV_ARGS(&allocator)));
    ComPtr<ID3D12GraphicsCommandList> list;
    check(direct3d->CreateCommandList(
        0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator.Get(), nullptr, IID_PPV_ARGS(&list)));
    ComPtr<ID3D12Fence> fence;
    check(direct3d->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)));
    D3D12_DESCRIPTOR_HEAP_DESC heap_desc{};
    heap_desc.NumDescriptors = descriptors;
    heap_desc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
    ComPtr<ID3D12DescriptorHeap> heap;
    check(direct3d->CreateDescriptorHeap(&heap_desc, IID_PPV_ARGS(&heap)));
    const D3D12_CPU_DESCRIPTOR_HANDLE cpu = heap->GetCPUDescriptorHandleForHeapStart();
    const D3D12_GPU_DESCRIPTOR_HANDLE gpu = heap->GetGPUDescriptorHandleForHeapStart();
    const UINT increment = direct3d->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);

    D3D12_HEAP_PROPERTIES properties{};
    properties.Type = D3D12_HEAP_TYPE_DEFAULT;
    D3D12_RESOURCE_DESC buffer{};
    buffer.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
    buffer.Width = slot_bytes * slots;
    buffer.Height = buffer.DepthOrArraySize = buffer.MipLevels = 1;
    buffer.SampleDesc.Count = 1;
    buffer.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
    buffer.Flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
    ComPtr<ID3D12Resource> memory[4];
    for (auto& each : memory)
        check(direct3d->CreateCommittedResource(
            &properties, D3D12_HEAP_FLAG_NONE, &buffer, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, nullptr,
            IID_PPV_ARGS(&each)));
    ComPtr<IDMLCommandRecorder> recorder;
    check(device->CreateCommandRecorder(IID_PPV_ARGS(&recorder)));

    ComPtr<IDMLBindingTable> kept;
    UINT used_descriptors = 0;
    UINT64 place = 0, value = 0;

    const auto next_binding = [&](DML_BUFFER_BINDING& range) {
        place++;
        range = {memory[place % 4].Get(), place / 4 % slots * slot_bytes, slot_bytes};
        return DML_BINDING_DESC{DML_BINDING_TYPE_BUFFER, &range};
    };

    // Uses `kept` if it is set.
    const auto execute = [&](const Compiled& each) {
        DML_BINDING_PROPERTIES needs{};
        timed("GetBindingProperties", [&] { needs = each.op->GetBindingProperties(); });
        if (used_descriptors + needs.RequiredDescriptorCount > descriptors)
            used_descriptors = 0;
        const DML_BINDING_TABLE_DESC desc{
            each.op.Get(), {cpu.ptr + used_descriptors * increment}, {gpu.ptr + used_descriptors * increment},
            needs.RequiredDescriptorCount};
        used_descriptors += needs.RequiredDescriptorCount;
        ComPtr<IDMLBindingTable> table = kept;
        if (table)
            timed("Reset", [&] { check(table->Reset(&desc)); });
        else
            timed("CreateBindingTable", [&] { check(device->CreateBindingTable(&desc, IID_PPV_ARGS(&table))); });
        // Optional third inputs are absent.
        DML_BUFFER_BINDING ranges[5];
        DML_BINDING_DESC inputs[3] = {};
        for (UINT i = 0; i < std::min(each.inputs, 2u); i++)
            inputs[i] = next_binding(ranges[i]);
        const DML_BINDING_DESC output = next_binding(ranges[2]);
        timed("BindInputs", [&] { table->BindInputs(each.inputs, inputs); });
        timed("BindOutputs", [&] { table->BindOutputs(1, &output); });
        if (needs.TemporaryResourceSize != 0)
        {
            const DML_BINDING_DESC temporary = next_binding(ranges[3]);
            timed("BindTemporaryResource", [&] { table->BindTemporaryResource(&temporary); });
        }
        if (needs.PersistentResourceSize != 0)
        {
            const DML_BINDING_DESC persistent = next_binding(ranges[4]);
            timed("BindPersistentResource", [&] { table->BindPersistentResource(&persistent); });
        }
        ID3D12DescriptorHeap* heaps[] = {heap.Get()};
        timed("SetDescriptorHeaps", [&] { list->SetDescriptorHeaps(1, heaps); });
        timed("RecordDispatch", [&] { recorder->RecordDispatch(list.Get(), each.op.Get(), table.Get()); });
        D3D12_RESOURCE_BARRIER barrier{};
        barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
        timed("ResourceBarrier", [&] { list->ResourceBarrier(1, &barrier); });
        timed("AddRef and Release", [&] { each.op->AddRef(), each.op->Release(); });
        if (!kept)
            timed("Release of the table", [&] { table.Reset(); });
        timed("GetCompletedValue", [&] { fence->GetCompletedValue(); });
    };

    const auto submit = [&] {
        timed("CopyBufferRegion", [&] { list->CopyBufferRegion(memory[0].Get(), 0, memory[1].Get(), 0, 64); });
        timed("Close", [&] { check(list->Close()); });
        ID3D12CommandList* lists[] = {list.Get()};
        timed("ExecuteCommandLists", [&] { queue->ExecuteCommandLists(1, lists); });
        timed("Signal", [&] { check(queue->Signal(fence.Get(), ++value)); });
        if (fence->GetCompletedValue() != value)
            check(fence->SetEventOnCompletion(value, nullptr));
        timed("Reset of allocator and list", [&] {
            check(allocator->Reset());
            check(list->Reset(allocator.Get(), nullptr));
        });
    };

    const auto pass = [&] {
        const double start = processor_time();
        for (int i = 0; i < operators; i++)
        {
            execute(compiled[i]);
            if ((i + 1) % operators_per_list == 0)
                submit();
        }
        return (processor_time() - start) / operators;
    };

    const auto series = [&](bool moves) {
        pass();
        std::vector<double> times;
        for (int i = 0; i < passes; i++)
        {
            place = moves ? place + 1 : 0;
            times.push_back(pass());
        }
        return median(times);
    };

    const double moving = series(true), fresh = series(false);
    const DML_BINDING_TABLE_DESC nothing{
        compiled[0].op.Get(), cpu, gpu, compiled[0].op->GetBindingProperties().RequiredDescriptorCount};
    check(device->CreateBindingTable(&nothing, IID_PPV_ARGS(&kept)));
    const double reset = series(false);
    check(device->GetDeviceRemovedReason());
    std::printf(
        "operator %.2f\nreset %.2f\nmoving %.2f\ncreate %.2f\n", fresh, reset, moving, median(creation));
    for (const auto& [name, times] : calls)
        std::printf("%s %.2f\n", name.c_str(), median(times));
}
