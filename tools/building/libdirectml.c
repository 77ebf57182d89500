/* COM objects in C: a vtable, a reference count, and an address under which Python holds the implementation. */

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#define E_FAIL_CODE ((int32_t)0x80004005)
#define DMLPY_FRAMES 4
/* The library's own frames, before the caller's. */
#define DMLPY_OWN_FRAMES 4
#define DMLPY_QUARANTINE 4096
/* The largest answer in words of 8 bytes: a D3D12_RESOURCE_DESC. */
#define DMLPY_ANSWER_WORDS 7

typedef struct dmlpy_object {
    const void *const *methods;
    uint32_t references;
    /* Whether a method of the object returns `answer`, which Python keeps up to date, without asking Python. */
    uint32_t is_answered;
    uint64_t answer[DMLPY_ANSWER_WORDS];
    /* Where the last reference was released: return addresses, the innermost first; 0 ends them. */
    uintptr_t released_by[DMLPY_FRAMES];
} dmlpy_object;

static void dmlpy_call_dmlpy_last_release(uintptr_t self);
static uint32_t dmlpy_call_dmlpy_revived(uintptr_t self);
static void dmlpy_call_dmlpy_released_again(uintptr_t self);
static uintptr_t dmlpy_call_dmlpy_object_text(uintptr_t self);

/* An object with one reference; 0 if there is no memory. */
static uintptr_t dmlpy_new(uintptr_t vtable)
{
    dmlpy_object *const object = calloc(1, sizeof *object);
    if (object != NULL) {
        object->methods = (const void *const *)vtable;
        object->references = 1;
    }
    return (uintptr_t)object;
}

static uint32_t dmlpy_add_reference(uintptr_t self)
{
    return __atomic_add_fetch(&((dmlpy_object *)self)->references, 1, __ATOMIC_RELAXED);
}

/* Both methods leave a count of 0 unchanged: the object may be gone, which only Python knows. Objects in the program's
   globals that outlive the interpreter can no longer notify it. What calls Python is apart, in the program's ABI: the
   Windows one has methods save ten vector registers around calls of functions for Linux. */

static __attribute__((noinline)) DMLPY_ABI uint32_t dmlpy_revive(uintptr_t self)
{
    return Py_IsInitialized() ? dmlpy_call_dmlpy_revived(self) : 0;
}

