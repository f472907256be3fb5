// A child of fork with the mutexes of its parent.
#include "check.h"

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t of_other = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t busy[4] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
};
static volatile int is_over, has_it, waiting;

static void *waits(void *unused) {
    (void)unused;
    __atomic_fetch_add(&waiting, 1, __ATOMIC_RELAXED);
    OK(pthread_mutex_lock(&held));
    OK(pthread_mutex_unlock(&held));
    return NULL;
}

static void *keeps(void *unused) {
    (void)unused;
    OK(pthread_mutex_lock(&of_other));
    put(&has_it, 1);
    await(&is_over, 1);
    OK(pthread_mutex_unlock(&of_other));
    return NULL;
}

static void *is_busy(void *with) {
    intptr_t mine = (intptr_t)with;
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        for (int i = 0; i < 4; i++) {
            pthread_mutex_t *mutex = &busy[(mine + i) % 4];
            OK(pthread_mutex_lock(mutex));
            free(malloc(100));
            OK(pthread_mutex_unlock(mutex));
        }
    }
    return NULL;
}

static int is_owner;
static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

// The first use in a child of a mutex that was locked in its parent is a wait.
static void waits_with_checked(void) {
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    struct timespec until = in_ms(CLOCK_REALTIME, 1);
    GIVES(ETIMEDOUT, pthread_cond_timedwait(&never, &checked, &until));
    GIVES(EDEADLK, pthread_mutex_lock(&checked));
    OK(pthread_mutex_unlock(&checked));
}

static void *locks_all(void *unused) {
    (void)unused;
    for (int i = 0; i < 100; i++) {
        OK(pthread_mutex_lock(&held));
        OK(pthread_mutex_unlock(&held));
        if (!is_owner) continue;
        OK(pthread_mutex_lock(&recursive));
        OK(pthread_mutex_unlock(&recursive));
    }
    return NULL;
}

// The thread's number where glibc has it.
static pid_t owner_of(const pthread_mutex_t *mutex) { return mutex->__data.__owner; }

// A mutex that threads wait for is freed and used in the child, by new threads, too.
static void in_child(void) {
    alarm(30);
    GIVES(EBUSY, pthread_mutex_trylock(&held));
    OK(pthread_mutex_unlock(&held));
    // The C library's looks for the thread's new number, and finds that of the parent's.
    is_owner = pthread_mutex_unlock(&recursive) == 0;
    // A thread of the child may be given the number that this one had in the parent.
    if (is_owner) CHECK(owner_of(&recursive) == getpid());
    if (is_owner) OK(pthread_mutex_unlock(&recursive));
    GIVES(EPERM, pthread_mutex_unlock(&recursive));
    OK(pthread_mutex_lock(&held));
    CHECK(owner_of(&held) == getpid());
    OK(pthread_mutex_unlock(&held));
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = start(locks_all, NULL);
    for (int i = 0; i < 3; i++) end(threads[i]);
    GIVES(EBUSY, pthread_mutex_trylock(&of_other));
    struct timespec until = in_ms(CLOCK_REALTIME, 5);
    GIVES(ETIMEDOUT, pthread_mutex_timedlock(&of_other, &until));
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    OK(pthread_mutex_lock(&own));
    OK(pthread_mutex_unlock(&own));
    OK(pthread_mutex_destroy(&own));
    // A child of a child.
    OK(pthread_mutex_lock(&held));
    OK(pthread_mutex_lock(&checked));
    pid_t child = fork();
    if (child == 0) {
        OK(pthread_mutex_unlock(&held));
        if (is_owner) waits_with_checked();
        locks_all(NULL);
        // It was held by a thread of the grandparent.
        GIVES(EBUSY, pthread_mutex_trylock(&of_other));
        _exit(0);
    }
    reap(child);
    OK(pthread_mutex_unlock(&checked));
    OK(pthread_mutex_unlock(&held));
    _exit(0);
}

static void with_waiters(void) {
    is_over = has_it = 0;
    pthread_t other = start(keeps, NULL);
    await(&has_it, 1);
    for (int round = 0; round < 8; round++) {
        OK(pthread_mutex_lock(&held));
        OK(pthread_mutex_lock(&recursive));
        OK(pthread_mutex_lock(&recursive));
        waiting = 0;
        pthread_t threads[3];
        for (int i = 0; i < 3; i++) threads[i] = start(waits, NULL);
        await(&waiting, 3);
        // Later rounds give them time to queue, and to sleep.
        struct timespec moment = {0, round * 1000000};
        nanosleep(&moment, NULL);
        pid_t child = fork();
        if (child == 0) in_child();
        reap(child);
        OK(pthread_mutex_unlock(&recursive));
        OK(pthread_mutex_unlock(&recursive));
        OK(pthread_mutex_unlock(&held));
        for (int i = 0; i < 3; i++) end(threads[i]);
    }
    put(&is_over, 1);
    end(other);
}

// The usual handlers: all mutexes are taken before, and freed on both sides.
static void take_all(void) {
    for (int i = 0; i < 4; i++) OK(pthread_mutex_lock(&busy[i]));
}

static void free_all(void) {
    for (int i = 0; i < 4; i++) OK(pthread_mutex_unlock(&busy[3 - i]));
}

