/* The bounds of threads. */
#pragma once

#define DML_MAX_HELPERS 63
#define DML_MAX_THREADS (DML_MAX_HELPERS + 1)
/* Loops have up to 640 KiB on their stack, more than threads get on macOS and with musl. */
#define DML_STACK_BYTES (2 << 20)
/* A spinning thread looks at the time after this many pauses. */
#define DML_PAUSES 32
