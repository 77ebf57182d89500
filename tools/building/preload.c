/* Takes precedence over another libdirectml.so that a program, or a library, loads by its path. A process that calls
   none of its functions loads neither Python nor libdirectml.so. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define E_FAIL_CODE ((int32_t)0x80004005)

/* The function of the libdirectml.so beside this library; NULL if there is none. */
static void *dmlpy_find(const char *function)
{
    static const char name[] = "libdirectml.so";
    char path[PATH_MAX];
    Dl_info info;
    if (dladdr((void *)&dmlpy_find, &info) == 0)
        return NULL;
    const char *slash = strrchr(info.dli_fname, '/');
    const int length = slash == NULL ? 0 : (int)(slash - info.dli_fname + 1);
    if ((size_t)snprintf(path, sizeof path, "%.*s%s", length, info.dli_fname, name) >= sizeof path)
        return NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = library == NULL ? NULL : dlsym(library, function);
    if (found == NULL)
        fprintf(stderr, "libdirectml_preload.so: %s\n", dlerror());
    return found;
}

