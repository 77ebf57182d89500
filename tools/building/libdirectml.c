/* COM objects as C sees them: a table of methods, a count, and whatever Python holds under the address. */

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define E_FAIL_CODE ((int32_t)0x80004005)

typedef struct dmlpy_object {
    const void *const *methods;
    uint32_t references;
} dmlpy_object;

static void dmlpy_last_release(uintptr_t self);
static int cffi_start_python(void);

static uint32_t dmlpy_AddRef(uintptr_t self)
{
    return __atomic_add_fetch(&((dmlpy_object *)self)->references, 1, __ATOMIC_RELAXED);
}

static uint32_t dmlpy_Release(uintptr_t self)
{
    uint32_t left = __atomic_sub_fetch(&((dmlpy_object *)self)->references, 1, __ATOMIC_ACQ_REL);
    /* Objects that outlive the interpreter, in globals of the program, have nobody left to tell. */
    if (left == 0 && Py_IsInitialized())
        dmlpy_last_release(self);
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

static int32_t dmlpy_foreign_QueryInterface(uintptr_t object, uintptr_t riid, uintptr_t ppv)
{
    return (*(int32_t (***)(uintptr_t, uintptr_t, uintptr_t))object)[0](object, riid, ppv);
}

/* The folder of this library, which lies in the package; empty if nobody can say. */
static const char *dmlpy_folder(void)
{
    static char folder[PATH_MAX];
    Dl_info info;
    if (folder[0] == 0 && dladdr((void *)&dmlpy_folder, &info) != 0 && realpath(info.dli_fname, folder) != NULL) {
        char *slash = strrchr(folder, '/');
        if (slash != NULL)
            *slash = 0;
    }
    return folder;
}

/* A virtual environment is found by the path of its interpreter: the nearest bin/python3.X above the library or,
   where the package is used from its source, the one that built it. */
static int dmlpy_find_python(char *path, size_t size)
{
    static const char name[] = "/bin/python" DMLPY_PYTHON_VERSION;
    char folder[PATH_MAX];
    struct stat found;
    snprintf(folder, sizeof folder, "%s", dmlpy_folder());
    for (char *slash = strrchr(folder, '/'); slash != NULL; slash = strrchr(folder, '/')) {
        *slash = 0;
        /* The root's bin is nobody's environment. */
        if (folder[0] == 0)
            break;
        if ((size_t)snprintf(path, size, "%s%s", folder, name) < size && stat(path, &found) == 0)
            return 1;
    }
    snprintf(path, size, "%s", DMLPY_BUILD_PYTHON);
    return stat(path, &found) == 0;
}

static void dmlpy_start_interpreter(void)
{
    char python[PATH_MAX];
    PyConfig config;
    PyStatus status;
    if (Py_IsInitialized())
        return;
    PyConfig_InitPythonConfig(&config);
    /* The program's signals and arguments are its own. */
    config.install_signal_handlers = 0;
    config.parse_argv = 0;
    status = PyStatus_Ok();
    if (dmlpy_find_python(python, sizeof python))
        status = PyConfig_SetBytesString(&config, &config.program_name, python);
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) {
        fprintf(stderr, "libdirectml.so: Python does not start: %s\n", status.err_msg ? status.err_msg : "");
        return;
    }
    PyEval_SaveThread();
}

/* Whether Python runs and has the package loaded; every exported function asks first. */
static int dmlpy_ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, dmlpy_start_interpreter);
    return Py_IsInitialized() && cffi_start_python() == 0;
}
