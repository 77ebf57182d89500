// MIT License, Copyright (c) the directml-py authors.
//
// <wrl.h> as Windows programs expect it: smart pointers, events, and classes that implement interfaces.

#ifdef _WIN32
#include_next <wrl.h>
#else

#ifndef DIRECTML_WRL_H
#define DIRECTML_WRL_H

#include <windows.h>

#include <wrl/client.h>
#include <wrl/event.h>
#include <wrl/implements.h>

#endif
#endif
