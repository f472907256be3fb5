// Reader-writer locks as POSIX has them, and as glibc's default kind.
#include "check.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static long count, copy;
static volatile int readers, writers, is_waiting;

enum { ROUNDS = 3000 };

static void reads(void) {
    __atomic_fetch_add(&readers, 1, __ATOMIC_RELAXED);
    CHECK(__atomic_load_n(&writers, __ATOMIC_RELAXED) == 0);
    CHECK(count == copy);
    __atomic_fetch_sub(&readers, 1, __ATOMIC_RELAXED);
    OK(pthread_rwlock_unlock(&lock));
}

static void writes(void) {
    CHECK(__atomic_fetch_add(&writers, 1, __ATOMIC_RELAXED) == 0);
    CHECK(__atomic_load_n(&readers, __ATOMIC_RELAXED) == 0);
    count++;
    copy++;
    __atomic_fetch_sub(&writers, 1, __ATOMIC_RELAXED);
    OK(pthread_rwlock_unlock(&lock));
}

static void *mixes(void *unused) {
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        struct timespec until = in_ms(CLOCK_REALTIME, 3600000);
        struct timespec steady = in_ms(CLOCK_MONOTONIC, 3600000);
        errno = 4711;
        switch (round % 8) {
        case 0: OK(pthread_rwlock_wrlock(&lock)); writes(); break;
        case 1: OK(pthread_rwlock_timedwrlock(&lock, &until)); writes(); break;
        case 2: OK(pthread_rwlock_timedrdlock(&lock, &until)); reads(); break;
        case 3: OK(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &steady)); writes(); break;
        case 4: if (pthread_rwlock_trywrlock(&lock) == 0) writes(); break;
        case 5: if (pthread_rwlock_tryrdlock(&lock) == 0) reads(); break;
        default: OK(pthread_rwlock_rdlock(&lock)); reads();
        }
        CHECK(errno == 4711);
    }
    return NULL;
}

static void exclusion(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) threads[i] = start(mixes, NULL);
    for (int i = 0; i < 4; i++) end(threads[i]);
    CHECK(count == copy && count > 4 * ROUNDS * 3 / 8 - 1);
}

static void signals(void) {
    interrupt_always();
    count = copy = 0;
    exclusion();
    struct itimerval none = {{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_REAL, &none, NULL) == 0);
}

static void *tries(void *with) {
    pthread_rwlock_t *its = with;
    int read = pthread_rwlock_tryrdlock(its);
    if (read == 0) OK(pthread_rwlock_unlock(its));
    int written = pthread_rwlock_trywrlock(its);
    if (written == 0) OK(pthread_rwlock_unlock(its));
    struct timespec until = in_ms(CLOCK_REALTIME, 10);
    int timed = pthread_rwlock_timedwrlock(its, &until);
    if (timed == 0) OK(pthread_rwlock_unlock(its));
    else CHECK(timed == ETIMEDOUT && has_come(CLOCK_REALTIME, until));
    until.tv_nsec = 1000000000;
    if (timed != 0) GIVES(EINVAL, pthread_rwlock_timedwrlock(its, &until));
    return (void *)(intptr_t)((read == 0) + 2 * (written == 0) + 4 * (timed == 0));
}

static void answers(void) {
    pthread_rwlock_t made, *both[] = {&lock, &made};
    OK(pthread_rwlock_init(&made, NULL));
    for (int i = 0; i < 2; i++) {
        CHECK((intptr_t)end(start(tries, both[i])) == 7);
        OK(pthread_rwlock_rdlock(both[i]));
        OK(pthread_rwlock_rdlock(both[i]));
        CHECK((intptr_t)end(start(tries, both[i])) == 1);
        OK(pthread_rwlock_unlock(both[i]));
        OK(pthread_rwlock_unlock(both[i]));
        OK(pthread_rwlock_wrlock(both[i]));
        CHECK((intptr_t)end(start(tries, both[i])) == 0);
        GIVES(EDEADLK, pthread_rwlock_wrlock(both[i]));
        GIVES(EDEADLK, pthread_rwlock_rdlock(both[i]));
        GIVES(EBUSY, pthread_rwlock_tryrdlock(both[i]));
        GIVES(EBUSY, pthread_rwlock_trywrlock(both[i]));
        OK(pthread_rwlock_unlock(both[i]));
        CHECK((intptr_t)end(start(tries, both[i])) == 7);
    }
    OK(pthread_rwlock_destroy(&made));
}