static DMLPY_ABI uint32_t dmlpy_AddRef(uintptr_t self)
{
    uint32_t *const references = &((dmlpy_object *)self)->references;
    uint32_t held = __atomic_load_n(references, __ATOMIC_RELAXED);
    do {
        if (held == 0)
            return dmlpy_revive(self);
    } while (!__atomic_compare_exchange_n(references, &held, held + 1, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return held + 1;
}

typedef struct dmlpy_walk {
    uintptr_t frames[DMLPY_OWN_FRAMES + DMLPY_FRAMES];
    size_t count;
} dmlpy_walk;

static _Unwind_Reason_Code dmlpy_note_frame(struct _Unwind_Context *context, void *walk)
{
    dmlpy_walk *found = walk;
    found->frames[found->count++] = _Unwind_GetIP(context);
    return found->count == DMLPY_OWN_FRAMES + DMLPY_FRAMES ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static __attribute__((noinline)) void dmlpy_note_callers(dmlpy_object *object, uintptr_t caller)
{
    dmlpy_walk walk = {{0}, 0};
    size_t first = 0;
    _Unwind_Backtrace(dmlpy_note_frame, &walk);
    while (first < walk.count && walk.frames[first] != caller)
        first++;
    for (size_t i = 0; i < DMLPY_FRAMES; i++) {
        const uintptr_t frame = first + i < walk.count ? walk.frames[first + i] : i == 0 ? caller : 0;
        __atomic_store_n(&object->released_by[i], frame, __ATOMIC_RELAXED);
    }
}

/* After the release of the last reference, or of one that there was not. */
static __attribute__((noinline)) DMLPY_ABI void dmlpy_end(uintptr_t self, uint32_t held, uintptr_t caller)
{
    if (!Py_IsInitialized())
        return;
    if (held == 0) {
        dmlpy_call_dmlpy_released_again(self);
        return;
    }
    dmlpy_note_callers((dmlpy_object *)self, caller);
    dmlpy_call_dmlpy_last_release(self);
}

static DMLPY_ABI uint32_t dmlpy_Release(uintptr_t self)
{
    uint32_t *const references = &((dmlpy_object *)self)->references;
    uint32_t held = __atomic_load_n(references, __ATOMIC_RELAXED);
    while (held != 0 &&
           !__atomic_compare_exchange_n(references, &held, held - 1, 1, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        ;
    if (held < 2) {
        dmlpy_end(self, held, (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)));
        return 0;
    }
    return held - 1;
}

static void dmlpy_set_answer(uintptr_t self, uint64_t answer)
{
    dmlpy_object *const object = (dmlpy_object *)self;
    __atomic_store_n(&object->answer[0], answer, __ATOMIC_RELEASE);
    __atomic_store_n(&object->is_answered, 1, __ATOMIC_RELEASE);
}

/* A struct, which never changes: several threads may store the same one. */
static void dmlpy_keep_answer(uintptr_t self, const char *answer, size_t size)
{
    dmlpy_object *const object = (dmlpy_object *)self;
    uint64_t words[DMLPY_ANSWER_WORDS] = {0};
    if (size > sizeof words)
        return;
    memcpy(words, answer, size);
    for (int i = 0; i < DMLPY_ANSWER_WORDS; i++)
        __atomic_store_n(&object->answer[i], words[i], __ATOMIC_RELAXED);
    __atomic_store_n(&object->is_answered, 1, __ATOMIC_RELEASE);
}

static uint32_t dmlpy_references(uintptr_t self)
{
    return __atomic_load_n(&((dmlpy_object *)self)->references, __ATOMIC_ACQUIRE);
}

/* Objects without references are left to Python, which tells of their use. */
static int dmlpy_is_answered(uintptr_t self)
{
    return __atomic_load_n(&((dmlpy_object *)self)->is_answered, __ATOMIC_ACQUIRE) && dmlpy_references(self) != 0;
}

static uintptr_t dmlpy_released_by(uintptr_t self, uint32_t frame)
{
    return frame < DMLPY_FRAMES ? __atomic_load_n(&((dmlpy_object *)self)->released_by[frame], __ATOMIC_RELAXED) : 0;
}

/* A return address in the form that debuggers and addr2line take: the module, the offset in it, and the function if it
   is exported. */
static const char *dmlpy_describe(uintptr_t address)
{
    static __thread char text[512];
    Dl_info info;
    if (dladdr((void *)(address - 1), &info) == 0 || info.dli_fname == NULL) {
        if (!dmlpy_describe_code(address - 1, text, sizeof text))
            snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
        return text;
    }
    const char *const slash = strrchr(info.dli_fname, '/'), *const name = info.dli_sname;
    snprintf(text, sizeof text, "%s+0x%llx%s%s%s", slash != NULL ? slash + 1 : info.dli_fname,
             (unsigned long long)(address - 1 - (uintptr_t)info.dli_fbase), name != NULL ? " (" : "",
             name != NULL ? name : "", name != NULL ? ")" : "");
    return text;
}

/* For debuggers, as an expression to watch: interface, name and state of the object at any address, empty where nobody
   knows one. The text is valid until the next call. */
__attribute__((visibility("default"))) const char *directml_py_describe(const void *object);
__attribute__((visibility("default"))) const char *directml_py_describe(const void *object)
{
    const char *const text = Py_IsInitialized() ? (const char *)dmlpy_call_dmlpy_object_text((uintptr_t)object) : NULL;
    return text != NULL ? text : "";
}

/* Puts an object that is gone in quarantine: its memory stays what it was until as many others have followed, so that
   calls through a dangling pointer reach Python, which knows the address no more. Returns the one that is freed for it,
   0 if none is. One thread at a time, that of the object table. */
static uintptr_t dmlpy_retire(uintptr_t self)
{
    static uintptr_t retired[DMLPY_QUARANTINE];
    static size_t oldest;
    const uintptr_t freed = retired[oldest];
    retired[oldest] = self;
    oldest = (oldest + 1) % DMLPY_QUARANTINE;
    free((void *)freed);
    return freed;
}

/* AddRef and Release of foreign objects, through their own vtables. */

static uint32_t dmlpy_foreign_AddRef(uintptr_t object)
{
    return (uint32_t)dmlpy_call_program((*(uintptr_t **)object)[1], object, 0, 0, 0, 0);
}

static uint32_t dmlpy_foreign_Release(uintptr_t object)
{
    return (uint32_t)dmlpy_call_program((*(uintptr_t **)object)[2], object, 0, 0, 0, 0);
}

/* Calls the program's D3D12MessageFunc. */
static void dmlpy_report_message(uintptr_t function, uint32_t category, uint32_t severity, uint32_t id,
                                 const char *description, uintptr_t context)
{
    dmlpy_call_program(function, category, severity, id, (uintptr_t)description, context);
}

static size_t dmlpy_wchar_size(void)
{
    return DMLPY_WCHAR_SIZE;
}
