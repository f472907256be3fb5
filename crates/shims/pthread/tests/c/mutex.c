// Mutexes as POSIX has them, and as programs use them.
#include "check.h"

enum { THREADS = 4, ROUNDS = 4000 };

static pthread_mutex_t counted = PTHREAD_MUTEX_INITIALIZER;
static long count;
static volatile int inside;

static void enter(void) {
    CHECK(__atomic_exchange_n(&inside, 1, __ATOMIC_RELAXED) == 0);
    count++;
    CHECK(__atomic_exchange_n(&inside, 0, __ATOMIC_RELAXED) == 1);
    OK(pthread_mutex_unlock(&counted));
}

static void *adds(void *unused) {
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        errno = 4711;
        int error = 0;
        if (round % 8 == 0) {
            while ((error = pthread_mutex_trylock(&counted)) == EBUSY) sched_yield();
        } else if (round % 8 == 1) {
            struct timespec until = in_ms(CLOCK_REALTIME, 3600000);
            error = pthread_mutex_timedlock(&counted, &until);
        } else if (round % 8 == 2) {
            struct timespec until = in_ms(CLOCK_MONOTONIC, 3600000);
            error = pthread_mutex_clocklock(&counted, CLOCK_MONOTONIC, &until);
        } else {
            error = pthread_mutex_lock(&counted);
        }
        CHECK(errno == 4711);
        OK(error);
        enter();
        CHECK(errno == 4711);
    }
    return NULL;
}

static void exclusion(void) {
    pthread_t threads[THREADS];
    count = 0;
    for (int i = 0; i < THREADS; i++) threads[i] = start(adds, NULL);
    for (int i = 0; i < THREADS; i++) end(threads[i]);
    CHECK(count == THREADS * ROUNDS);
}

static void signals(void) {
    interrupt_always();
    exclusion();
    struct itimerval none = {{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_REAL, &none, NULL) == 0);
}

// A call for another thread to make, whose result is told.
struct call {
    pthread_mutex_t *mutex;
    int (*function)(pthread_mutex_t *);
};

static void *calls(void *with) {
    struct call *call = with;
    int error = call->function(call->mutex);
    if (error == 0 && call->function != pthread_mutex_unlock) OK(pthread_mutex_unlock(call->mutex));
    return (void *)(intptr_t)error;
}

static int elsewhere(pthread_mutex_t *mutex, int (*function)(pthread_mutex_t *)) {
    struct call call = {mutex, function};
    return (int)(intptr_t)end(start(calls, &call));
}

static pthread_mutex_t of_kind(int kind) {
    pthread_mutexattr_t attributes;
    pthread_mutex_t mutex;
    OK(pthread_mutexattr_init(&attributes));
    OK(pthread_mutexattr_settype(&attributes, kind));
    OK(pthread_mutex_init(&mutex, &attributes));
    OK(pthread_mutexattr_destroy(&attributes));
    return mutex;  // Nobody has used it yet.
}

static void plain_one(pthread_mutex_t *mutex) {
    OK(pthread_mutex_lock(mutex));
    GIVES(EBUSY, pthread_mutex_trylock(mutex));
    GIVES(EBUSY, elsewhere(mutex, pthread_mutex_trylock));
    GIVES(EBUSY, pthread_mutex_destroy(mutex));
    // glibc lets any thread free it.
    OK(elsewhere(mutex, pthread_mutex_unlock));
    OK(elsewhere(mutex, pthread_mutex_lock));
    OK(pthread_mutex_trylock(mutex));
    OK(pthread_mutex_unlock(mutex));
    OK(pthread_mutex_destroy(mutex));
}

static void plain(void) {
    pthread_mutex_t initialised;
    OK(pthread_mutex_init(&initialised, NULL));
    plain_one(&initialised);
    pthread_mutex_t normal = of_kind(PTHREAD_MUTEX_NORMAL), adaptive = of_kind(PTHREAD_MUTEX_ADAPTIVE_NP);
    plain_one(&normal);
    plain_one(&adaptive);
    pthread_mutex_t static_one = PTHREAD_MUTEX_INITIALIZER, static_adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
    plain_one(&static_one);
    plain_one(&static_adaptive);
}