static void *waits_to_write(void *unused) {
    (void)unused;
    put(&is_waiting, 1);
    OK(pthread_rwlock_wrlock(&lock));
    writes();
    return NULL;
}

// A thread reads again while a writer waits for it.
static void reads_again(void) {
    for (int round = 0; round < 20; round++) {
        put(&is_waiting, 0);
        OK(pthread_rwlock_rdlock(&lock));
        pthread_t writer = start(waits_to_write, NULL);
        await(&is_waiting, 1);
        struct timespec moment = {0, round * 200000};
        nanosleep(&moment, NULL);
        for (int i = 0; i < 3; i++) OK(pthread_rwlock_rdlock(&lock));
        for (int i = 0; i < 4; i++) OK(pthread_rwlock_unlock(&lock));
        end(writer);
    }
}

// The kind that prefers writers, and one between processes, are the C library's.
static void foreign(void) {
    pthread_rwlockattr_t attributes;
    pthread_rwlock_t *its = shared(sizeof *its);
    OK(pthread_rwlockattr_init(&attributes));
    OK(pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP));
    OK(pthread_rwlock_init(its, &attributes));
    OK(pthread_rwlock_wrlock(its));
    CHECK((intptr_t)end(start(tries, its)) == 0);
    OK(pthread_rwlock_unlock(its));
    OK(pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_DEFAULT_NP));
    OK(pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
    OK(pthread_rwlock_init(its, &attributes));
    long *numbers = shared(2 * sizeof *numbers);
    pid_t child = fork();
    for (int round = 0; round < 2000; round++) {
        OK(pthread_rwlock_wrlock(its));
        numbers[0]++;
        numbers[1]++;
        OK(pthread_rwlock_unlock(its));
        OK(pthread_rwlock_rdlock(its));
        CHECK(numbers[0] == numbers[1]);
        OK(pthread_rwlock_unlock(its));
    }
    if (child == 0) _exit(0);
    reap(child);
    CHECK(numbers[0] == 4000);
}

static void *holds(void *unused) {
    OK(pthread_rwlock_rdlock(&lock));
    OK(pthread_rwlock_unlock(&lock));
    return unused;
}

// A lock that the forking thread holds is freed in the child, though threads waited for it. (The C library looks for the writer by
// the child's new thread number, and takes it for a reader.)
static void forked(void) {
    const char *chosen = getenv("CORECAST_LOCK");
    if (chosen == NULL || strcmp(chosen, "pthread") == 0) return;
    for (int round = 0; round < 10; round++) {
        OK(pthread_rwlock_wrlock(&lock));
        pthread_t threads[3];
        for (int i = 0; i < 3; i++) threads[i] = start(i == 0 ? waits_to_write : holds, NULL);
        struct timespec moment = {0, round * 200000};
        nanosleep(&moment, NULL);
        pid_t child = fork();
        if (child == 0) {
            alarm(30);
            OK(pthread_rwlock_unlock(&lock));
            OK(pthread_rwlock_wrlock(&lock));
            OK(pthread_rwlock_unlock(&lock));
            end(start(holds, NULL));
            _exit(0);
        }
        reap(child);
        OK(pthread_rwlock_unlock(&lock));
        for (int i = 0; i < 3; i++) end(threads[i]);
    }
}

static const struct test TESTS[] = {
    {"exclusion", exclusion},
    {"signals", signals},
    {"answers", answers},
    {"reads_again", reads_again},
    {"foreign", foreign},
    {"forked", forked},
    {NULL, NULL},
};

int main(int argc, char **argv) { return run_tests(TESTS, argc, argv); }