static void with_handlers(void) {
    OK(pthread_atfork(take_all, free_all, free_all));
    is_over = 0;
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = start(is_busy, (void *)(intptr_t)i);
    for (int round = 0; round < 60; round++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(30);
            for (int i = 0; i < 4; i++) {
                OK(pthread_mutex_lock(&busy[i]));
                OK(pthread_mutex_unlock(&busy[i]));
            }
            pthread_t other = start(locks_all, NULL);
            end(other);
            _exit(0);
        }
        reap(child);
    }
    put(&is_over, 1);
    for (int i = 0; i < 3; i++) end(threads[i]);
}

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *sleeps(void *unused) {
    (void)unused;
    OK(pthread_mutex_lock(&of_other));
    while (!is_over) {
        struct timespec until = in_ms(CLOCK_REALTIME, 1);
        pthread_cond_timedwait(&changed, &of_other, &until);
    }
    OK(pthread_mutex_unlock(&of_other));
    return NULL;
}

static void *notifies(void *with) {
    (void)with;
    OK(pthread_mutex_lock(&held));
    has_it = 1;
    OK(pthread_mutex_unlock(&held));
    pthread_cond_t *own = with;
    OK(pthread_cond_signal(own));
    return NULL;
}

// Waits in the child, though threads of the parent were on their way to sleep.
static void with_sleepers(void) {
    is_over = 0;
    pthread_t threads[2] = {start(sleeps, NULL), start(sleeps, NULL)};
    for (int round = 0; round < 60; round++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(30);
            static pthread_cond_t own = PTHREAD_COND_INITIALIZER;
            OK(pthread_mutex_lock(&held));
            has_it = 0;
            pthread_t other = start(notifies, &own);
            while (!has_it) OK(pthread_cond_wait(&own, &held));
            OK(pthread_mutex_unlock(&held));
            end(other);
            _exit(0);
        }
        reap(child);
    }
    OK(pthread_mutex_lock(&of_other));
    put(&is_over, 1);
    OK(pthread_mutex_unlock(&of_other));
    for (int i = 0; i < 2; i++) end(threads[i]);
}

// Some of them fall together with the one that threads of the parent are at, where the object keeps a table.
static pthread_cond_t of_handler[512];
static volatile int notified;

static void notifies_in_child(void) {
    if (!notified) return;
    alarm(30);
    for (int i = 0; i < 512; i++) OK(pthread_cond_broadcast(&of_handler[i]));
    put(&notified, 2);
}

// Before the object's constructor, as libraries that are initialised first: its handlers run before the object's.
static void register_early(void) { OK(pthread_atfork(NULL, NULL, notifies_in_child)); }
__attribute__((section(".preinit_array"), used)) static void (*const early)(void) = register_early;

static void *sleeps_at_handler(void *unused) {
    (void)unused;
    OK(pthread_mutex_lock(&of_other));
    while (!is_over) {
        // Over at once, so that it is on its way most of the time.
        struct timespec until = {0, 0};
        GIVES(ETIMEDOUT, pthread_cond_timedwait(&changed, &of_other, &until));
    }
    OK(pthread_mutex_unlock(&of_other));
    return NULL;
}

// A handler of the child notifies, though threads of the parent were on their way to sleep.
static void with_early_handler(void) {
    is_over = 0;
    put(&notified, 1);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = start(sleeps_at_handler, NULL);
    for (int round = 0; round < 300; round++) {
        pid_t child = fork();
        if (child == 0) _exit(notified == 2 ? 0 : 1);
        reap(child);
    }
    put(&notified, 0);
    OK(pthread_mutex_lock(&of_other));
    put(&is_over, 1);
    OK(pthread_mutex_unlock(&of_other));
    for (int i = 0; i < 3; i++) end(threads[i]);
}

// A child of the child, made by another thread: the thread that held the mutexes is not in it.
static void *forks_again(void *used) {
    if (used != NULL) {
        OK(pthread_mutex_lock(used));
        OK(pthread_mutex_unlock(used));
    }
    pid_t child = fork();
    if (child == 0) {
        GIVES(EPERM, pthread_mutex_unlock(&recursive));
        GIVES(EBUSY, pthread_mutex_trylock(&recursive));
        GIVES(EPERM, pthread_mutex_unlock(&checked));
        GIVES(EBUSY, pthread_mutex_trylock(&checked));
        _exit(0);
    }
    reap(child);
    return NULL;
}

static void by_two_threads(void) {
    OK(pthread_mutex_lock(&recursive));
    OK(pthread_mutex_lock(&checked));
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        end(start(forks_again, NULL));
        end(start(forks_again, &held));
        _exit(0);
    }
    reap(child);
    OK(pthread_mutex_unlock(&checked));
    OK(pthread_mutex_unlock(&recursive));
}

static const struct test TESTS[] = {
    {"with_waiters", with_waiters},
    {"by_two_threads", by_two_threads},
    {"with_handlers", with_handlers},
    {"with_sleepers", with_sleepers},
    {"with_early_handler", with_early_handler},
    {NULL, NULL},
};

int main(int argc, char **argv) { return run_tests(TESTS, argc, argv); }
