// Condition variables, with all kinds of mutexes.
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long turn;

enum { ROUNDS = 3000 };

static void *plays(void *with) {
    long mine = (intptr_t)with;
    for (int round = 0; round < ROUNDS; round++) {
        OK(pthread_mutex_lock(&mutex));
        while (turn % 2 != mine) OK(pthread_cond_wait(&changed, &mutex));
        turn++;
        // One signal with the mutex, one without.
        if (round % 2 == 0) OK(pthread_cond_signal(&changed));
        OK(pthread_mutex_unlock(&mutex));
        if (round % 2 == 1) OK(pthread_cond_signal(&changed));
    }
    return NULL;
}

static void ping_pong(void) {
    turn = 0;
    pthread_t other = start(plays, (void *)1);
    plays(NULL);
    end(other);
    CHECK(turn == 2 * ROUNDS);
}

static void signals(void) {
    interrupt_always();
    ping_pong();
    struct itimerval none = {{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_REAL, &none, NULL) == 0);
}

static int asleep, awake, is_open;

static void *waits(void *unused) {
    (void)unused;
    OK(pthread_mutex_lock(&mutex));
    asleep++;
    while (!is_open) OK(pthread_cond_wait(&changed, &mutex));
    awake++;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void await_asleep(int many) {
    for (;;) {
        OK(pthread_mutex_lock(&mutex));
        int is_so = asleep == many;
        OK(pthread_mutex_unlock(&mutex));
        if (is_so) return;
        sched_yield();
    }
}

static void broadcast(void) {
    for (int round = 0; round < 50; round++) {
        pthread_t threads[6];
        asleep = awake = is_open = 0;
        for (int i = 0; i < 6; i++) threads[i] = start(waits, NULL);
        await_asleep(6);
        OK(pthread_mutex_lock(&mutex));
        is_open = 1;
        OK(pthread_cond_broadcast(&changed));
        OK(pthread_mutex_unlock(&mutex));
        for (int i = 0; i < 6; i++) end(threads[i]);
        CHECK(awake == 6);
    }
}

// glibc refuses to destroy a mutex that a sleeper will take.
static void destroyed_too_early(void) {
    asleep = awake = is_open = 0;
    pthread_t thread = start(waits, NULL);
    await_asleep(1);
    GIVES(EBUSY, pthread_mutex_destroy(&mutex));
    OK(pthread_mutex_lock(&mutex));
    is_open = 1;
    OK(pthread_cond_signal(&changed));
    OK(pthread_mutex_unlock(&mutex));
    end(thread);
    OK(pthread_mutex_destroy(&mutex));
    OK(pthread_mutex_init(&mutex, NULL));
}

static void timed(void) {
    pthread_condattr_t attributes;
    pthread_cond_t steady;
    OK(pthread_condattr_init(&attributes));
    OK(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC));
    OK(pthread_cond_init(&steady, &attributes));
    OK(pthread_mutex_lock(&mutex));
    struct timespec until = in_ms(CLOCK_REALTIME, 20);
    while (pthread_cond_timedwait(&changed, &mutex, &until) != ETIMEDOUT) {}
    CHECK(has_come(CLOCK_REALTIME, until));
    GIVES(EBUSY, pthread_mutex_trylock(&mutex));
    until = in_ms(CLOCK_MONOTONIC, 20);
    while (pthread_cond_timedwait(&steady, &mutex, &until) != ETIMEDOUT) {}
    CHECK(has_come(CLOCK_MONOTONIC, until));
    until = in_ms(CLOCK_MONOTONIC, 20);
    while (pthread_cond_clockwait(&changed, &mutex, CLOCK_MONOTONIC, &until) != ETIMEDOUT) {}
    CHECK(has_come(CLOCK_MONOTONIC, until));
    until.tv_nsec = 1000000000;
    GIVES(EINVAL, pthread_cond_timedwait(&changed, &mutex, &until));
    GIVES(EBUSY, pthread_mutex_trylock(&mutex));
    OK(pthread_mutex_unlock(&mutex));
    OK(pthread_cond_destroy(&steady));
}

static pthread_mutex_t of_attributes(int kind, int is_robust) {
    pthread_mutexattr_t attributes;
    pthread_mutex_t made;
    OK(pthread_mutexattr_init(&attributes));
    OK(pthread_mutexattr_settype(&attributes, kind));
    if (is_robust) OK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST));
    OK(pthread_mutex_init(&made, &attributes));
    return made;
}

// A mutex that looks at its owner is its owner's after a wait.
static void kinds(void) {
    pthread_mutex_t some[] = {
        of_attributes(PTHREAD_MUTEX_RECURSIVE, 0),
        of_attributes(PTHREAD_MUTEX_ERRORCHECK, 0),
        of_attributes(PTHREAD_MUTEX_ERRORCHECK, 1),
        of_attributes(PTHREAD_MUTEX_ADAPTIVE_NP, 0),
    };
    for (int i = 0; i < 4; i++) {
        struct timespec until = in_ms(CLOCK_REALTIME, 5);
        if (i == 1 || i == 2) GIVES(EPERM, pthread_cond_timedwait(&changed, &some[i], &until));
        OK(pthread_mutex_lock(&some[i]));
        while (pthread_cond_timedwait(&changed, &some[i], &until) != ETIMEDOUT) {}
        OK(pthread_mutex_unlock(&some[i]));
        if (i < 3) GIVES(EPERM, pthread_mutex_unlock(&some[i]));
        OK(pthread_mutex_destroy(&some[i]));
    }
}

