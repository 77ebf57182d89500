/* The C program's facts, and a bench with both devices. Calls go through COBJMACROS or straight through lpVtbl. */

#ifndef TESTS_COM_C_HARNESS_H
#define TESTS_COM_C_HARNESS_H

#define COBJMACROS

#include "system.h"

#include <DirectML.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a method returns that is a struct: in C for Windows, through a pointer. */
#ifdef _WIN32
#define RETURNED(type, object, method) (*(object)->lpVtbl->method((object), &(type){0}))
#define RETURNED_FOR(type, object, method, ...) (*(object)->lpVtbl->method((object), &(type){0}, __VA_ARGS__))
#else
#define RETURNED(type, object, method) ((object)->lpVtbl->method(object))
#define RETURNED_FOR(type, object, method, ...) ((object)->lpVtbl->method((object), __VA_ARGS__))
#endif

#define REMOVED ((HRESULT)0x887a0005u)
#define MORE_DATA ((HRESULT)0x887a0003u)
#define NOT_FOUND ((HRESULT)0x887a0002u)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void check(const char* name, int holds);

void hresult(const char* name, HRESULT found, HRESULT expected);

void floats(const char* name, const float* found, const float* expected, size_t count);

/* Ends the program: nothing that follows would make sense. */
void need(const char* what, HRESULT result);

int failures(void);

typedef struct Bench
{
    ID3D12Device* d3d12;
    IDMLDevice1* dml;
    ID3D12CommandQueue* queue;
    ID3D12CommandAllocator* allocator;
    ID3D12GraphicsCommandList* list;
    ID3D12Fence* fence;
    IDMLCommandRecorder* recorder;
    UINT64 signaled;
} Bench;

void bench_open(Bench* bench, int debug);

void bench_close(Bench* bench);

ID3D12Resource* bench_buffer(Bench* bench, UINT64 size, D3D12_HEAP_TYPE type);

/* A buffer with these bytes, ready for unordered access. */
ID3D12Resource* bench_holding(Bench* bench, const void* data, UINT64 size);

void bench_read(Bench* bench, ID3D12Resource* resource, void* data, UINT64 size);

/* Close, execute, wait for an event, reset. */
void bench_run(Bench* bench);

/* Initializes, binds and runs a compiled operator without owned tensors. */
void bench_dispatch(
    Bench* bench,
    IDMLCompiledOperator* op,
    ID3D12Resource* const* inputs,
    UINT inputCount,
    ID3D12Resource* const* outputs,
    UINT outputCount);

ID3D12DescriptorHeap* bench_descriptors(Bench* bench, UINT count);

IDMLBindingTable* bench_table(Bench* bench, IDMLDispatchable* dispatchable, ID3D12DescriptorHeap* heap);

D3D12_RESOURCE_DESC buffer_desc(UINT64 width, D3D12_RESOURCE_FLAGS flags);

/* A tensor of up to four dimensions with what its desc points to; it must stay where it is. */
typedef struct Tensor
{
    UINT sizes[4], strides[4];
    DML_BUFFER_TENSOR_DESC buffer;
    DML_TENSOR_DESC desc;
} Tensor;

const DML_TENSOR_DESC* tensor(
    Tensor* memory,
    DML_TENSOR_DATA_TYPE type,
    const UINT* sizes,
    const UINT* strides);

IDMLCompiledOperator* compiled(Bench* bench, DML_OPERATOR_TYPE type, const void* desc);

void objects_topic(void);
void operators_topic(void);
void errors_topic(void);
void removal_topic(void);
void debug_topic(void);

#endif
