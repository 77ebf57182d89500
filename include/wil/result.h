// MIT License, Copyright (c) the directml-py authors.
//
// The error handling of the Windows Implementation Library, for Linux; all of it is in result_macros.h.

#ifndef DIRECTML_WIL_RESULT_H
#define DIRECTML_WIL_RESULT_H

#include "result_macros.h"

#endif
