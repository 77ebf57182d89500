// MIT License, Copyright (c) the directml-py authors.
//
// <combaseapi.h> as Windows programs expect it; the supported part of COM is in <windows.h>.

#ifdef _WIN32
#include_next <combaseapi.h>
#else

#ifndef DIRECTML_COMBASEAPI_H
#define DIRECTML_COMBASEAPI_H

#include <windows.h>

#include <unknwn.h>

#endif
#endif
