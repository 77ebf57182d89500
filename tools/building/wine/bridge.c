/* directml_py.dll: the half of the bridge that Windows programs call. Its exported functions, which the generator writes
   after this text, pass calls on to the library through addresses that the library has told it.

   It is built without a C run-time library, and knows Wine's functions by their names in ntdll alone, so that MinGW
   suffices to build it. */

#include <windows.h>

#include "protocol.h"

#define DMLPY_E_FAIL ((int32_t)0x80004005)
/* NtQueryVirtualMemory's information class that gives the functions of a module's Unix library. */
#define DMLPY_UNIX_FUNCTIONS 1000
/* NtQueryObject's information class that gives an object's name. */
#define DMLPY_OBJECT_NAME 1

typedef LONG(WINAPI *dmlpy_query)(HANDLE, const void *, int, void *, SIZE_T, SIZE_T *);
typedef LONG(WINAPI *dmlpy_query_object)(HANDLE, int, void *, ULONG, ULONG *);
typedef LONG(WINAPI *dmlpy_dispatch)(UINT64, unsigned, void *);

static HMODULE dmlpy_module;
static dmlpy_dispatch dmlpy_dispatcher;
static UINT64 dmlpy_library;
static dmlpy_load dmlpy_loaded;

static uint64_t DMLPY_WINDOWS dmlpy_duplicate_event(uint64_t event)
{
    const HANDLE self = GetCurrentProcess();
    HANDLE copy = NULL;
    /* Only what a thread can wait for and set is an event: a right that files and threads do not have. */
    if (!DuplicateHandle(self, (HANDLE)(ULONG_PTR)event, self, &copy, EVENT_MODIFY_STATE | SYNCHRONIZE, FALSE, 0))
        return 0;
    return (ULONG_PTR)copy;
}

static uint64_t DMLPY_WINDOWS dmlpy_set_event(uint64_t event)
{
    return (uint64_t)SetEvent((HANDLE)(ULONG_PTR)event);
}

static uint64_t DMLPY_WINDOWS dmlpy_close_event(uint64_t event)
{
    return (uint64_t)CloseHandle((HANDLE)(ULONG_PTR)event);
}

/* Objects by numbers: events whose names are "directml-py ", the process and the number, as 16 hexadecimal digits each. */
enum { DMLPY_NAME_BEGIN = 12, DMLPY_NAME_LENGTH = DMLPY_NAME_BEGIN + 2 * 16 };

static void dmlpy_name(uint64_t number, WCHAR *name)
{
    const uint64_t parts[] = {GetCurrentProcessId(), number};
    for (int i = 0; i < DMLPY_NAME_BEGIN; i++)
        name[i] = L"directml-py "[i];
    for (int i = 0; i < 32; i++)
        name[DMLPY_NAME_BEGIN + i] = L"0123456789abcdef"[parts[i / 16] >> 4 * (15 - i % 16) & 15];
    name[DMLPY_NAME_LENGTH] = 0;
}

static uint64_t DMLPY_WINDOWS dmlpy_new_handle(uint64_t number)
{
    WCHAR name[DMLPY_NAME_LENGTH + 1];
    dmlpy_name(number, name);
    return (ULONG_PTR)CreateEventW(NULL, TRUE, FALSE, name);
}

static uint64_t DMLPY_WINDOWS dmlpy_is_handle(uint64_t handle, uint64_t number)
{
    struct {
        USHORT length, maximum;
        WCHAR *text;
        WCHAR buffer[MAX_PATH];
    } found;
    WCHAR name[DMLPY_NAME_LENGTH + 1];
    ULONG size;
    const dmlpy_query_object query
        = (dmlpy_query_object)(void *)GetProcAddress(GetModuleHandleA("ntdll.dll"), "NtQueryObject");
    if (query((HANDLE)(ULONG_PTR)handle, DMLPY_OBJECT_NAME, &found, sizeof found, &size) != 0
        || found.length < 2 * DMLPY_NAME_LENGTH)
        return 0;
    const WCHAR *const tail = found.text + found.length / 2 - DMLPY_NAME_LENGTH;
    dmlpy_name(number, name);
    for (int i = 0; i < DMLPY_NAME_LENGTH; i++)
        if (tail[i] != name[i])
            return 0;
    return 1;
}

static uint64_t DMLPY_WINDOWS dmlpy_is_open(uint64_t number)
{
    WCHAR name[DMLPY_NAME_LENGTH + 1];
    dmlpy_name(number, name);
    const HANDLE found = OpenEventW(SYNCHRONIZE, FALSE, name);
    if (found != NULL)
        CloseHandle(found);
    return found != NULL;
}

