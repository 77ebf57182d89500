#pragma once
/* Between FLOAT16 and FLOAT32, rounded to the nearest, of contiguous elements. */
void dml_half_widen(uintptr_t floats, uintptr_t halves, int64_t count);
void dml_half_narrow(uintptr_t halves, uintptr_t floats, int64_t count);
