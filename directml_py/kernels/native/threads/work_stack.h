/* Work stack: each thread that calls a kernel has a second stack, on which the kernel runs. Blocks of a loop lie on the
   stack, hundreds of KiB of them, and the caller may have no more than a few: Python and C programs choose the size of
   their threads' stacks, and musl gives 128 KiB. */
#pragma once

typedef void (*dml_entry_body)(void *context);

/* Calls body(context) on the thread's work stack; on the caller's if there is no memory for one. */
void dml_call_on_work_stack(dml_entry_body body, void *context);