static void recursive_one(pthread_mutex_t *mutex) {
    struct timespec until = in_ms(CLOCK_REALTIME, 10);
    GIVES(EPERM, pthread_mutex_unlock(mutex));
    OK(pthread_mutex_lock(mutex));
    OK(pthread_mutex_lock(mutex));
    OK(pthread_mutex_trylock(mutex));
    OK(pthread_mutex_timedlock(mutex, &until));
    for (int left = 4; left > 0; left--) {
        GIVES(EBUSY, elsewhere(mutex, pthread_mutex_trylock));
        GIVES(EPERM, elsewhere(mutex, pthread_mutex_unlock));
        OK(pthread_mutex_unlock(mutex));
    }
    OK(elsewhere(mutex, pthread_mutex_trylock));
    GIVES(EPERM, pthread_mutex_unlock(mutex));
    OK(pthread_mutex_destroy(mutex));
}

static void recursive(void) {
    pthread_mutex_t initialised = of_kind(PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_t static_one = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    recursive_one(&initialised);
    recursive_one(&static_one);
}

static void error_check_one(pthread_mutex_t *mutex) {
    struct timespec until = in_ms(CLOCK_REALTIME, 10);
    GIVES(EPERM, pthread_mutex_unlock(mutex));
    OK(pthread_mutex_lock(mutex));
    GIVES(EDEADLK, pthread_mutex_lock(mutex));
    GIVES(EDEADLK, pthread_mutex_timedlock(mutex, &until));
    GIVES(EBUSY, pthread_mutex_trylock(mutex));
    GIVES(EPERM, elsewhere(mutex, pthread_mutex_unlock));
    OK(pthread_mutex_unlock(mutex));
    GIVES(EPERM, pthread_mutex_unlock(mutex));
    OK(pthread_mutex_destroy(mutex));
}

static void error_check(void) {
    pthread_mutex_t initialised = of_kind(PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_t static_one = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    error_check_one(&initialised);
    error_check_one(&static_one);
}

static void *times_out(void *with) {
    pthread_mutex_t *mutex = with;
    struct timespec until = in_ms(CLOCK_REALTIME, 20);
    GIVES(ETIMEDOUT, pthread_mutex_timedlock(mutex, &until));
    CHECK(has_come(CLOCK_REALTIME, until));
    until = in_ms(CLOCK_MONOTONIC, 20);
    GIVES(ETIMEDOUT, pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until));
    CHECK(has_come(CLOCK_MONOTONIC, until));
    until = (struct timespec){0, 0};
    GIVES(ETIMEDOUT, pthread_mutex_timedlock(mutex, &until));
    until = (struct timespec){-1, 0};
    GIVES(ETIMEDOUT, pthread_mutex_timedlock(mutex, &until));
    until = in_ms(CLOCK_REALTIME, 20);
    until.tv_nsec = 1000000000;
    GIVES(EINVAL, pthread_mutex_timedlock(mutex, &until));
    until.tv_nsec = -1;
    GIVES(EINVAL, pthread_mutex_timedlock(mutex, &until));
    return NULL;
}

static void timed(void) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct timespec past = {0, 0};
    OK(pthread_mutex_timedlock(&mutex, &past));
    end(start(times_out, &mutex));
    OK(pthread_mutex_unlock(&mutex));
    GIVES(EINVAL, pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &past));
    OK(pthread_mutex_lock(&mutex));
    OK(pthread_mutex_unlock(&mutex));
}

static void *dies_with(void *mutex) {
    OK(pthread_mutex_lock(mutex));
    return NULL;
}

