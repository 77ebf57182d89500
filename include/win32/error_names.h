// MIT License, Copyright (c) the directml-py authors.
//
// The names of the HRESULTs that Direct3D 12 and DirectML return, for messages.

#ifndef DIRECTML_WIN32_ERROR_NAMES_H
#define DIRECTML_WIN32_ERROR_NAMES_H

#include "errors.h"

// NULL for an HRESULT without a name here.
DIRECTML_WIN32_FUNCTION const char* directml_win32_error_name(HRESULT hr)
{
    switch (hr)
    {
    case E_NOTIMPL: return "E_NOTIMPL";
    case E_NOINTERFACE: return "E_NOINTERFACE";
    case E_POINTER: return "E_POINTER";
    case E_ABORT: return "E_ABORT";
    case E_FAIL: return "E_FAIL";
    case E_UNEXPECTED: return "E_UNEXPECTED";
    case E_BOUNDS: return "E_BOUNDS";
    case E_ACCESSDENIED: return "E_ACCESSDENIED";
    case E_HANDLE: return "E_HANDLE";
    case E_OUTOFMEMORY: return "E_OUTOFMEMORY";
    case E_INVALIDARG: return "E_INVALIDARG";
    case DXGI_ERROR_INVALID_CALL: return "DXGI_ERROR_INVALID_CALL";
    case DXGI_ERROR_NOT_FOUND: return "DXGI_ERROR_NOT_FOUND";
    case DXGI_ERROR_MORE_DATA: return "DXGI_ERROR_MORE_DATA";
    case DXGI_ERROR_UNSUPPORTED: return "DXGI_ERROR_UNSUPPORTED";
    case DXGI_ERROR_DEVICE_REMOVED: return "DXGI_ERROR_DEVICE_REMOVED";
    case DXGI_ERROR_DEVICE_HUNG: return "DXGI_ERROR_DEVICE_HUNG";
    case DXGI_ERROR_DEVICE_RESET: return "DXGI_ERROR_DEVICE_RESET";
    case DXGI_ERROR_DRIVER_INTERNAL_ERROR: return "DXGI_ERROR_DRIVER_INTERNAL_ERROR";
    case DXGI_ERROR_SDK_COMPONENT_MISSING: return "DXGI_ERROR_SDK_COMPONENT_MISSING";
    default: return NULL;
    }
}

#endif
