// Shared by the programs of this folder: checks, threads and times.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what)                                                                  \
    do {                                                                             \
        if (!(what)) {                                                               \
            fprintf(stderr, "%s:%d: %s failed (errno %d)\n", __FILE__, __LINE__, #what, errno); \
            _exit(1);                                                                \
        }                                                                            \
    } while (0)
// A call whose result, an error number, is told if it is another one.
#define GIVES(expected, call)                                                        \
    do {                                                                             \
        int given_ = (call);                                                         \
        if (given_ != (expected)) {                                                  \
            fprintf(stderr, "%s:%d: %s gave %d, not %d\n", __FILE__, __LINE__, #call, given_, expected); \
            _exit(1);                                                                \
        }                                                                            \
    } while (0)
#define OK(call) GIVES(0, call)

typedef void *(*body)(void *);

static inline pthread_t start(body run, void *with) {
    pthread_t thread;
    OK(pthread_create(&thread, NULL, run, with));
    return thread;
}

static inline void *end(pthread_t thread) {
    void *result;
    OK(pthread_join(thread, &result));
    return result;
}

// The time by this clock when that number of milliseconds has passed.
static inline struct timespec in_ms(clockid_t clock, long ms) {
    struct timespec at;
    CHECK(clock_gettime(clock, &at) == 0);
    long long ns = at.tv_sec * 1000000000LL + at.tv_nsec + ms * 1000000LL;
    return (struct timespec){.tv_sec = ns / 1000000000LL, .tv_nsec = ns % 1000000000LL};
}

static inline int has_come(clockid_t clock, struct timespec at) {
    struct timespec now;
    CHECK(clock_gettime(clock, &now) == 0);
    return now.tv_sec > at.tv_sec || (now.tv_sec == at.tv_sec && now.tv_nsec >= at.tv_nsec);
}

// Waits until another thread has stored this.
static inline void await(volatile int *word, int value) {
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) sched_yield();
}

static inline void put(volatile int *word, int value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }

// Memory that children share.
static inline void *shared(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    return memory;
}

// The child must end well.
static inline void reap(pid_t child) {
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static volatile int interruptions;
static inline void interrupt(int number) {
    (void)number;
    interruptions++;
}

// A signal each millisecond, which restarts nothing.
static inline void interrupt_always(void) {
    struct sigaction action = {.sa_handler = interrupt};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    struct itimerval each = {{0, 1000}, {0, 1000}};
    CHECK(setitimer(ITIMER_REAL, &each, NULL) == 0);
}

struct test {
    const char *name;
    void (*run)(void);
};

// Runs the tests of these names, or all.
static inline int run_tests(const struct test *tests, int argc, char **argv) {
    for (const struct test *test = tests; test->name != NULL; test++) {
        int is_chosen = argc < 2;
        for (int i = 1; i < argc; i++) is_chosen |= strcmp(argv[i], test->name) == 0;
        if (!is_chosen) continue;
        fprintf(stderr, "%s\n", test->name);
        test->run();
    }
    return 0;
}
