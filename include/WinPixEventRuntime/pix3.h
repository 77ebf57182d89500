// MIT License, Copyright (c) the directml-py authors.
//
// Where the package of PIX has it.

#include "../pix3.h"
