/* The host system of libdirectml.so is Linux: programs have the System V ABI, and events are eventfd(2) descriptors. */

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define DMLPY_WCHAR_SIZE 4

/* A descriptor of the same eventfd that outlives the program's; -1 if it is not one. */
static int64_t dmlpy_duplicate_event(uint64_t event)
{
    struct stat found;
    const int copy = event > INT32_MAX ? -1 : dup((int)event);
    /* An eventfd's inode has no type. */
    if (copy >= 0 && (fstat(copy, &found) != 0 || (found.st_mode & S_IFMT) != 0)) {
        close(copy);
        return -1;
    }
    return copy;
}

/* Nothing waits for an eventfd whose counter is full, or for a descriptor that the program has reused. */
static void dmlpy_set_event(int64_t event)
{
    const uint64_t one = 1;
    while (write((int)event, &one, sizeof one) < 0 && errno == EINTR)
        continue;
}

static void dmlpy_close_event(int64_t event)
{
    close((int)event);
}

/* Handles are descriptors, which Python itself makes. */
static uint64_t dmlpy_new_handle(uint64_t number)
{
    (void)number;
    return 0;
}

static int dmlpy_is_handle(uint64_t handle, uint64_t number)
{
    (void)handle, (void)number;
    return 0;
}

static int dmlpy_is_open(uint64_t number)
{
    (void)number;
    return 0;
}

/* Calls a function of the program. */
static uint64_t dmlpy_call_program(uintptr_t function, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4)
{
    return ((uint64_t(*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t))function)(a0, a1, a2, a3, a4);
}

/* Writes what is known of code that no loaded ELF object holds. */
static int dmlpy_describe_code(uintptr_t address, char *text, size_t size)
{
    (void)address, (void)text, (void)size;
    return 0;
}

/* Where the stack of the calling thread is, if it is not the one that the thread library gave it. */
static int dmlpy_own_stack(uintptr_t *low, uintptr_t *top)
{
    (void)low, (void)top;
    return 0;
}

/* Has a function called when the process exits. */
static void dmlpy_run_at_exit(void (*function)(void))
{
    atexit(function);
}
