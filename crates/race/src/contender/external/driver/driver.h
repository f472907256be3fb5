/*
 * The part of every driver that does not depend on the runtime: what the harness says on standard input, blocks of
 * operations, their check, and the times that go back on standard output.
 *
 * A driver's own file provides the four operations declared below and a `main` that calls `serve` in each member, a
 * thread or a process, with memory that all of them share. It is started as
 *
 *     PROGRAM CPUS ROOT CLOCK PATIENCE DETAIL
 *
 * CPUS is the CPU of each member by rank, such as 0,1,0,1, or -1 if it may be moved; ROOT the rank that broadcasts start from and reductions end
 * at; CLOCK is `counter` if times are ticks of the CPU's counter, else they are nanoseconds; PATIENCE how often members
 * poll before they yield where the driver lets them meet; DETAIL is the runtime's own. The driver says `ready`, and then
 * one line for each that it reads:
 *
 *     check OP BYTES COUNT                              perform and verify
 *     run OP BYTES COUNT                                perform back to back
 *     separated OP BYTES COUNT                          a meeting after each
 *     windows OP BYTES COUNT WIDTH LEAD TOLERANCE       each begun by all at a time agreed upon
 *     rounds OP BYTES COUNT STEPS TIMED                 after STEPS empty steps each, the first TIMED one by one
 *
 *     done TIME CPU ..      from the last start to the last end; nanoseconds of CPU time of each member
 *     windows TIME ..       of each window; `-` if a member began late
 *     rounds TIME CPU .. ; ROUND ..     as done; the time of each timed round of member 0
 *     wrong WHAT            what the check found
 *
 * Between blocks all members sleep, so that they are in nobody's way. At the end of its input the driver ends.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define LINE 128
#define MOST_WINDOWS 64
#define LATE UINT64_MAX

struct arguments {
    int members;
    int root;
    bool counter;
    unsigned patience;
    const char *detail;
    int *cpus;
};

enum op { BARRIER, BROADCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, COMMIT, ATOMIC_STREAM, NO_OP };
enum verb { CHECK, RUN, SEPARATED, WINDOWS, ROUNDS, NO_VERB };

struct command {
    enum verb verb;
    enum op op;
    uint64_t bytes;
    uint64_t count;
    uint64_t extra[3];
};

/* The results that one member leaves for member 0; written by that member. */
struct seat {
    alignas(LINE) uint64_t start;
    uint64_t end;
    uint64_t cpu_ns;
    /* The round of a check that it has come to, which the others look at. */
    alignas(LINE) _Atomic uint64_t came;
    alignas(LINE) uint64_t windows[MOST_WINDOWS];
    char wrong[160];
};

/* The memory that the members share; all zero at first. */
struct shared {
    /* Commands so far. Written by member 0, after the command; the others sleep on it. */
    alignas(LINE) _Atomic uint32_t commands;
    alignas(LINE) struct command command;
    /* The number of members that have come to the next meeting; added to by all, reset by the last. */
    alignas(LINE) _Atomic int arrived;
    /* Meetings so far, and what the last to come said; written by the last, polled by the others. */
    alignas(LINE) _Atomic uint64_t meetings;
    uint64_t word;
    struct seat seats[];
};

/* One member. */
struct member {
    const struct arguments *arguments;
    struct shared *shared;
    int rank;
    /* Values sent or summed so far; equal in all members between blocks. */
    uint64_t number;
    /* The values that it brings to an operation and takes from it, of `room` words each. */
    uint64_t *value;
    uint64_t *result;
    uint64_t room;
    /* Whether this member is to refuse every fourth proposal, as it does in a check, and what was decided. */
    bool refuses;
    bool committed;
    /* The state of its random delays. */
    uint64_t delays;
    /* Ticks of each round, at member 0. */
    uint64_t *rounds;
};

/* The functions of the runtime, to be called by all members. `broadcast` goes from the root's value to every value;
 * `reduce` and `allreduce` add up the values' 64-bit words in the result of the root, or of all. */
