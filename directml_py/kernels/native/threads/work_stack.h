/* Work stack: each thread that calls a kernel has a second stack, on which the kernel runs. The blocks of a loop,
   hundreds of KiB, are on the stack, and the caller's may be small: Python and C programs choose the size of their
   threads' stacks, and musl gives 128 KiB. */
#pragma once

typedef void (*dml_entry_body)(void *context);

/* Calls body(context) on the thread's work stack, or on the caller's if there is no memory for one. */
void dml_call_on_work_stack(dml_entry_body body, void *context);
