/* What the program's pointers point to, as Python objects.

   Blocks that a caller says are there are read by the process itself, after a system call that tells whether their pages
   are mapped. That takes a tenth of the time that the kernel takes to copy them; other memory, and what cannot be read
   here, is left to directml_py/abi/memory.py. */

#include <errno.h>
#include <sys/syscall.h>

#define DMLPY_PAGE ((uintptr_t)4096)
/* Below it nothing is ever mapped. */
#define DMLPY_FIRST_MAPPABLE ((uintptr_t)0x10000)
#define DMLPY_NO_SUCH_CHANGE (~0)

/* Whether the kernel can read 8 bytes: it reads a set of signals before it refuses to do what is not one of the changes
   that it knows. */
static int dmlpy_is_mapped(uintptr_t address)
{
    return syscall(SYS_rt_sigprocmask, DMLPY_NO_SUCH_CHANGE, address, NULL, (size_t)8) < 0 && errno == EINVAL;
}

/* Other kernels, and emulators of this one, may refuse without reading. */
static int dmlpy_can_ask;

static int dmlpy_is_readable(uintptr_t address, size_t size)
{
    const int error = errno;
    int is_mapped = address >= DMLPY_FIRST_MAPPABLE && size <= UINTPTR_MAX - address;
    if (!__atomic_load_n(&dmlpy_can_ask, __ATOMIC_RELAXED))
        return is_mapped && dmlpy_is_on_stack(address, size);
    if (is_mapped && !dmlpy_is_on_stack(address, size)) {
        for (uintptr_t at = address & ~(uintptr_t)7; is_mapped && at < address + size; at = (at | (DMLPY_PAGE - 1)) + 1)
            is_mapped = dmlpy_is_mapped(at);
        errno = error;
    }
    return is_mapped;
}

/* Not by memcpy, for which AddressSanitizer has a replacement that ends the process where the memory is not the
   program's to read. */
static void dmlpy_copy(void *to, uintptr_t from, size_t size)
{
    const volatile unsigned char *const source = (const volatile unsigned char *)from;
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)to)[i] = source[i];
}

/* Whether the arguments are two unsigned numbers. */
static int dmlpy_two_numbers(PyObject *const *arguments, Py_ssize_t count, uint64_t numbers[2])
{
    for (int i = 0; i < 2; i++) {
        numbers[i] = count == 2 && PyLong_CheckExact(arguments[i]) ? PyLong_AsUnsignedLongLong(arguments[i]) : UINT64_MAX;
        if (numbers[i] == UINT64_MAX) {
            PyErr_Clear();
            return 0;
        }
    }
    return 1;
}

/* peek(address, size): the bytes; None if they cannot be read here. */
static PyObject *dmlpy_peek(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    uint64_t block[2];
    (void)module;
    if (!dmlpy_two_numbers(arguments, count, block) || block[1] > DMLPY_PAGE ||
        !dmlpy_is_readable(block[0], block[1]))
        Py_RETURN_NONE;
    PyObject *const data = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)block[1]);
    if (data != NULL)
        dmlpy_copy(PyBytes_AS_STRING(data), block[0], block[1]);
    return data;
}

/* poke(address, data): whether the data was written, which it is to the frames of the calling thread. */
static PyObject *dmlpy_poke(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 2 || !PyLong_CheckExact(arguments[0]) || !PyBytes_Check(arguments[1]))
        Py_RETURN_FALSE;
    const uint64_t address = PyLong_AsUnsignedLongLong(arguments[0]);
    const size_t size = (size_t)PyBytes_GET_SIZE(arguments[1]);
    PyErr_Clear();
    if (!dmlpy_is_on_stack(address, size))
        Py_RETURN_FALSE;
    /* Here a sanitizer shall see it. */
    memmove((void *)address, PyBytes_AS_STRING(arguments[1]), size);
    Py_RETURN_TRUE;
}

enum { DMLPY_BINDING_NONE, DMLPY_BINDING_BUFFER, DMLPY_MOST_BINDINGS = 65536 };

typedef struct dmlpy_binding {
    int32_t type;
    uint64_t desc;
} dmlpy_binding;

typedef struct dmlpy_buffer_binding {
    uint64_t buffer, offset, size;
} dmlpy_buffer_binding;

/* What a DML_BINDING_DESC names: None, or the buffer's address, the offset and the size. A null pointer, without an
   exception, for all that is more than that. */
static PyObject *dmlpy_binding_at(uintptr_t address)
{
    dmlpy_binding binding;
    dmlpy_buffer_binding range;
    dmlpy_copy(&binding, address, sizeof binding);
    if (binding.type == DMLPY_BINDING_NONE)
        Py_RETURN_NONE;
    if (binding.type != DMLPY_BINDING_BUFFER || !dmlpy_is_readable(binding.desc, sizeof range))
        return NULL;
    dmlpy_copy(&range, binding.desc, sizeof range);
    return Py_BuildValue("KKK", (unsigned long long)range.buffer, (unsigned long long)range.offset,
                         (unsigned long long)range.size);
}

/* peek_bindings(address, count): what an array of DML_BINDING_DESC names; None if another reading may tell more. */
static PyObject *dmlpy_peek_bindings(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    uint64_t array[2];
    (void)module;
    if (!dmlpy_two_numbers(arguments, count, array) || array[1] > DMLPY_MOST_BINDINGS ||
        !dmlpy_is_readable(array[0], array[1] * sizeof(dmlpy_binding)))
        Py_RETURN_NONE;
    PyObject *const found = PyTuple_New((Py_ssize_t)array[1]);
    for (size_t i = 0; found != NULL && i < array[1]; i++) {
        PyObject *const binding = dmlpy_binding_at(array[0] + i * sizeof(dmlpy_binding));
        if (binding == NULL) {
            Py_DECREF(found);
            if (PyErr_Occurred())
                return NULL;
            Py_RETURN_NONE;
        }
        PyTuple_SET_ITEM(found, (Py_ssize_t)i, binding);
    }
    return found;
}

/* The functions above as a tuple, which is never released; 0 without memory. */
static uintptr_t dmlpy_memory_functions(void)
{
    static PyMethodDef methods[] = {
        {"peek", (PyCFunction)(void (*)(void))dmlpy_peek, METH_FASTCALL, NULL},
        {"poke", (PyCFunction)(void (*)(void))dmlpy_poke, METH_FASTCALL, NULL},
        {"peek_bindings", (PyCFunction)(void (*)(void))dmlpy_peek_bindings, METH_FASTCALL, NULL},
    };
    const PyGILState_STATE state = PyGILState_Ensure();
    __atomic_store_n(&dmlpy_can_ask, !dmlpy_is_mapped(8), __ATOMIC_RELAXED);
    PyObject *const functions = Py_BuildValue(
        "NNN", PyCFunction_New(&methods[0], NULL), PyCFunction_New(&methods[1], NULL), PyCFunction_New(&methods[2], NULL));
    PyErr_Clear();
    PyGILState_Release(state);
    return (uintptr_t)functions;
}
