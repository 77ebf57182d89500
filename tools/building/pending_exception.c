/* Pending Python exceptions belong to the program: one that is set when C calls a method is still set when the method
   returns, and no Python code runs while it is set. */

typedef struct dmlpy_pending {
    PyObject *type, *value, *traceback;
} dmlpy_pending;

#if PY_VERSION_HEX >= 0x030C0000
static int dmlpy_raised(const PyThreadState *thread)
{
    return thread->current_exception != NULL;
}

static dmlpy_pending dmlpy_fetch(void)
{
    return (dmlpy_pending){NULL, PyErr_GetRaisedException(), NULL};
}

static void dmlpy_restore(dmlpy_pending pending)
{
    PyErr_SetRaisedException(pending.value);
}
#else
static int dmlpy_raised(const PyThreadState *thread)
{
    return thread->curexc_type != NULL;
}

static dmlpy_pending dmlpy_fetch(void)
{
    dmlpy_pending pending;
    PyErr_Fetch(&pending.type, &pending.value, &pending.traceback);
    return pending;
}

static void dmlpy_restore(dmlpy_pending pending)
{
    PyErr_Restore(pending.type, pending.value, pending.traceback);
}
#endif

/* Removes this thread's exception, if there is one. A thread that Python has not seen has none. The caller may have
   released the GIL; it is acquired only if there is an exception, since no other thread writes that field. */
static __attribute__((noinline)) dmlpy_pending dmlpy_set_aside(void)
{
    dmlpy_pending pending = {NULL, NULL, NULL};
    const PyThreadState *thread = Py_IsInitialized() ? PyGILState_GetThisThreadState() : NULL;
    if (thread == NULL || !dmlpy_raised(thread))
        return pending;
    const PyGILState_STATE state = PyGILState_Ensure();
    pending = dmlpy_fetch();
    PyGILState_Release(state);
    return pending;
}

static __attribute__((noinline)) void dmlpy_put_back(dmlpy_pending pending)
{
    if (pending.type == NULL && pending.value == NULL)
        return;
    const PyGILState_STATE state = PyGILState_Ensure();
    dmlpy_restore(pending);
    PyGILState_Release(state);
}
