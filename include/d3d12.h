// MIT License, Copyright (c) the directml-py authors.
//
// <d3d12.h> as Windows programs expect it: with <windows.h>, and with the interfaces' identifiers for __uuidof. The
// DirectX headers have those in a file of their own, which must come before their first use.

#ifdef _WIN32
#include_next <d3d12.h>
#else

#ifndef DIRECTML_D3D12_H
#define DIRECTML_D3D12_H

#include <windows.h>

#include <directx/d3d12.h>

// Headers of the Agility SDK before 1.611 lack it.
#if D3D12_SDK_VERSION < 611
#ifdef __cplusplus
inline constexpr D3D_FEATURE_LEVEL D3D_FEATURE_LEVEL_1_0_GENERIC = static_cast<D3D_FEATURE_LEVEL>(0x100);
#else
enum
{
    D3D_FEATURE_LEVEL_1_0_GENERIC = 0x100
};
#endif
#endif

#if defined(__cplusplus) && !defined(CINTERFACE)
#include <dxguids/dxguids.h>

#include "directml_uuids.h"

// The DirectX headers have no identifier of ID3DBlob for __uuidof.
#ifdef DIRECTML_UUID_OF
extern "C++"
{
    template <>
    struct DMLUuidOf<ID3D10Blob>
    {
        static constexpr GUID value = {
            0x8ba5fb08, 0x5195, 0x40e2, {0xac, 0x58, 0x0d, 0x98, 0x9c, 0x3a, 0x01, 0x02}};
    };
}
#endif
#endif

#endif
#endif
