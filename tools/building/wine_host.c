/* The host system of this library is Wine: programs have the Windows ABI, and events are handles of Win32.

   Wine's functions need the thread environment block of Win32, to which GS points in Wine's threads. Other threads, such
   as those of the kernels, have calls done by one of Wine's, which the PE half of the bridge starts for that. */

#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define DMLPY_WCHAR_SIZE 2
#define DMLPY_STATUS_UNSUCCESSFUL ((int32_t)0xC0000001)
/* How long a call by another thread may take, in seconds: at the end of a process Wine has ended that thread. */
#define DMLPY_PATIENCE 10
/* How long a thread may wait for the GIL when the process exits, and how long the package's exit functions may take, in
   seconds. */
#define DMLPY_GIL_PATIENCE 1
#define DMLPY_EXIT_PATIENCE 60

/* The name of the server's socket, in its own folder. */
#define DMLPY_WINE_SOCKET "socket"

static dmlpy_services dmlpy_wine;
static int dmlpy_calls[2] = {-1, -1};
static const void *const dmlpy_functions[];
static const uint32_t dmlpy_function_count;
static const char *dmlpy_folder(void);

/* The address of the thread environment block; 0 in a thread that Wine does not know. Such a thread has the register of
   the one that has created it, but not its stack. */
static uintptr_t dmlpy_thread_block(void)
{
    static __thread uintptr_t block;
    static __thread int is_asked;
    if (!is_asked) {
        const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
        uintptr_t found = 0;
        syscall(SYS_arch_prctl, ARCH_GET_GS, &found);
        if (found != 0 && here < ((const uintptr_t *)found)[1] && here >= ((const uintptr_t *)found)[2])
            block = found;
        is_asked = 1;
    }
    return block;
}

typedef uint64_t(DMLPY_WINDOWS *dmlpy_windows_function)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

/* Calls a function of the program or of the PE half. */
static uint64_t dmlpy_call_program(uintptr_t function, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4)
{
    static int is_served;
    if (dmlpy_thread_block() != 0) {
        /* Before the program has passed anything of its own, no other thread has anything to call; and Wine sometimes
           loses the exit code of a process with more threads than the program's. */
        if (!__atomic_exchange_n(&is_served, 1, __ATOMIC_ACQ_REL))
            dmlpy_wine.serve();
        return ((dmlpy_windows_function)function)(a0, a1, a2, a3, a4);
    }
    sem_t done;
    struct timespec end;
    /* Not on the stack: the other thread may still answer when this one has given up. */
    dmlpy_call *call = malloc(sizeof *call + sizeof done);
    if (call == NULL)
        return 0;
    *call = (dmlpy_call){function, {a0, a1, a2, a3, a4}, 0, call + 1};
    sem_init(call->done, 0, 0);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += DMLPY_PATIENCE;
    if (write(dmlpy_calls[1], &call, sizeof call) != sizeof call) {
        free(call);
        return 0;
    }
    while (sem_timedwait(call->done, &end) != 0)
        if (errno != EINTR)
            return 0;
    const uint64_t result = call->result;
    free(call);
    return result;
}

static int64_t dmlpy_duplicate_event(uint64_t event)
{
    const uint64_t copy = dmlpy_call_program((uintptr_t)dmlpy_wine.duplicate_event, event, 0, 0, 0, 0);
    return copy == 0 ? -1 : (int64_t)copy;
}

static void dmlpy_set_event(int64_t event)
{
    dmlpy_call_program((uintptr_t)dmlpy_wine.set_event, (uint64_t)event, 0, 0, 0, 0);
}

static void dmlpy_close_event(int64_t event)
{
    dmlpy_call_program((uintptr_t)dmlpy_wine.close_event, (uint64_t)event, 0, 0, 0, 0);
}

static uint64_t dmlpy_new_handle(uint64_t number)
{
    return dmlpy_call_program((uintptr_t)dmlpy_wine.new_handle, number, 0, 0, 0, 0);
}

static int dmlpy_is_handle(uint64_t handle, uint64_t number)
{
    return dmlpy_call_program((uintptr_t)dmlpy_wine.is_handle, handle, number, 0, 0, 0) != 0;
}

static int dmlpy_is_open(uint64_t number)
{
    return dmlpy_call_program((uintptr_t)dmlpy_wine.is_open, number, 0, 0, 0, 0) != 0;
}

/* The PE module of an address, and the offset in it. */
static int dmlpy_describe_code(uintptr_t address, char *text, size_t size)
{
    return dmlpy_call_program((uintptr_t)dmlpy_wine.describe, address, (uintptr_t)text, size, 0, 0) != 0;
}

