/* Python in a host process: finding the interpreter, and isolating it and the program from each other. */

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

static int cffi_start_python(void);

static void dmlpy_complain(const char *what, const char *which)
{
    fprintf(stderr, "libdirectml.so: %s%s\n", what, which);
}

/* Whether `folder` is the package's folder for this library. */
static int dmlpy_in_package(const char *folder)
{
    static const char inside[] = "/directml_py/com/lib";
    const size_t length = strlen(folder), end = sizeof inside - 1;
    return length > end && strcmp(folder + length - end, inside) == 0;
}

/* The folder of this library; for a copy, the folder that it was copied from if DIRECTML_PY_LIBDIR names that, or if it
   is the source's. Empty if unknown. A privileged program must not take code from where its user says. */
static const char *dmlpy_folder(void)
{
    static char folder[PATH_MAX];
    const char *const others[] = {secure_getenv("DIRECTML_PY_LIBDIR"), DMLPY_BUILD_LIBDIR};
    char real[PATH_MAX];
    Dl_info info;
    if (folder[0] != 0)
        return folder;
    if (dladdr((void *)&dmlpy_folder, &info) != 0 && realpath(info.dli_fname, folder) != NULL) {
        /* The file name, and the folders that lie between it and that of the libraries. */
        char *const end = strstr(folder, "/directml_py/com/lib/");
        char *const slash = end != NULL ? end + strlen("/directml_py/com/lib") : strrchr(folder, '/');
        if (slash != NULL)
            *slash = 0;
    }
    for (int i = 0; i < 2 && !dmlpy_in_package(folder); i++)
        if (others[i] != NULL && realpath(others[i], real) != NULL && dmlpy_in_package(real))
            snprintf(folder, sizeof folder, "%s", real);
    return folder;
}

/* A virtual environment is found by the path of its interpreter: the nearest bin/python3.X above the library or,
   where there is none, as above the source of the package or a copy of the library, the one that built it. */
static int dmlpy_find_python(char *path, size_t size)
{
    static const char name[] = "/bin/python" DMLPY_PYTHON_VERSION;
    char folder[PATH_MAX];
    struct stat found;
    snprintf(folder, sizeof folder, "%s", dmlpy_folder());
    for (char *slash = strrchr(folder, '/'); slash != NULL; slash = strrchr(folder, '/')) {
        *slash = 0;
        /* The bin folder of the root is not an environment. */
        if (folder[0] == 0)
            break;
        if ((size_t)snprintf(path, size, "%s%s", folder, name) < size && stat(path, &found) == 0)
            return 1;
    }
    snprintf(path, size, "%s", DMLPY_BUILD_PYTHON);
    return stat(path, &found) == 0;
}

/* Whether a loaded object is the libpython of another version. libpython3.so, which has no version, is only a name. */
static int dmlpy_look_at(struct dl_phdr_info *info, size_t size, void *other)
{
    const char *name = info->dlpi_name == NULL ? NULL : strrchr(info->dlpi_name, '/');
    int major = 0, minor = 0;
    char version[32];
    (void)size;
    if (name == NULL || sscanf(name, "/libpython%d.%d", &major, &minor) != 2)
        return 0;
    snprintf(version, sizeof version, "%d.%d", major, minor);
    if (strcmp(version, DMLPY_PYTHON_VERSION) == 0)
        return 0;
    snprintf(other, PATH_MAX, "%s", info->dlpi_name);
    return 1;
}

/* Two versions of Python in one process would call each other's functions. */
static int dmlpy_is_alone(void)
{
    static const char mine[] = DMLPY_PYTHON_VERSION ".";
    char other[PATH_MAX];
    if (strncmp(Py_GetVersion(), mine, sizeof mine - 1) != 0)
        snprintf(other, sizeof other, "Python %.*s", (int)strcspn(Py_GetVersion(), " "), Py_GetVersion());
    else if (dl_iterate_phdr(dmlpy_look_at, other) == 0)
        return 1;
    dmlpy_complain("it was built for Python " DMLPY_PYTHON_VERSION "; this process already has ", other);
    return 0;
}

/* Extension modules are not linked to libpython: they look up its functions globally, where dlopen without RTLD_GLOBAL
   does not make them visible. */
