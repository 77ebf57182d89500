/* The bounds of threads. */
#pragma once

#define DML_MAX_HELPERS 63
#define DML_MAX_THREADS (DML_MAX_HELPERS + 1)
/* Loops have up to 1.1 MiB on their stack, more than threads get on macOS and with musl. */
#define DML_STACK_BYTES (2 << 20)
/* A spinning thread looks at the time after this many pauses. */
#define DML_PAUSES 32

/* Tells the processor that the thread spins. */
static inline void dml_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}