static void unlocks(void *its) {
    // The handler runs with the mutex.
    GIVES(EBUSY, pthread_mutex_trylock(its));
    OK(pthread_mutex_unlock(its));
}

static void *waits_for_ever(void *unused) {
    (void)unused;
    OK(pthread_mutex_lock(&mutex));
    asleep++;
    pthread_cleanup_push(unlocks, &mutex);
    for (;;) OK(pthread_cond_wait(&changed, &mutex));
    pthread_cleanup_pop(0);
    return NULL;
}

static void *waits_long(void *unused) {
    (void)unused;
    OK(pthread_mutex_lock(&mutex));
    asleep++;
    pthread_cleanup_push(unlocks, &mutex);
    for (;;) {
        struct timespec until = in_ms(CLOCK_REALTIME, 3600000);
        OK(pthread_cond_timedwait(&changed, &mutex, &until));
    }
    pthread_cleanup_pop(0);
    return NULL;
}

static void *takes_and_frees(void *unused) {
    (void)unused;
    for (int round = 0; round < 300; round++) {
        OK(pthread_mutex_lock(&mutex));
        sched_yield();
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

static void cancelled(void) {
    for (int round = 0; round < 40; round++) {
        asleep = 0;
        pthread_t threads[3] = {start(waits_for_ever, NULL), start(waits_long, NULL), start(waits_for_ever, NULL)};
        pthread_t busy = start(takes_and_frees, NULL);
        await_asleep(3);
        for (int i = 0; i < 3; i++) OK(pthread_cancel(threads[i]));
        if (round % 2 == 0) OK(pthread_cond_broadcast(&changed));
        for (int i = 0; i < 3; i++) CHECK(end(threads[i]) == PTHREAD_CANCELED);
        end(busy);
        OK(pthread_mutex_trylock(&mutex));
        OK(pthread_mutex_unlock(&mutex));
    }
    ping_pong();
}

// A thread that is cancelled already does not sleep.
static void *is_cancelled_at_once(void *unused) {
    OK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL));
    OK(pthread_cancel(pthread_self()));
    OK(pthread_mutex_lock(&mutex));
    OK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL));
    pthread_cleanup_push(unlocks, &mutex);
    pthread_cond_wait(&changed, &mutex);
    pthread_cleanup_pop(0);
    return unused;
}

static void cancelled_before(void) {
    CHECK(end(start(is_cancelled_at_once, NULL)) == PTHREAD_CANCELED);
    OK(pthread_mutex_trylock(&mutex));
    OK(pthread_mutex_unlock(&mutex));
}

// A condition variable that is destroyed as soon as nobody waits for it any more.
struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    int waiting, is_open;
};

static void *passes(void *with) {
    struct gate *gate = with;
    OK(pthread_mutex_lock(&gate->mutex));
    gate->waiting++;
    while (!gate->is_open) OK(pthread_cond_wait(&gate->opened, &gate->mutex));
    OK(pthread_mutex_unlock(&gate->mutex));
    return NULL;
}

static void destroyed_at_once(void) {
    for (int round = 0; round < 200; round++) {
        struct gate *gate = calloc(1, sizeof *gate);
        OK(pthread_mutex_init(&gate->mutex, NULL));
        OK(pthread_cond_init(&gate->opened, NULL));
        pthread_t threads[3];
        for (int i = 0; i < 3; i++) threads[i] = start(passes, gate);
        for (int waiting = 0; waiting < 3;) {
            OK(pthread_mutex_lock(&gate->mutex));
            waiting = gate->waiting;
            OK(pthread_mutex_unlock(&gate->mutex));
            sched_yield();
        }
        OK(pthread_mutex_lock(&gate->mutex));
        gate->is_open = 1;
        OK(pthread_cond_broadcast(&gate->opened));
        OK(pthread_cond_destroy(&gate->opened));
        memset(&gate->opened, 0xff, sizeof gate->opened);
        OK(pthread_mutex_unlock(&gate->mutex));
        for (int i = 0; i < 3; i++) end(threads[i]);
        OK(pthread_mutex_destroy(&gate->mutex));
        free(gate);
    }
}

static const struct test TESTS[] = {
    {"ping_pong", ping_pong},
    {"signals", signals},
    {"broadcast", broadcast},
    {"destroyed_too_early", destroyed_too_early},
    {"timed", timed},
    {"kinds", kinds},
    {"cancelled", cancelled},
    {"cancelled_before", cancelled_before},
    {"destroyed_at_once", destroyed_at_once},
    {NULL, NULL},
};

int main(int argc, char **argv) { return run_tests(TESTS, argc, argv); }
