// MIT License, Copyright (c) the directml-py authors.
//
// The path at which PIX's package has this header.

#include "../pix3.h"
