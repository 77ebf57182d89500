// MIT License, Copyright (c) the directml-py authors.
//
// <objbase.h> as Windows programs expect it; the supported part of COM is in <windows.h>.

#ifdef _WIN32
#include_next <objbase.h>
#else

#ifndef DIRECTML_OBJBASE_H
#define DIRECTML_OBJBASE_H

#include <windows.h>

#include <unknwn.h>

#endif
#endif
