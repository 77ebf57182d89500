// MIT License, Copyright (c) the directml-py authors.
//
// <wrl/event.h>, which programs include for Microsoft::WRL::Wrappers::Event; there are no WinRT events.

#ifdef _WIN32
#include_next <wrl/event.h>
#else

#ifndef DIRECTML_WRL_EVENT_H
#define DIRECTML_WRL_EVENT_H

#include "wrappers/corewrappers.h"

#endif
#endif
