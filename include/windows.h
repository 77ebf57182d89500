// MIT License, Copyright (c) the directml-py authors.
//
// The part of <windows.h> that Direct3D 12 and DirectML programs use, for Linux, in C11 and C++17. No library is
// needed.
//
// The types are those of Debian's directx-headers-dev (`pkg-config --cflags DirectX-Headers`); the rest is in win32/, a
// file for each subject. A HANDLE is a file descriptor. min and max are never macros. windows.h and Windows.h have the
// same contents, because they are one file on case-insensitive file systems; so have the parts of it that programs
// include by themselves, such as synchapi.h.

#ifdef _WIN32
#include_next <windows.h>
#else

#ifndef DIRECTML_WINDOWS_H
#define DIRECTML_WINDOWS_H

#include "win32/byteswap.h"
#include "win32/clock.h"
#include "win32/com.h"
#include "win32/debug.h"
#include "win32/errors.h"
#include "win32/events.h"
#include "win32/locks.h"
#include "win32/memory.h"
#include "win32/modules.h"
#include "win32/suffixes.h"
#include "win32/system.h"
#include "win32/text.h"
#include "win32/types.h"

#endif
#endif
