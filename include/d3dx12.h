// MIT License, Copyright (c) the directml-py authors.
//
// <d3dx12.h> as Windows programs expect it: with <d3d12.h> of this folder, so that it may be included first. The helper
// structures are those of the DirectX headers.

#ifdef _WIN32
#include_next <d3dx12.h>
#else

#ifndef DIRECTML_D3DX12_H
#define DIRECTML_D3DX12_H

#include <d3d12.h>

#include <directx/d3dx12.h>

#endif
#endif