static void dmlpy_show_python(void)
{
    Dl_info info;
    if (dladdr((void *)&Py_IsInitialized, &info) != 0)
        dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

/* Memory checkers know only malloc's blocks: LeakSanitizer sees no pointers within the arenas of Python's own
   allocator, and reports what they point to as leaked. For valgrind, users set Python's variable. */
static int dmlpy_memory_is_checked(void)
{
    const char *allocator = getenv("PYTHONMALLOC");
    return dlsym(RTLD_DEFAULT, "__lsan_do_leak_check") != NULL || dlsym(RTLD_DEFAULT, "__asan_init") != NULL
           || (allocator != NULL && strcmp(allocator, "malloc") == 0);
}

/* site.py reads .pth files in the locale's encoding, which is ASCII in a program that sets no locale, while the paths
   in them may not be ASCII. The locale is changed for this thread only, and only meanwhile. */
static PyStatus dmlpy_initialize_in_utf8(const PyConfig *config)
{
    const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    const locale_t before = utf8 != (locale_t)0 ? uselocale(utf8) : (locale_t)0;
    const PyStatus status = Py_InitializeFromConfig(config);
    if (utf8 != (locale_t)0) {
        uselocale(before);
        freelocale(utf8);
    }
    return status;
}

static PyStatus dmlpy_initialize(PyConfig *config)
{
    PyPreConfig first;
    PyStatus status;
    char python[PATH_MAX];
    /* Isolated: PYTHON variables, the working folder, and the program's arguments, signals, streams and locale are the
       program's own. */
    PyPreConfig_InitIsolatedConfig(&first);
    first.utf8_mode = 1;
    if (dmlpy_memory_is_checked())
        first.allocator = PYMEM_ALLOCATOR_MALLOC;
    status = Py_PreInitialize(&first);
    if (!PyStatus_Exception(status) && dmlpy_find_python(python, sizeof python))
        status = PyConfig_SetBytesString(config, &config->program_name, python);
    return PyStatus_Exception(status) ? status : dmlpy_initialize_in_utf8(config);
}

/* Without an environment, the package's dependencies may lie beside it, in the folder of pip's --target or --user. */
static void dmlpy_append_path(void)
{
    char root[PATH_MAX];
    PyObject *path = PySys_GetObject("path"), *item;
    if (!dmlpy_in_package(dmlpy_folder()) || path == NULL)
        return;
    snprintf(root, sizeof root, "%s", dmlpy_folder());
    for (int level = 0; level < 3; level++)
        *strrchr(root, '/') = 0;
    item = PyUnicode_DecodeFSDefault(root);
    if (item == NULL || PySequence_Contains(path, item) != 0 || PyList_Append(path, item) != 0)
        PyErr_Clear();
    Py_XDECREF(item);
}

/* The package is imported from its own folder; what it imports comes from the environment of the Python that runs. */
static int dmlpy_finds_packages(void)
{
    static const char *const packages[][2] = {{"_cffi_backend", "cffi"}, {"numpy", "numpy"}};
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *value, *traceback;
    int complete = 1;
    PyErr_Fetch(&type, &value, &traceback);
    for (size_t i = 0; i < sizeof packages / sizeof packages[0]; i++) {
        PyObject *module = PyImport_ImportModule(packages[i][0]);
        PyObject *path = PySys_GetObject("executable");
        if (module == NULL && PyErr_ExceptionMatches(PyExc_ModuleNotFoundError)) {
            const char *python = path != NULL && PyUnicode_Check(path) ? PyUnicode_AsUTF8(path) : NULL;
            fprintf(stderr,
                    "libdirectml.so: %s lacks the package %s, which directml_py needs; install it with: "
                    "%s -m pip install %s\n",
                    python != NULL ? python : "this Python", packages[i][1], python != NULL ? python : "python",
                    packages[i][1]);
            complete = 0;
        }
        PyErr_Clear();
        Py_XDECREF(module);
    }
    PyErr_Restore(type, value, traceback);
    PyGILState_Release(state);
    return complete;
}

#if PY_VERSION_HEX < 0x030D0000
#define Py_IsFinalizing _Py_IsFinalizing
#endif

/* The interpreter is not finalized at exit, since objects in the program's globals may still need it. The package's
   exit functions, such as ending a capture, run nevertheless. */
static void dmlpy_run_exit_functions(void)
{
    if (Py_IsInitialized() && !Py_IsFinalizing()) {
        PyGILState_STATE state = PyGILState_Ensure();
        PyRun_SimpleString("import atexit; atexit._run_exitfuncs()");
        PyGILState_Release(state);
    }
}

static int dmlpy_found_running;

/* Whether the process had Python before: it may be a program in Python. */
static int dmlpy_is_hosted(void)
{
    return dmlpy_found_running;
}

/* Whether Python runs; Py_IsInitialized is also true if its start failed half-way. */
static int dmlpy_start_interpreter(void)
{
    PyConfig config;
    PyStatus status;
    dmlpy_show_python();
    if (Py_IsInitialized()) {
        dmlpy_found_running = 1;
        return 1;
    }
    PyConfig_InitIsolatedConfig(&config);
    status = dmlpy_initialize(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) {
        dmlpy_complain("Python does not start: ", status.err_msg ? status.err_msg : "");
        return 0;
    }
    dmlpy_append_path();
    /* Until the package is loaded: all that it allocates stays, and to traverse it takes a tenth of the start. */
    PyGC_Disable();
    PyEval_SaveThread();
    dmlpy_run_at_exit(dmlpy_run_exit_functions);
    return 1;
}

/* After a C fork(), Python in the child still assumes the parent's threads and process. This does what os.fork does
   about that, unless os.fork itself is forking: it holds the GIL. */

static int dmlpy_started;
static __thread int dmlpy_forking;
static __thread int dmlpy_awaiting;
static __thread PyGILState_STATE dmlpy_state;

/* Held while Python starts and the package is loaded, and during a fork: otherwise the start would never end in the
   child. */
static pthread_mutex_t dmlpy_starting = PTHREAD_MUTEX_INITIALIZER;

/* Whether this thread may wait for another one that starts Python: not while holding the GIL, which that one needs. */
static int dmlpy_may_wait(void)
{
    return !Py_IsInitialized() || !PyGILState_Check();
}

static void dmlpy_before_fork(void)
{
    dmlpy_awaiting = dmlpy_may_wait();
    if (dmlpy_awaiting)
        pthread_mutex_lock(&dmlpy_starting);
    dmlpy_forking = dmlpy_started && Py_IsInitialized() && !Py_IsFinalizing() && !PyGILState_Check();
    if (!dmlpy_forking)
        return;
    dmlpy_state = PyGILState_Ensure();
    PyOS_BeforeFork();
}

static void dmlpy_after_fork_in_parent(void)
{
    if (dmlpy_forking) {
        PyOS_AfterFork_Parent();
        PyGILState_Release(dmlpy_state);
    }
    if (dmlpy_awaiting)
        pthread_mutex_unlock(&dmlpy_starting);
}

static void dmlpy_after_fork_in_child(void)
{
    /* Keeps the thread's state, the only remaining one: Python creates no new ones if there is none. */
    if (dmlpy_forking) {
        PyOS_AfterFork_Child();
        PyEval_SaveThread();
    }
    if (dmlpy_awaiting)
        pthread_mutex_unlock(&dmlpy_starting);
}

static __attribute__((constructor)) void dmlpy_watch_forks(void)
{
    pthread_atfork(dmlpy_before_fork, dmlpy_after_fork_in_parent, dmlpy_after_fork_in_child);
}

/* Before Python 3.12, cffi's start takes the version tag of PyCapsule_Type for a lock, free while it is 0, and waits for
   ever where an attribute of a capsule was looked up, as PyTorch does, since the type has a tag then. */
static void dmlpy_clear_version_tag(void)
{
#if PY_VERSION_HEX < 0x030C0000
    const PyGILState_STATE state = PyGILState_Ensure();
    PyType_Modified(&PyCapsule_Type);
    PyGILState_Release(state);
#endif
}

static void dmlpy_start(void)
{
    if (!dmlpy_is_alone())
        return;
    dmlpy_started = dmlpy_start_interpreter() && dmlpy_finds_packages();
    if (dmlpy_started)
        dmlpy_clear_version_tag();
}

/* Whether Python runs and has loaded the package; every exported function checks this first. */
static int dmlpy_ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static int loaded;
    if (!__atomic_load_n(&loaded, __ATOMIC_ACQUIRE)) {
        const int waits = dmlpy_may_wait();
        if (waits)
            pthread_mutex_lock(&dmlpy_starting);
        pthread_once(&once, dmlpy_start);
        if (dmlpy_started && Py_IsInitialized() && cffi_start_python() == 0)
            __atomic_store_n(&loaded, 1, __ATOMIC_RELEASE);
        if (waits)
            pthread_mutex_unlock(&dmlpy_starting);
    }
    return __atomic_load_n(&loaded, __ATOMIC_ACQUIRE) && Py_IsInitialized();
}
