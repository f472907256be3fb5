/* Preloaded before the object: the system refuses the threads that it asks for. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *data) {
    Dl_info caller;
    int is_known = dladdr(__builtin_return_address(0), &caller);
    if (is_known && caller.dli_fname && strstr(caller.dli_fname, "libcorecast_mpi")) return EAGAIN;
    return ((create *)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, run, data);
}
