/* The stack of the calling thread: what lies between its top and the stack pointer is readable, without asking. */

#include <stdio.h>
#include <unistd.h>

/* Loading the package takes more than 32 KiB of the thread's stack that calls first, and less than 48. */
#define DMLPY_STACK_NEEDED ((uintptr_t)40 << 10)

/* Beyond this from the top, other memory may have been mapped where a stack without a limit may still grow. */
#define DMLPY_STACK_SEEN ((uintptr_t)8 << 20)

static __thread uintptr_t dmlpy_stack_low, dmlpy_stack_top;

static __attribute__((noinline)) void dmlpy_find_stack(void)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    if (dmlpy_own_stack(&dmlpy_stack_low, &dmlpy_stack_top))
        return;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &low, &size);
        pthread_attr_destroy(&attributes);
    }
    dmlpy_stack_top = (uintptr_t)low + size;
    dmlpy_stack_low = (uintptr_t)low;
    if (size > DMLPY_STACK_SEEN)
        dmlpy_stack_low = dmlpy_stack_top - DMLPY_STACK_SEEN;
    /* Unknown: a top that no address is below, for which it is not looked up again. */
    if (dmlpy_stack_top == 0)
        dmlpy_stack_top = dmlpy_stack_low = 1;
}

/* Whether `size` bytes at `address` are in frames of this thread. Where a program has switched to a stack of its own,
   none are known to be. */
static int dmlpy_is_on_stack(uintptr_t address, size_t size)
{
    const uintptr_t own = (uintptr_t)__builtin_frame_address(0);
    if (dmlpy_stack_top == 0)
        dmlpy_find_stack();
    return dmlpy_stack_low <= own && own <= address && address <= dmlpy_stack_top && size <= dmlpy_stack_top - address;
}

static __attribute__((noinline)) void dmlpy_tell_of_stack(uintptr_t left)
{
    static int told;
    char text[192];
    if (__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED))
        return;
    const int length = snprintf(text, sizeof text,
                                "directml-py: a thread calls with %u KiB of its stack left; where that is too little "
                                "the process ends here. Give it 64 KiB or more (pthread_attr_setstacksize).\n",
                                (unsigned)(left >> 10));
    if (write(STDERR_FILENO, text, (size_t)length) != length)
        return;
}

/* An overflow ends the process without a word; so the reason is told before it, once. Not refused: once the package is
   loaded, many calls need less. */
static inline void dmlpy_check_stack(void)
{
    const uintptr_t own = (uintptr_t)__builtin_frame_address(0);
    if (dmlpy_stack_top == 0)
        dmlpy_find_stack();
    if (own - dmlpy_stack_low < DMLPY_STACK_NEEDED && dmlpy_stack_low > 1)
        dmlpy_tell_of_stack(own - dmlpy_stack_low);
}
