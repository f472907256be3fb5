/* OpenMP's own barrier, `single copyprivate` and reduction, among the threads of one parallel region. */
#include "driver.h"

#include <omp.h>

/* A broadcast's value as one object, which is what copyprivate copies. */
struct message {
    uint64_t words[7];
};

/* Sums of all operations so far, of even and of odd ones; the reductions add to them, and their barriers order them. */
static uint64_t even, odd;

static bool performs(enum op op, uint64_t bytes)
{
    return op == BARRIER || (op == BROADCAST && bytes == sizeof(struct message)) ||
           (op == ALLREDUCE && bytes == sizeof(uint64_t));
}

static void barrier(struct member *me)
{
    (void)me;
#pragma omp barrier
}

/* The first to come takes the root's part: OpenMP lets nobody choose. */
static void broadcast(struct member *me, uint64_t *value, uint64_t bytes)
{
    struct message message;
#pragma omp single copyprivate(message)
    for (uint64_t i = 0; i < 7; i++)
        message.words[i] = me->number * 8 + i;
    memcpy(value, &message, bytes);
}

static void reduce(struct member *me, const uint64_t *value, uint64_t *result, uint64_t words)
{
    (void)me, (void)value, (void)result, (void)words;
    fail("OpenMP has no reduction to one member");
}

static void allreduce(struct member *me, const uint64_t *value, uint64_t *result, uint64_t words)
{
    /* The earlier sums; nobody adds to them again before all have read them. */
    static _Thread_local uint64_t before[2];
    int members = me->arguments->members, is_odd = me->number & 1;
    (void)words;
    if (is_odd) {
#pragma omp for reduction(+ : odd) schedule(static, 1)
        for (int i = 0; i < members; i++)
            odd += *value;
    } else {
#pragma omp for reduction(+ : even) schedule(static, 1)
        for (int i = 0; i < members; i++)
            even += *value;
    }
    uint64_t sum = is_odd ? odd : even;
    *result = sum - before[is_odd];
    before[is_odd] = sum;
}

int main(int argc, char **argv)
{
    struct arguments arguments = read_arguments(argc, argv);
    struct shared *shared = shared_by_threads(arguments.members);
    omp_set_dynamic(0);
#pragma omp parallel num_threads(arguments.members)
    {
        if (omp_get_num_threads() != arguments.members)
            fail("OpenMP starts fewer threads than asked for");
        serve(&arguments, shared, omp_get_thread_num());
    }
    return 0;
}
