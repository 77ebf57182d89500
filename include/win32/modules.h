// MIT License, Copyright (c) the directml-py authors.
//
// Modules: LoadLibrary finds libdirectml.so under the names of the DLLs whose functions it has; other names go to
// dlopen.

#ifndef DIRECTML_WIN32_MODULES_H
#define DIRECTML_WIN32_MODULES_H

#include "errors.h"
#include "types.h"

#include <dlfcn.h>
#include <strings.h>

typedef void *HMODULE, *HINSTANCE;
typedef void (*FARPROC)(void);

DIRECTML_WIN32_FUNCTION HMODULE LoadLibraryA(LPCSTR lpLibFileName)
{
    static const char* const dlls[] = {"directml", "d3d12", "dxcore", "dxgi"};
    if (lpLibFileName == NULL)
    {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    const char* file = lpLibFileName;
    for (const char* c = lpLibFileName; *c != 0; ++c)
        if (*c == '/' || *c == '\\')
            file = c + 1;
    const char* name = lpLibFileName;
    for (size_t i = 0; i < ARRAYSIZE(dlls); ++i)
    {
        const size_t length = strlen(dlls[i]);
        if (strncasecmp(file, dlls[i], length) == 0 && (file[length] == 0 || strcasecmp(file + length, ".dll") == 0))
            name = "libdirectml.so";
    }
    const HMODULE module = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (module == NULL)
        SetLastError(ERROR_MOD_NOT_FOUND);
    return module;
}

DIRECTML_WIN32_FUNCTION HMODULE LoadLibraryW(LPCWSTR lpLibFileName)
{
    char name[4 * MAX_PATH];
    size_t length = 0;
    for (; lpLibFileName != NULL && lpLibFileName[length] != 0; ++length)
    {
        if (lpLibFileName[length] > 0x7f || length == sizeof(name) - 1)
        {
            SetLastError(ERROR_MOD_NOT_FOUND);
            return NULL;
        }
        name[length] = (char)lpLibFileName[length];
    }
    name[length] = 0;
    return LoadLibraryA(lpLibFileName == NULL ? NULL : name);
}

// The flags say where Windows looks for a DLL; here the loader's own rules apply.
DIRECTML_WIN32_FUNCTION HMODULE LoadLibraryExA(LPCSTR lpLibFileName, HANDLE hFile, DWORD dwFlags)
{
    (void)hFile;
    (void)dwFlags;
    return LoadLibraryA(lpLibFileName);
}

DIRECTML_WIN32_FUNCTION HMODULE LoadLibraryExW(LPCWSTR lpLibFileName, HANDLE hFile, DWORD dwFlags)
{
    (void)hFile;
    (void)dwFlags;
    return LoadLibraryW(lpLibFileName);
}

DIRECTML_WIN32_FUNCTION FARPROC GetProcAddress(HMODULE hModule, LPCSTR lpProcName)
{
    void* const symbol = hModule == NULL ? NULL : dlsym(hModule, lpProcName);
    FARPROC function = NULL;
    if (symbol == NULL)
        SetLastError(ERROR_PROC_NOT_FOUND);
    memcpy(&function, &symbol, sizeof(function));
    return function;
}

DIRECTML_WIN32_FUNCTION BOOL FreeLibrary(HMODULE hLibModule)
{
    if (hLibModule != NULL && dlclose(hLibModule) == 0)
        return TRUE;
    SetLastError(ERROR_INVALID_HANDLE);
    return FALSE;
}

#define LOAD_LIBRARY_SEARCH_APPLICATION_DIR 0x0200
#define LOAD_LIBRARY_SEARCH_SYSTEM32 0x0800
#define LOAD_LIBRARY_SEARCH_DEFAULT_DIRS 0x1000

#ifdef UNICODE
#define LoadLibrary LoadLibraryW
#define LoadLibraryEx LoadLibraryExW
#else
#define LoadLibrary LoadLibraryA
#define LoadLibraryEx LoadLibraryExA
#endif

#endif