static uint64_t DMLPY_WINDOWS dmlpy_describe(uint64_t address, uint64_t text, uint64_t size)
{
    const DWORD how = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    char path[MAX_PATH];
    HMODULE module = NULL;
    if (!GetModuleHandleExA(how, (const char *)(ULONG_PTR)address, &module))
        return 0;
    const DWORD length = GetModuleFileNameA(module, path, sizeof path);
    const char *name = path + length;
    char *target = (char *)(ULONG_PTR)text;
    if (length == 0 || size < MAX_PATH + 24)
        return 0;
    while (name > path && name[-1] != '\\')
        name--;
    while (name < path + length)
        *target++ = *name++;
    const uint64_t offset = address - (ULONG_PTR)module;
    int digits = 1;
    while (digits < 16 && offset >> 4 * digits != 0)
        digits++;
    *target++ = '+', *target++ = '0', *target++ = 'x';
    while (digits-- > 0)
        *target++ = "0123456789abcdef"[offset >> 4 * digits & 15];
    *target = 0;
    return 1;
}

/* Does the calls of threads that Wine does not know. */
static DWORD WINAPI dmlpy_serve(void *unused)
{
    typedef uint64_t(WINAPI * function)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
    dmlpy_call *call;
    (void)unused;
    while (dmlpy_dispatcher(dmlpy_library, DMLPY_NEXT_CALL, &call) == 0) {
        const uint64_t *const a = call->arguments;
        call->result = ((function)(ULONG_PTR)call->function)(a[0], a[1], a[2], a[3], a[4]);
        dmlpy_dispatcher(dmlpy_library, DMLPY_CALL_DONE, call);
    }
    return 0;
}

static void dmlpy_complain(const char *text)
{
    const HANDLE stream = GetStdHandle(STD_ERROR_HANDLE);
    DWORD length = 0, written;
    while (text[length] != 0)
        length++;
    WriteFile(stream, text, length, &written, NULL);
}

static uint64_t DMLPY_WINDOWS dmlpy_start_serving(void)
{
    const HANDLE thread = CreateThread(NULL, 0, dmlpy_serve, NULL, 0, NULL);
    return thread != NULL && CloseHandle(thread);
}

/* The function of Wine that calls those of a Unix library: newer versions export a pointer to it. */
static dmlpy_dispatch dmlpy_find_dispatcher(HMODULE ntdll)
{
    dmlpy_dispatch *const pointer = (dmlpy_dispatch *)(void *)GetProcAddress(ntdll, "__wine_unix_call_dispatcher");
    return pointer != NULL ? *pointer : (dmlpy_dispatch)(void *)GetProcAddress(ntdll, "__wine_unix_call");
}

static BOOL CALLBACK dmlpy_begin(INIT_ONCE *once, void *unused, void **also_unused)
{
    const HMODULE ntdll = GetModuleHandleA("ntdll.dll");
    const dmlpy_query query = (dmlpy_query)(void *)GetProcAddress(ntdll, "NtQueryVirtualMemory");
    HMODULE pinned;
    (void)once, (void)unused, (void)also_unused;
    dmlpy_dispatcher = dmlpy_find_dispatcher(ntdll);
    if (dmlpy_dispatcher == NULL
        || query(GetCurrentProcess(), dmlpy_module, DMLPY_UNIX_FUNCTIONS, &dmlpy_library, sizeof dmlpy_library, NULL) != 0) {
        dmlpy_complain("directml_py.dll: WINEDLLPATH does not lead to its library; start programs by python -m directml_py "
                       "wine, or with the variables that python -m directml_py wine --environment prints\n");
        return FALSE;
    }
    dmlpy_loaded.digest = DMLPY_DIGEST;
    dmlpy_loaded.services
        = (dmlpy_services){dmlpy_duplicate_event, dmlpy_set_event, dmlpy_close_event, dmlpy_new_handle,
                           dmlpy_is_handle,       dmlpy_is_open,   dmlpy_describe,   dmlpy_start_serving};
    if (dmlpy_dispatcher(dmlpy_library, DMLPY_LOAD, &dmlpy_loaded) != 0)
        return FALSE;
    /* Objects have code of this module and of the library, which a program must not unload beneath them. */
    GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                       (const char *)(void *)&dmlpy_begin, &pinned);
    return TRUE;
}

/* The function of the library with an index; NULL if there is no library. */
static const void *dmlpy_function(uint32_t index)
{
    static INIT_ONCE once = INIT_ONCE_STATIC_INIT;
    return InitOnceExecuteOnce(&once, dmlpy_begin, NULL, NULL) ? dmlpy_loaded.functions[index] : NULL;
}

BOOL WINAPI DllMainCRTStartup(HINSTANCE module, DWORD reason, void *is_exit);
BOOL WINAPI DllMainCRTStartup(HINSTANCE module, DWORD reason, void *is_exit)
{
    if (reason == DLL_PROCESS_ATTACH) {
        dmlpy_module = module;
        DisableThreadLibraryCalls(module);
    }
    if (reason == DLL_PROCESS_DETACH && is_exit != NULL && dmlpy_loaded.functions != NULL)
        dmlpy_dispatcher(dmlpy_library, DMLPY_EXIT, NULL);
    return TRUE;
}

