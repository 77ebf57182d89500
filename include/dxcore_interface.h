// MIT License, Copyright (c) the directml-py authors.
//
// <dxcore_interface.h> as Windows programs expect it: with the interfaces' identifiers for __uuidof. The DirectX
// headers give those only to programs that include this before they use anything of Direct3D 12.

#ifdef _WIN32
#include_next <dxcore_interface.h>
#else

#ifndef DIRECTML_DXCORE_INTERFACE_H
#define DIRECTML_DXCORE_INTERFACE_H

#include <windows.h>

#if defined(__cplusplus) && defined(WINADAPTER_IID) && !defined(__dxcore_interface_h__)
#include <directx/dxcore_interface.h>
WINADAPTER_IID(IDXCoreAdapterFactory, 0x78ee5945, 0xc36e, 0x4b13, 0xa6, 0x69, 0x00, 0x5d, 0xd1, 0x1c, 0x0f, 0x06)
WINADAPTER_IID(IDXCoreAdapterList, 0x526c7776, 0x40e9, 0x459b, 0xb7, 0x11, 0xf3, 0x2a, 0xd7, 0x6d, 0xfc, 0x28)
WINADAPTER_IID(IDXCoreAdapter, 0xf0db4c7f, 0xfe5a, 0x42a2, 0xbd, 0x62, 0xf2, 0xa6, 0xcf, 0x6f, 0xc8, 0x3e)
#else
#include <directx/dxcore_interface.h>
#endif

#include <d3d12.h>

// What DXCore lists a device for machine learning by. Headers of the Agility SDK before 1.613 lack it, and so does their
// library: it is defined here.
#if !defined(INITGUID) || D3D12_SDK_VERSION < 613
#define DIRECTML_DXCORE_GUID EXTERN_C const GUID __attribute__((weak))
DIRECTML_DXCORE_GUID DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML = {
    0xb71b0d41, 0x1088, 0x422f, {0xa2, 0x7c, 0x02, 0x50, 0xb7, 0xd3, 0xa9, 0x88}};
DIRECTML_DXCORE_GUID DXCORE_HARDWARE_TYPE_ATTRIBUTE_GPU = {
    0xb69eb219, 0x3ded, 0x4464, {0x97, 0x9f, 0xa0, 0x0b, 0xd4, 0x68, 0x70, 0x06}};
DIRECTML_DXCORE_GUID DXCORE_HARDWARE_TYPE_ATTRIBUTE_NPU = {
    0xd46140c4, 0xadd7, 0x451b, {0x9e, 0x56, 0x06, 0xfe, 0x8c, 0x3b, 0x58, 0xed}};
#endif

#endif
#endif
