// MIT License, Copyright (c) the directml-py authors.
//
// <d3d11.h> for programs that only name its interfaces: there is no Direct3D 11, and no device can be created.

#ifdef _WIN32
#include_next <d3d11.h>
#else

#ifndef DIRECTML_D3D11_H
#define DIRECTML_D3D11_H

#include <windows.h>

#include <dxgi.h>

#include <directx/d3dcommon.h>

#include "directml_uuids.h"

#define D3D11_SDK_VERSION 7

typedef enum D3D11_CREATE_DEVICE_FLAG
{
    D3D11_CREATE_DEVICE_SINGLETHREADED = 0x1,
    D3D11_CREATE_DEVICE_DEBUG = 0x2,
    D3D11_CREATE_DEVICE_BGRA_SUPPORT = 0x20,
    D3D11_CREATE_DEVICE_DISABLE_GPU_TIMEOUT = 0x100
} D3D11_CREATE_DEVICE_FLAG;

#if defined(__cplusplus) && !defined(CINTERFACE)
// Interfaces that are not implemented need only IUnknown's methods, which smart pointers call.
#define DIRECTML_D3D11_INTERFACE(name, base, a, b, c, ...) \
    struct name : base                                    \
    {                                                     \
    };                                                    \
    __CRT_UUID_DECL(name, a, b, c, __VA_ARGS__)
#else
#define DIRECTML_D3D11_INTERFACE(name, base, a, b, c, ...) typedef struct name name;
#endif

DIRECTML_D3D11_INTERFACE(
    ID3D11Device, IUnknown, 0xdb6f6ddb, 0xac77, 0x4e88, 0x82, 0x53, 0x81, 0x9d, 0xf9, 0xbb, 0xf1, 0x40)
DIRECTML_D3D11_INTERFACE(
    ID3D11DeviceChild, IUnknown, 0x1841e5c8, 0x16b0, 0x489b, 0xbc, 0xc8, 0x44, 0xcf, 0xb0, 0xd5, 0xde, 0xae)
DIRECTML_D3D11_INTERFACE(
    ID3D11DeviceContext, ID3D11DeviceChild, 0xc0bfa96c, 0xe089, 0x44fb, 0x8e, 0xaf, 0x26, 0xf8, 0x79, 0x61, 0x90, 0xda)
DIRECTML_D3D11_INTERFACE(
    ID3D11Resource, ID3D11DeviceChild, 0xdc8e63f3, 0xd12b, 0x4952, 0xb4, 0x7b, 0x5e, 0x45, 0x02, 0x6a, 0x86, 0x2d)
DIRECTML_D3D11_INTERFACE(
    ID3D11Buffer, ID3D11Resource, 0x48570b85, 0xd1ee, 0x4fcd, 0xa2, 0x50, 0xeb, 0x35, 0x07, 0x22, 0xb0, 0x37)
DIRECTML_D3D11_INTERFACE(
    ID3D11Texture2D, ID3D11Resource, 0x6f15aaf2, 0xd208, 0x4e89, 0x9a, 0xb4, 0x48, 0x95, 0x35, 0xd3, 0x4f, 0x9c)

#undef DIRECTML_D3D11_INTERFACE

// DXGI_ERROR_UNSUPPORTED, as where there is no driver.
DIRECTML_WIN32_FUNCTION HRESULT D3D11CreateDevice(
    IDXGIAdapter* pAdapter,
    D3D_DRIVER_TYPE DriverType,
    HMODULE Software,
    UINT Flags,
    const D3D_FEATURE_LEVEL* pFeatureLevels,
    UINT FeatureLevels,
    UINT SDKVersion,
    ID3D11Device** ppDevice,
    D3D_FEATURE_LEVEL* pFeatureLevel,
    ID3D11DeviceContext** ppImmediateContext)
{
    (void)pAdapter;
    (void)DriverType;
    (void)Software;
    (void)Flags;
    (void)pFeatureLevels;
    (void)FeatureLevels;
    (void)SDKVersion;
    (void)pFeatureLevel;
    if (ppDevice != NULL)
        *ppDevice = NULL;
    if (ppImmediateContext != NULL)
        *ppImmediateContext = NULL;
    return DXGI_ERROR_UNSUPPORTED;
}

#endif
#endif
