// MIT License, Copyright (c) the directml-py authors.
//
// <dxcore.h> as Windows programs expect it.

#ifdef _WIN32
#include_next <dxcore.h>
#else

#ifndef DIRECTML_DXCORE_H
#define DIRECTML_DXCORE_H

#include "dxcore_interface.h"

#include <directx/dxcore.h>

#endif
#endif
