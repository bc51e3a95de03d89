#include "core/base/lazy.h"

#include <dlfcn.h>
#include <stdio.h>

bool tg_lazy_load(const char *soname, const char *const *names, void **at, size_t n,
                  char why[TG_LAZY_WHY])
{
    void *lib = dlopen(soname, RTLD_LAZY);
    bool ok = lib != NULL;
    for (size_t i = 0; ok && i < n; i++)
        ok = (at[i] = dlsym(lib, names[i])) != NULL;
    why[0] = '\0';
    if (!ok)
        (void)snprintf(why, TG_LAZY_WHY, "%s", dlerror());
    return ok;
}