/* Threads of Win32 run on stacks that Wine has made, from StackLimit to StackBase of their environment block. */
static int dmlpy_own_stack(uintptr_t *low, uintptr_t *top)
{
    const uintptr_t *const block = (const uintptr_t *)dmlpy_thread_block();
    if (block == NULL)
        return 0;
    *top = block[1];
    *low = block[2];
    return 1;
}

static void (*dmlpy_exit_function)(void);
static sem_t dmlpy_exiting;

/* Wine ends a process by exit(). Destructors of libraries may wait there for threads that Wine has ended. */
static void dmlpy_leave(int status, void *unused)
{
    (void)unused;
    _exit(status);
}

/* Before exit() Wine closes the process's connection to its server, which kills the process if that has not ended half a
   second later: it may have had to wait for a processor, and would lose its exit code. A copy of the connection leaves it
   open until the process has ended. Of a process that another Windows program has started, whose connection has no name,
   the server keeps the exit code anyway. */
static void dmlpy_keep_connection(void)
{
    enum { HIGHEST = 1024 };
    for (int descriptor = 0; descriptor < HIGHEST; descriptor++) {
        struct sockaddr_un peer = {0};
        socklen_t size = sizeof peer - 1;
        if (getpeername(descriptor, (struct sockaddr *)&peer, &size) == 0 && peer.sun_family == AF_UNIX
            && strcmp(peer.sun_path, DMLPY_WINE_SOCKET) == 0) {
            fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
            return;
        }
    }
}

/* Has a function called when the process exits: by the PE half, while there is time. */
static void dmlpy_run_at_exit(void (*function)(void))
{
    dmlpy_keep_connection();
    on_exit(dmlpy_leave, NULL);
    sem_init(&dmlpy_exiting, 0, 0);
    dmlpy_exit_function = function;
}

static void *dmlpy_exit(void *unused)
{
    const PyGILState_STATE state = PyGILState_Ensure();
    sem_post(&dmlpy_exiting);
    PyGILState_Release(state);
    dmlpy_exit_function();
    return unused;
}

/* The functions of the library that the PE half calls. */

static int32_t dmlpy_wine_load(void *argument)
{
    dmlpy_load *const load = argument;
    if (strcmp(load->digest, DMLPY_DIGEST) != 0) {
        fprintf(stderr, "directml_py.dll was built from sources other than those of %s; install the package again, "
                        "then run: python -m directml_py wine --install PREFIX\n", dmlpy_folder());
        return DMLPY_STATUS_UNSUCCESSFUL;
    }
    if (dmlpy_calls[0] < 0 && pipe2(dmlpy_calls, O_CLOEXEC) != 0)
        return DMLPY_STATUS_UNSUCCESSFUL;
    dmlpy_wine = load->services;
    load->functions = dmlpy_functions;
    load->count = dmlpy_function_count;
    return 0;
}

static int32_t dmlpy_wine_next_call(void *argument)
{
    for (;;) {
        const ssize_t size = read(dmlpy_calls[0], argument, sizeof(dmlpy_call *));
        if (size == sizeof(dmlpy_call *))
            return 0;
        if (size >= 0 || errno != EINTR)
            return DMLPY_STATUS_UNSUCCESSFUL;
    }
}

static int32_t dmlpy_wine_call_done(void *argument)
{
    return sem_post(((dmlpy_call *)argument)->done);
}

/* Wine has ended all other threads, wherever they were. One that ran Python has taken the GIL with it, and no exit
   function can run; one that held another lock may keep them from returning. */
static int32_t dmlpy_wine_exit(void *unused)
{
    pthread_t thread;
    struct timespec end;
    (void)unused;
    if (dmlpy_exit_function == NULL || pthread_create(&thread, NULL, dmlpy_exit, NULL) != 0)
        return 0;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += DMLPY_GIL_PATIENCE;
    while (sem_timedwait(&dmlpy_exiting, &end) != 0)
        if (errno != EINTR)
            return 0;
    end.tv_sec += DMLPY_EXIT_PATIENCE;
    pthread_timedjoin_np(thread, NULL, &end);
    return 0;
}

__attribute__((visibility("default"))) int32_t (*const __wine_unix_call_funcs[])(void *) = {
    [DMLPY_LOAD] = dmlpy_wine_load,
    [DMLPY_NEXT_CALL] = dmlpy_wine_next_call,
    [DMLPY_CALL_DONE] = dmlpy_wine_call_done,
    [DMLPY_EXIT] = dmlpy_wine_exit,
};
