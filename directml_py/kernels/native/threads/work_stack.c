#include "work_stack.h"

#include <sys/mman.h>

#include "../common/compiler.h"
#include "../common/system.h"
#include "limits.h"

/* Sanitizers keep the bounds of each thread's stack, and know of no other stack. */
#if !DML_SANITIZES_MEMORY && (defined(__x86_64__) || defined(__aarch64__))

typedef struct {
    unsigned char *memory;
    int busy;
} dml_work_stack;

static __thread dml_work_stack dml_thread_work_stack;
static pthread_key_t dml_work_stack_key;
static pthread_once_t dml_work_stack_once = PTHREAD_ONCE_INIT;
static int dml_work_stacks_end;
/* The stack of a thread that has ended, for the next one: page faults take longer than the start of a thread. */
static void *dml_idle_work_stack;

static void dml_free_work_stack(void *memory)
{
    dml_thread_work_stack.memory = NULL;
    if ((memory = __atomic_exchange_n(&dml_idle_work_stack, memory, __ATOMIC_ACQ_REL)) != NULL)
        munmap(memory, DML_STACK_BYTES);
}

static void dml_make_work_stack_key(void)
{
    dml_work_stacks_end = pthread_key_create(&dml_work_stack_key, dml_free_work_stack) == 0;
}

/* The page below a stack is never mapped for writing, so that a stack that is too small ends the process where it
   overflows. Returns NULL without memory, or if nothing would free it when the thread ends. */
static __attribute__((noinline)) unsigned char *dml_make_work_stack(void)
{
    const size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    void *memory;
    pthread_once(&dml_work_stack_once, dml_make_work_stack_key);
    memory = dml_work_stacks_end ? __atomic_exchange_n(&dml_idle_work_stack, NULL, __ATOMIC_ACQ_REL) : MAP_FAILED;
    if (memory == NULL)
        memory = mmap(NULL, DML_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    if (mprotect(memory, guard, PROT_NONE) == 0 && pthread_setspecific(dml_work_stack_key, memory) == 0)
        return memory;
    munmap(memory, DML_STACK_BYTES);
    return NULL;
}

/* Calls body(context) with the stack pointer at `top`, which has an alignment of 16. */
static __attribute__((noinline)) void dml_call_on(void *top, dml_entry_body body, void *context)
{
    /* This asks for a frame pointer: debuggers and profilers go on from here to the caller's stack. */
    (void)__builtin_frame_address(0);
#if defined(__x86_64__)
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %[top], %%rsp\n\t"
                     "call *%[body]\n\t"
                     "movq %%rbx, %%rsp"
                     : [top] "+r"(top), [body] "+r"(body), "+D"(context)
                     :
                     : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3",
                       "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
                       "xmm15", "cc", "memory");
#else
    register void *argument __asm__("x0") = context;
    __asm__ volatile("mov x19, sp\n\t"
                     "mov sp, %[top]\n\t"
                     "blr %[body]\n\t"
                     "mov sp, x19"
                     : "+r"(argument)
                     : [top] "r"(top), [body] "r"(body)
                     : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
                       "x16", "x17", "x19", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10",
                       "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
                       "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory");
#endif
}

void dml_call_on_work_stack(dml_entry_body body, void *context)
{
    dml_work_stack *const stack = &dml_thread_work_stack;
    if (stack->memory == NULL)
        stack->memory = dml_make_work_stack();
    if (stack->memory == NULL || stack->busy) {
        body(context);
        return;
    }
    stack->busy = 1;
    dml_call_on(stack->memory + DML_STACK_BYTES, body, context);
    stack->busy = 0;
}

#else

void dml_call_on_work_stack(dml_entry_body body, void *context)
{
    body(context);
}

#endif