// A mutex that the C library serves, between two processes.
static void robust(void) {
    pthread_mutexattr_t attributes;
    OK(pthread_mutexattr_init(&attributes));
    OK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST));
    pthread_mutex_t mutex;
    OK(pthread_mutex_init(&mutex, &attributes));
    end(start(dies_with, &mutex));
    GIVES(EOWNERDEAD, pthread_mutex_lock(&mutex));
    OK(pthread_mutex_consistent(&mutex));
    OK(pthread_mutex_unlock(&mutex));
    OK(pthread_mutex_lock(&mutex));
    OK(pthread_mutex_unlock(&mutex));
    OK(pthread_mutex_destroy(&mutex));
    OK(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT));
    OK(pthread_mutex_init(&mutex, &attributes));
    OK(pthread_mutex_lock(&mutex));
    GIVES(EBUSY, elsewhere(&mutex, pthread_mutex_trylock));
    OK(pthread_mutex_unlock(&mutex));
    OK(pthread_mutex_destroy(&mutex));
}

struct pair {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    long count;
};

static void between_processes(void) {
    struct pair *pair = shared(sizeof *pair);
    pthread_mutexattr_t attributes;
    OK(pthread_mutexattr_init(&attributes));
    OK(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
    OK(pthread_mutex_init(&pair->mutex, &attributes));
    pthread_condattr_t of_cond;
    OK(pthread_condattr_init(&of_cond));
    OK(pthread_condattr_setpshared(&of_cond, PTHREAD_PROCESS_SHARED));
    OK(pthread_cond_init(&pair->changed, &of_cond));
    pid_t child = fork();
    for (int round = 0; round < 2000; round++) {
        OK(pthread_mutex_lock(&pair->mutex));
        while (pair->count % 2 != (child == 0)) OK(pthread_cond_wait(&pair->changed, &pair->mutex));
        pair->count++;
        OK(pthread_cond_signal(&pair->changed));
        OK(pthread_mutex_unlock(&pair->mutex));
    }
    if (child == 0) _exit(0);
    reap(child);
    CHECK(pair->count == 4000);
}

// An object whose last user frees it, as in the rationale of POSIX for pthread_mutex_destroy.
struct object {
    pthread_mutex_t mutex;
    int users;
};

static void *leaves(void *with) {
    struct object *object = with;
    OK(pthread_mutex_lock(&object->mutex));
    int is_last = --object->users == 0;
    OK(pthread_mutex_unlock(&object->mutex));
    if (is_last) {
        OK(pthread_mutex_destroy(&object->mutex));
        CHECK(munmap(object, 4096) == 0);
    }
    return NULL;
}

static void destroyed_at_once(void) {
    for (int round = 0; round < 300; round++) {
        struct object *object = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(object != MAP_FAILED);
        OK(pthread_mutex_init(&object->mutex, NULL));
        object->users = 3;
        pthread_t threads[3];
        for (int i = 0; i < 3; i++) threads[i] = start(leaves, object);
        for (int i = 0; i < 3; i++) end(threads[i]);
    }
}

// Mutexes that are moved, cleared and forgotten, as long as they are free.
static void careless(void) {
    pthread_mutex_t *some = malloc(8 * sizeof *some);
    for (int i = 0; i < 8; i++) OK(pthread_mutex_init(&some[i], NULL));
    for (int i = 0; i < 8; i++) {
        OK(pthread_mutex_lock(&some[i]));
        OK(pthread_mutex_unlock(&some[i]));
    }
    pthread_mutex_t *moved = malloc(8 * sizeof *moved);
    memcpy(moved, some, 8 * sizeof *moved);
    for (int i = 0; i < 8; i++) OK(pthread_mutex_lock(&some[i]));
    for (int i = 0; i < 8; i++) {
        OK(pthread_mutex_lock(&moved[i]));
        GIVES(EBUSY, pthread_mutex_trylock(&moved[i]));
        OK(pthread_mutex_unlock(&some[i]));
        OK(pthread_mutex_unlock(&moved[i]));
    }
    for (int round = 0; round < 3; round++) {
        memset(some, 0, 8 * sizeof *some);
        for (int i = 0; i < 8; i++) {
            OK(pthread_mutex_trylock(&some[i]));
            GIVES(EBUSY, elsewhere(&some[i], pthread_mutex_trylock));
        }
    }
    free(some);
    free(moved);
}

static long resident_pages(void) {
    long total, resident;
    FILE *statm = fopen("/proc/self/statm", "r");
    CHECK(statm != NULL && fscanf(statm, "%ld %ld", &total, &resident) == 2);
    fclose(statm);
    return resident;
}

// No memory is lost, whether they are destroyed or not.
static void no_leak(void) {
    enum { MANY = 2000 };
    long before = 0;
    for (int round = 0; round < 60; round++) {
        pthread_mutex_t *some = calloc(MANY, sizeof *some);
        for (int i = 0; i < MANY; i++) {
            OK(pthread_mutex_lock(&some[i]));
            OK(pthread_mutex_unlock(&some[i]));
            if (round % 2 == 0) OK(pthread_mutex_destroy(&some[i]));
        }
        free(some);
        if (round == 9) before = resident_pages();
    }
    // A round's records alone would be 64 pages.
    CHECK(resident_pages() - before < 300);
}

// As objects with a mutex that come and go at new addresses and never destroy it, as std::mutex does not: the program's memory does
// not grow with all that there ever were.
static void many_addresses(void) {
    enum { MANY = 5000, ROUNDS = 20, PAGE = 4096 };
    size_t bytes = (MANY * sizeof(pthread_mutex_t) + PAGE - 1) / PAGE * PAGE;
    // Each round has its own addresses.
    char *all = mmap(NULL, bytes * ROUNDS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(all != MAP_FAILED);
    long before = 0;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_t *some = (pthread_mutex_t *)(all + round * bytes);
        CHECK(mprotect(some, bytes, PROT_READ | PROT_WRITE) == 0);
        for (int i = 0; i < MANY; i++) {
            OK(pthread_mutex_lock(&some[i]));
            OK(pthread_mutex_unlock(&some[i]));
        }
        if (round % 2) memset(some, 7, bytes);
        else CHECK(munmap(some, bytes) == 0);
        if (round == 3) before = resident_pages() - bytes / PAGE;
    }
    // A round's records alone would be 160 pages, more with some locks, and the memory that was kept is 49 for each of eight rounds.
    CHECK(resident_pages() - before < 2000);
}

static void *ends(void *mutex) {
    OK(pthread_mutex_lock(mutex));
    OK(pthread_mutex_unlock(mutex));
    return NULL;
}

static void many_threads(void) {
    long before = 0;
    for (int round = 0; round < 1500; round++) {
        pthread_t threads[2] = {start(ends, &counted), start(ends, &counted)};
        for (int i = 0; i < 2; i++) end(threads[i]);
        if (round == 500) before = resident_pages();
    }
    CHECK(resident_pages() - before < 200);
}

static pthread_key_t key;
static pthread_mutex_t late = PTHREAD_MUTEX_INITIALIZER;
static long late_count;

static void ends_late(void *rounds) {
    OK(pthread_mutex_lock(&late));
    late_count++;
    OK(pthread_mutex_unlock(&late));
    if ((intptr_t)rounds > 1) OK(pthread_setspecific(key, (void *)((intptr_t)rounds - 1)));
}

static void *has_destructors(void *unused) {
    (void)unused;
    OK(pthread_setspecific(key, (void *)3));
    return ends(&late);
}

static void at_the_end(void) {
    OK(pthread_mutex_lock(&late));
    CHECK(late_count == 3 * 20);
    OK(pthread_mutex_unlock(&late));
}

// Locks are taken in the destructors of threads, and when the program exits.
static void thread_ends(void) {
    OK(pthread_key_create(&key, ends_late));
    pthread_t threads[20];
    for (int i = 0; i < 20; i++) threads[i] = start(has_destructors, NULL);
    for (int i = 0; i < 20; i++) end(threads[i]);
    CHECK(atexit(at_the_end) == 0);
}

static const struct test TESTS[] = {
    {"exclusion", exclusion},
    {"signals", signals},
    {"plain", plain},
    {"recursive", recursive},
    {"error_check", error_check},
    {"timed", timed},
    {"robust", robust},
    {"between_processes", between_processes},
    {"destroyed_at_once", destroyed_at_once},
    {"careless", careless},
    {"no_leak", no_leak},
    {"many_addresses", many_addresses},
    {"many_threads", many_threads},
    {"thread_ends", thread_ends},
    {NULL, NULL},
};

int main(int argc, char **argv) { return run_tests(TESTS, argc, argv); }
