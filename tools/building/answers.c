/* Methods that C answers where Python has nothing to decide: a program that polls need not wait for Python's lock.

   Each is named after the function in the vtable whose place it takes, and calls that one for all other objects. */

/* The answer is the completed value. Objects without references are left to Python, which tells of their use. */
static DMLPY_ABI uint64_t dmlpy_answer_ID3D12Fence_GetCompletedValue(uintptr_t self)
{
    const dmlpy_object *const object = (const dmlpy_object *)self;
    if (__atomic_load_n(&object->is_answered, __ATOMIC_ACQUIRE) && dmlpy_references(self) != 0)
        return __atomic_load_n(&object->answer, __ATOMIC_ACQUIRE);
    return dmlpy_call_ID3D12Fence_GetCompletedValue(self);
}
