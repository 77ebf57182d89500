// MIT License, Copyright (c) the directml-py authors.
//
// The DirectX headers include it along with <windows.h>. IUnknown is all of COM that they need.

#ifdef _WIN32
#include_next <ole2.h>
#else

#ifndef DIRECTML_OLE2_H
#define DIRECTML_OLE2_H

#include <windows.h>

#include <unknwn.h>

#endif
#endif
