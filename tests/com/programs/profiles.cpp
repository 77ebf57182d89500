// The device that DIRECTML_PY_PROFILE chooses: what it asks for, what it denies, and that programs run on it.

#include "bench.h"

namespace
{
    const Tensor Four(Float32, {1, 1, 1, 4});

    // `arguments`: the descriptors, the temporary and the persistent bytes of an identity, and what compiling INT64 gives.
    void profiles_topic(const std::vector<std::string>& arguments)
    {
        Bench bench;
        IDMLDevice* const device = bench.dml.Get();
        auto op = compile(device, identity(device, Four, Four));
        const DML_BINDING_PROPERTIES properties = op->GetBindingProperties();
        equal("RequiredDescriptorCount", properties.RequiredDescriptorCount, std::stoul(arguments.at(0)));
        equal("TemporaryResourceSize", properties.TemporaryResourceSize, std::stoul(arguments.at(1)));
        equal("PersistentResourceSize", properties.PersistentResourceSize, std::stoul(arguments.at(2)));

        const bool denied = arguments.at(3) == "denied";
        const DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT query = {DML_TENSOR_DATA_TYPE_INT64};
        DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT support = {};
        const HRESULT asked = device->CheckFeatureSupport(
            DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, sizeof query, &query, sizeof support, &support);
        hresult("CheckFeatureSupport", asked, Fine);
        check("INT64 is supported or not", (support.IsSupported == 0) == denied);
        const Tensor wide(DML_TENSOR_DATA_TYPE_INT64, {1, 1, 1, 4});
        const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC copy = {wide.desc(), wide.desc(), nullptr};
        ComPtr<IDMLOperator> made;
        const HRESULT created = create(device, DML_OPERATOR_ELEMENT_WISE_IDENTITY, &copy, made);
        hresult("CreateOperator of INT64", created, denied ? E_INVALIDARG : Fine);

        // Heaps of no descriptors there are none, nor tables over them for these helpers.
        if (!properties.RequiredDescriptorCount)
            return;
        auto input = bench.holding<float>({1, 2, 3, 4});
        auto output = bench.buffer(16);
        bench.dispatch(op.Get(), {input.Get()}, {output.Get()});
        values<float>("an identity runs", bench.read<float>(output.Get(), 4), {1, 2, 3, 4});
    }

    void profile_removal_topic(const std::vector<std::string>&)
    {
        ComPtr<ID3D12Device> d3d12;
        need(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&d3d12)), "D3D12CreateDevice");
        ComPtr<IDMLDevice> device;
        need(DMLCreateDevice(d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&device)), "DMLCreateDevice");
        auto op = identity(device.Get(), Four, Four);
        ComPtr<IDMLCompiledOperator> compiled;
        const HRESULT made = device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled));
        hresult("the second call of the device", made, DeviceRemoved);
        check("nothing was compiled", !compiled);
        hresult("the reason", device->GetDeviceRemovedReason(), DXGI_ERROR_DEVICE_RESET);
        hresult("Direct3D's reason", d3d12->GetDeviceRemovedReason(), DXGI_ERROR_DEVICE_RESET);
    }

    void no_profile_topic(const std::vector<std::string>&)
    {
        ComPtr<ID3D12Device> d3d12;
        need(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&d3d12)), "D3D12CreateDevice");
        ComPtr<IDMLDevice> device;
        const HRESULT made = DMLCreateDevice(d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&device));
        hresult("DMLCreateDevice", made, E_INVALIDARG);
    }

    const Registration profiles_registration("profiles", profiles_topic);
    const Registration removal_registration("profile_removal", profile_removal_topic);
    const Registration none_registration("no_profile", no_profile_topic);
}
