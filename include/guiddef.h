// MIT License, Copyright (c) the directml-py authors.
//
// <guiddef.h> as Windows programs expect it; GUID, DEFINE_GUID and IsEqualGUID are in <windows.h>.

#ifdef _WIN32
#include_next <guiddef.h>
#else

#ifndef DIRECTML_GUIDDEF_H
#define DIRECTML_GUIDDEF_H

#include <windows.h>

#endif
#endif