static bool performs(enum op op, uint64_t bytes);
static void barrier(struct member *me);
static void broadcast(struct member *me, uint64_t *value, uint64_t bytes);
static void reduce(struct member *me, const uint64_t *value, uint64_t *result, uint64_t words);
static void allreduce(struct member *me, const uint64_t *value, uint64_t *result, uint64_t words);

#ifdef EXCHANGES
/* Of drivers that have these. `gather` brings the words of all, by rank, to the root's result, and `scatter` deals out the
 * root's values; `commit` brings the root's value to all and tells whether all vote for it; `atomic_stream` brings the
 * words of all to every result. */
static void gather(struct member *me, const uint64_t *value, uint64_t *result, uint64_t words);
static void scatter(struct member *me, const uint64_t *value, uint64_t *result, uint64_t words);
static bool commit(struct member *me, uint64_t *value, uint64_t words, bool is_for);
static void atomic_stream(struct member *me, const uint64_t *value, uint64_t *result, uint64_t words);
#endif

static _Noreturn void fail(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static struct arguments read_arguments(int argc, char **argv)
{
    struct arguments arguments = {0};
    if (argc != 6)
        fail("usage: PROGRAM CPUS ROOT CLOCK PATIENCE DETAIL");
    arguments.cpus = calloc(strlen(argv[1]) + 1, sizeof *arguments.cpus);
    for (char *at = strtok(argv[1], ","); at; at = strtok(NULL, ","))
        arguments.cpus[arguments.members++] = atoi(at);
    arguments.root = atoi(argv[2]);
    arguments.counter = strcmp(argv[3], "counter") == 0;
    arguments.patience = (unsigned)strtoul(argv[4], NULL, 10);
    arguments.detail = argv[5];
    return arguments;
}

static size_t shared_bytes(int members)
{
    return sizeof(struct shared) + (size_t)members * sizeof(struct seat);
}

/* The shared memory of members that are threads. */
__attribute__((unused)) static struct shared *shared_by_threads(int members)
{
    void *memory = mmap(NULL, shared_bytes(members), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("no memory");
    return memory;
}

/* The harness's own clock, so that its lengths of windows are ours too. */
static inline uint64_t ticks(const struct arguments *arguments)
{
    if (arguments->counter) {
#if defined(__x86_64__)
        return __rdtsc();
#elif defined(__aarch64__)
        uint64_t count;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
        return count;
#endif
    }
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

static inline void pause_briefly(void)
{
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

static void pin(int cpu)
{
    if (cpu < 0)
        return;
    cpu_set_t *only = CPU_ALLOC(cpu + 1);
    size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
    CPU_ZERO_S(bytes, only);
    CPU_SET_S(cpu, bytes, only);
    if (sched_setaffinity(0, bytes, only) != 0)
        fail("a member could not be bound to its CPU");
    CPU_FREE(only);
}

/* Waits for all members, as the harness's participants do for each other; returns what the last to come said. */
static uint64_t meet(struct member *me, uint64_t lead)
{
    struct shared *shared = me->shared;
    uint64_t meeting = atomic_load_explicit(&shared->meetings, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&shared->arrived, 1, memory_order_acq_rel) + 1 == me->arguments->members) {
        atomic_store_explicit(&shared->arrived, 0, memory_order_relaxed);
        shared->word = ticks(me->arguments) + lead;
        atomic_store_explicit(&shared->meetings, meeting + 1, memory_order_release);
        return shared->word;
    }
    for (unsigned polls = 0; atomic_load_explicit(&shared->meetings, memory_order_acquire) == meeting;) {
        if (polls < me->arguments->patience) {
            polls++;
            pause_briefly();
        } else {
            sched_yield();
        }
    }
    return shared->word;
}

static void announce(struct shared *shared)
{
    atomic_fetch_add_explicit(&shared->commands, 1, memory_order_release);
    syscall(SYS_futex, &shared->commands, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void await_command(struct shared *shared, uint32_t seen)
{
    while (atomic_load_explicit(&shared->commands, memory_order_acquire) == seen)
        syscall(SYS_futex, &shared->commands, FUTEX_WAIT, seen, NULL, NULL, 0);
}

#include "serve.h"
