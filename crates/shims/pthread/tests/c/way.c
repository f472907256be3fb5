// Which object a program's calls reach: its path for a mutex's function and for a barrier's, as the program was bound, and as they
// are found later.
#include "check.h"
#include <dlfcn.h>

static void tell(const char *name, void *function) {
    Dl_info found;
    CHECK(function != NULL && dladdr(function, &found) != 0);
    printf("%s %s\n", name, found.dli_fname);
}

int main(void) {
    tell("lock", (void *)pthread_mutex_lock);
    tell("wait", (void *)pthread_cond_wait);
    tell("barrier", (void *)pthread_barrier_wait);
    tell("later lock", dlsym(RTLD_DEFAULT, "pthread_mutex_lock"));
    tell("later barrier", dlsym(RTLD_DEFAULT, "pthread_barrier_wait"));
}
