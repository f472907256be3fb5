/* Concurrency Kit's barriers among threads. DETAIL is the name of one of them. */
#include "driver.h"

#include <ck_barrier.h>
#include <pthread.h>

/* Members of one group of the combining barrier. */
#define GROUP 2

enum kind { CENTRALIZED, COMBINING, DISSEMINATION, TOURNAMENT, MCS, KINDS };
static const char *const KIND_NAMES[] = {"centralized", "combining", "dissemination", "tournament", "mcs"};

static enum kind kind;
static struct arguments arguments;
static struct shared *shared;

/* The barrier that was asked for; the others stay empty. */
alignas(LINE) static ck_barrier_centralized_t centralized = CK_BARRIER_CENTRALIZED_INITIALIZER;
alignas(LINE) static ck_barrier_combining_t combining;
static ck_barrier_combining_group_t combining_root, *combining_groups;
static ck_barrier_dissemination_t *dissemination;
static ck_barrier_tournament_t tournament;
static ck_barrier_mcs_t *mcs;

/* A member's own part of it. */
static _Thread_local union {
    ck_barrier_centralized_state_t centralized;
    ck_barrier_combining_state_t combining;
    ck_barrier_dissemination_state_t dissemination;
    ck_barrier_tournament_state_t tournament;
    ck_barrier_mcs_state_t mcs;
} state;

static bool performs(enum op op, uint64_t bytes)
{
    return op == BARRIER && bytes == 0;
}

static inline void barrier(struct member *me)
{
    switch (kind) {
    case CENTRALIZED:
        ck_barrier_centralized(&centralized, &state.centralized, (unsigned)arguments.members);
        break;
    case COMBINING:
        ck_barrier_combining(&combining, &combining_groups[me->rank / GROUP], &state.combining);
        break;
    case DISSEMINATION:
        ck_barrier_dissemination(dissemination, &state.dissemination);
        break;
    case TOURNAMENT:
        ck_barrier_tournament(&tournament, &state.tournament);
        break;
    default:
        ck_barrier_mcs(mcs, &state.mcs);
    }
}

static void broadcast(struct member *me, uint64_t *value, uint64_t bytes)
{
    (void)me, (void)value, (void)bytes;
    fail("Concurrency Kit has no broadcast");
}

static void reduce(struct member *me, const uint64_t *value, uint64_t *result, uint64_t words)
{
    (void)me, (void)value, (void)result, (void)words;
    fail("Concurrency Kit has no reduction");
}

static void allreduce(struct member *me, const uint64_t *value, uint64_t *result, uint64_t words)
{
    reduce(me, value, result, words);
}

/* Zeroed memory on lines of its own. */
static void *lines(size_t bytes)
{
    size_t whole = (bytes + LINE - 1) / LINE * LINE;
    void *memory = aligned_alloc(LINE, whole);
    if (!memory)
        fail("no memory");
    return memset(memory, 0, whole);
}

static void make_barrier(unsigned members)
{
    switch (kind) {
    case COMBINING:
        combining_groups = lines(members * sizeof *combining_groups);
        ck_barrier_combining_init(&combining, &combining_root);
        for (unsigned first = 0; first < members; first += GROUP) {
            unsigned size = members - first < GROUP ? members - first : GROUP;
            ck_barrier_combining_group_init(&combining, &combining_groups[first / GROUP], size);
        }
        break;
    case DISSEMINATION: {
        ck_barrier_dissemination_flag_t **flags = lines(members * sizeof *flags);
        for (unsigned i = 0; i < members; i++)
            flags[i] = lines(ck_barrier_dissemination_size(members) * sizeof **flags);
        dissemination = lines(members * sizeof *dissemination);
        ck_barrier_dissemination_init(dissemination, flags, members);
        break;
    }
    case TOURNAMENT: {
        ck_barrier_tournament_round_t **rounds = lines(members * sizeof *rounds);
        for (unsigned i = 0; i < members; i++)
            rounds[i] = lines(ck_barrier_tournament_size(members) * sizeof **rounds);
        ck_barrier_tournament_init(&tournament, rounds, members);
        break;
    }
    case MCS:
        mcs = lines(members * sizeof *mcs);
        ck_barrier_mcs_init(mcs, members);
        break;
    default:
        break;
    }
}

static void *live(void *rank)
{
    switch (kind) {
    case COMBINING:
        state.combining = (ck_barrier_combining_state_t)CK_BARRIER_COMBINING_STATE_INITIALIZER;
        break;
    case DISSEMINATION:
        ck_barrier_dissemination_subscribe(dissemination, &state.dissemination);
        break;
    case TOURNAMENT:
        ck_barrier_tournament_subscribe(&tournament, &state.tournament);
        break;
    case MCS:
        ck_barrier_mcs_subscribe(mcs, &state.mcs);
        break;
    default:
        break;
    }
    serve(&arguments, shared, (int)(intptr_t)rank);
    return NULL;
}

int main(int argc, char **argv)
{
    arguments = read_arguments(argc, argv);
    kind = (enum kind)name_in(KIND_NAMES, KINDS, arguments.detail);
    if (kind == KINDS)
        fail("a barrier that Concurrency Kit does not have");
    shared = shared_by_threads(arguments.members);
    make_barrier((unsigned)arguments.members);
    pthread_t *threads = calloc((size_t)arguments.members, sizeof *threads);
    for (int rank = 1; rank < arguments.members; rank++)
        if (pthread_create(&threads[rank], NULL, live, (void *)(intptr_t)rank) != 0)
            fail("a thread cannot be started");
    live((void *)0);
    for (int rank = 1; rank < arguments.members; rank++)
        pthread_join(threads[rank], NULL);
    return 0;
}
