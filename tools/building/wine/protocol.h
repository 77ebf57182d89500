/* What the two halves of the bridge tell each other: the PE half, which MinGW compiles (bridge.c), and the half in the
   library, which gcc compiles for Linux (wine_host.c). Both are in one process, and addresses mean the same to both. */

#ifndef DMLPY_WINE_PROTOCOL
#define DMLPY_WINE_PROTOCOL

#include <stdint.h>

#define DMLPY_WINDOWS __attribute__((ms_abi))
#define DMLPY_CALL_ARGUMENTS 5

/* The indices of the library's functions that the PE half calls through __wine_unix_call. */
enum dmlpy_unix_function { DMLPY_LOAD, DMLPY_NEXT_CALL, DMLPY_CALL_DONE, DMLPY_EXIT };

/* Win32 functions for the library, which only threads that Wine knows may call. */
typedef struct dmlpy_services {
    /* A handle of the same event that the caller owns; 0 if `event` is not an event. */
    uint64_t(DMLPY_WINDOWS *duplicate_event)(uint64_t event);
    uint64_t(DMLPY_WINDOWS *set_event)(uint64_t event);
    uint64_t(DMLPY_WINDOWS *close_event)(uint64_t event);
    /* The handle of a new object that this process calls by a number; 0 if there is none. */
    uint64_t(DMLPY_WINDOWS *new_handle)(uint64_t number);
    /* Whether a handle is one of the object with that number, and whether that has handles left. */
    uint64_t(DMLPY_WINDOWS *is_handle)(uint64_t handle, uint64_t number);
    uint64_t(DMLPY_WINDOWS *is_open)(uint64_t number);
    /* The module that holds an address, and the offset in it, as text; 0 if no module does. */
    uint64_t(DMLPY_WINDOWS *describe)(uint64_t address, uint64_t text, uint64_t size);
    /* Starts the thread that does the calls of threads which Wine does not know. */
    uint64_t(DMLPY_WINDOWS *serve)(void);
} dmlpy_services;

/* DMLPY_LOAD: the services for the exported functions, in the order of the catalog. */
typedef struct dmlpy_load {
    const char *digest;
    dmlpy_services services;
    const void *const *functions;
    uint32_t count;
} dmlpy_load;

/* DMLPY_NEXT_CALL: a call that a thread which Wine does not know has asked for. */
typedef struct dmlpy_call {
    uint64_t function;
    uint64_t arguments[DMLPY_CALL_ARGUMENTS];
    uint64_t result;
    /* What the asking thread waits for. */
    void *done;
} dmlpy_call;

#endif
