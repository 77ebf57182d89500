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

#endif
#endif
