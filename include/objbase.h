// MIT License, Copyright (c) the directml-py authors.
//
// <objbase.h> as Windows programs know it; what there is of COM comes with <windows.h>.

#ifdef _WIN32
#include_next <objbase.h>
#else

#ifndef DIRECTML_OBJBASE_H
#define DIRECTML_OBJBASE_H

#include <windows.h>

#include <unknwn.h>

#endif
#endif
