/* Methods that C answers where Python has nothing to decide: a program that polls need not wait for Python's lock.

   Each is named after the function in the vtable whose place it takes, and calls that one for all other objects. */

/* The answer is the completed value. */
static DMLPY_ABI uint64_t dmlpy_answer_ID3D12Fence_GetCompletedValue(uintptr_t self)
{
    if (dmlpy_is_answered(self))
        return __atomic_load_n(&((const dmlpy_object *)self)->answer[0], __ATOMIC_ACQUIRE);
    return dmlpy_call_ID3D12Fence_GetCompletedValue(self);
}

/* A method that returns a struct, which Python keeps as the answer when it has been asked for the first time. */
#ifdef DMLPY_HIDES_RESULTS
#define DMLPY_ANSWERS_STRUCT(type, name)                                                                               \
    static DMLPY_ABI type *dmlpy_answer_##name(uintptr_t self, type *result)                                           \
    {                                                                                                                  \
        _Static_assert(sizeof(type) <= sizeof((dmlpy_object *)0)->answer, "an answer holds it");                       \
        if (!dmlpy_is_answered(self))                                                                                  \
            return dmlpy_call_##name(self, result);                                                                    \
        memcpy(result, ((const dmlpy_object *)self)->answer, sizeof *result);                                          \
        return result;                                                                                                 \
    }
#else
#define DMLPY_ANSWERS_STRUCT(type, name)                                                                               \
    static type dmlpy_answer_##name(uintptr_t self)                                                                    \
    {                                                                                                                  \
        type result;                                                                                                   \
        _Static_assert(sizeof result <= sizeof((dmlpy_object *)0)->answer, "an answer holds it");                      \
        if (!dmlpy_is_answered(self))                                                                                  \
            return dmlpy_call_##name(self);                                                                            \
        memcpy(&result, ((const dmlpy_object *)self)->answer, sizeof result);                                          \
        return result;                                                                                                 \
    }
#endif

DMLPY_ANSWERS_STRUCT(D3D12_RESOURCE_DESC, ID3D12Resource_GetDesc)
DMLPY_ANSWERS_STRUCT(DML_BINDING_PROPERTIES, IDMLDispatchable_GetBindingProperties)
