/* COM objects as C sees them: a table of methods, a count, and whatever Python holds under the address. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define E_FAIL_CODE ((int32_t)0x80004005)

typedef struct dmlpy_object {
    const void *const *methods;
    uint32_t references;
} dmlpy_object;

static void dmlpy_call_dmlpy_last_release(uintptr_t self);

static uint32_t dmlpy_AddRef(uintptr_t self)
{
    return __atomic_add_fetch(&((dmlpy_object *)self)->references, 1, __ATOMIC_RELAXED);
}

static uint32_t dmlpy_Release(uintptr_t self)
{
    uint32_t left = __atomic_sub_fetch(&((dmlpy_object *)self)->references, 1, __ATOMIC_ACQ_REL);
    /* Objects that outlive the interpreter, in globals of the program, have nobody left to tell. */
    if (left == 0 && Py_IsInitialized())
        dmlpy_call_dmlpy_last_release(self);
    return left;
}

static uint32_t dmlpy_references(uintptr_t self)
{
    return __atomic_load_n(&((dmlpy_object *)self)->references, __ATOMIC_ACQUIRE);
}

static void dmlpy_free(uintptr_t self)
{
    free((void *)self);
}

/* The same two for anybody's objects, through their own tables. */

static uint32_t dmlpy_foreign_AddRef(uintptr_t object)
{
    return (*(uint32_t (***)(uintptr_t))object)[1](object);
}

static uint32_t dmlpy_foreign_Release(uintptr_t object)
{
    return (*(uint32_t (***)(uintptr_t))object)[2](object);
}
