/* What threads are bounded by. */
#pragma once

#define DML_MAX_HELPERS 63
#define DML_MAX_THREADS (DML_MAX_HELPERS + 1)
/* Loops keep up to 640 KiB on their stack, more than threads get on macOS and with musl. */
#define DML_STACK_BYTES (2 << 20)
/* A thread that spins looks at the time after so many pauses. */
#define DML_PAUSES 32
