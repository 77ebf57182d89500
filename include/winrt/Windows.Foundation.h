// MIT License, Copyright (c) the directml-py authors.
//
// C++/WinRT programs include it for the contents of base.h; there is no Windows Runtime.

#ifdef _WIN32
#include_next <winrt/Windows.Foundation.h>
#else

#ifndef DIRECTML_WINRT_WINDOWS_FOUNDATION_H
#define DIRECTML_WINRT_WINDOWS_FOUNDATION_H

#include "base.h"

#endif
#endif
