// One object of every kind, with the interfaces that it has.

#ifndef TESTS_COM_WORLD_H
#define TESTS_COM_WORLD_H

#include "bench.h"

struct Interface
{
    const char* name;
    IID iid;
};

#define NAMED(type) Interface{#type, __uuidof(type)}

struct Object
{
    std::string name;
    ComPtr<IUnknown> pointer;

    // The most derived interface last.
    std::vector<Interface> chain;
};

struct World
{
    explicit World(Bench::Debug debug = Bench::Debug::Off);

    Bench bench;
    ComPtr<ID3D12Heap> heap;
    ComPtr<ID3D12Resource> committed, placed;
    ComPtr<ID3D12DescriptorHeap> descriptors;
    ComPtr<ID3D12RootSignature> signature;
    ComPtr<IDMLOperator> op;
    ComPtr<IDMLCompiledOperator> compiled;
    ComPtr<IDMLOperatorInitializer> initializer;
    ComPtr<IDMLBindingTable> table;

    std::vector<Object> objects() const;

    // Those that a Direct3D 12 device made, and those that a DirectML device made.
    std::vector<ID3D12DeviceChild*> d3d12_children() const;
    std::vector<IDMLDeviceChild*> dml_children() const;
};

#endif
