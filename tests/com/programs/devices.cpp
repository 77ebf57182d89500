// Device creation, and device queries.

#include "bench.h"

namespace
{
    template <typename Make>
    void refused_interface(const std::string& name, Make make)
    {
        void* found = poison();
        hresult(name + " as an interface that it has not", make(__uuidof(IDMLBindingTable), &found), E_NOINTERFACE);
        check(name + ": null", found == nullptr);
    }

    void test_d3d12()
    {
        ComPtr<ID3D12Device> device;
        hresult("D3D12CreateDevice", D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device)), Fine);
        hresult(
            "D3D12CreateDevice without ppv",
            D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), nullptr),
            False);
        hresult(
            "D3D12CreateDevice, core feature level",
            D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_1_0_CORE, __uuidof(ID3D12Device), nullptr),
            False);
        refused_interface("D3D12CreateDevice", [](const IID& iid, void** found) {
            return D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, iid, found);
        });
        void* found = poison();
        hresult(
            "D3D12CreateDevice, level of Direct3D 10",
            D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_10_0, __uuidof(ID3D12Device), &found),
            E_INVALIDARG);
        check("a refused device is null", found == nullptr);
        hresult(
            "D3D12CreateDevice, level above the device",
            D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_12_2, __uuidof(ID3D12Device), &found),
            Unsupported);
        equal("GetNodeCount", device->GetNodeCount(), 1u);
        hresult("GetDeviceRemovedReason", device->GetDeviceRemovedReason(), Fine);
        const LUID luid = device->GetAdapterLuid(), again = device->GetAdapterLuid();
        check("GetAdapterLuid stays", luid.LowPart == again.LowPart && luid.HighPart == again.HighPart);
        const UINT increment = device->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
        check("GetDescriptorHandleIncrementSize", increment > 0);
        hresult(
            "D3D12GetDebugInterface without ppv", D3D12GetDebugInterface(__uuidof(ID3D12Debug), nullptr), False);
        refused_interface("D3D12GetDebugInterface", D3D12GetDebugInterface);
    }

    void test_d3d12_features(ID3D12Device* device)
    {
        D3D12_FEATURE_DATA_D3D12_OPTIONS options = {};
        hresult(
            "CheckFeatureSupport(OPTIONS)",
            device->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS, &options, sizeof options),
            Fine);
        equal("ResourceHeapTier", int(options.ResourceHeapTier), int(D3D12_RESOURCE_HEAP_TIER_2));
        const D3D_FEATURE_LEVEL asked[] = {
            D3D_FEATURE_LEVEL_11_0, D3D_FEATURE_LEVEL_12_1, D3D_FEATURE_LEVEL_12_2};
        D3D12_FEATURE_DATA_FEATURE_LEVELS levels = {3, asked, D3D_FEATURE_LEVEL(0)};
        hresult(
            "CheckFeatureSupport(FEATURE_LEVELS)",
            device->CheckFeatureSupport(D3D12_FEATURE_FEATURE_LEVELS, &levels, sizeof levels),
            Fine);
        equal("MaxSupportedFeatureLevel", int(levels.MaxSupportedFeatureLevel), int(D3D_FEATURE_LEVEL_12_1));
        check("what was asked stays", levels.pFeatureLevelsRequested == asked && levels.NumFeatureLevels == 3);
        D3D12_FEATURE_DATA_ARCHITECTURE1 architecture = {};
        hresult(
            "CheckFeatureSupport(ARCHITECTURE1)",
            device->CheckFeatureSupport(D3D12_FEATURE_ARCHITECTURE1, &architecture, sizeof architecture),
            Fine);
        hresult(
            "CheckFeatureSupport of a wrong size",
            device->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS, &options, sizeof options - 4),
            E_INVALIDARG);
        hresult(
            "CheckFeatureSupport into null",
            device->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS, nullptr, sizeof options),
            E_INVALIDARG);
        hresult(
            "CheckFeatureSupport of no feature",
            device->CheckFeatureSupport(D3D12_FEATURE(9999), &options, sizeof options),
            E_INVALIDARG);
    }

    void test_dml(ID3D12Device* device)
    {
        ComPtr<IDMLDevice> base;
        hresult("DMLCreateDevice", DMLCreateDevice(device, DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&base)), Fine);
        ComPtr<IDMLDevice1> newer;
        hresult(
            "DMLCreateDevice1",
            DMLCreateDevice1(device, DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_5_0, IID_PPV_ARGS(&newer)),
            Fine);
        check("two devices", unknown(base.Get()).Get() != unknown(newer.Get()).Get());
        // The SDK's header marks these out parameters as optional; no page speaks of null.
        hresult(
            "DMLCreateDevice without ppv",
            DMLCreateDevice(device, DML_CREATE_DEVICE_FLAG_NONE, __uuidof(IDMLDevice), nullptr),
            Fine);
        hresult(
            "DMLCreateDevice1 without ppv",
            DMLCreateDevice1(
                device, DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_1_0, __uuidof(IDMLDevice), nullptr),
            Fine);
        void* found = poison();
        hresult(
            "DMLCreateDevice without a device",
            DMLCreateDevice(nullptr, DML_CREATE_DEVICE_FLAG_NONE, __uuidof(IDMLDevice), &found),
            E_INVALIDARG);
        check("a refused DirectML device is null", found == nullptr);
        hresult(
            "DMLCreateDevice with unknown flags",
            DMLCreateDevice(device, DML_CREATE_DEVICE_FLAGS(0x100), __uuidof(IDMLDevice), &found),
            E_INVALIDARG);
        for (const int level : {0, 1, 0x1500, -1})
        {
            ComPtr<IDMLDevice> made;
            hresult(
                "DMLCreateDevice1 with a number that is no feature level",
                DMLCreateDevice1(
                    device, DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL(level), IID_PPV_ARGS(&made)),
                Fine);
        }
        found = poison();
        hresult(
            "DMLCreateDevice1 with a level of a later version",
            DMLCreateDevice1(
                device, DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL(0x6401), __uuidof(IDMLDevice), &found),
            Unsupported);
        check("no device of a later version", found == nullptr);
        refused_interface("DMLCreateDevice", [device](const IID& iid, void** ppv) {
            return DMLCreateDevice(device, DML_CREATE_DEVICE_FLAG_NONE, iid, ppv);
        });
        refused_interface("DMLCreateDevice1", [device](const IID& iid, void** ppv) {
            return DMLCreateDevice1(device, DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_1_0, iid, ppv);
        });
        hresult("IDMLDevice::GetDeviceRemovedReason", base->GetDeviceRemovedReason(), Fine);
    }

    void test_dml_features(IDMLDevice* device)
    {
        const DML_FEATURE_LEVEL asked[] = {DML_FEATURE_LEVEL_1_0, DML_FEATURE_LEVEL_5_0, DML_FEATURE_LEVEL_2_0};
        const DML_FEATURE_QUERY_FEATURE_LEVELS levels = {3, asked};
        DML_FEATURE_DATA_FEATURE_LEVELS answer = {};
        hresult(
            "CheckFeatureSupport(FEATURE_LEVELS) of DirectML",
            device->CheckFeatureSupport(
                DML_FEATURE_FEATURE_LEVELS, sizeof levels, &levels, sizeof answer, &answer),
            Fine);
        equal("the highest of those asked", int(answer.MaxSupportedFeatureLevel), int(DML_FEATURE_LEVEL_5_0));
        const DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT type = {DML_TENSOR_DATA_TYPE_FLOAT16};
        DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT support = {};
        const auto feature = DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT;
        hresult(
            "CheckFeatureSupport(TENSOR_DATA_TYPE_SUPPORT)",
            device->CheckFeatureSupport(feature, sizeof type, &type, sizeof support, &support),
            Fine);
        check("FLOAT16 is supported", support.IsSupported == TRUE);
        hresult(
            "CheckFeatureSupport of DirectML, too small a size",
            device->CheckFeatureSupport(feature, sizeof type, &type, sizeof support - 1, &support),
            E_INVALIDARG);
        hresult(
            "CheckFeatureSupport of DirectML, too large a size",
            device->CheckFeatureSupport(feature, sizeof type, &type, sizeof support + 4, &support),
            Fine);
        for (const int number : {-1, 14, 15})
        {
            const DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT unknown = {DML_TENSOR_DATA_TYPE(number)};
            support.IsSupported = TRUE;
            hresult(
                "CheckFeatureSupport of no data type",
                device->CheckFeatureSupport(feature, sizeof unknown, &unknown, sizeof support, &support),
                Fine);
            check("which is not supported", support.IsSupported == FALSE);
        }
        const DML_FEATURE_LEVEL numbers[] = {DML_FEATURE_LEVEL(0x1234), DML_FEATURE_LEVEL(-1)};
        const DML_FEATURE_QUERY_FEATURE_LEVELS between = {2, numbers}, nothing = {0, nullptr};
        hresult(
            "CheckFeatureSupport(FEATURE_LEVELS) of a number that is no level",
            device->CheckFeatureSupport(
                DML_FEATURE_FEATURE_LEVELS, sizeof between, &between, sizeof answer, &answer),
            Fine);
        equal("that number", int(answer.MaxSupportedFeatureLevel), 0x1234);
        hresult(
            "CheckFeatureSupport(FEATURE_LEVELS) of none",
            device->CheckFeatureSupport(
                DML_FEATURE_FEATURE_LEVELS, sizeof nothing, &nothing, sizeof answer, &answer),
            Unsupported);
        equal("no level", int(answer.MaxSupportedFeatureLevel), 0);
        hresult(
            "CheckFeatureSupport of DirectML without a query",
            device->CheckFeatureSupport(feature, 0, nullptr, sizeof support, &support),
            E_INVALIDARG);
        hresult(
            "CheckFeatureSupport of DirectML into null",
            device->CheckFeatureSupport(feature, sizeof type, &type, sizeof support, nullptr),
            E_INVALIDARG);
        hresult(
            "CheckFeatureSupport of DirectML, no feature",
            device->CheckFeatureSupport(DML_FEATURE(77), sizeof type, &type, sizeof support, &support),
            Unsupported);
    }

    void devices(const std::vector<std::string>&)
    {
        test_d3d12();
        const Bench bench;
        test_d3d12_features(bench.d3d12.Get());
        test_dml(bench.d3d12.Get());
        test_dml_features(bench.dml.Get());
    }

    const Registration registration("devices", devices);
}
