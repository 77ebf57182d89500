// Clears of unordered access views, and timestamps.

#include "bench.h"

namespace
{
    D3D12_UNORDERED_ACCESS_VIEW_DESC typed_view(DXGI_FORMAT format, UINT64 first, UINT count)
    {
        D3D12_UNORDERED_ACCESS_VIEW_DESC desc = {};
        desc.Format = format;
        desc.ViewDimension = D3D12_UAV_DIMENSION_BUFFER;
        desc.Buffer.FirstElement = first;
        desc.Buffer.NumElements = count;
        return desc;
    }

    D3D12_UNORDERED_ACCESS_VIEW_DESC raw_view(UINT64 first, UINT count)
    {
        auto desc = typed_view(DXGI_FORMAT_R32_TYPELESS, first, count);
        desc.Buffer.Flags = D3D12_BUFFER_UAV_FLAG_RAW;
        return desc;
    }

    // A view of a buffer for the GPU and for the CPU.
    struct View
    {
        View(Bench& bench, ID3D12Resource* resource, const D3D12_UNORDERED_ACCESS_VIEW_DESC& desc) :
            visible(bench.descriptors(1)),
            hidden(bench.descriptors(1, false)),
            resource(resource)
        {
            for (const auto& heap : {visible, hidden})
                bench.d3d12->CreateUnorderedAccessView(
                    resource, nullptr, &desc, heap->GetCPUDescriptorHandleForHeapStart());
        }

        void set(ID3D12GraphicsCommandList* list) const
        {
            ID3D12DescriptorHeap* const heaps[] = {visible.Get()};
            list->SetDescriptorHeaps(1, heaps);
        }

        void clear_uint(ID3D12GraphicsCommandList* list, const UINT (&values)[4]) const
        {
            set(list);
            list->ClearUnorderedAccessViewUint(
                visible->GetGPUDescriptorHandleForHeapStart(),
                hidden->GetCPUDescriptorHandleForHeapStart(),
                resource,
                values,
                0,
                nullptr);
        }

        void clear_float(ID3D12GraphicsCommandList* list, const FLOAT (&values)[4]) const
        {
            set(list);
            list->ClearUnorderedAccessViewFloat(
                visible->GetGPUDescriptorHandleForHeapStart(),
                hidden->GetCPUDescriptorHandleForHeapStart(),
                resource,
                values,
                0,
                nullptr);
        }

        ComPtr<ID3D12DescriptorHeap> visible, hidden;
        ID3D12Resource* resource;
    };

    void test_clears()
    {
        Bench bench;
        auto buffer = bench.holding(std::vector<UINT>(12, 7u));
        const View raw(bench, buffer.Get(), raw_view(4, 4));
        raw.clear_uint(bench.list.Get(), {0x12345678, 1, 2, 3});
        bench.run();
        values(
            "a raw view",
            bench.read<UINT>(buffer.Get(), 12),
            {7, 7, 7, 7, 0x12345678, 0x12345678, 0x12345678, 0x12345678, 7, 7, 7, 7});
        const View floats(bench, buffer.Get(), typed_view(DXGI_FORMAT_R32G32_FLOAT, 1, 2));
        floats.clear_float(bench.list.Get(), {1.5f, -2.0f, 9.0f, 9.0f});
        bench.run();
        values(
            "a typed view", bench.read<FLOAT>(buffer.Get(), 6), {9.80908925e-45f, 9.80908925e-45f, 1.5f, -2, 1.5f, -2});
        hresult("the device is well", bench.d3d12->GetDeviceRemovedReason(), Fine);
    }

    void test_refused_clears()
    {
        Bench bench;
        auto buffer = bench.holding(std::vector<UINT>(4, 7u));
        const View view(bench, buffer.Get(), raw_view(0, 4));
        view.clear_float(bench.list.Get(), {0.0f, 0.0f, 0.0f, 0.0f});
        hresult("floats into a raw view", bench.list->Close(), E_INVALIDARG);
    }

    void test_timestamps()
    {
        Bench bench;
        const D3D12_QUERY_HEAP_DESC desc = {D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 2, 0};
        ComPtr<ID3D12QueryHeap> heap;
        need(bench.d3d12->CreateQueryHeap(&desc, IID_PPV_ARGS(&heap)), "CreateQueryHeap");
        auto target = bench.buffer(16, D3D12_HEAP_TYPE_READBACK);
        bench.list->EndQuery(heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0);
        bench.list->EndQuery(heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 1);
        bench.list->ResolveQueryData(heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0, 2, target.Get(), 0);
        UINT64 gpu = 0, cpu = 0, frequency = 0;
        hresult("GetClockCalibration", bench.queue->GetClockCalibration(&gpu, &cpu), Fine);
        hresult("GetTimestampFrequency", bench.queue->GetTimestampFrequency(&frequency), Fine);
        bench.run();
        UINT64* times = nullptr;
        need(target->Map(0, nullptr, reinterpret_cast<void**>(&times)), "Map");
        check("timestamps follow each other", gpu <= times[0] && times[0] <= times[1]);
        check("timestamps are of the last minute", times[1] - gpu < 60 * frequency);
        target->Unmap(0, nullptr);
    }

    void clears(const std::vector<std::string>&)
    {
        test_clears();
        test_refused_clears();
        test_timestamps();
    }

    const Registration registration("clears", clears);
}
