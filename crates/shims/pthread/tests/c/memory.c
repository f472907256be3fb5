// Mutexes that are locked for the first time when no memory is left.
#include "check.h"
#include <sys/resource.h>

#define MUTEXES 64
static pthread_mutex_t mutexes[MUTEXES];
static volatile int is_used_up;
static volatile long counted;

// All mutexes are held at once, and then each alone for a moment.
static void *lock_all(void *unused) {
    (void)unused;
    await(&is_used_up, 1);
    for (int i = 0; i < MUTEXES; i++) OK(pthread_mutex_lock(&mutexes[i]));
    counted++;
    for (int i = 0; i < MUTEXES; i++) OK(pthread_mutex_unlock(&mutexes[i]));
    for (int i = 0; i < 1000; i++) {
        OK(pthread_mutex_lock(&mutexes[0]));
        counted++;
        OK(pthread_mutex_unlock(&mutexes[0]));
    }
    return NULL;
}

static void first_locks(void) {
    pthread_t threads[2] = {start(lock_all, NULL), start(lock_all, NULL)};
    struct rlimit before, none;
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    CHECK(setrlimit(RLIMIT_AS, &none) == 0);
    CHECK(malloc(1 << 20) == NULL);
    put(&is_used_up, 1);
    lock_all(NULL);
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    for (int i = 0; i < 2; i++) end(threads[i]);
    CHECK(counted == 3 * 1001);
}

static const struct test TESTS[] = {
    {"first_locks", first_locks},
    {NULL, NULL},
};

int main(int argc, char **argv) { return run_tests(TESTS, argc, argv); }
