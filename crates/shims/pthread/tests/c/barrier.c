// Barriers as POSIX has them.
#include "check.h"

static pthread_barrier_t barrier;
static long serial, left;

// All waits together are a multiple of the count, so that nobody is left over.
static void *comes(void *unused) {
    (void)unused;
    while (__atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED) > 0) {
        errno = 4711;
        int result = pthread_barrier_wait(&barrier);
        CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
        CHECK(errno == 4711);
        if (result != 0) __atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void rounds_of(int count, int threads, int rounds) {
    pthread_t all[1024];
    CHECK(threads <= 1024);
    serial = 0;
    left = (long)count * rounds;
    OK(pthread_barrier_init(&barrier, NULL, count));
    for (int i = 0; i < threads; i++) all[i] = start(comes, NULL);
    for (int i = 0; i < threads; i++) end(all[i]);
    CHECK(serial == rounds);
    OK(pthread_barrier_destroy(&barrier));
}

static void serial_threads(void) {
    rounds_of(1, 1, 1000);
    rounds_of(2, 2, 5000);
    rounds_of(4, 4, 1000);
    rounds_of(8, 8, 300);
}

static void more_threads_than_counted(void) {
    rounds_of(3, 6, 1000);
    rounds_of(2, 8, 1000);
}

static void signals(void) {
    interrupt_always();
    rounds_of(4, 4, 2000);
    struct itimerval none = {{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_REAL, &none, NULL) == 0);
}

// All that a thread did before is seen by the others after.
static long parts[4];

static void *writes_and_reads(void *with) {
    intptr_t mine = (intptr_t)with;
    for (long round = 1; round <= 2000; round++) {
        parts[mine] = round;
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < 4; i++) CHECK(parts[i] == round);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void visible(void) {
    pthread_t all[4];
    OK(pthread_barrier_init(&barrier, NULL, 4));
    for (int i = 0; i < 4; i++) all[i] = start(writes_and_reads, (void *)(intptr_t)i);
    for (int i = 0; i < 4; i++) end(all[i]);
    OK(pthread_barrier_destroy(&barrier));
}

static void *destroys(void *with) {
    pthread_barrier_t *its = with;
    if (pthread_barrier_wait(its) == PTHREAD_BARRIER_SERIAL_THREAD) {
        OK(pthread_barrier_destroy(its));
        CHECK(munmap(its, 4096) == 0);
    }
    return NULL;
}

static void destroyed_at_once(void) {
    for (int round = 0; round < 300; round++) {
        pthread_barrier_t *its = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(its != MAP_FAILED);
        OK(pthread_barrier_init(its, NULL, 4));
        pthread_t all[4];
        for (int i = 0; i < 4; i++) all[i] = start(destroys, its);
        for (int i = 0; i < 4; i++) end(all[i]);
    }
}

static void between_processes(void) {
    pthread_barrier_t *its = shared(sizeof *its);
    pthread_barrierattr_t attributes;
    OK(pthread_barrierattr_init(&attributes));
    OK(pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
    // One of ours was there before.
    OK(pthread_barrier_init(its, NULL, 1));
    CHECK(pthread_barrier_wait(its) == PTHREAD_BARRIER_SERIAL_THREAD);
    OK(pthread_barrier_init(its, &attributes, 2));
    pid_t child = fork();
    for (int round = 0; round < 1000; round++) {
        int result = pthread_barrier_wait(its);
        CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    }
    if (child == 0) _exit(0);
    reap(child);
    OK(pthread_barrier_destroy(its));
}

static void *waits_once(void *with) {
    pthread_barrier_wait(with);
    return NULL;
}

static void wrong_uses(void) {
    GIVES(EINVAL, pthread_barrier_init(&barrier, NULL, 0));
    // More than can be counted with a ticket.
    OK(pthread_barrier_init(&barrier, NULL, 100000));
    OK(pthread_barrier_destroy(&barrier));
    OK(pthread_barrier_init(&barrier, NULL, 1));
    for (int round = 0; round < 3; round++) CHECK(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
    OK(pthread_barrier_destroy(&barrier));
}

// The barrier is no cancellation point.
static volatile int is_there;

static void *is_cancelled(void *unused) {
    (void)unused;
    put(&is_there, 1);
    pthread_barrier_wait(&barrier);
    put(&is_there, 2);
    pthread_testcancel();
    return NULL;
}

static void cancelled(void) {
    OK(pthread_barrier_init(&barrier, NULL, 2));
    pthread_t other = start(is_cancelled, NULL);
    await(&is_there, 1);
    OK(pthread_cancel(other));
    waits_once(&barrier);
    CHECK(end(other) == PTHREAD_CANCELED && is_there == 2);
    OK(pthread_barrier_destroy(&barrier));
}

static const struct test TESTS[] = {
    {"serial_threads", serial_threads},
    {"more_threads_than_counted", more_threads_than_counted},
    {"signals", signals},
    {"visible", visible},
    {"destroyed_at_once", destroyed_at_once},
    {"between_processes", between_processes},
    {"wrong_uses", wrong_uses},
    {"cancelled", cancelled},
    {NULL, NULL},
};

// barrier rounds THREADS ROUNDS, or the names of tests.
int main(int argc, char **argv) {
    if (argc != 4 || strcmp(argv[1], "rounds") != 0) return run_tests(TESTS, argc, argv);
    rounds_of(atoi(argv[2]), atoi(argv[2]), atoi(argv[3]));
    return 0;
}
